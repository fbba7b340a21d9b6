"""The C++ compiler: Zig's, which compiles for every platform and brings their C libraries along."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from . import archive, cache, console
from .console import BuildError
from .platforms import Platform

_FLAGS = (
    # The code is a thin layer over calls into Java, or reads tables: optimising for speed gains
    # nothing measurable and makes the module half as large again, debug information costs hundreds
    # of megabytes.
    *("-Oz", "-g0", "-ffunction-sections", "-fdata-sections"),
    # A header of the C++ library includes no others for the sake of old code, which would take
    # longer to read than most files take to compile.
    "-D_LIBCPP_REMOVE_TRANSITIVE_INCLUDES",
    # Warnings are for those who maintain the code.
    "-w",
    # Zig's compiler adds checks of undefined behaviour unless told otherwise.
    "-fno-sanitize=undefined",
    # Only the function that Python calls is exported, which makes the module a fifth smaller.
    "-fvisibility=hidden",
    # The stable ABI of CPython 3.10: that of 3.11 has nothing more that is used, and its macros
    # take no pointers to subclasses of PyObject.
    "-DPy_LIMITED_API=0x030a0000",
)

_SUFFIXES = (".cpp", ".cc")


@dataclass(frozen=True)
class Headers:
    """What any extension module is compiled and linked against."""

    include: Path
    python: Path | None  # the import library of python3.dll, on Windows


@dataclass(frozen=True)
class Compiler:
    """Zig's compiler."""

    program: Path

    def build(
        self,
        code: Path,
        module: str,
        platform: Platform,
        headers: Headers,
        flags: Sequence[str],
        linked: Sequence[str] = (),
    ) -> Path:
        """Compile all files of the folder `code`, on all cores, and link them there to a module.

        `flags` and `linked` are given to the compiler and the linker beside what all modules need.
        """
        # The longest first, so that no core is left with one at the end.
        found = (file for file in code.rglob("*") if file.suffix in _SUFFIXES)
        files = sorted(found, key=lambda file: (-file.stat().st_size, file))
        every = (*_flags(module, platform, headers), *flags)
        names = [file.relative_to(code).as_posix() for file in files]
        nothing = code / "nothing.c"
        nothing.write_bytes(b"")
        with ThreadPoolExecutor(_jobs()) as pool:
            # Whatever is linked first has Zig compile the C++ library, on one core.
            library = ("-shared", "-s", nothing.name, "-o", "nothing")
            compiled = [pool.submit(self._run, code, platform, *library)]
            compiled += [
                pool.submit(self._run, code, platform, "-c", name, *every, "-o", f"{name}.o")
                for name in names
            ]
            try:
                for result in compiled:
                    result.result()
            except BuildError:
                pool.shutdown(cancel_futures=True)
                raise
        target = code / f"{module}{platform.extension}"
        objects = sorted(f"{name}.o" for name in names)
        options = (*_link(code, module, platform, headers), *linked)
        self._run(code, platform, "-shared", "-s", *objects, *options, "-o", target.name)
        return target

    def _run(self, folder: Path, platform: Platform, *arguments: str) -> None:
        console.run(
            (self.program, "c++", "-target", platform.target, *arguments),
            "the code could not be compiled: the compiler's words above say why",
            environ={
                # The C++ library of each platform, compiled when it is first needed.
                "ZIG_GLOBAL_CACHE_DIR": str(cache.folder() / "zig"),
                "ZIG_LOCAL_CACHE_DIR": str(folder / "zig"),
                # The linker for Windows puts the time into a module.
                "SOURCE_DATE_EPOCH": str(archive.epoch()),
            },
            cwd=folder,
        )


def _jobs() -> int:
    """The number of files to compile at once: PYLUCENE_JOBS, or one for each core."""
    chosen = os.environ.get("PYLUCENE_JOBS", "")
    if not chosen:
        return os.cpu_count() or 1
    if not chosen.isdecimal() or int(chosen) == 0:
        raise BuildError(f"PYLUCENE_JOBS={chosen!r} is not a number of files above 0")
    return int(chosen)


def _flags(module: str, platform: Platform, headers: Headers) -> Sequence[str]:
    position = () if platform.system == "win32" else ("-fPIC",)
    names = (f"-ffile-prefix-map=.={module}", "-I.", "-isystem", str(headers.include))
    return (*_FLAGS, *position, *names)


def _link(code: Path, module: str, platform: Platform, headers: Headers) -> Sequence[str]:
    if platform.system == "win32":
        return (str(headers.python),)
    if platform.system == "darwin":
        return (
            # Python's functions are in the program that loads the module.
            *("-undefined", "dynamic_lookup"),
            *("-install_name", f"@rpath/{module}{platform.extension}"),
        )
    # The C++ library is linked in, and must not serve other modules of the process.
    (code / "exports").write_text(f"{{ global: PyInit_{module}; local: *; }};\n", encoding="utf-8")
    return ("-Wl,--version-script=exports", "-Wl,--gc-sections")
