"""The wheels of pycld2 that are built here: they recognize languages as the published ones do."""

import json
import os
import re
import sys
from email import message_from_string
from pathlib import Path

import pytest
from backend import environment, platforms
from backend.console import BuildError

from deployment.pycld2 import wheel as wheels
from tests import programs

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
UV = ROOT / "build" / "release-tools" / "bin" / "uv"

DETECT = """
import json, pycld2, test_pycld2
texts = [text for _, text in test_pycld2.TEST_DATA]
texts += [text[start:start + length] for text in texts for start in (0, 50) for length in (20, 99)]
texts += [f"{one}\\n{other}" for one, other in zip(texts, texts[1:])]
found = []
for text in texts:
    try:
        found.append(pycld2.detect(text, returnVectors=True, isPlainText=True))
    except pycld2.error as error:
        found.append(str(error))
print(json.dumps([pycld2.__file__, [pycld2.LANGUAGES, pycld2.ENCODINGS, found]]))
"""


def install(folder: Path, *arguments: str | Path) -> None:
    """Install pycld2 into a folder without compiling anything."""
    programs.run(
        *(UV, "pip", "install", "--quiet", "--system-certs", "--python", sys.executable),
        *("--no-deps", "--no-build", "--target", folder, *arguments),
        env={name: os.environ[name] for name in os.environ if name != "PATH"} | {"PATH": ""},
    )


def run(packages: Path, sources: Path, *arguments: str) -> str:
    """Run Python with the packages of a folder, and those of the tests of pycld2's authors."""
    return programs.run(
        *(sys.executable, "-S", *arguments),
        cwd=sources,
        env=os.environ | {"PYTHONPATH": f"{packages}{os.pathsep}{sources}"},
    ).stdout


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """The source distribution, without its package, which would be found first."""
    folder = wheels.download(environment.ensure(), tmp_path)
    (folder / "pycld2").rename(folder / "package")
    return folder


@pytest.mark.soak
def test_the_wheel_recognizes_languages_as_the_published_one(tmp_path: Path, sources: Path) -> None:
    ours, published = tmp_path / "ours", tmp_path / "published"
    install(ours, "--no-index", "--find-links", DIST, "pycld2")
    (wheel,) = DIST.glob(f"pycld2-*+{wheels.LABEL}-cp311-abi3-{platforms.here().tag}.whl")
    assert wheel.stat().st_size < 5e6
    run(ours, sources, "-m", "unittest", "test_pycld2")
    file, found = json.loads(run(ours, sources, "-c", DETECT))
    assert Path(file).is_relative_to(ours)
    assert len(found[2]) > 1000
    (version,) = re.findall(r"^pycld2==\S+", wheels.REQUIREMENTS.read_text(), re.MULTILINE)
    try:
        install(published, version)
    except AssertionError as error:
        if "has no usable wheels" not in str(error):
            raise
        pytest.skip("there is no published wheel for this platform")
    file, expected = json.loads(run(published, sources, "-c", DETECT))
    assert Path(file).is_relative_to(published)
    assert found == expected


def test_wheels_have_a_version_of_their_own(tmp_path: Path) -> None:
    folder = tmp_path / "pycld2-1.2"
    folder.mkdir()
    written = "Name: pycld2\nVersion: 1.2\nLicense-File: LICENSE\n\nVersion: 1.2\n"
    (folder / "PKG-INFO").write_text(written)
    version, text = wheels.metadata(folder, "MORE")
    metadata = message_from_string(text)
    assert version == metadata["Version"] == "1.2+abi3"
    assert metadata.get_all("License-File") == ["LICENSE", "MORE"]
    assert metadata.get_payload() == "Version: 1.2\n"


@pytest.mark.parametrize("text", ["", "Name: pycld2\nVersion: 1.1\nLicense-File: LICENSE\n"])
def test_unknown_metadata_ends_the_build(text: str, tmp_path: Path) -> None:
    folder = tmp_path / "pycld2-1.2"
    folder.mkdir()
    (folder / "PKG-INFO").write_text(text)
    with pytest.raises(BuildError, match="has other metadata than expected"):
        wheels.metadata(folder, "MORE")


def test_a_file_that_is_compiled_no_more_ends_the_build(tmp_path: Path) -> None:
    (tmp_path / "setup.py").write_text('"lang_script.cc", "bindings/encodings.cc"')
    for name in ("cld2/internal/lang_script.cc", "bindings/encodings.cc"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).touch()
    assert [file.name for file in wheels.compiled(tmp_path)] == ["lang_script.cc", "encodings.cc"]
    (tmp_path / "bindings" / "encodings.cc").unlink()
    with pytest.raises(BuildError, match="are not where they were"):
        wheels.compiled(tmp_path)
