"""One daemon for several assistants: who shares it, what happens when it or a relay dies."""

import asyncio
import json
import os
import shutil
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp

import pytest

from server.relay import can_share
from shared import Document, daemons
from tests.conftest import Idx, add_documents, server_with
from tests.programs import PROGRAMS, run
from tests.server.raw_client import MODERN, RawClient, tool_call
from tests.waiting import wait_for

Start = Callable[..., RawClient]

KILL = getattr(signal, "SIGKILL", signal.SIGTERM)

on_posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such thing")


@pytest.fixture(autouse=True)
def runtime_folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of the session, with a name that is short enough for a socket."""
    short = None if sys.platform == "win32" else "/tmp"  # noqa: S108 - mkdtemp makes it private
    folder = Path(mkdtemp(dir=short, prefix="run-"))
    for variable in ("XDG_RUNTIME_DIR", "LOCALAPPDATA"):
        monkeypatch.setenv(variable, str(folder))
    monkeypatch.setenv("IDX_SHARE", "on")
    yield folder
    for daemon in daemons.running():
        _kill(daemon["pid"])
    # Windows keeps what this process has open.
    shutil.rmtree(folder, ignore_errors=sys.platform == "win32")


@pytest.fixture
def _without_sockets(runtime_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The name of the session's folder is too long for a socket."""
    folder = runtime_folder / ("x" * 90)
    folder.mkdir(mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))


@pytest.fixture
def index(empty_index: Path) -> Path:
    add_documents(empty_index, Document("a", "A", "some text"))
    return empty_index


@pytest.fixture
def start(index: Path) -> Iterator[Start]:
    started: list[RawClient] = []

    def start(*options: str, path: Path = index) -> RawClient:
        started.append(RawClient(path, *options))
        return started[-1]

    yield start
    for client in started:
        client.process.kill()
        with client.process:
            pass


def _finds(client: RawClient) -> bool:
    return bool(client.search("text")["structuredContent"]["totalHits"] == 1)


def _daemon() -> int:
    (daemon,) = daemons.running()
    return int(daemon["pid"])


def _address() -> Path:
    folder = daemons.folder()
    assert folder
    (path,) = (file for file in folder.iterdir() if file.suffix in {".socket", ".port"})
    return path


def _kill(process: int) -> None:
    os.kill(process, KILL)
    with suppress(ProcessLookupError, ChildProcessError):
        while any(daemon["pid"] == process for daemon in daemons.running()):
            time.sleep(0.01)


def test_assistants_share_a_process_and_need_little_of_their_own(start: Start) -> None:
    clients = [start(), start(), start()]
    for client in clients:
        assert client.initialize()["result"]["serverInfo"]["name"] == "mcp-lucene"
        assert _finds(client)
    (daemon,) = daemons.running()
    assert daemon["clients"] == len(clients)
    if sys.platform == "linux":
        for client in clients:
            state = Path(f"/proc/{client.process.pid}/status").read_text()
            kilobytes = int(state.split("VmRSS:")[1].split()[0])
            assert kilobytes < 25_000
    assert clients[0].end() == (b"", b"")
    assert clients[0].process.returncode == 0
    assert _finds(clients[1])


def test_who_would_be_answered_otherwise_has_a_process_of_his_own(
    start: Start, index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start().initialize()
    start("--fence").initialize()
    assert len(list(daemons.running())) == 2
    names = {daemons.name_of([str(index)]), daemons.name_of([str(tmp_path / "other-index")])}
    monkeypatch.setenv("IDX_ORIGINALS", str(tmp_path))
    names.add(daemons.name_of([str(index)]))
    # As an upgrade does.
    os.utime(Path(daemons.__file__).parent)
    names.add(daemons.name_of([str(index)]))
    assert len(names) == 4


def test_a_relative_path_means_that_of_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = set()
    # The argument counts, not the variable.
    monkeypatch.setenv("IDX_INDEX_PATH", str(tmp_path / "index"))
    for folder in ("a", "b"):
        (tmp_path / folder / "model").mkdir(parents=True)
        monkeypatch.chdir(tmp_path / folder)
        names |= {daemons.name_of(["index"]), daemons.name_of(["--fence", "index"])}
        for variable in ("IDX_ORIGINALS", "IDX_CONFIG", "IDX_SEMANTIC"):
            with monkeypatch.context() as relative:
                relative.setenv(variable, "model")
                names.add(daemons.name_of([str(tmp_path)]))
    assert len(names) == 10
    once = daemons.name_of([str(tmp_path)]), daemons.name_of([])
    monkeypatch.chdir(tmp_path)
    # Nor does what a session adds.
    monkeypatch.setenv("XDG_SESSION_ID", "7")
    monkeypatch.setenv("LANG", "C")
    assert (daemons.name_of([str(tmp_path)]), daemons.name_of([])) == once


@pytest.mark.soak
def test_an_assistant_can_have_a_server_of_its_own(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = start("--no-share")
    client.initialize()
    assert _finds(client)
    assert not list(daemons.running())
    assert can_share(["index", "--fence"])
    assert not any(map(can_share, (["--admin"], ["--http"], ["--version"])))
    monkeypatch.setenv("IDX_SHARE", "off")
    assert not can_share(["index"])
    assert can_share(["index", "--share"])


def test_a_relay_goes_on_when_the_daemon_was_killed(start: Start) -> None:
    client = start()
    client.initialize()
    first = _daemon()
    _kill(first)
    assert _finds(client)
    assert _daemon() != first


@on_posix
def test_what_was_asked_of_a_daemon_that_died_is_asked_of_the_next(start: Start) -> None:
    client = start()
    client.initialize()
    first = _daemon()
    os.kill(first, signal.SIGSTOP)
    client.send(tool_call(1, query="text"))
    client.send({"jsonrpc": "2.0", "id": 2, "method": "ping"})
    os.kill(first, KILL)
    answers = [client.receive(), client.receive()]
    assert sorted(answer["id"] for answer in answers) == [1, 2]
    (found,) = (answer for answer in answers if answer["id"] == 1)
    assert found["result"]["structuredContent"]["totalHits"] == 1


@pytest.mark.soak
def test_a_subscription_outlives_the_daemon(start: Start, index: Path) -> None:
    client = start()
    client.initialize()
    client.request("resources/subscribe", uri="document://a")
    _kill(_daemon())
    # The next daemon is asked only what the client still waits for.
    assert client.request("ping")["result"] == {}
    add_documents(index, Document("a", "A", "another text"))
    told = client.receive()
    assert told["method"] == "notifications/resources/updated"


@pytest.mark.soak
def test_a_session_of_the_newer_protocol_goes_on_too(start: Start, index: Path) -> None:
    client = start()
    assert "capabilities" in client.request("server/discover", _meta=MODERN)["result"]
    listened = {"toolsListChanged": True, "resourcesListChanged": True}
    listen = {
        "method": "subscriptions/listen",
        "params": {"notifications": listened, "_meta": MODERN},
    }
    client.send({"jsonrpc": "2.0", "id": "L", **listen})
    for _ in range(2):
        _kill(_daemon())
        # Unlike a list of tools, which needs no Java, it is answered when the index is listened to.
        found = client.request(
            "tools/call", name="Search", arguments={"query": "text"}, _meta=MODERN
        )
        assert found["result"]["structuredContent"]["totalHits"] == 1
    add_documents(index, Document("b", "B", "another text"))
    told = client.receive()
    while "method" not in told or told["method"].endswith("acknowledged"):
        assert "error" not in told
        told = client.receive()
    assert told["method"] == "notifications/resources/list_changed"


def test_relays_that_start_at_once_have_one_daemon(start: Start) -> None:
    clients = [start() for _ in range(4)]
    for client in clients:
        client.initialize()
        assert _finds(client)
    # No daemon that nobody finds any more has some of them.
    (daemon,) = daemons.running()
    assert daemon["clients"] == len(clients)


def test_a_killed_relay_takes_nothing_with_it(start: Start) -> None:
    killed, other = start(), start()
    killed.initialize()
    other.initialize()
    killed.send_line(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","par')
    killed.process.kill()
    assert _finds(other)
    wait_for(lambda: next(iter(daemons.running()))["clients"] == 1)


@pytest.mark.soak
def test_an_old_socket_is_replaced(start: Start) -> None:
    start().initialize()
    path = _address()
    _kill(_daemon())
    path.unlink()
    path.write_text("anything")
    client = start()
    client.initialize()
    assert _finds(client)


@on_posix
def test_a_folder_that_others_can_open_is_not_used(start: Start, runtime_folder: Path) -> None:
    folder = runtime_folder / f"mcp-lucene-{getattr(os, 'getuid', int)()}"
    folder.mkdir()
    # Whatever the umask is.
    folder.chmod(0o755)
    client = start()
    client.initialize()
    assert _finds(client)
    assert not list(folder.iterdir())
    folder.rmdir()
    elsewhere = runtime_folder / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    folder.symlink_to(elsewhere)
    start().initialize()
    assert not list(elsewhere.iterdir())


@pytest.mark.usefixtures("_without_sockets")
def test_where_no_socket_can_be_made_a_port_is_shared(start: Start) -> None:
    clients = [start(), start()]
    for client in clients:
        client.initialize()
        assert _finds(client)
    assert _address().suffix == ".port"
    (daemon,) = daemons.running()
    assert daemon["clients"] == len(clients)
    _kill(daemon["pid"])
    assert _finds(clients[0])


@pytest.mark.usefixtures("_without_sockets")
@pytest.mark.parametrize("said", [b"", b"x" * 64 + b"\n" + b"0" * 64 + b"\n", b"y" * 200], ids=len)
def test_who_lacks_the_key_of_a_port_hears_nothing(start: Start, said: bytes) -> None:
    client = start()
    client.initialize()
    path = _address()
    with socket.create_connection(("127.0.0.1", json.loads(path.read_text())["port"])) as stranger:
        stranger.settimeout(10)
        stranger.sendall(said)
        heard = b"".join(iter(lambda: stranger.recv(1_000), b""))
    # What proves the daemon to who has sent a nonce, and no greeting.
    assert len(heard) in {0, 65}
    assert _finds(client)


@pytest.mark.usefixtures("_without_sockets")
def test_a_stranger_at_a_port_learns_nothing(start: Start) -> None:
    start().initialize()
    path = _address()
    _kill(_daemon())
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        known = json.loads(path.read_text())
        path.write_text(json.dumps({**known, "port": stranger.getsockname()[1]}))
        client = start()
        connection, _ = stranger.accept()
        with connection:
            connection.settimeout(5)
            heard = connection.recv(1_000)
            connection.sendall(b"0" * 64 + b"\n")
            # The relay leaves at once.
            assert connection.recv(1_000) == b""
            client.initialize()
            assert _finds(client)
    assert len(heard) == 65
    assert known["key"].encode() not in heard


@on_posix
def test_a_folder_that_others_may_move_is_not_used(
    runtime_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Whoever may rename the folder could put another one in its place.
    around = runtime_folder / "open"
    around.mkdir()
    around.chmod(0o777)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(around))
    assert daemons.folder() is None
    around.chmod(0o1777)
    assert daemons.folder()


def test_an_error_at_the_start_is_told_as_by_a_server_of_its_own(index: Path) -> None:
    told = [
        run(PROGRAMS / "mcp-lucene", index, "--tools", "", *options, input="", check=False)
        for options in ([], ["--no-share"])
    ]
    assert told[0].returncode == told[1].returncode == 1
    assert "--tools names no tool" in told[0].stderr
    assert told[0].stderr == told[1].stderr
    misspelled = run(PROGRAMS / "mcp-lucene", index, "--tool", check=False)
    assert "Usage: mcp-lucene [OPTIONS]" in misspelled.stderr


def test_lines_that_are_no_messages_are_answered(start: Start) -> None:
    client = start()
    client.initialize()
    for line in (
        b"nothing",
        b"[]",
        b'{"id": 7}',
        b"\xff",
        b'{"jsonrpc":"2.0","id":"a\xed\xa0\x80"}',
    ):
        client.send_line(line)
        assert "error" in client.receive()
    assert _finds(client)


def test_a_daemon_ends_when_nobody_has_come_for_a_while(index: Path, runtime_folder: Path) -> None:
    from server.daemon import Daemon, listening

    path = runtime_folder / f"short.{'port' if sys.platform == 'win32' else 'socket'}"

    async def live() -> None:
        listener, key = listening(path)
        daemon = Daemon(server_with(str(index), "--no-share"), path, key, linger=0.2)
        task = asyncio.create_task(daemon.serve(listener))
        await asyncio.to_thread(_greeting_of, path)
        await asyncio.wait_for(task, 60)

    asyncio.run(live())
    assert not path.exists()


def _greeting_of(path: Path) -> None:
    reached = daemons.connected(path)
    assert reached
    with reached[0]:
        assert reached[1]["clients"] == 0


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="only Linux has /proc")
def test_a_short_session_leaves_nothing_behind(start: Start) -> None:
    client = start()
    client.initialize()
    daemon = Path(f"/proc/{_daemon()}/cmdline")
    client.end()
    # Asking it would be a reason to stay. What has ended has no command line.
    wait_for(lambda: not daemon.exists() or not daemon.read_bytes(), every=0.1)


def test_doctor_shows_what_runs(start: Start, idx_process: Idx, index: Path) -> None:
    start().initialize()
    told = idx_process("doctor", "--index-path", index, code=0).stdout
    (line,) = (line for line in told.splitlines() if "Shared process" in line)
    assert str(_daemon()) in line
    assert "for 1 assistant" in line
