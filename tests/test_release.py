"""The checks of what is published: each finds what it is there for."""

import base64
import hashlib
import json
import re
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from deployment.bundle.platforms import PLATFORMS
from deployment.release import check

ROOT = Path(__file__).parents[1]


def wheel(
    folder: Path,
    tag: str,
    files: dict[str, bytes],
    listed: dict[str, bytes],
    package: str = "pylucene",
) -> Path:
    """A wheel with these files, whose list of files was made of others."""
    path = folder / f"{package}-1-cp311-abi3-{tag}.whl"
    record = "".join(
        f"{name},sha256={digest(content)},{len(content)}\n" for name, content in listed.items()
    )
    with zipfile.ZipFile(path, "w") as packed:
        for name, content in files.items():
            packed.writestr(name, content)
        packed.writestr("thing-1.dist-info/RECORD", f"{record}thing-1.dist-info/RECORD,,\n")
    return path


def digest(content: bytes) -> str:
    """A hash as lists of files have it."""
    encoded = base64.urlsafe_b64encode(hashlib.sha256(content).digest())
    return encoded.decode().rstrip("=")


@pytest.fixture(scope="module")
def module() -> bytes:
    """The extension module that this environment has installed."""
    return Path(str(distribution("pylucene").locate_file("lucene/_lucene.abi3.so"))).read_bytes()


def test_a_wheel_that_is_what_its_list_says_is_right(tmp_path: Path) -> None:
    files = {"thing.py": b"VERSION = 1\n"}
    assert check.complaints(wheel(tmp_path, "any", files, files)) == []


def test_a_file_that_is_not_as_listed_is_named(tmp_path: Path) -> None:
    found = {"thing.py": b"VERSION = 1\n", "more.py": b""}
    listed = {"thing.py": b"VERSION = 2\n", "less.py": b""}
    assert check.complaints(wheel(tmp_path, "any", found, listed)) == [
        "less.py is in the wheel or in its list of files, but not in both",
        "more.py is in the wheel or in its list of files, but not in both",
        "thing.py has another hash than its list of files says",
    ]


def test_a_platform_that_is_not_published_is_named(tmp_path: Path) -> None:
    (sentence,) = check.complaints(wheel(tmp_path, "win32", {}, {}))
    assert sentence == "its platform win32 is none that pylucene is published for"


def test_a_wheel_without_its_module_is_named(tmp_path: Path) -> None:
    (sentence,) = check.complaints(wheel(tmp_path, "win_amd64", {}, {}))
    assert sentence == "it has 0 extension modules instead of one"


def test_a_module_of_another_platform_is_named(tmp_path: Path, module: bytes) -> None:
    files = {"thing.pyd": module}
    found = check.complaints(wheel(tmp_path, "win_amd64", files, files))
    assert "it loads libjvm.so" in found
    assert any(sentence.endswith("not for AMD64") for sentence in found)
    assert any(sentence.startswith("it looks for libraries in $ORIGIN") for sentence in found)


def test_a_module_that_loads_java_without_need_is_named(tmp_path: Path, module: bytes) -> None:
    files = {"thing.so": module}
    found = check.complaints(wheel(tmp_path, "macosx_11_0_x86_64", files, files, "pycld2"))
    assert "it loads libjvm.so" in found
    assert "it exports PyInit__lucene" in found
    assert any(sentence.startswith("it looks for libraries in $ORIGIN") for sentence in found)


def test_a_module_that_needs_a_newer_system_is_named(module: bytes) -> None:
    found = check.read_module(module)
    published = check.ALLOWED["pylucene"].values()
    allowed = next(each for each in published if each.machine == found.machine)
    newer = check.Module(found.machine, found.libraries, found.paths, found.exports, oldest=(2, 34))
    assert check.module_complaints(allowed, newer) == ["it needs version 2.34 of the system"]
    silent = check.Module(found.machine, frozenset(), found.paths, frozenset(), found.oldest)
    assert check.module_complaints(allowed, silent) == [
        "it does not load the JVM",
        "it does not export what Python calls",
    ]


def test_what_is_no_module_is_an_error() -> None:
    with pytest.raises(ValueError, match="not an extension module"):
        check.read_module(b"text")


PUBLISHED = [*(ROOT / "dist").glob("*.cdx.json")]


@pytest.mark.soak
def test_every_part_of_what_is_published_has_a_licence() -> None:
    assert len(PUBLISHED) >= 2 + len(PLATFORMS), "bills are missing; run: make bundles"
    for file in PUBLISHED:
        content = json.loads(file.read_text())
        parts = {part["purl"]: part for part in content["components"]}
        assert content["specVersion"] == "1.6"
        assert [purl for purl in parts if "licenses" not in parts[purl]] == []
        # SPDX, and no words of others.
        said = [licence for part in parts.values() for licence in part.get("licenses", [])]
        assert [licence for licence in said if "name" in licence.get("license", {})] == []
        if file.name.startswith("pycld2"):
            assert "pkg:github/cld2owners/cld2" in parts
            continue
        assert any(purl.startswith("pkg:maven/org.apache.lucene/lucene-core@") for purl in parts)
        if not file.name.startswith("pylucene"):
            assert any(re.match(r"pkg:pypi/pycld2@[\d.]+(%2B|\+)abi3$", purl) for purl in parts)
            assert any(purl.startswith("pkg:generic/openjdk@25") for purl in parts)
            assert any(purl.startswith("pkg:pypi/pydantic-core@") for purl in parts)


@pytest.mark.soak
def test_the_registry_is_told_of_each_bundle_and_its_hash() -> None:
    content = json.loads((ROOT / "dist" / "server.json").read_text())
    schema = ROOT / "tests" / "data" / "schemas" / "mcp-server-2025-12-11.json"
    errors = Draft7Validator(json.loads(schema.read_text())).iter_errors(content)
    assert [error.message for error in errors] == []
    bundles = {
        package["identifier"].rpartition("/")[2]: package["fileSha256"]
        for package in content["packages"]
        if package["registryType"] == "mcpb"
    }
    assert len(bundles) == len(PLATFORMS)
    for name, sha256 in bundles.items():
        assert hashlib.sha256((ROOT / "dist" / name).read_bytes()).hexdigest() == sha256
