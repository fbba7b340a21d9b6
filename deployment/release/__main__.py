"""Check and describe what `make wheels` has built: run `python -m deployment.release FOLDER`."""

import sys
from collections.abc import Iterator
from pathlib import Path

from deployment.release import bill, licences, modules, sums
from deployment.release.check import complaints, platform, run


def main(folder: str) -> None:
    """Check each file of a folder, and write PyLucene's bill of materials and SHA256SUMS.

    Run it in the folder of the project.

    Raises:
        SystemExit: a wheel is missing, a licence unknown, or a check fails; its text says which.
    """
    files = sorted(path for path in Path(folder).iterdir() if path.suffix in {".whl", ".gz"})
    wrong = [*_missing(files)]
    for file in files:
        if file.suffix == ".whl":
            wrong += [f"{file.name}: {sentence}" for sentence in complaints(file)]
    run("twine", "check", "--strict", *files)
    compiled = [file for file in files if platform(file) in modules.ALLOWED]
    run("abi3audit", "--strict", "--summary", *compiled)
    wrong += licences.differences(bill.jars())
    if wrong:
        sys.exit("\n".join(wrong))
    (sdist,) = (file for file in files if file.name.startswith("pylucene-") and not platform(file))
    described = sdist.with_name(sdist.name.replace(".tar.gz", ".cdx.json"))
    project = Path("pylucene", "pyproject.toml")
    bill.write(described, project, bill.of_pylucene(), sums.seconds())
    count = sums.write(Path(folder))
    print(f"{count} files in {folder} are as they should be")


def _missing(files: list[Path]) -> Iterator[str]:
    """Say which platform has no wheel of PyLucene."""
    tags = {platform(file) for file in files if file.name.startswith("pylucene-")}
    yield from (f"there is no wheel for {tag}" for tag in modules.ALLOWED if tag not in tags)


if __name__ == "__main__":
    main(*sys.argv[1:])
