"""The programs in a bundle and the packages that they need, installed for another platform."""

import csv
import io
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

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
