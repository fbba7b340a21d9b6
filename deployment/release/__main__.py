"""Check and describe what `make wheels` has built: run `python -m deployment.release FOLDER`."""

import sys
from collections.abc import Iterator
from pathlib import Path

from backend.archive import epoch
from packageurl import PackageURL

from deployment.release import bill
from deployment.release.check import ALLOWED, complaints, package, platform, run


def main(folder: str) -> None:
    """Check each file of a folder, and write bills of materials.

    Run it in the folder of the project, with pylucene/ on the path of Python.
    """
    files = sorted(path for path in Path(folder).iterdir() if path.suffix in {".whl", ".gz"})
    wrong = [*_missing(files)]
    for file in files:
        if file.suffix == ".whl":
            wrong += [f"{file.name}: {sentence}" for sentence in complaints(file)]
    run("twine", "check", "--strict", *files)
    compiled = [file for file in files if platform(file) in ALLOWED.get(package(file), {})]
    run("abi3audit", "--strict", "--summary", *compiled)
    wrong += bill.differences(bill.jars())
    if wrong:
        sys.exit("\n".join(wrong))
    (sdist,) = (file for file in files if file.name.startswith("pylucene-") and not platform(file))
    pylucene = bill.project(Path("pylucene", "pyproject.toml"))
    described = sdist.with_name(sdist.name.replace(".tar.gz", ".cdx.json"))
    bill.write(described, pylucene, bill.of_pylucene(), epoch())
    version = next(file for file in files if package(file) == "pycld2").name.split("-")[1]
    pycld2 = bill.component(
        PackageURL("pypi", name="pycld2", version=version), bill.PACKAGES["pycld2"]
    )
    bill.write(Path(folder, f"pycld2-{version}.cdx.json"), pycld2, bill.of_pycld2(), epoch())
    print(f"{len(files)} packages in {folder} are as they should be")


def _missing(files: list[Path]) -> Iterator[str]:
    """Say which platform has no wheel of a compiled package."""
    found = {(package(file), platform(file)) for file in files}
    for name, tags in ALLOWED.items():
        yield from (
            f"there is no wheel of {name} for {tag}" for tag in tags if (name, tag) not in found
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
