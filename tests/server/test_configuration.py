"""The server looks for its index where the configuration says, as `idx` does."""

from pathlib import Path

import pytest
from mcp import Client

from shared import create
from tests.configured import write
from tests.conftest import server_with
from tests.programs import PROGRAMS, run


@pytest.mark.parametrize("named_by", ["argument", "variable", "file"])
async def test_the_server_looks_for_its_index_in_the_same_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named_by: str
) -> None:
    create(tmp_path / named_by)
    write(f"index_path = '{tmp_path}/file'")
    if named_by != "file":
        monkeypatch.setenv("IDX_INDEX_PATH", str(tmp_path / "variable"))
    arguments = [str(tmp_path / "argument")] if named_by == "argument" else []
    async with Client(server_with(*arguments)) as client:
        assert not (await client.call_tool("ListDocuments", {})).is_error


def test_the_server_names_what_is_wrong_in_the_file() -> None:
    file = write("index_pat = 'x'")
    done = run(PROGRAMS / "mcp-lucene", check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == (
        f"Error: {file}: index_pat is not a setting; did you mean 'index_path'?\n"
    )
