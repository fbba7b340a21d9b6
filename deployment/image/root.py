"""The root file system of the image: Debian's Python, the programs, and a user without rights."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from deployment.image.settings import HOME, USER

_SUITE: Final = "bookworm"
_PYTHON: Final = "3.11"
"""The version of Debian's Python, which the wheels are for."""

SITE: Final = f"{HOME}/lib/python{_PYTHON}/site-packages"
"""The folder of the Python packages, in the image."""

_PLATFORM: Final = "x86_64-manylinux_2_36"
_REQUIREMENTS: Final = Path(__file__).parents[1] / "requirements.txt"

_NOT_UNPACKED: Final = ("man/*", "locale/*", "doc/*", "info/*")

_SCRIPT: Final = """\
#!/{home}/bin/python3 -I
from {package}.__main__ import main

if __name__ == "__main__":
    main()
"""


def debian(target: Path) -> None:
    """Unpack Debian's essential packages and its Python into a folder, which must not exist.

    Raises:
        SystemExit: mmdebstrap is missing or fails; its words say why.
    """
    program = shutil.which("mmdebstrap")
    if program is None:
        sys.exit("mmdebstrap is missing; on Debian: apt install mmdebstrap")
    options = [f"--dpkgopt=path-exclude=/usr/share/{name}" for name in _NOT_UNPACKED]
    kept = "--dpkgopt=path-include=/usr/share/doc/*/copyright"
    command = (
        program,
        "--quiet",
        "--variant=essential",
        "--architectures=amd64",
        "--include=python3,libstdc++6,ca-certificates",
        "--format=directory",
    )
    if subprocess.run([*command, *options, kept, _SUITE, target], check=False).returncode:
        sys.exit("the packages of Debian could not be unpacked: mmdebstrap's words say why")
    for name in ("proc", "sys", "dev", "tmp", "run"):
        folder = target / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(mode=0o1777 if name == "tmp" else 0o755)
    (target / "tmp").chmod(0o1777)


def add_programs(target: Path, dist: Path, seconds: int) -> None:
    """Install both programs into the root file system, and train their start-up cache.

    Args:
        target: the root file system.
        dist: the folder of the wheels that `make wheels` has built.
        seconds: the time of all files, since 1970.

    Raises:
        SystemExit: a package has no wheel, or another hash than it should, or a program failed.
    """
    home = target / HOME
    site = target / SITE
    site.mkdir(parents=True)
    uv = (Path(sys.executable).with_name("uv"), "pip", "install", "--quiet", "--no-deps")
    platform = ("--python-platform", _PLATFORM, "--python-version", _PYTHON, "--system-certs")
    place = ("--only-binary", ":all:", "--link-mode", "copy", "--target", site)
    hashes = ("--require-hashes", "--requirements", _REQUIREMENTS)
    # The cache of uv would hold wheels of the same version that were built earlier.
    built = ("--no-cache", "--no-index", "--find-links", dist)
    for what in (hashes, (*built, "pylucene", "pycld2", "mcp-lucene")):
        if subprocess.run([*uv, *platform, *place, *what], check=False).returncode:
            sys.exit("the packages of the image could not be installed: uv's words say why")
    shutil.rmtree(site / "bin")
    (home / "bin").mkdir()
    (home / "bin" / "python3").symlink_to("/usr/bin/python3")
    (home / "pyvenv.cfg").write_text("home = /usr/bin\ninclude-system-site-packages = false\n")
    for name, package in (("idx", "idx"), ("mcp-lucene", "server")):
        script = home / "bin" / name
        script.write_text(_SCRIPT.format(home=HOME, package=package))
        script.chmod(0o755)
    # The start-up cache holds for files of the time at which it was trained; layers keep it.
    for path in home.rglob("*"):
        os.utime(path, (seconds, seconds), follow_symlinks=False)
    python = f"/{HOME}/bin/python3"
    # A module for Python 2 cannot be compiled, nor is it ever imported.
    without = ("-x", r"olefile2\.py$")
    _run_inside(target, python, "-m", "compileall", "-q", *without, f"/{HOME}/lib")
    _run_inside(target, python, "-I", "-m", "shared.maintenance.train_startup")
    _add_user(target)


def _run_inside(target: Path, *command: str) -> None:
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        sys.exit("bwrap is missing; on Debian: apt install bubblewrap")
    scratch = "/tmp"  # noqa: S108 - of the container
    mounts = ("--bind", target, "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", scratch)
    apart = ("--unshare-net", "--clearenv", "--setenv", "HOME", scratch)
    if subprocess.run([bwrap, *mounts, *apart, *command], check=False).returncode:
        sys.exit(f"{' '.join(command)} failed in the image: its words say why")


def _add_user(target: Path) -> None:
    line = f"lucene:x:{USER}:{USER}::/home/lucene:/usr/sbin/nologin\n"
    for name, entry in (("passwd", line), ("group", f"lucene:x:{USER}:\n")):
        with (target / "etc" / name).open("a") as file:
            file.write(entry)
    for path in ("home/lucene", "index"):
        (target / path).mkdir(mode=0o700)
        os.chown(target / path, USER, USER)
