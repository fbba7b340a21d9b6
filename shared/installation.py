"""Versions of this software and of Lucene, how it was installed, and the commands that change that.

Its functions read the metadata of the distribution, which takes 20 ms to import, and only errors
and `idx doctor` need them.
"""

import re
import sys
from pathlib import Path
from typing import Final

DISTRIBUTION: Final = "mcp-lucene"
"""The name under which both programs are published."""


def software_version() -> str:
    from importlib.metadata import version

    return version(DISTRIBUTION)


def is_newer(version: str, other: str) -> bool:
    """Check whether a version is newer than another one; both are numbers with dots between them.

    What follows the numbers, such as ``rc1``, is not compared.
    """
    return _numbers(version) > _numbers(other)


def _numbers(version: str) -> list[int]:
    leading = re.match(r"\d+(\.\d+)*", version)
    return [int(number) for number in leading[0].split(".")] if leading else []


def lucene_versions() -> tuple[str, str]:
    """Return the version of the distribution ``pylucene``, and that of the Lucene in it."""
    from importlib.metadata import version

    import lucene

    return version("pylucene"), lucene.VERSION


_REQUIREMENT: Final = re.compile(r"""^([\w.-]+).*;.*extra == ["']([\w-]+)["']""")
"""Pattern of a requirement of an extra, in the syntax of PEP 508."""


_RECEIPTS: Final = {"uv-receipt.toml": "uv tool", "pipx_metadata.json": "pipx"}
"""Files of programs that keep this one in an environment of its own."""


def missing_libraries() -> dict[str, list[str]]:
    """Return the libraries of each extra of the distribution that are not installed."""
    from importlib.metadata import metadata, requires

    missing: dict[str, list[str]] = {
        extra: [] for extra in metadata(DISTRIBUTION).get_all("Provides-Extra", [])
    }
    for requirement in requires(DISTRIBUTION) or ():
        match = _REQUIREMENT.match(requirement)
        if match and not _is_installed(match[1]):
            missing[match[2]].append(match[1])
    return missing


def extra_command(extra: str) -> str:
    """Return the command that adds an extra to this installation, with those that it has."""
    installer = _installer()
    if installer == "pip":
        source = '-e ".' if _is_checkout() else f'"{DISTRIBUTION}'
        return f'pip install {source}[{extra}]"'
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    option = f"--python {python}" if installer == "uv tool" else "--force"
    installed = {name for name, libraries in missing_libraries().items() if not libraries}
    extras = ",".join(sorted({*installed, extra}))
    return f'{installer} install {option} "{DISTRIBUTION}[{extras}]"'


def upgrade_command() -> str:
    """Return the command that installs the newest version in place of this one."""
    installer = _installer()
    upgrade = "install --upgrade" if installer == "pip" else "upgrade"
    return f"{installer} {upgrade} {DISTRIBUTION}"


def reinstall_command(package: str = DISTRIBUTION) -> str:
    """Return the command that installs a package again."""
    installer = _installer()
    if installer == "pip":
        return f"pip install --force-reinstall {package}"
    reinstall = "upgrade --reinstall" if installer == "uv tool" else "reinstall"
    return f"{installer} {reinstall} {DISTRIBUTION}"


def _installer() -> str:
    """Return the program that has made this environment."""
    found = (name for file, name in _RECEIPTS.items() if Path(sys.prefix, file).exists())
    return next(found, "pip")


def _is_checkout() -> bool:
    """Check whether the modules are those of a folder of sources (PEP 610)."""
    import json
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        origin = distribution(DISTRIBUTION).read_text("direct_url.json")
    except PackageNotFoundError:
        # The folder is on Python's path.
        return True
    return bool(origin and json.loads(origin).get("dir_info", {}).get("editable"))


def _is_installed(library: str) -> bool:
    from importlib.metadata import PackageNotFoundError, version

    try:
        version(library)
    except PackageNotFoundError:
        return False
    return True
