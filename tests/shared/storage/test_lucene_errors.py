"""What Lucene throws, as errors of this project."""

import traceback
from pathlib import Path

import pytest

from shared import LuceneError, create


def test_a_wrong_call_is_told_without_java_objects(tmp_path: Path) -> None:
    create(tmp_path / "index")
    from org.apache.lucene.search import BoostQuery, MatchAllDocsQuery

    from shared.storage.lucene_errors import reading

    with (
        pytest.raises(LuceneError, match=r"called wrongly.*BoostQuery") as raised,
        reading(tmp_path),
    ):
        BoostQuery(MatchAllDocsQuery(), 1)
    assert "InvalidArgsError" not in "".join(traceback.format_exception(raised.value))
