"""The home of OpenSearch nodes, made of the jars of jars.txt: downloaded once per machine."""

import hashlib
import shutil
from pathlib import Path
from typing import Final

import platformdirs
from backend import jars

LOCK: Final = Path(__file__).with_name("jars.txt")
PYTHON: Final = Path(__file__).with_name(".venv") / "bin" / "python"
"""Python with jgo, which downloads the jars."""

VERSION: Final = "3.8.0"

_PLUGINS: Final = {
    "transport-netty4": ("org.opensearch.transport.Netty4ModulePlugin", ""),
    "analysis-common": (
        "org.opensearch.analysis.common.CommonAnalysisModulePlugin",
        "lang-painless",
    ),
    "lang-painless": ("org.opensearch.painless.PainlessModulePlugin", ""),
    "reindex": ("org.opensearch.index.reindex.ReindexModulePlugin", ""),
}
"""The class of each module of OpenSearch, and the module that it extends."""


def home() -> Path:
    """Return the folder of OpenSearch, which every user can read, making it at first.

    Raises:
        BuildError, OSError: a jar cannot be downloaded, or is not the locked one.
    """
    cache = platformdirs.user_cache_path("mcp-lucene") / "opensearch"
    digest = hashlib.sha256(LOCK.read_bytes()).hexdigest()[:16]
    made = cache / f"home-{VERSION}-{digest}"
    if made.is_dir():
        return made
    rows = (line.split() for line in LOCK.read_text().splitlines() if line[:1] not in {"", "#"})
    artifacts = {jars.Artifact(*locked): folder for folder, *locked in rows}
    jars.ensure(PYTHON, [*artifacts])
    unfinished = cache / f"home-{VERSION}-{digest}.new"
    shutil.rmtree(unfinished, ignore_errors=True)
    for artifact, folder in artifacts.items():
        (unfinished / folder).mkdir(parents=True, exist_ok=True)
        shutil.copy(artifact.path, unfinished / folder)
    (unfinished / "bin").mkdir()
    for name, (plugin, extended) in _PLUGINS.items():
        (unfinished / "modules" / name / "plugin-descriptor.properties").write_text(
            f"description={name}\nversion={VERSION}\nname={name}\nclassname={plugin}\n"
            f"java.version=21\nopensearch.version={VERSION}\ncustom.foldername=\n"
            f"extended.plugins={extended}\nhas.native.controller=false\n"
        )
    unfinished.rename(made)
    return made
