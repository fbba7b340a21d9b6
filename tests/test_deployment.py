"""The descriptions in deployment/ are valid, and say what is true of this version."""

import json
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator

from deployment.bundle.contents import add_pictures
from server.http.tokens import read_tokens
from tests.offered_tools import OFFERED
from tests.programs import run

ROOT = Path(__file__).parents[1]
SCHEMAS = ROOT / "tests" / "data" / "schemas"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
README = (ROOT / "README.md").read_text()

DESCRIPTIONS = [
    ("server.json", "mcp-server-2025-12-11.json"),
    ("manifest.json", "mcpb-manifest-0.3.json"),
]


def described(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((ROOT / "deployment" / name).read_text())
    return content


@pytest.mark.parametrize(("name", "schema"), DESCRIPTIONS)
def test_a_description_is_valid(name: str, schema: str) -> None:
    validator = Draft7Validator(json.loads((SCHEMAS / schema).read_text()))
    content = described(name)
    assert [error.message for error in validator.iter_errors(content)] == []
    # What is required is looked for: the schemas are not just anything.
    del content["description"]
    assert [*validator.iter_errors(content)]


@pytest.mark.parametrize("name", ["server.json", "manifest.json"])
def test_a_description_is_of_this_version(name: str) -> None:
    content = described(name)
    assert content["version"] == PROJECT["version"]
    assert content["description"] == PROJECT["description"]
    if name == "server.json":
        (package,) = content["packages"]
        assert (package["identifier"], package["version"]) == (PROJECT["name"], PROJECT["version"])


def test_the_readme_has_the_name_that_the_registry_looks_for() -> None:
    assert f"<!-- mcp-name: {described('server.json')['name']} -->" in README


def test_the_bundle_is_what_is_there() -> None:
    manifest = described("manifest.json")
    module = manifest["server"]["mcp_config"]["args"][-2]
    assert PROJECT["scripts"]["mcp-lucene"] == f"{module}.__main__:main"
    assert manifest["license"] == PROJECT["license"]
    listed = [
        (name, does)
        for name, does in re.findall(r"^\| `(\w+)` \| (.+) \|$", README, re.MULTILINE)
        # The bundle starts the server without administration.
        if name in OFFERED
    ]
    assert [(tool["name"], tool["description"]) for tool in manifest["tools"]] == listed


def test_the_files_that_the_image_is_made_of_exist() -> None:
    text = (ROOT / "deployment" / "Containerfile").read_text()
    named = set(re.findall(r"/src/([\w./]+)", text))
    sources = {name for name in named if not name.startswith("dist")}
    assert len(sources) == 11
    assert [name for name in sources if not (ROOT / name).exists()] == []
    labels = dict(re.findall(r'org\.opencontainers\.image\.(\w+)="([^"]+)"', text))
    assert labels["licenses"] == PROJECT["license"]
    assert labels["description"] == PROJECT["description"]
    assert f"ARG VERSION={PROJECT['version']}\n" in text


def test_the_image_installs_nothing_that_is_not_pinned() -> None:
    text = (ROOT / "deployment" / "Containerfile").read_text().replace("\\\n", "")
    commands = re.findall(r"\$(?:pip|build) ([^&;]+)", text)
    assert len(commands) == 6
    for command in commands:
        if command.startswith("wheel "):
            continue
        if "./pylucene ." in command:
            # Built by what is installed, which is pinned.
            assert "--no-build-isolation" in text
        else:
            assert re.search("--require-hashes --requirement|--no-index", command), command
    pinned = (ROOT / "deployment" / "build.txt").read_text()
    system = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]
    assert all(f"{needed} " in pinned for needed in system["requires"])
    pylucene = tomllib.loads((ROOT / "pylucene" / "pyproject.toml").read_text())
    assert pylucene["build-system"]["requires"] == []


def test_the_compose_file_is_valid_and_gives_the_container_no_rights() -> None:
    content = yaml.safe_load((ROOT / "deployment" / "compose.yaml").read_text())
    validator = Draft7Validator(json.loads((SCHEMAS / "compose-spec.json").read_text()))
    assert [error.message for error in validator.iter_errors(content)] == []
    assert [*validator.iter_errors({**content, "services": {"server": {"read_only": []}}})]
    server = content["services"]["server"]
    assert server["image"] == f"mcp-lucene:{PROJECT['version']}"
    assert (server["read_only"], server["cap_drop"]) == (True, ["ALL"])
    assert server["security_opt"] == ["no-new-privileges:true"]
    assert all(port.startswith("127.0.0.1:") for port in server["ports"])
    assert server["user"] == "10001:10001"


def test_the_token_of_the_page_is_one(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "deployment.md").read_text()
    (command,) = re.findall(r"^\(umask .+$", page, re.MULTILINE)
    unit = (ROOT / "deployment" / "mcp-lucene.service").read_text()
    assert "--token-file %E/mcp-lucene/token" in unit
    # What systemd means by %E, unless a variable says otherwise.
    file = tmp_path / ".config" / "mcp-lucene" / "token"
    file.parent.mkdir(parents=True)
    subprocess.run(
        ["/bin/sh", "-c", command], env={**os.environ, "HOME": str(tmp_path)}, check=True
    )
    (token,) = read_tokens(file)
    assert (token.name, token.scopes) == ("me", frozenset({"read"}))


def test_the_unit_is_one_of_systemd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("there is no systemd-analyze")
    unit = ROOT / "deployment" / "mcp-lucene.service"
    program = tmp_path / ".local" / "bin" / "mcp-lucene"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    done = run(analyze, "verify", "--user", unit, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.findall(r" (--[a-z-]+)", unit.read_text()) == [
        *("--http", "--host", "--port", "--token-file")
    ]


def test_a_bundle_has_the_pictures_that_its_manifest_names(tmp_path: Path) -> None:
    content = described("manifest.json")
    add_pictures(content, tmp_path)
    for name in (content["icon"], *content["screenshots"]):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
