"""Bundles as archives: their packages and manifest, and their description for the MCP registry."""

import csv
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any, Final

from deployment.bundle.platforms import PYTHON, Platform

REQUIREMENTS: Final = Path(__file__).parents[1] / "requirements.txt"


def install(platform: Platform, dist: Path, target: Path) -> None:
    """Install the pinned packages, and both programs and what is built with them."""
    _run(platform, target, "--require-hashes", "--requirements", REQUIREMENTS)
    # Its cache would hold wheels of the same version that were built earlier.
    built = ("--no-cache", "--no-index", "--find-links", dist)
    _run(platform, target, *built, "pylucene", "pycld2", "mcp-lucene")
    # Scripts name the Python of this machine in their first line.
    for folder in ("bin", "Scripts"):
        shutil.rmtree(target / folder, ignore_errors=True)
    # When uv read a wheel.
    for file in (target / ".lock", *target.glob("*.dist-info/uv_cache.json")):
        file.unlink(missing_ok=True)
    for record in sorted(target.glob("*.dist-info/RECORD")):
        _list_what_is_there(record, target)


def _run(platform: Platform, target: Path, *arguments: str | Path) -> None:
    command = (Path(sys.executable).with_name("uv"), "pip", "install", "--quiet", "--no-deps")
    options = ("--python-platform", platform.wheels, "--python-version", PYTHON)
    # The certificates of this machine, as pip uses them.
    certificates = "--system-certs"
    wheels = ("--only-binary", ":all:", "--link-mode", "copy", "--target", target)
    done = subprocess.run(
        [*command, certificates, *options, *wheels, *arguments], check=False
    ).returncode
    if done:
        sys.exit(f"the packages for {platform.name} could not be installed: uv's words say why")


def _list_what_is_there(record: Path, target: Path) -> None:
    rows = csv.reader(record.read_text("utf-8").splitlines())
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(
        sorted(row for row in rows if (target / row[0]).exists())
    )
    record.write_text(text.getvalue(), "utf-8")


_MANIFEST: Final = Path(__file__).parents[1] / "manifest.json"

PYTHON_FOLDER: Final = "server/python"


def manifest(platform: Platform) -> dict[str, Any]:
    """Return the template with the system and the program of a platform."""
    content: dict[str, Any] = json.loads(_MANIFEST.read_text("utf-8"))
    program = f"{PYTHON_FOLDER}/{platform.python}"
    content["server"]["entry_point"] = program
    content["server"]["mcp_config"]["command"] = f"${{__dirname}}/{program}"
    content["compatibility"]["platforms"] = [platform.system]
    return content


def add_pictures(content: dict[str, Any], folder: Path) -> None:
    """Put the pictures that a manifest names beside it: the icon, and some of the documentation."""
    places = (Path(__file__).parent, Path(__file__).parents[2] / "docs" / "pictures")
    for name in (content["icon"], *content["screenshots"]):
        found = next(place / name for place in places if (place / name).exists())
        shutil.copy(found, folder / name)


def pack(folder: Path, target: Path, seconds: int) -> None:
    """Pack a folder as a ZIP archive that is the same each time for the same files."""
    when = time.gmtime(seconds)[:6]
    files = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*")}
    with zipfile.ZipFile(target, "w") as archive:
        for name, path in sorted(files.items()):
            if path.is_dir():
                continue
            entry = zipfile.ZipInfo(name, when)
            # As on Linux, also elsewhere.
            entry.create_system = 3
            mode = 0o755 if path.stat().st_mode & 0o100 else 0o644
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, path.read_bytes(), compresslevel=9)


_DESCRIPTION: Final = Path(__file__).parents[1] / "server.json"


def describe(target: Path, bundles: list[Path]) -> None:
    """Write `deployment/server.json` with a package for each bundle.

    The bundles are expected among the files of the release `vVERSION` on GitHub, in the repository
    that GITHUB_REPOSITORY names, or else in that of the server's name.
    """
    content = json.loads(_DESCRIPTION.read_text("utf-8"))
    repository = os.environ.get("GITHUB_REPOSITORY") or content["name"].removeprefix("io.github.")
    release = f"https://github.com/{repository}/releases/download/v{content['version']}"
    content["packages"] += [
        {
            "registryType": "mcpb",
            "identifier": f"{release}/{bundle.name}",
            "fileSha256": hashlib.sha256(bundle.read_bytes()).hexdigest(),
            "transport": {"type": "stdio"},
        }
        for bundle in bundles
    ]
    target.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", "utf-8")
