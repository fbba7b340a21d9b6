"""Changes to the way JCC's code handles exceptions of Java.

**A Java exception is not forgotten.** JCC prints and forgets the exception of a call that it takes
for one that nobody handles, and Python gets a `JavaError` that is empty. It counts the calls that
are handled, but does not say where the count begins, adds to it after it has released the GIL, so
that two threads may add one together, and leaves out calls that are handled, too.

**No reference to a Java exception is left behind.** JCC asks the JVM for the exception of a call to
see whether there is one, and keeps the local reference that it gets: 3 kB for each, as long as the
thread is attached.

**Any thread can print one.** A `JavaError` prints the stack of its Java exception, for which the
thread must be attached to the JVM: a log that is written elsewhere told nothing.
"""

from pathlib import Path

from .replacing import replace

_FORGET = """\
        if (!env->handlers)
            vm_env->ExceptionDescribe();

"""

_RAISE = """\
#endif

        throw _EXC_JAVA;
    }
}
"""

_RAISE_WITHOUT_REFERENCE = """\
#endif

        vm_env->DeleteLocalRef(throwable);
        throw _EXC_JAVA;
    }
}
"""

_PRINT = """\
  def __str__(self):
    writer = StringWriter()
"""

_PRINT_ATTACHED = """\
  def __str__(self):
    environment = _lucene.getVMEnv()
    if environment.isCurrentThreadAttached():
      return self._text()
    environment.attachCurrentThread()
    try:
      return self._text()
    finally:
      environment.detachCurrentThread()
  def _text(self):
    writer = StringWriter()
"""


def change(folder: Path) -> None:
    """Change JCC's runtime."""
    code = folder / "JCCEnv.cpp"
    replace(code, _FORGET, "", "print exceptions")
    replace(code, _RAISE, _RAISE_WITHOUT_REFERENCE, "raise exceptions")


def change_package(folder: Path) -> None:
    """Change the Python package that JCC generates."""
    printing = _PRINT_ATTACHED.replace("_lucene", f"_{folder.name}")
    replace(folder / "__init__.py", _PRINT, printing, "print exceptions")
