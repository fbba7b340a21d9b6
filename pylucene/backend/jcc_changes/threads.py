"""Changes to JCC's code for programs with several threads.

**initVM lets other Python threads run.** JCC releases the GIL in every call into Java, but not in
initVM, which first starts the JVM and then loads every class that has constants. Both take a good
part of a second, in which a program could be importing its other modules.

**The ids of a class's methods are published when all are there.** JCC first makes room for them,
then fills it in. An object that another thread gets meanwhile takes the room for a sign that all is
done, and calls a method by an id that is not there yet, which ends the process.

**No thread waits for another one's class while it has the GIL.** JCC looks a class up under the
lock that it also takes, with the GIL, for each new object. A class that cannot be looked up is an
exception, for which the GIL is needed: two threads then wait for each other for ever. Classes get a
lock of their own here, and whoever waits for it has released the GIL.
"""

import re
from pathlib import Path

from .replacing import replace, replace_all

_START = "        if (JNI_CreateJavaVM(&vm, (void **) &vm_env, &vm_args) < 0)\n"

# Nothing between these macros touches a Python object: the options are C strings by then, and
# the JVM knows nothing of Python.
_START_RELEASED = """\
        jint created;

        Py_BEGIN_ALLOW_THREADS
        created = JNI_CreateJavaVM(&vm, (void **) &vm_env, &vm_args);
        Py_END_ALLOW_THREADS

        if (created < 0)
"""

# In each class's `initialize`; what follows the methods are its fields, if it has some.
_FILL = re.compile(r"mids\$ = new jmethodID\[max_mid\];\n(.*?)( +)class\$ = new", re.DOTALL)

# A statement of its own in each class's `initialize`; elsewhere the call is part of another.
_LOAD = re.compile(r"^( +)(env->getClass\(\S+::initializeClass\);)$", re.MULTILINE)

# JCC's own guard, which it puts around such calls in methods; it holds to the closing brace.
_LOAD_RELEASED = r"\1{ PythonThreadState released; \2 }"

_INCLUDE = "#include <map>\n"

_INCLUDE_MUTEX = "#include <map>\n#include <mutex>\n"

_LOOK_UP = """\
jclass JCCEnv::getClass(getclassfn initializeClass) const
{
    jclass cls = (*initializeClass)(true);

    if (cls == NULL)
    {
        lock locked;
"""

# The first of these takes the GIL, unless the thread has it, so that the second can release it.
_LOOK_UP_RELEASED = """\
static std::recursive_mutex classes;

jclass JCCEnv::getClass(getclassfn initializeClass) const
{
    jclass cls = (*initializeClass)(true);

    if (cls == NULL)
    {
        PythonGIL gil;
        PythonThreadState released;
        std::lock_guard<std::recursive_mutex> locked(classes);
"""


def change(folder: Path) -> None:
    """Change the generated code of a module."""
    replace(folder / "jcc.cpp", _START, _START_RELEASED, "start the JVM")
    replace(folder / "JCCEnv.cpp", _INCLUDE, _INCLUDE_MUTEX, "include a map")
    replace(folder / "JCCEnv.cpp", _LOOK_UP, _LOOK_UP_RELEASED, "look classes up")
    replace_all(folder, "__wrap*.cpp", _FILL, _filled_before, "look methods up")
    replace_all(folder, "__wrap*.cpp", _LOAD, _LOAD_RELEASED, "load classes")


def _filled_before(found: re.Match[str]) -> str:
    filled, indent = found.groups()
    return (
        "jmethodID *mids = new jmethodID[max_mid];\n"
        + filled.replace("mids$[", "mids[")
        + f"{indent}__atomic_store_n(&mids$, mids, __ATOMIC_RELEASE);\n"
        + f"{indent}class$ = new"
    )
