"""The index as a whole is merged, emptied and freed by a client; emptied only after a yes."""

from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.session import ClientRequestContext
from mcp.types import ElicitRequestParams, ElicitResult

from shared import Document, Index
from tests.conftest import add_documents
from tests.idx.segments import fill
from tests.server.administration.administered import administered, ended, refused, told

pytestmark = pytest.mark.anyio


class User:
    """Gives one answer after the other to what a client asks, and remembers the questions."""

    def __init__(self, *answers: tuple[Any, dict[str, Any] | None]) -> None:
        self._answers = [
            ElicitResult(action=action, content=content) for action, content in answers
        ]
        self.asked: list[str] = []

    async def __call__(
        self,
        context: ClientRequestContext,  # noqa: ARG002 - the signature is the SDK's
        params: ElicitRequestParams,
    ) -> ElicitResult:
        self.asked.append(params.message)
        return self._answers.pop(0)


@pytest.fixture
def index(empty_index: Path) -> Path:
    add_documents(empty_index, Document("a", "A", "some text"), Document("b", "B", "some text"))
    return empty_index


async def documents(client: Client) -> int:
    total: int = (await told(client, "ListDocuments"))["total_documents"]
    return total


@pytest.mark.parametrize("mode", ["auto", pytest.param("legacy", marks=pytest.mark.soak)])
async def test_the_index_is_emptied_only_after_a_yes(index: Path, root: Path, mode: str) -> None:
    user = User(
        ("decline", None),
        ("cancel", None),
        ("accept", {"delete_all": False}),
        ("accept", {}),
        ("accept", {"delete_all": "perhaps"}),
        ("accept", {"delete_all": True}),
    )
    async with administered(index, root, mode=mode, asked=user) as client:
        for message in (
            "the answer was 'decline': nothing was deleted",
            "the answer was 'cancel': nothing was deleted",
            "did not confirm it, so nothing was deleted",
            "did not confirm it, so nothing was deleted",
            "does not match the requested schema",
        ):
            assert message in await refused(client, "purge_index")
        status = await told(client, "admin_status")
        assert (status["current"], status["recent"]) == (None, [])
        assert await documents(client) == 2
        begun = await told(client, "purge_index")
        assert begun["state"] == "running"
        status = await ended(client, begun["operation_id"])
        assert (status["state"], status["exit_code"]) == ("done", 0)
        assert status["result"] == {"deleted_documents": 2, "deleted_chunks": 2}
        assert await documents(client) == 0
    documents_there = "Delete all documents (2 documents, 2 chunks) from the index"
    question = f"{documents_there} at {index}? This cannot be undone"
    assert len(user.asked) == 6
    assert all(message.startswith(question) for message in user.asked)


@pytest.mark.soak
async def test_a_client_that_cannot_ask_is_told_what_to_run(index: Path, root: Path) -> None:
    for mode in ("auto", "legacy"):
        async with administered(index, root, mode=mode) as client:
            message = await refused(client, "purge_index")
            assert message.endswith(f"ask the user to run: idx purge --index-path {index}")
            assert "there is no argument 'confirm'; there are none" in await refused(
                client, "purge_index", confirm=True
            )
            assert await documents(client) == 2


@pytest.mark.soak
async def test_the_index_is_merged(empty_index: Path, root: Path) -> None:
    fill(empty_index)
    async with administered(empty_index, root) as client:
        begun = await told(client, "optimize_index")
        assert begun["operation"] == "optimize"
        result = (await ended(client, begun["operation_id"]))["result"]
        assert result["segments_before"] > result["segments_after"] == 1
        assert (await told(client, "index_stats"))["segments"] == 1


@pytest.mark.soak
async def test_a_lock_that_a_process_holds_is_kept(index: Path, root: Path) -> None:
    async with administered(index, root) as client:
        with Index(index):
            message = await refused(client, "unlock_index")
            assert "process " in message
            assert (index / "write.lock").exists()
        unlocked = await told(client, "unlock_index")
        assert (unlocked["operation"], unlocked["result"]) == ("unlock", {"unlocked": True})
        assert not (index / "write.lock").exists()
        assert (await told(client, "unlock_index"))["result"] == {"unlocked": False}
