"""Which code an index's path chooses, and that a folder loads nothing of a cluster."""

import subprocess
import sys
from pathlib import Path

import pytest

from shared import Searcher
from shared.backends import chosen, location
from shared.errors import ExtraMissingError, IndexFolderError, IndexPathError
from shared.files import index_folder
from shared.files.index_folder import ClusterPath, index_path, is_cluster
from shared.opensearch.connection import Address
from tests.conftest import Idx


def test_the_path_of_a_cluster_keeps_its_spelling() -> None:
    url = "opensearch://node:9200/papers"
    path = index_path(Path(url))
    assert isinstance(path, ClusterPath)
    assert str(path) == str(path.absolute()) == str(location(url)) == f"{path}" == url
    assert is_cluster("opensearchs://node/papers")
    assert not is_cluster("./opensearch")
    assert not is_cluster("opensearch:")
    assert type(index_path("opensearch")) is type(Path())


def test_an_address_is_read_or_refused() -> None:
    address = Address.of("opensearchs://node/papers")
    assert (address.nodes, address.name, address.is_tls) == ((("node", 9200),), "papers", True)
    several = Address.of(Path("opensearch://[::1]:92,node,10.0.0.1:9201/p"))
    assert several.nodes == (("::1", 92), ("node", 9200), ("10.0.0.1", 9201))
    assert str(several.path) == "opensearch://[::1]:92,node,10.0.0.1:9201/p"
    for wrong in (
        "node:x/p",
        "node/",
        "node/a/b",
        "node/UP",
        "node/_p",
        "node/p?x=1",
        "me:pw@node/p",
        "node,me:pw@other/p",
        "me:p/pw@node/p",
        "me:p?pw@node/p",
        "me:p#pw@node/p",
        "me:p,pw@node/p",
        "node,/p",
        "node,other:x/p",
    ):
        with pytest.raises(IndexPathError) as error:
            Address.of(f"opensearch://{wrong}")
        assert "pw" not in str(error.value)


def test_an_address_with_a_password_is_refused_before_anything_shows_it(
    idx: Idx, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("shared.backends.find_spec", lambda _: None)
    monkeypatch.setenv("HOME", str(tmp_path))
    url = "opensearch://me:s/pw@node:92/p"
    with pytest.raises(IndexPathError, match="must not contain a user") as error:
        location(url)
    assert "pw" not in str(error.value)
    option = ("--index-path", url)
    for command in (
        ("backup", "kept", *option),
        ("mcp-config", "cursor", "--write", *option),
        ("config", "set", "index_path", url),
    ):
        ran = idx(*command, code=1)
        assert "must not contain a user" in ran.stderr
        assert "pw" not in ran.stdout + ran.stderr
    assert not any("pw" in file.read_text() for file in tmp_path.rglob("*") if file.is_file())


def test_a_folder_loads_nothing_of_a_cluster(empty_index: Path) -> None:
    script = (
        "import sys; from shared import Searcher\n"
        f"with Searcher({str(empty_index)!r}) as searcher: searcher.search('word')\n"
        "assert 'shared.opensearch' not in sys.modules\n"
        "assert 'opensearchpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_the_extra_is_named_if_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shared.backends.find_spec", lambda _: None)
    with pytest.raises(ExtraMissingError, match=r"needs the extra \"opensearch\""):
        Searcher("opensearch://node/papers")
    assert chosen("folder", "IndexOnCluster") is None


def test_work_on_files_refuses_a_cluster() -> None:
    with pytest.raises(IndexFolderError, match="is on a cluster, and this works on the files"):
        index_folder.absolute("opensearch://node/papers")


def test_the_address_may_stand_in_the_configuration(idx: Idx) -> None:
    idx("config", "set", "index_path", "opensearch://127.0.0.1:9/papers")
    assert "127.0.0.1:9/papers does not answer" in idx("search", "word", code=1).stderr
