"""Build the bundles of all platforms: run `python -m deployment.bundle FOLDER`."""

import json
import sys
import tempfile
from pathlib import Path
from typing import Final

from backend.archive import epoch

from deployment.bundle import python
from deployment.bundle.contents import (
    PYTHON_FOLDER,
    add_pictures,
    describe,
    install,
    manifest,
    pack,
)
from deployment.bundle.platforms import PLATFORMS, Platform
from deployment.release import bill

_PROJECT: Final = Path(__file__).parents[2] / "pyproject.toml"


def main(folder: str) -> None:
    """Put a bundle for each platform, and what is in it, beside the wheels in a folder.

    `server.json` describes them for the MCP registry. Run it with pylucene/ on the path of Python.
    """
    dist = Path(folder)
    if not any(dist.glob("mcp_lucene-*.whl")):
        sys.exit(f"there are no wheels in {dist}; run: make wheels")
    for old in dist.glob("*.mcpb"):
        old.unlink()
    targets = []
    for platform in PLATFORMS:
        target = write(platform, dist)
        print(f"{target.name} has {target.stat().st_size / 1e6:.0f} MB")
        targets.append(target)
    describe(dist / "server.json", targets)


def write(platform: Platform, dist: Path) -> Path:
    """Build the bundle of a platform from the wheels in a folder, and return its path."""
    content = manifest(platform)
    target = dist / f"{content['name']}-{content['version']}-{platform.name}.mcpb"
    with tempfile.TemporaryDirectory() as made:
        inside = Path(made, PYTHON_FOLDER)
        python.unpack(platform, inside)
        site = inside / platform.library / "site-packages"
        install(platform, dist, site)
        text = json.dumps(content, indent=2, ensure_ascii=False)
        Path(made, "manifest.json").write_text(f"{text}\n", "utf-8")
        add_pictures(content, Path(made))
        pack(Path(made), target, epoch())
        parts = (python.described(platform), *bill.of_pylucene(), *bill.of_packages(site))
        bill.write(target.with_suffix(".cdx.json"), bill.project(_PROJECT), parts, epoch())
    return target


if __name__ == "__main__":
    main(*sys.argv[1:])
