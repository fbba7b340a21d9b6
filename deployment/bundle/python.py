"""The CPython inside a bundle, without the parts that no server needs."""

import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final

import lief

from deployment.bundle.platforms import ARTIFACT, Platform

if TYPE_CHECKING:
    from cyclonedx.model.component import Component

_LEFT_OUT: Final = re.compile(
    r"test|idlelib|tkinter|turtledemo|turtle\.py|ensurepip|pydoc_data|config-.*|site-packages"
    r"|__phello__|_tkinter\..*|t[ck]l?86t\.dll|_test.*|_ctypes_test.*|xx.*|_xx.*|pyshellext\.dll"
)
"""Files and folders of the standard library: tests, windows, and packages for installing others."""

_ON_EVERY_SYSTEM: Final = re.compile(
    r"lib(c|m|dl|pthread|z|ffi)\.so\.\d+|ld-linux.*|libpython.*|@rpath/libpython.*"
    r"|/usr/lib/.*|/System/.*"
)
"""Libraries that are part of the bundle or of each system that it is for. zlib is not part of
Linux, but no distribution installs without it."""


def unpack(platform: Platform, target: Path) -> None:
    """Put the Python of a platform into a folder, which must not exist."""
    prefix = PurePosixPath("org", "bytedeco", "cpython", platform.classifier)
    with zipfile.ZipFile(_artifact(platform)) as archive:
        for name in archive.namelist():
            path = PurePosixPath(name)
            if name.endswith("/") or not path.is_relative_to(prefix):
                continue
            inside = path.relative_to(prefix)
            if _is_needed(platform, inside):
                file = target / inside
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(archive.read(name))
    (target / platform.python).chmod(0o755)
    (target / platform.library / "site-packages").mkdir()
    if platform.system == "win32":
        _complete_windows(platform, target)
    else:
        for module in _unusable(target / platform.library / "lib-dynload"):
            module.unlink()


def described(platform: Platform) -> "Component":
    """Describe the Python of a platform for a bill of materials."""
    # Only the environment of releases has these; the tests under Wine need this module, too.
    from cyclonedx.model import HashAlgorithm, HashType
    from packageurl import PackageURL

    from deployment.release import bill

    purl = PackageURL("maven", *ARTIFACT, {"classifier": platform.classifier})
    digest = HashType(alg=HashAlgorithm.SHA_256, content=platform.sha256)
    return bill.component(purl, "PSF-2.0", digest)


def _artifact(platform: Platform) -> Path:
    """Download the artifact of a platform unless it is in Maven's repository on this machine."""
    from jgo.maven import MavenContext

    group, name, version = ARTIFACT
    component = MavenContext(timeout=60).project(group, name).at_version(version)
    jar = Path(component.artifact(platform.classifier).resolve())
    if (found := hashlib.sha256(jar.read_bytes()).hexdigest()) != platform.sha256:
        sys.exit(f"{jar.name} has the hash {found}, not {platform.sha256}; delete {jar}")
    return jar


def _is_needed(platform: Platform, inside: PurePosixPath) -> bool:
    if str(inside) == platform.python:
        return True
    library = PurePosixPath(platform.library)
    if inside.is_relative_to(library):
        return not _LEFT_OUT.fullmatch(inside.relative_to(library).parts[0]) and not (
            inside.parent.name == "lib-dynload" and _LEFT_OUT.fullmatch(inside.name)
        )
    names = r"libpython3\.\d+\.(so\.1\.0|dylib)|libffi\.so\.8|python3\d+\.(dll|lib)"
    return bool(re.fullmatch(names, inside.name))


def _unusable(folder: Path) -> Iterator[Path]:
    """Yield the modules that load a library which users may lack, such as Homebrew's."""
    for module in sorted(folder.iterdir()):
        if not all(_ON_EVERY_SYSTEM.fullmatch(name) for name in _libraries(module)):
            yield module


def _libraries(module: Path) -> list[str]:
    """List the libraries that a module loads."""
    binary = lief.parse(module)
    if isinstance(binary, lief.ELF.Binary):
        return [str(name) for name in binary.libraries]
    if isinstance(binary, lief.MachO.Binary):
        return [str(library.name) for library in binary.libraries]
    raise ValueError(f"{module} is not a module of Linux or macOS")


def _complete_windows(platform: Platform, target: Path) -> None:
    """Add the DLLs that Python's installer puts beside `python.exe`."""
    (import_library,) = target.glob("libs/python3*.lib")
    zig = (sys.executable, "-m", "ziglang")
    write_stable_abi(import_library, target / "python3.dll", *zig)
    shutil.rmtree(import_library.parent)
    for library in sorted((target / platform.library).glob("vcruntime140*.dll")):
        shutil.copyfile(library, target / library.name)


_EXPORT: Final = re.compile(rb"__imp_(_?Py\w+)\0")


def write_stable_abi(import_library: Path, target: Path, *compiler: str | Path) -> None:
    """Build Windows' `python3.dll`, which extension modules for the stable ABI load."""
    names = sorted({name.decode() for name in _EXPORT.findall(import_library.read_bytes())})
    version = import_library.stem
    lines = ["LIBRARY python3", "EXPORTS", *(f"  {name}={version}.{name}" for name in names)]
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(Path(__file__).with_name("python3.c"), folder)
        Path(folder, "python3.def").write_text("\n".join(lines) + "\n", "ascii")
        # Names without folders: the linker writes those of debug information into the DLL.
        options = "cc -target x86_64-windows-gnu -shared -O1 -s -nostdlib -o python3.dll"
        sources = ("-Wl,--entry=DllMainCRTStartup", "python3.c", "python3.def")
        subprocess.run([*compiler, *options.split(), *sources], cwd=folder, check=True)
        shutil.copyfile(Path(folder, "python3.dll"), target)
