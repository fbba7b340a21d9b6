"""An error says what its reader can do: run commands, or call tools and talk to the user."""

import re
import shutil
import sys
from pathlib import Path

import pytest
from mcp import Client

from idx.errors import ReadersDiedError, message
from server.answers.errors import TimeBudgetError, client_message
from shared import Document, errors as known
from tests.conftest import Connect, Idx, add_documents
from tests.programs import Started
from tests.server.administration.administered import administered, failed
from tests.server.tool_answers import refused, told
from tests.systems import is_in_time, names_lock_holders

PATH = Path("/data/index")

COMMAND = re.compile(r"\bidx [a-z]+|--[a-z]|IDX_[A-Z]+|pip install")
"""What only somebody at a command line can use."""


async def search_error(client: Client) -> str:
    return await refused(client, "Search", query="text")


@is_in_time
async def test_a_client_is_told_to_ask_its_user_for_an_index(
    index_path: Path, connect: Connect, idx: Idx
) -> None:
    missing = f"there is no index at {index_path}; "
    command = f"create one with: idx init --index-path {index_path}"
    async with connect() as client:
        assert await search_error(client) == f"{missing}ask the user to {command}"
        assert client.instructions is not None
        assert f"{missing}ask the user to {command}" in client.instructions
        with pytest.raises(Exception, match="ask the user to create one"):
            await client.read_resource("index://stats")
    assert idx("search", "text", code=1).stderr == f"Error: {missing}{command}\n"


async def test_a_client_is_told_to_ask_its_user_to_rebuild_an_index(
    tmp_path: Path, index_path: Path, connect: Connect, idx: Idx
) -> None:
    older = Path(__file__).parents[2] / "test-index" / "schema-4"
    shutil.copytree(older, tmp_path, dirs_exist_ok=True)
    command = f"rebuild it from its stored text with: idx rebuild --index-path {index_path}"
    async with connect() as client:
        assert (await search_error(client)).endswith(f"; ask the user to {command}")
    assert idx("search", "text", code=1).stderr.endswith(f"; {command}\n")


async def test_an_id_that_does_not_exist_is_looked_up_by_each_program_in_its_own_way(
    empty_index: Path, connect: Connect, idx: Idx
) -> None:
    add_documents(empty_index, Document("manual", "Manual", "text"))
    arguments = {"source_document_id": "menual"}
    async with connect() as client:
        told_to_client = await refused(client, "document_details", **arguments)
    assert told_to_client == (
        "no document has the id 'menual'; did you mean 'manual'? "
        "Or search again, or list the ids with ListDocuments"
    )
    failed = idx("show", "menual", code=1).stderr
    assert failed.endswith("did you mean 'manual'? Or list the ids with idx list\n")


@pytest.mark.soak
@names_lock_holders
async def test_what_idx_says_to_a_server_that_runs_it_is_for_the_client(
    empty_index: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "note.txt").write_text("text")
    holder = Started(sys.executable, "-c", HOLD, empty_index)
    with holder:
        assert holder.stdout.readline() == "locked\n"
        async with administered(empty_index, tmp_path, variables={"IDX_WAIT": "0.1"}) as client:
            await told(client, "start_crawl", directories=[str(folder)])
            message = (await failed(client))["error"]
        holder.communicate()
    assert f"process {holder.pid} " in message
    assert "try again after that process has ended" in message
    assert "--wait" not in message


HOLD = """
import sys
from shared import Index
with Index(sys.argv[1]):
    print("locked", flush=True)
    sys.stdin.read()
"""


ERRORS: list[known.McpLuceneError] = [
    known.JavaHeapError(PATH, 16, "ask for less at once"),
    known.IndexMissingError(PATH),
    known.IndexPathError(PATH, "permission denied"),
    known.IndexWriteError(PATH, "no space left on device"),
    known.IndexLuceneVersionError(PATH, "Lucene 8", "10.5"),
    known.IndexSchemaError(PATH, "schema version 4", 5, rebuilds=True),
    known.IndexSchemaError(PATH, "schema version 9", 4),
    known.IndexLockedError(PATH, "process 1 (idx sync)"),
    known.IndexLockedError(PATH, "process 1 (idx sync)", 5),
    known.IndexDamagedError(PATH, "file _0.cfs: it is cut short"),
    known.PartDamagedError(PATH, "file _0.cfs", "it is cut short"),
    known.DocumentDamagedError(PATH, "a", "chunk 2 is missing"),
    known.BackupError(f"there is no backup at {PATH}", "make one with idx backup"),
    ReadersDiedError(1_000_000),
    known.DocumentNotFoundError("a", ["b"]),
    known.ChunkNotFoundError("a", ["b"]),
    TimeBudgetError(10),
]


@pytest.mark.parametrize("raised", ERRORS, ids=lambda error: type(error).__name__)
def test_a_client_is_never_told_to_run_a_command_itself(raised: known.McpLuceneError) -> None:
    problem, _, advice = client_message(raised).rpartition("; ")
    assert problem
    if COMMAND.search(advice):
        assert "ask the user to" in advice
    assert "ListDocuments" not in message(raised)
    assert "ask the user" not in message(raised) or isinstance(raised, TimeBudgetError)
