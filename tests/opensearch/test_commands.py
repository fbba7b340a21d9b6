"""The command line on an index on a node: what a folder's does, or one clear sentence."""

import json
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from shared import Document, Index, Searcher
from shared.errors import ClusterRefusedError
from shared.model import schema
from shared.model.failures import Failure, load_failures, save_failures
from shared.model.folders import IndexedFolder, IndexedFolders
from shared.opensearch import layout
from shared.opensearch.backend import ClusterBackend, IndexOnCluster
from tests.conftest import Idx
from tests.opensearch.conftest import file_of, store_of, write
from tests.opensearch.node import Node, free_port

pytestmark = pytest.mark.opensearch


def test_a_document_comes_is_found_and_goes(idx: Idx, address: str) -> None:
    assert address in idx("init", "-i", address).stdout
    assert "already" in idx("init", "-i", address).stdout
    idx("add", "-i", address, "--id", "lease", "--title", "Lease", "-c", "The rent is due.")
    assert "lease" in idx("list", "-i", address).stdout
    assert "The rent is due." in idx("show", "-i", address, "lease").stdout
    found = idx.json("search", "-i", address, "rent")
    assert [hit["id"] for hit in found["results"]] == ["lease-chunk-001"]
    assert idx.json("stats", "-i", address)["documents"] == 1
    explaining = ("search", "-i", address, "rent", "--explain", "--detail", "scores")
    assert "lease-chunk-001" in idx(*explaining).stdout
    assert "rent" in idx("terms", "-i", address, "re").stdout
    assert "(1 chunks)" in idx("delete", "-i", address, "lease").stdout
    assert "has the id" in idx("delete", "-i", address, "lease", code=1).stderr
    assert idx.json("search", "-i", address, "rent")["totalHits"] == 0


def test_shards_and_replicas_are_chosen_for_an_index_on_a_cluster(
    idx: Idx, node: Node, address: str
) -> None:
    idx("init", "-i", address, "--shards", "2", "--replicas", "0")
    name = address.rpartition("/")[2]
    for physical in (f"{name}-000001", f"{name}-000002"):
        if physical.endswith("2"):
            idx("rebuild", "-i", address)
        (described,) = node.get(f"/{name}/_settings").values()
        assert described["settings"]["index"]["provided_name"] == physical
        assert described["settings"]["index"]["number_of_shards"] == "2"
        assert described["settings"]["index"]["number_of_replicas"] == "0"
    said = idx("doctor", "-i", address).stdout
    assert "2 shards, 0 replicas" in said
    for option in ("--shards", "--replicas"):
        error = idx("init", "-i", idx.folder / "folder", option, "1", code=2).stderr
        assert "for an index on a cluster" in error
    assert not (idx.folder / "folder").exists()


def test_another_node_is_asked_if_one_is_down(idx: Idx, node: Node, address: str) -> None:
    down = f"127.0.0.1:{free_port()}"
    for name, first in (("a", f"opensearch://{down},"), ("b", f"{node.address},{down},")):
        several = address.replace("opensearch://", first)
        idx("add", "-i", several, "--id", name, "--title", "D", "-c", "word")
        idx("search", "-i", several, "word")
    with Searcher(several) as searcher:
        assert [searcher.search("word").totalHits for _ in range(4)] == [2] * 4
    nobody = f"opensearch://{down},{down}/x"
    error = idx("search", "word", "-i", nobody, code=1).stderr
    assert "Connection refused" in error


def test_a_folder_is_synchronized_from_wherever_somebody_stopped(idx: Idx, address: str) -> None:
    papers = idx.folder / "papers"
    papers.mkdir()
    for name in ("one", "two", "three"):
        (papers / f"{name}.txt").write_text(f"{name} is a number")
    (papers / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    idx("sync", "-i", address, papers, code=1)
    assert "broken.pdf" in idx("failures", "-i", address).stdout
    (papers / "one.txt").write_text("one was changed")
    (papers / "two.txt").unlink()
    (papers / "three.txt").touch()
    done = idx("sync", "-i", address, papers, "--json").stdout
    last = json.loads(done.splitlines()[-1])
    assert (last["updated"], last["deleted"]) == (1, 1), last
    assert "0 to update, 0 to delete, 2 unchanged" in idx("sync", "-i", address, papers).stdout
    assert "changed" in idx("show", "-i", address, "one.txt").stdout


def test_what_is_in_an_archive_comes_and_goes_with_it(idx: Idx, address: str) -> None:
    papers = idx.folder / "papers"
    papers.mkdir()
    with zipfile.ZipFile(papers / "keys.zip", "w") as archive:
        archive.writestr("boat.txt", "The spare key hangs behind the fuse box.")
    folder = idx.folder / "index"
    for path in (address, folder):
        idx("sync", "-i", path, papers)
    member = "keys.zip!/boat.txt"
    with Searcher(folder) as one, Searcher(address) as other:
        assert other.document_file(member) == one.document_file(member)
        expected, got = one.document_details(member), other.document_details(member)
        assert replace(got, metadata={}) == replace(expected, metadata={})
        assert got.metadata.keys() == expected.metadata.keys()
    assert "0 to update, 0 to delete, 1 unchanged" in idx("sync", "-i", address, papers).stdout
    (papers / "keys.zip").unlink()
    (papers / "other.txt").write_text("Another text")
    done = idx("sync", "-i", address, papers, "--json").stdout
    assert json.loads(done.splitlines()[-1])["deleted"] == 2
    assert idx("list", "-i", address, "--plain").stdout.split() == [str(papers / "other.txt")]


def test_what_works_on_files_says_so(idx: Idx, address: str) -> None:
    idx("init", "-i", address)
    for command in (
        *(["backup", "-i", address, idx.folder / "copy"], ["repair", "-i", address]),
        *(["optimize", "-i", address], ["unlock", "-i", address]),
    ):
        error = idx(*command, code=1).stderr
        assert error.count("\n") == 1
        assert "is on a cluster" in error


def test_an_index_is_rebuilt_while_it_is_searched(idx: Idx, node: Node, address: str) -> None:
    papers = idx.folder / "papers"
    papers.mkdir()
    (papers / "paper.txt").write_text(" ".join(["contract"] * 300))
    idx("sync", "-i", address, papers)
    idx("add", "-i", address, "--id", "d", "--title", "D", "-c", "The rent is due.")
    with Searcher(address) as searcher:
        before = [
            vars(hit)
            for query in ("contract", "rent", "contrakt")
            for hit in searcher.search(query).results
        ]
        assert "2 documents as 3 chunks" in idx("rebuild", "-i", address).stdout
        after = [
            vars(hit)
            for query in ("contract", "rent", "contrakt")
            for hit in searcher.search(query).results
        ]
        assert before == after
    name = address.rpartition("/")[2]
    assert list(node.get(f"/{name}")) == [f"{name}-000002"]
    assert "1 unchanged" in idx("sync", "-i", address, papers).stdout


def test_an_index_of_an_older_version_is_named_and_rebuilt(
    idx: Idx, node: Node, address: str
) -> None:
    papers = idx.folder / "papers"
    papers.mkdir()
    (papers / "paper.txt").write_text(" ".join(["contract"] * 300))
    idx("sync", "-i", address, papers)
    name = address.rpartition("/")[2]

    def mark_as(version: int) -> None:
        """Record another version of the schema, as an older program would have done."""
        node.request("PUT", f"/{name}/_mapping", {"_meta": {schema.COMMIT_SCHEMA: version}})

    mark_as(schema.SCHEMA_VERSION + 1)
    assert "upgrade" in idx("search", "contract", "-i", address, code=1).stderr
    mark_as(schema.SCHEMA_VERSION - 1)
    for command in (("search", "contract"), ("sync", papers), ("stats",), ("init",)):
        error = idx(*command, "-i", address, code=1).stderr
        assert error.startswith(f"Error: the index at {address} has schema version 4")
        assert f"with: idx rebuild --index-path {address}" in error
    rebuilt = idx.json("rebuild", "-i", address)
    assert (rebuilt["previous_schema_version"], rebuilt["chunks"]) == (4, 2)
    assert list(node.get(f"/{name}")) == [f"{name}-000002"]
    assert idx.json("search", "contract", "-i", address)["totalHits"] == 2
    assert "1 unchanged" in idx("sync", "-i", address, papers).stdout


def test_the_index_is_checked_and_the_doctor_looks_at_the_cluster(
    idx: Idx, node: Node, address: str
) -> None:
    idx("add", "-i", address, "--id", "d", "--title", "D", "-c", " ".join(["word"] * 600))
    assert "1 document, 3 chunks" in idx("check", "-i", address).stdout
    said = idx.json("doctor", "-i", address, code=0)["findings"]
    messages = {found["check"]: found["message"] for found in said}
    assert "OpenSearch 3." in messages["Cluster"]
    assert "1 document" in messages["Index"]
    assert messages["Writer"] == "nobody is writing the index"
    name = address.rpartition("/")[2]
    query = {"query": {"term": {"chunk_index": 2}}}
    found = node.request("POST", f"/{name}/_search", query)["hits"]["hits"]
    node.request("DELETE", f"/{name}-000001/_doc/{found[0]['_id']}?refresh=true")
    assert "'d': of its 3 chunks 2 are missing" in idx("check", "-i", address, code=1).stdout


def test_a_document_is_replaced_by_fewer_chunks_within_a_batch(address: str) -> None:
    long = " ".join(f"word{number}" for number in range(700))
    with Index(address, create=True) as index:
        assert index.add(Document("d", "D", long)) == 4
        assert index.add(Document("d", "D", "short")) == 1
        assert index.chunk_count("d") == 1
    with Searcher(address) as searcher:
        assert searcher.search("").totalHits == 1
        assert searcher.search("word600").totalHits == 0


def test_a_document_that_goes_within_a_batch_leaves_no_state_of_its_file(address: str) -> None:
    with Index(address, create=True) as index:
        for name in ("deleted", "without its file"):
            index.add(Document(name, "D", "text", file=file_of(1)))
        index.delete("deleted")
        index.add(Document("without its file", "D", "text"))
    with Searcher(address) as searcher:
        assert searcher.files()[1] == {}


def test_nothing_of_a_block_that_ends_with_an_error_is_seen(address: str) -> None:
    with pytest.raises(RuntimeError):
        fail_after_writing(address, "text")
    with Index(address, create=True) as index:
        assert index.created, "an index that was made in the block is gone"
        index.add(Document("d", "D", "one text"))
    with pytest.raises(RuntimeError):
        fail_after_writing(address, "another text")
    with Searcher(address) as searcher:
        assert [hit.content for hit in searcher.search("text").results] == ["one text"]


def fail_after_writing(address: str, text: str) -> None:
    with Index(address, create=True) as index:
        index.add(Document("d", "D", text))
        raise RuntimeError


VERSIONS = 8


def written_again_and_again(address: str, name: str) -> None:
    for number in range(1, VERSIONS):
        with Index(address) as index:
            index.add(Document(name, name, " ".join([f"version{number}"] * 600)))


def torn(searcher: Searcher, names: tuple[str, ...]) -> Iterator[object]:
    """Yield what a search sees of documents that is not one whole version of each."""
    for name in names:
        chunks = searcher.document_chunks(name).chunks
        found = {chunk.content.split()[0] for chunk in chunks}
        if len(found) != 1 or len(chunks) != 3:
            yield name, found, len(chunks)
    total = searcher.search("version*", limit=50).totalHits
    if total != 3 * len(names):
        yield total


def test_a_search_sees_whole_documents_while_they_are_replaced(address: str) -> None:
    """Every version of a document has one word, in all of its three chunks."""
    names = ("a", "b")
    with Index(address, create=True) as index:
        for name in names:
            index.add(Document(name, name, " ".join(["version0"] * 600)))
    with ThreadPoolExecutor() as threads, Searcher(address) as searcher:
        writing = [threads.submit(written_again_and_again, address, name) for name in names]
        looks = 0
        while not all(of.done() for of in writing):
            assert list(torn(searcher, names)) == []
            looks += 1
        for of in writing:
            of.result()
        assert looks > 3
        assert searcher.search(f"version{VERSIONS - 1}").totalHits == 6


def test_a_call_goes_by_the_state_that_it_has_read_however_often_that_changes(
    address: str,
) -> None:
    write(address, d="version0")
    versions = iter(range(1, 100))

    def asks_while_others_write(snapshot: ClusterBackend) -> list[str]:
        for _ in range(2):
            write(address, d=f"version{next(versions)}")
            (answer,) = snapshot.search([{"query": snapshot.visible()}])
        return [hit["_source"]["stored"]["content"] for hit in answer["hits"]["hits"]]

    cluster = IndexOnCluster(address, "command")
    assert cluster.call(asks_while_others_write) == ["version0"]
    # What an earlier call has read may be older than this one, which begins anew after version3.
    assert cluster.call(asks_while_others_write, is_search=True) == ["version3"]
    cluster.close()


def test_a_call_notices_another_index_of_the_same_name(address: str) -> None:
    write(address, d="of the first index")
    store = store_of(address)
    attempts = 0

    def asks_while_it_is_made_anew(snapshot: ClusterBackend) -> list[str]:
        nonlocal attempts
        attempts += 1
        if attempts == 1:
            store.remove()
            write(address, d="of the second index")
        (answer,) = snapshot.search([{"query": snapshot.visible()}])
        return [hit["_source"]["stored"]["content"] for hit in answer["hits"]["hits"]]

    cluster = IndexOnCluster(address, "command")
    assert cluster.call(asks_while_it_is_made_anew) == ["of the second index"]
    assert attempts == 2
    cluster.close()


def test_two_first_syncs_keep_the_folders_and_failures_of_each_other(
    idx: Idx, address: str
) -> None:
    for name in ("x", "y"):
        (idx.folder / name).mkdir()
        (idx.folder / name / "paper.txt").write_text(f"word of {name}")
        (idx.folder / name / "bad.pdf").write_bytes(b"%PDF-1.4")
    idx("init", "-i", address)
    of_y = IndexedFolders((IndexedFolder("y/", idx.folder / "y"),))
    late = Failure("y/", "late.pdf", "failed", "it is damaged", 1, 1, "2026-01-01T00:00:00Z")
    before = load_failures(Path(address))
    index = Index(address)
    idx("sync", "-i", address, idx.folder / "x", code=1)
    index.folders = of_y
    with pytest.raises(ClusterRefusedError, match="changed the folders of the index"), index:
        index.add(Document("y/paper.txt", "D", "word of y"))
    idx("sync", "-i", address, idx.folder / "y", code=1)
    save_failures(Path(address), {**before, "y/late.pdf": late}, before)
    idx("sync", "-i", address, idx.folder / "x", code=0)
    with Searcher(address) as searcher:
        assert [folder.prefix for folder in searcher.folders()] == ["", "y/"]
        found = [of.source_document for of in searcher.documents().documents]
        assert found == ["paper.txt", "y/paper.txt"]
    assert sorted(load_failures(Path(address))) == ["bad.pdf", "y/bad.pdf", "y/late.pdf"]
    save_failures(Path(address), {}, {"y/late.pdf": late})
    assert sorted(load_failures(Path(address))) == ["bad.pdf", "y/bad.pdf"]


def test_each_trouble_has_one_sentence(
    idx: Idx, node: Node, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def error(path: str, *command: object) -> str:
        said = idx(*(command or ("search", "word")), "-i", path, code=1).stderr
        assert said.startswith("Error: "), said
        assert said.count("\n") == 1, said
        return said

    nobody = f"127.0.0.1:{free_port()}"
    assert "Connection refused" in error(f"opensearch://{nobody}/x")
    assert "there is no index" in error(address)
    assert "idx init --index-path" in error(address)
    assert "if it speaks no TLS" in error(address.replace("opensearch:", "opensearchs:"))
    assert "must not contain a user" in error(address.replace("//", "//me:secret@"))
    assert "secret" not in error(address.replace("//", "//me:secret@"))
    assert "not the address of an index" in error(f"{node.address}/UPPER")
    with monkeypatch.context() as environment:
        environment.setenv("IDX_OPENSEARCH_USER", "me")
        assert "IDX_OPENSEARCH_PASSWORD" in error(address)
    name = address.rpartition("/")[2]
    node.request("PUT", f"/{name}-other", {})
    assert "another program created it" in error(f"{address}-other")
    changed = layout.creation() | {"aliases": {f"{name}-changed": {}}}
    changed["mappings"]["properties"]["content"] = {"type": "keyword"}
    node.request("PUT", f"/{name}-changed-000001", changed)
    assert "somebody changed the mapping of its field content" in error(f"{address}-changed")
    idx("add", "-i", address, "--id", "d", "--title", "D", "-c", "word")
    node.request("POST", f"/{name}/_close")
    assert "closed" in error(address)
    node.request("POST", f"/{name}/_open")
    block = {"index.blocks.read_only_allow_delete": True}
    node.request("PUT", f"/{name}/_settings", block)
    adding = ("add", "--id", "e", "--title", "E", "-c", "word")
    assert "too full" in error(address, *adding)
    node.request("PUT", f"/{name}/_settings", dict.fromkeys(block, None))
    idx(*adding, "-i", address)
    node.request("DELETE", f"/{name}-000001/_doc/state?refresh=true")
    assert "it has no state" in error(address)
    node.request("DELETE", f"/{name}-000001")
    assert "there is no index" in error(address)
