"""Programs that use the wheel, each in a process of its own, which has one JVM and keeps it."""

import json
import sys
from typing import Any, Final

from tests import programs

_BEGINNING: Final = """
import json, sys, threading, time
import lucene
given = json.load(sys.stdin)
"""

_START_JVM: Final = """
environment = lucene.initVM(vmargs=["-Xrs", "--enable-native-access=ALL-UNNAMED"])
"""

_END: Final = """
json.dump(answer, sys.stdout)
"""


def run(program: str, given: object = None, *, start: str = _START_JVM) -> Any:
    """Run a program after the start of Java; what it is `given`, and what it names `answer`."""
    whole = _BEGINNING + start + program + _END
    done = programs.run(sys.executable, "-c", whole, input=json.dumps(given), timeout=120)
    return json.loads(done.stdout)
