"""The description of a release for the MCP registry, with its bundles and their hashes."""

import hashlib
import json
import os
from pathlib import Path
from typing import Final

_TEMPLATE: Final = Path(__file__).parents[1] / "server.json"


def write(target: Path, bundles: list[Path]) -> None:
    """Write `deployment/server.json` with a package for each bundle.

    The bundles are expected among the files of the release `vVERSION` on GitHub, in the repository
    that GITHUB_REPOSITORY names, or else in that of the server's name.

    Args:
        target: the file to write.
        bundles: the finished bundles.
    """
    content = json.loads(_TEMPLATE.read_text("utf-8"))
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
