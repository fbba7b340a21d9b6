"""What the documentation says of other people's clients is what is run."""

import json
import re
from pathlib import Path

from tests.clients.scenarios import LEFT_OUT, REAL, WITH_FIXTURES

_ROOT = Path(__file__).parents[2]
_HERE = Path(__file__).parent

PAGE = (_ROOT / "docs/measured/conformance.md").read_text()


def test_every_scenario_is_told() -> None:
    _, real, with_fixtures, left_out = PAGE.split("### ")
    assert set(re.findall("`(.+?)`", real)) == REAL
    assert set(re.findall("`(.+?)`", with_fixtures)) == WITH_FIXTURES
    rows = re.findall(r"^\| `(.+?)…?` \| (.+) \|$", left_out, re.MULTILINE)
    assert dict(rows) == LEFT_OUT


def test_the_versions_are_those_that_are_installed() -> None:
    lock = json.loads((_HERE / "node/package-lock.json").read_text())
    versions = {
        name: lock["packages"][f"node_modules/@modelcontextprotocol/{name}"]["version"]
        for name in ("sdk", "client", "inspector", "conformance")
    }
    pinned = (_HERE / "python/requirements.txt").read_text()
    [fastmcp] = re.findall(r"^fastmcp==(\S+)", pinned, re.MULTILINE)
    told = re.findall(r"^\| \[.*? \| (\d\S*) \|", PAGE, re.MULTILINE)
    assert told == [versions["sdk"], versions["client"], versions["inspector"], fastmcp]
    assert f"Version {versions['conformance']}," in PAGE


def test_what_is_installed_is_known_by_its_hash_and_from_anywhere() -> None:
    lock = json.loads((_HERE / "node/package-lock.json").read_text())
    packages = {path: entry for path, entry in lock["packages"].items() if path}
    assert all("integrity" in entry or entry.get("inBundle") for entry in packages.values())
    assert not any("resolved" in entry for entry in packages.values())
