"""The source distribution: complete, reproducible, and described by PKG-INFO and README."""

import re
import sys
import tarfile
from email import message_from_bytes
from pathlib import Path

from backend import build_sdist, source

from tests import programs

_FOLDER = "pylucene-10.5.0"


def members(archive: Path) -> dict[str, bytes]:
    """The files of an archive."""
    with tarfile.open(archive) as tar:
        files = {member.name: tar.extractfile(member) for member in tar.getmembers()}
        return {name: file.read() for name, file in files.items() if file}


def test_it_holds_the_whole_folder(pylucene: Path, tmp_path: Path) -> None:
    assert build_sdist(str(tmp_path)) == f"{_FOLDER}.tar.gz"
    paths = [path.relative_to(pylucene) for path in pylucene.rglob("*") if path.is_file()]
    here = {
        f"{_FOLDER}/{path.as_posix()}": (pylucene / path).read_bytes()
        for path in paths
        # What Python and its tools leave in a folder is not part of the package.
        if not any(part == "__pycache__" or part.startswith(".") for part in path.parts)
    }
    packed = members(tmp_path / f"{_FOLDER}.tar.gz")
    del packed[f"{_FOLDER}/PKG-INFO"]
    assert packed == here


def test_it_is_the_same_every_time(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    name = build_sdist(str(tmp_path))
    build_sdist(str(tmp_path / "other"))
    assert (tmp_path / name).read_bytes() == (tmp_path / "other" / name).read_bytes()


def test_its_metadata_is_that_of_pyproject_toml(pylucene: Path, tmp_path: Path) -> None:
    packed = members(tmp_path / build_sdist(str(tmp_path)))
    info = message_from_bytes(packed[f"{_FOLDER}/PKG-INFO"])
    project = source.project()
    assert info["Name"] == project["name"]
    assert info["Version"] == project["version"]
    assert info["License-Expression"] == project["license"]
    assert info.get_all("Requires-Dist") == project["dependencies"]
    assert info.get_all("Classifier") == project["classifiers"]
    assert "licenses/LICENSE-icu4j.txt" in info.get_all("License-File", [])
    text = info.get_payload(decode=True)
    assert text == (pylucene / "README.md").read_bytes()


def test_the_example_prints_what_the_readme_says(pylucene: Path) -> None:
    text = (pylucene / "README.md").read_text(encoding="utf-8")
    program, printed = re.findall(r"```(?:python|text)\n(.*?)```", text, re.DOTALL)
    done = programs.run(sys.executable, "-c", program, timeout=60, check=False)
    assert done.stdout == printed, done.stderr
