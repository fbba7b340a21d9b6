"""A system with Python, venv and make, but without a compiler and headers: all is built there."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

PACKAGES = "python3,python3-venv,make,ca-certificates"
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")

MAKE_SYSTEM = ("mmdebstrap", "--quiet", "--variant=minbase", f"--include={PACKAGES}", "bookworm")
LIST = ("git", "ls-files", "-z")
MOUNT = ("mount", "-t", "proc", "proc")
UNMOUNT = ("umount",)
IN_SYSTEM = (shutil.which("chroot") or "",)

NETWORK = ("http_proxy", "https_proxy", "no_proxy", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL")
"""Variables about the network, which hold for the system as well."""

pytestmark = [
    pytest.mark.soak,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(
        not shutil.which("mmdebstrap") or os.geteuid() != 0,
        reason="only root can make a system, with mmdebstrap of the Debian package of that name",
    ),
]


@pytest.fixture
def system(tmp_path: Path) -> Iterator[Path]:
    """The folder of a Debian with the sources of this project in /project."""
    folder = tmp_path / "system"
    subprocess.run([*MAKE_SYSTEM, folder], check=True)
    if CERTIFICATES.exists():
        shutil.copy(CERTIFICATES, folder / CERTIFICATES.relative_to("/"))
    for name in ("etc/hosts", "etc/resolv.conf"):
        shutil.copy(Path("/") / name, folder / name)
    listed = subprocess.run(LIST, cwd=ROOT, capture_output=True, check=True)
    for name in listed.stdout.decode().split("\0")[:-1]:
        copy = folder / "project" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, copy)
    proc = folder / "proc"
    subprocess.run([*MOUNT, proc], check=True)
    yield folder
    subprocess.run([*UNMOUNT, proc], check=True)


def run(system: Path, command: str) -> str:
    """Run a command of the shell in the system."""
    network = {name: text for name, text in os.environ.items() if name in NETWORK}
    own = {"PATH": "/usr/sbin:/usr/bin", "HOME": "/root"}
    # Those of this machine, for pip and for what downloads the jars.
    own |= dict.fromkeys(("PIP_CERT", "REQUESTS_CA_BUNDLE"), str(CERTIFICATES))
    done = subprocess.run(
        [*IN_SYSTEM, system, "sh", "-c", f"cd /project && {command}"],
        env=network | own,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_the_wheel_and_the_demonstration_need_no_compiler(system: Path) -> None:
    for missing in ("cc", "gcc", "g++", "c++", "clang", "java"):
        run(system, f"! command -v {missing}")
    run(system, "! ls -d /usr/include/python3*")
    run(system, "python3 -m venv /v && /v/bin/pip wheel --no-deps -w /wheels ./pylucene")
    (wheel,) = (system / "wheels").iterdir()
    assert wheel.name.startswith("pylucene-")
    assert "Waiting time between attempts doubles" in run(system, "make demo")
