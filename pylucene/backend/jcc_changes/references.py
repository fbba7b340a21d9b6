"""Changes to the table in which JCC counts Python's references to Java's objects.

Its keys are hashes that Java makes by chance, so that of some hundred thousand objects two have
the same, and the object is searched for among those.

**The search begins with the first of them.** JCC begins with what ``std::multimap::find`` returns,
which may be any of them, and is not the first in LLVM's library. An object before it was not found:
it was entered again, and deleted while Python still had it, which ended the process.

**An object is deleted by the reference that was given out.** Comparing objects needs a thread that
is attached to the JVM, and Python frees objects in any.
"""

import re
from pathlib import Path

from .replacing import replace, replace_all

_FIND = re.compile(r"= refs\.find\(id\);")

_SAME = """\
                if (isSame(obj, iter->second.global))
                {
                    if (iter->second.count == 1)
"""

_IDENTICAL = """\
                if (obj == iter->second.global)
                {
                    if (iter->second.count == 1)
"""


def change(folder: Path) -> None:
    """Change JCC's runtime."""
    replace_all(folder, "JCCEnv.cpp", _FIND, "= refs.lower_bound(id);", "find objects")
    replace(folder / "JCCEnv.cpp", _SAME, _IDENTICAL, "delete objects")
