"""Bundles hold everything: a client starts one by its own manifest, with nothing else installed."""

import asyncio
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from deployment.bundle import contents
from deployment.bundle.contents import manifest
from deployment.bundle.platforms import PLATFORMS, PYTHON, Platform
from tests.programs import run

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
PINS = (
    ROOT / "deployment" / "requirements.txt",
    ROOT / "deployment" / "pycld2" / "requirements.txt",
)
SCHEMA = json.loads((ROOT / "tests" / "data" / "schemas" / "mcpb-manifest-0.3.json").read_text())
NODE = ROOT / "tests" / "clients" / "node" / "node_modules"

MEGABYTES = 140
"""The most that a bundle may have."""

SYSTEMS = {"linux": "linux", "win32": "windows", "darwin": "macos"}
PROCESSORS = {"x86_64": "x86_64", "aarch64": "arm64", "arm64": "arm64", "AMD64": "x64"}

each_platform = pytest.mark.parametrize("target", PLATFORMS, ids=lambda target: target.name)


@each_platform
def test_the_manifest_of_a_platform_names_its_system_and_its_python(target: Platform) -> None:
    content = manifest(target)
    assert [error.message for error in Draft7Validator(SCHEMA).iter_errors(content)] == []
    assert content["compatibility"] == {"platforms": [target.system]}
    program = content["server"]["entry_point"]
    assert program.endswith(target.python)
    assert content["server"]["mcp_config"]["command"] == f"${{__dirname}}/{program}"


def test_the_packages_of_a_bundle_are_those_that_the_tests_run_with() -> None:
    def pins(*files: Path) -> set[str]:
        text = "\n".join(file.read_text("utf-8") for file in files)
        found = re.findall(r"^[\w.-]+==(?:[^#]|\n)+?(?=\n    #|\Z)", text, re.MULTILINE)
        # Extras need some packages on more Pythons, so that their conditions are others.
        return {re.sub(r" ;[^\\\n]* ", " ", pin) for pin in found}

    bundled = pins(*PINS)
    assert len(bundled) > 50
    assert bundled <= pins(ROOT / "requirements.txt")


def test_a_bundle_has_all_that_the_programs_need() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    needed = {re.split(r"[\[<>=]", text)[0] for text in project["dependencies"]}
    text = "\n".join(file.read_text("utf-8") for file in PINS)
    assert needed - set(re.findall(r"^([\w.-]+)==", text, re.MULTILINE)) == {"pylucene"}


def test_an_archive_depends_on_the_files_only(tmp_path: Path) -> None:
    def pack(name: str, files: list[str]) -> bytes:
        folder = tmp_path / name
        (folder / "bin").mkdir(parents=True)
        for file in files:
            (folder / file).write_text(file)
            (folder / file).chmod(0o755 if file.startswith("bin/") else 0o600)
        contents.pack(folder, tmp_path / f"{name}.zip", 1_000_000_000)
        return (tmp_path / f"{name}.zip").read_bytes()

    assert pack("one", ["bin/run", "text"]) == pack("two", ["text", "bin/run"])
    with zipfile.ZipFile(tmp_path / "one.zip") as packed:
        modes = {entry.filename: oct(entry.external_attr >> 16) for entry in packed.infolist()}
        assert packed.infolist()[0].date_time == (2001, 9, 9, 1, 46, 40)
    assert modes == {"bin/run": "0o100755", "text": "0o100644"}


def bundle(target: Platform) -> Path:
    path = DIST / f"mcp-lucene-{manifest(target)['version']}-{target.name}.mcpb"
    assert path.exists(), f"{path.name} is not in dist; run: make bundles"
    return path


@pytest.mark.soak
@each_platform
def test_a_bundle_is_small_enough_and_compiled_for_its_platform_throughout(
    target: Platform,
) -> None:
    path = bundle(target)
    assert path.stat().st_size < MEGABYTES * 1e6
    with zipfile.ZipFile(path) as packed:
        names = packed.namelist()
        assert json.loads(packed.read("manifest.json")) == manifest(target)
    versions = re.findall(
        r"\.(?:cpython-|cp)(\d+)[^/]*\.(?:so|pyd)$", "\n".join(names), re.MULTILINE
    )
    assert set(versions) == {PYTHON.replace(".", "")}
    assert any(name.endswith("/java-runtime/release") for name in names)


@pytest.mark.soak
@each_platform
def test_the_official_tool_finds_a_bundle_valid(target: Platform, tmp_path: Path) -> None:
    node = shutil.which("node") or next(iter(NODE.glob("node-linux-*/bin/node")), None)
    if node is None or not NODE.exists():
        pytest.skip("the MCPB tool is not installed; make clients does it if there is npm")
    tool = (node, NODE / "@anthropic-ai" / "mcpb" / "dist" / "cli" / "cli.js")
    subprocess.run([*tool, "unpack", bundle(target), tmp_path], check=True, capture_output=True)
    done = run(*tool, "validate", tmp_path / "manifest.json")
    assert "Manifest schema validation passes!" in done.stdout
    program = tmp_path / manifest(target)["server"]["entry_point"]
    assert program.stat().st_mode & 0o111
    assert (program.parents[1 if target.system != "win32" else 0] / "lib").is_dir()


def unpacked(path: Path, folder: Path) -> dict[str, Any]:
    """Unpack a bundle as a client does, and return its manifest."""
    with zipfile.ZipFile(path) as packed:
        for entry in packed.infolist():
            Path(packed.extract(entry, folder)).chmod(entry.external_attr >> 16 & 0o777)
    content: dict[str, Any] = json.loads((folder / "manifest.json").read_text("utf-8"))
    return content


def without_network() -> list[str]:
    """The start of a command that has no network, where the system allows it."""
    unshare = shutil.which("unshare")
    if unshare and not subprocess.run([unshare, "-rn", "true"], check=False).returncode:
        return [unshare, "-rn"]
    return []


@pytest.mark.soak
@pytest.mark.timeout(600)
def test_a_client_starts_a_bundle_by_its_manifest_alone(tmp_path: Path) -> None:
    name = f"{SYSTEMS[sys.platform]}-{PROCESSORS[platform.machine()]}"
    target = next((target for target in PLATFORMS if target.name == name), None)
    if target is None:
        pytest.skip(f"there is no bundle for {name}")
    # A space, as in the folders of programs on macOS and Windows.
    folder = tmp_path / "MCP extensions"
    config = unpacked(bundle(target), folder)["server"]["mcp_config"]
    index = tmp_path / "an index"
    values = {"${__dirname}": str(folder), "${user_config.index_path}": str(index)}

    def substituted(text: str) -> str:
        for variable, value in values.items():
            text = text.replace(variable, value)
        assert "${" not in text
        return text

    command, *arguments = (substituted(text) for text in (config["command"], *config["args"]))
    kept = ("SYSTEMROOT", "TEMP", "TMP")
    environment = {variable: os.environ[variable] for variable in kept if variable in os.environ}
    environment |= {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path), "PATH": ""}

    start = without_network()
    (tmp_path / "lease.txt").write_text("The notice period is three months.")
    run(
        *(*start, command, "-I", "-m", "idx", "add", "lease.txt", "--index-path", index),
        cwd=tmp_path,
        env=environment,
    )
    server = [*start, command, *arguments]

    async def session() -> tuple[set[str], str]:
        parameters = StdioServerParameters(command=server[0], args=server[1:], env=environment)
        async with Client(stdio_client(parameters)) as client:
            tools = await client.list_tools()
            found = await client.call_tool("Search", {"query": "notice period"})
            return {tool.name for tool in tools.tools}, json.dumps(found.structured_content)

    tools, found = asyncio.run(session())
    assert tools == {tool["name"] for tool in manifest(target)["tools"]}
    assert "three months" in found
