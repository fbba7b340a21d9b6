"""How the programs were installed, and the commands that change their installation.

Its functions read the metadata of the distribution, which takes 20 ms to import, and only errors
and `idx doctor` need them.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from shared.version import DISTRIBUTION

_REQUIREMENT: Final = re.compile(r"""^([\w.-]+).*;.*extra == ["']([\w-]+)["']""")
"""Pattern of a requirement of an extra, in the syntax of PEP 508."""


@dataclass(frozen=True, slots=True)
class _Installer:
    """A program that keeps this one in an environment of its own."""

    receipt: str
    extras: str
    upgrade: str
    reinstall: str


_INSTALLERS: Final = (
    _Installer(
        "uv-receipt.toml",
        f'uv tool install --python {{python}} "{DISTRIBUTION}[{{extras}}]"',
        f"uv tool upgrade {DISTRIBUTION}",
        f"uv tool upgrade --reinstall {DISTRIBUTION}",
    ),
    _Installer(
        "pipx_metadata.json",
        f'pipx install --force "{DISTRIBUTION}[{{extras}}]"',
        f"pipx upgrade {DISTRIBUTION}",
        f"pipx reinstall {DISTRIBUTION}",
    ),
)
_PIP_EXTRA: Final = f'pip install "{DISTRIBUTION}[{{extra}}]"'
_PIP_UPGRADE: Final = f"pip install --upgrade {DISTRIBUTION}"
_IN_CHECKOUT: Final = 'pip install -e ".[{extra}]"'


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
    if installer is None:
        template = _IN_CHECKOUT if _is_checkout() else _PIP_EXTRA
        return template.format(extra=extra)
    installed = {name for name, libraries in missing_libraries().items() if not libraries}
    return installer.extras.format(
        python=f"{sys.version_info.major}.{sys.version_info.minor}",
        extras=",".join(sorted({*installed, extra})),
    )


def upgrade_command() -> str:
    """Return the command that installs the newest version in place of this one."""
    installer = _installer()
    return installer.upgrade if installer else _PIP_UPGRADE


def reinstall_command(package: str = DISTRIBUTION) -> str:
    """Return the command that installs a package again."""
    installer = _installer()
    return installer.reinstall if installer else f"pip install --force-reinstall {package}"


def _installer() -> _Installer | None:
    environment = Path(sys.prefix)
    found = (each for each in _INSTALLERS if environment.joinpath(each.receipt).exists())
    return next(found, None)


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
