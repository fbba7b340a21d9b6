"""Build the bundles of all platforms: run `python -m deployment.bundle FOLDER`."""

import json
import sys
import tempfile
from pathlib import Path

from deployment.bundle import archive, packages, python
from deployment.bundle.manifest import PYTHON_FOLDER, manifest
from deployment.bundle.platforms import PLATFORMS, Platform
from deployment.release import sums


def main(folder: str) -> None:
    """Put a bundle for each platform beside the wheels in a folder, and list it in SHA256SUMS.

    Raises:
        SystemExit: a part of a bundle is missing or has another hash than it should.
    """
    dist = Path(folder)
    if not any(dist.glob("mcp_lucene-*.whl")):
        sys.exit(f"there are no wheels in {dist}; run: make wheels")
    for old in dist.glob("*.mcpb"):
        old.unlink()
    for platform in PLATFORMS:
        target = write(platform, dist)
        print(f"{target.name} has {target.stat().st_size / 1e6:.0f} MB")
    sums.write(dist)


def write(platform: Platform, dist: Path) -> Path:
    """Build the bundle of a platform from the wheels in a folder, and return its path."""
    content = manifest(platform)
    target = dist / f"{content['name']}-{content['version']}-{platform.name}.mcpb"
    with tempfile.TemporaryDirectory() as made:
        inside = Path(made, PYTHON_FOLDER)
        python.unpack(platform, inside)
        packages.install(platform, dist, inside / platform.library / "site-packages")
        text = json.dumps(content, indent=2, ensure_ascii=False)
        Path(made, "manifest.json").write_text(f"{text}\n", "utf-8")
        archive.write(Path(made), target, sums.seconds())
    return target


if __name__ == "__main__":
    main(*sys.argv[1:])
