"""Debian in a folder, made by root with mmdebstrap, and the programs of its own that run in it.

``python -m tests.elsewhere.debian SUITE [ARGUMENTS of pytest]`` tests the finished wheels as they
are installed on that release, by its CPython: ``trixie`` has 3.13. The system is kept in
``build/debian``.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]

PACKAGES: Final = ("python3", "python3-venv", "make", "ca-certificates")
"""Debian's packages that `make` needs: no compiler, no headers and no Java."""

PROJECT: Final = "project"  # the folder of the project's sources in a system
_TOOLS: Final = ("git", "procps", "util-linux")  # what tests start, beyond what each Debian has

_CERTIFICATES: Final = Path("/etc/ssl/certs/ca-certificates.crt")
_NETWORK: Final = ("http_proxy", "https_proxy", "no_proxy", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL")

_ENTER: Final = (
    # They are unmounted when the last program ends, and nothing else on this machine sees them.
    *("unshare", "--mount", "--propagation", "slave", "sh", "-ec"),
    f"""
    system=$1 sources=$2
    shift 2
    mount -t proc proc "$system/proc"
    mount --rbind /dev "$system/dev"
    if [ -n "$sources" ]; then mount --bind "$sources" "$system/{PROJECT}"; fi
    exec chroot "$system" sh -ec 'cd /{PROJECT} && exec "$@"' sh "$@"
    """,
    "sh",
)
"""A command that runs one in a system, given its folder, that of the sources or nothing, and it."""


def can_make_systems() -> bool:
    """Return whether `make` works here: it takes root, mmdebstrap and unshare."""
    return bool(shutil.which("mmdebstrap") and shutil.which("unshare")) and os.geteuid() == 0


def make(folder: Path, suite: str, packages: tuple[str, ...] = PACKAGES) -> None:
    """Install a minimal Debian that reaches the network as this machine does."""
    included = f"--include={','.join(packages)}"
    # A mirror may be behind; what it has is signed all the same.
    behind = '--aptopt=Acquire::Check-Valid-Until "false"'
    command = ("mmdebstrap", "--quiet", "--variant=minbase", behind, included, suite, folder)
    subprocess.run(command, check=True)
    if _CERTIFICATES.exists():
        shutil.copy(_CERTIFICATES, folder / _CERTIFICATES.relative_to("/"))
    for name in ("etc/hosts", "etc/resolv.conf"):
        shutil.copy(Path("/") / name, folder / name)
    (folder / PROJECT).mkdir()


def command(system: Path, *arguments: str, sources: Path | None = None) -> list[str]:
    """Return the command that runs a program of a system in the folder `PROJECT`."""
    return [*_ENTER, str(system), str(sources or ""), *arguments]


def environment() -> dict[str, str]:
    """Return the variables of programs in a system: those of the network, and few others."""
    network = {name: text for name, text in os.environ.items() if name in _NETWORK}
    # Those of this machine, for pip and for what downloads the jars.
    certificates = dict.fromkeys(("PIP_CERT", "REQUESTS_CA_BUNDLE"), str(_CERTIFICATES))
    own = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LANG": "C.UTF-8"}
    return network | certificates | own


def main(suite: str, *arguments: str) -> None:
    """Test the wheels in dist on a release of Debian."""
    if not can_make_systems():
        sys.exit("only root can make a system, with mmdebstrap of the Debian package of that name")
    system = ROOT / "build" / "debian" / suite
    ready = system.with_suffix(".ready")
    if not ready.exists():
        shutil.rmtree(system, ignore_errors=True)
        system.parent.mkdir(parents=True, exist_ok=True)
        try:
            make(system, suite, PACKAGES + _TOOLS)
        except subprocess.CalledProcessError:
            sys.exit(f"Debian {suite!r} cannot be made, for the reason above; try another SUITE")
        ready.touch()
    tests = ("-m", "tests.installed", *(arguments or ("tests",)))
    inside = command(system, "python3", *tests, sources=ROOT)
    sys.exit(subprocess.run(inside, env=environment(), check=False).returncode)


if __name__ == "__main__":
    main(*sys.argv[1:])
