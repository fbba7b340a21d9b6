"""Folders are worked on only under the roots, however their paths are written."""

from pathlib import Path

import pytest

from shared import Index
from tests.configured import write
from tests.server.administration.administered import administered, ended, refused, told
from tests.systems import makes_links

pytestmark = pytest.mark.anyio


@makes_links
async def test_no_path_leads_out_of_the_roots(
    empty_index: Path, root: Path, papers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = tmp_path / "root-and-more"
    outside.mkdir()
    (outside / "secret.txt").write_text("the secret of another folder")
    (root / "link").symlink_to(outside)
    (root / "loop").symlink_to("loop")
    (root / "up").symlink_to("..")
    monkeypatch.chdir(root)
    hostile = [
        str(outside),
        "/",
        "/etc",
        f"{root}/..",
        f"{root}/../root-and-more",
        f"{root}/papers/../../root-and-more",
        f"{root}//../root-and-more/.",
        f"{root}/link",
        f"{root}/link/../root-and-more",
        f"{root}/up/root-and-more",
        # Nothing behind a link that leads to itself is resolved.
        f"{root}/loop/../link",
        f"{root}/loop/../../root-and-more",
        f"{root}/no such folder/../link",
        f"/proc/self/cwd/../{outside.name}",
        str(tmp_path / "nowhere"),
    ]
    unusable = ["papers", ".", "..", "~", "~root", "-h", "--help", " ", f"{root}/a\0b"]
    async with administered(empty_index, root) as client:
        for path in hostile:
            for message in (
                await refused(client, "start_crawl", directories=[path]),
                await refused(client, "add_directory", directory=path),
                await refused(client, "remove_directory", directory=path),
            ):
                assert "does not lie under the roots of this server" in message, path
        for path in [*unusable, f"{root}/{'x' * 4_000}"]:
            for message in (
                await refused(client, "start_crawl", directories=[str(papers), path]),
                await refused(client, "add_directory", directory=path),
            ):
                assert message.startswith("the folder "), path
        for path in (f"{root}/nowhere", str(papers / "lease.txt")):
            message = await refused(client, "start_crawl", directories=[path])
            assert message.endswith("does not exist, or is not a folder")
        status = await told(client, "admin_status")
        assert (status["current"], status["recent"]) == (None, [])
        assert (await told(client, "list_directories"))["directories"] == []


@pytest.mark.soak
async def test_a_link_within_the_roots_is_followed_to_its_end_once(
    empty_index: Path, tmp_path: Path, root: Path, papers: Path
) -> None:
    # The root itself is a link, and so is the folder.
    (tmp_path / "root link").symlink_to(root)
    link = root / "link"
    link.symlink_to(papers)
    async with administered(empty_index, tmp_path / "root link") as client:
        assert (await told(client, "admin_status"))["roots"] == [str(root)]
        begun = await told(client, "start_crawl", directories=[str(link), f"{root}/./papers"])
        assert begun["directories"] == [str(papers)]
        assert (await ended(client))["progress"]["added"] == 2


@pytest.mark.soak
async def test_a_folder_that_became_a_link_is_refused_when_its_crawl_is_resumed(
    empty_index: Path, root: Path, papers: Path, tmp_path: Path
) -> None:
    async with administered(empty_index, root) as client:
        with Index(empty_index):
            await told(client, "start_crawl", directories=[str(papers)])
            assert (await told(client, "pause_crawl"))["state"] == "paused"
        outside = tmp_path / "outside"
        papers.rename(outside)
        papers.symlink_to(outside)
        assert "does not lie under the roots" in await refused(client, "resume_crawl")
        assert (await told(client, "stop_crawl"))["state"] == "stopped"


@pytest.mark.soak
async def test_remembered_folders_must_lie_under_the_roots_too(
    empty_index: Path, root: Path, papers: Path, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    # At the last one the system does not even look.
    write(f'folders = ["{papers}", "{tmp_path}/outside", "{root}/{"x" * 300}"]\n')
    async with administered(empty_index, root) as client:
        listed = (await told(client, "list_directories"))["directories"]
        assert [folder["allowed"] for folder in listed] == [True, False, True]
        assert [folder["exists"] for folder in listed] == [True, True, False]
        message = await refused(client, "start_crawl")
        assert f"'{tmp_path}/outside' does not lie under the roots" in message
        message = await refused(client, "remove_directory", directory=str(tmp_path / "outside"))
        assert "does not lie under the roots" in message
        started = await told(client, "start_crawl", directories=[str(papers)])
        assert started["state"] == "running"


@pytest.mark.soak
@pytest.mark.parametrize("by_variable", [True, False])
async def test_no_folder_is_crawled_whose_links_would_be_followed(
    empty_index: Path, root: Path, papers: Path, by_variable: bool
) -> None:
    (papers / "link").symlink_to("/etc")
    variables = {"IDX_FOLLOW_LINKS": "1"} if by_variable else {}
    file = write("follow_links = true\n")
    if by_variable:
        file.unlink()
    async with administered(empty_index, root, variables=variables) as client:
        message = await refused(client, "start_crawl", directories=[str(papers)])
    origin = "IDX_FOLLOW_LINKS" if by_variable else str(file)
    assert f"links in folders are followed (follow_links in {origin})" in message
