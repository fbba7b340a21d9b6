"""The comparison with plain Lucene compares what it says."""

import os
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.engines.catalogue import (
    JAVA,
    JAVA_FIELDS,
    PLAIN,
    THIS_PROJECT,
    engines,
)
from benchmarks.engines.data import KINDS, Data, Queries
from benchmarks.engines.java import CompilerMissingError, PlainLucene
from benchmarks.engines.measuring import measured
from benchmarks.engines.quick import BOUNDS
from shared.java import vm

ROOT = Path(__file__).parents[2]


@pytest.fixture
def java(tmp_path: Path) -> PlainLucene:
    try:
        return PlainLucene.compiled(tmp_path / "plain-lucene.jar")
    except CompilerMissingError as error:
        pytest.skip(str(error))


@pytest.mark.soak
def test_java_writes_the_same_fields(java: PlainLucene, tmp_path: Path) -> None:
    data = Data.made(tmp_path / "data", 300)
    by_key = {engine.key: engine for engine in engines(java)}
    for key in (JAVA_FIELDS, THIS_PROJECT):
        by_key[key].write(data, tmp_path / key, 1)
    theirs, ours = (terms(tmp_path / key) for key in (JAVA_FIELDS, THIS_PROJECT))
    assert {"stems", "title_stems", "languages", "digits", "metadata.language"} <= ours.keys()
    assert theirs == ours


def terms(index: Path) -> dict[str, tuple[int, ...]]:
    """What tells the terms of each field of an index from others."""
    vm.start()
    from java.nio.file import Paths
    from org.apache.lucene.index import DirectoryReader, FieldInfo, FieldInfos, MultiTerms
    from org.apache.lucene.store import FSDirectory

    def statistics(reader: Any, info: Any) -> tuple[int, ...]:
        points, values = info.getPointDimensionCount(), info.getDocValuesType().ordinal()
        found = MultiTerms.getTerms(reader, info.name)
        if found is None:
            return points, values
        frequencies = found.getSumTotalTermFreq(), found.getSumDocFreq(), found.getDocCount()
        return points, values, info.getIndexOptions().ordinal(), info.hasNorms(), *frequencies

    with closing(DirectoryReader.open(FSDirectory.open(Paths.get(str(index))))) as reader:
        infos = [FieldInfo.cast_(info) for info in FieldInfos.getMergedFieldInfos(reader)]
        return {info.name: statistics(reader, info) for info in infos}


@pytest.mark.soak
def test_all_engines_find_as_much(java: PlainLucene, tmp_path: Path) -> None:
    queries = Queries(measured=10, warm_up=0)
    compared = [replace(engine, uses_all_cores=False) for engine in engines(java)]
    found = measured(tmp_path / "data", 300, compared, queries)
    assert not [figures for figures in found.engines.values() if figures.left_out]
    for kind in KINDS:
        hits = {key: times.hits for key in (JAVA, PLAIN) if (times := found.times(key, kind))}
        assert len(hits) == 2
        assert len(set(hits.values())) == 1, hits
        ours = found.times(THIS_PROJECT, kind)
        assert ours is not None
        # A chunk with no other word of the query than "of" is no hit of this project.
        assert ours.hits >= hits[JAVA] or (kind == "two words" and ours.hits > 5)


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("java")
def test_the_quick_form_tells_all_ratios() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.engines", "--quick"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    # Whether the bounds hold depends on what else the machine does.
    assert done.returncode == 0 or "are allowed" in done.stderr, done.stderr
    assert all(bound.name in done.stdout for bound in BOUNDS)
