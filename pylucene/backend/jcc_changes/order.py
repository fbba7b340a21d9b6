"""Changes to JCC itself, so that it generates the same code each time.

It goes through Java's classes and methods in the order in which the JVM or a set of Python's has
them, which differs from run to run. Which of two overloads is tried first may differ with it.
"""

import re
from pathlib import Path

from .replacing import replace_all

_MEMBERS = re.compile(r" in (cls\.getDeclared(?:Classes|Constructors|Fields|Methods)\(\)):")
_DECLARED = re.compile(r"for declare in declares:")
_TO_DO = re.compile(r"todo = typeset - done$", re.MULTILINE)


def change(package: Path) -> None:
    """Change the generator."""
    replace_all(package, "*.py", _MEMBERS, r" in sorted(\1, key=str):", "list members")
    declares = "for declare in sorted(declares, key=str):"
    replace_all(package, "cpp.py", _DECLARED, declares, "list declarations")
    to_do = "todo = sorted(typeset - done, key=str)"
    replace_all(package, "cpp.py", _TO_DO, to_do, "list classes")
