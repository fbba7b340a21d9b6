"""The type stubs of the wheel: they agree with what the wrapper does."""

import ast
import keyword
import re
import shutil
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import programs

_SITE_PACKAGES = Path(sysconfig.get_path("purelib"))

_RIGHT = """
from java.nio.file import Path
from java.util import ArrayList, Arrays, HashSet
from org.apache.lucene.document import LongPoint, StoredField
from org.apache.lucene.index import IndexableField, MultiTerms, Term
from org.apache.lucene.search import BooleanClause, BooleanQuery, Query, ScoreDoc, TermQuery
from org.apache.lucene.util import BytesRef, BytesRefIterator

number: int = hits.totalHits.value()
scored: ScoreDoc = hits.scoreDocs[0]
share: float = scored.score
stored.add(StoredField("bytes", lucene.JArray("byte")(b"\\x01")))
stored.add(StoredField("long", 1))
stored_name: str = stored["name"]
absent: str | None = stored["absent"]
terms = [Term("text", "fox"), Term("text", "dog")]
names = Arrays.asList(["name", "text"])
names.contains("name")
HashSet(names).size()
builder = BooleanQuery.Builder()
builder.add(TermQuery(terms[0]), BooleanClause.Occur.SHOULD).add(
    LongPoint.newRangeQuery("year", 1990, 2000), BooleanClause.Occur.MUST_NOT
)
query: Query = builder.build()
rewritten = BooleanQuery.cast_(query) if BooleanQuery.instance_(query) else None
longs = LongPoint("point", 1, 2)
longs = LongPoint("point", [1, 2])
newer = DirectoryReader.openIfChanged(reader)
assert newer is None or newer.numDocs() > 0
texts = [
    term.utf8ToString()
    for term in BytesRefIterator.cast_(MultiTerms.getTerms(reader, "text").iterator())
]
fields = [IndexableField.cast_(field).name() for field in stored]
documents = ArrayList()
documents.add(document)
writer = IndexWriter(ByteBuffersDirectory(), IndexWriterConfig(analyzer))
writer.config.setUseCompoundFile(False)
writer.addDocuments(documents)
writer.deleteDocuments(terms)
writer.deleteDocuments(Term("name", BytesRef("a")))
writer.deleteDocuments(Term("name", "c"))
writer.close()
try:
    writer.commit()
except lucene.JavaError as error:
    message: str = error.getJavaException().getMessage()
"""

_WRONG = """
searcher.search(query, "10")
searcher.search("brown fox", 10)
searcher.seek(query)
searcher.search(query)
document.add()
document.add(terms[0], terms[1])
Field.Stored
hits.scoreDocs[0].points
TermQuery("text", "fox")
Term("text", 1)
Query()
writer.deleteDocuments(terms[0], terms[1])
Path("a")
[field.name() for field in stored]
LongPoint("point", "1")
stored[0]
Arrays.asList([object()])
MultiTerms.getTerms(reader, "text").iterator().next()
[term for term in MultiTerms.getTerms(reader, "text").iterator()]
"""

_STUBTEST = """
import sys
import lucene
lucene.initVM(vmargs=["-Xrs", "--enable-native-access=ALL-UNNAMED"])
from mypy import stubtest
sys.exit(stubtest.test_stubs(stubtest.parse_options(sys.argv[1:])))
"""

# Patterns of names that stubtest need not compare.
_NOT_COMPARED = (
    # Python cannot see which arguments a constructor takes.
    r".*\.__init__",
    # Outside its outer class, the name of a nested class is not a name in Python; nor is a keyword.
    r".*\$.*",
    rf".*\.({'|'.join(keyword.kwlist)})",
    # It is null in Java until it is first asked for.
    r"org\.apache\.lucene\.queries\.mlt\.MoreLikeThis\.DEFAULT_STOP_WORDS",
    r"java\.util\.logging\.Logger\.global",
    # The code of the package.
    r"lucene\.__module_dir__",
    r"lucene\.windows",
)


@pytest.fixture(scope="module")
def example() -> str:
    """The program of the README."""
    readme = Path(__file__).resolve().parents[2] / "pylucene" / "README.md"
    program: str = re.findall(
        r"```python\n(.*?)```", readme.read_text(encoding="utf-8"), re.DOTALL
    )[0]
    # The test goes on with the reader.
    return program.replace("reader.close()\n", "")


def mypy(folder: Path, *arguments: str | Path) -> str:
    """Run mypy with its strict defaults and a cache of its own, and return what it prints."""
    command = (sys.executable, "-m", "mypy", "--strict", "--config-file=", *arguments)
    done = programs.run(*command, cwd=folder, check=False)
    assert done.stderr == ""
    return done.stdout


def run(program: str) -> str:
    """Run a program in a process of its own, and return what it prints."""
    return programs.run(sys.executable, "-c", program, timeout=60).stdout


def hidden_members() -> Iterator[str]:
    """Patterns of the members of interfaces that the stubs hide, by `name: ClassVar[None]`."""
    for stub in _SITE_PACKAGES.glob("*-stubs/**/*.pyi"):
        if stub.relative_to(_SITE_PACKAGES).parts[0] in ("java-stubs", "org-stubs"):
            module = ".".join(stub.relative_to(_SITE_PACKAGES).parts[:-1]).replace("-stubs", "")
            yield from hidden_in(module, ast.parse(stub.read_text(encoding="utf-8")).body)


def hidden_in(scope: str, body: list[ast.stmt]) -> Iterator[str]:
    for statement in body:
        match statement:
            case ast.ClassDef(name=name):
                yield from hidden_in(f"{scope}.{name}", statement.body)
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
                if ast.unparse(annotation) == "typing.ClassVar[None]":
                    yield re.escape(f"{scope}.{name}")


@pytest.mark.soak
def test_right_calls_pass_and_each_wrong_call_is_an_error(example: str, tmp_path: Path) -> None:
    right = example + _RIGHT
    (tmp_path / "right.py").write_text(right)
    (tmp_path / "wrong.py").write_text(right + _WRONG)
    told = mypy(tmp_path, "right.py", "wrong.py")
    lines = {
        (name, int(line))
        for name, line in re.findall(r"^(\w+)\.py:(\d+): error", told, re.MULTILINE)
    }
    first = right.count("\n") + 2
    wrong = range(first, first + _WRONG.strip().count("\n") + 1)
    assert lines == {("wrong", line) for line in wrong}, told


def test_the_wrapper_takes_the_same_calls_and_refuses_the_same(example: str) -> None:
    wrong = _WRONG.strip().splitlines()
    program = f"""{example}{_RIGHT}
refusals = lucene.InvalidArgsError, lucene.JavaError, AttributeError, NotImplementedError, TypeError
for call in {wrong!r}:
    try:
        eval(call)
    except refusals:
        print("refused", call)
"""
    assert run(program).splitlines()[2:] == [f"refused {call}" for call in wrong]


@pytest.mark.soak
def test_the_stubs_themselves_are_strictly_typed(tmp_path: Path) -> None:
    for name in ("java", "org"):
        shutil.copytree(_SITE_PACKAGES / f"{name}-stubs", tmp_path / name)
    (tmp_path / "lucene").mkdir()
    shutil.copy(_SITE_PACKAGES / "lucene" / "__init__.pyi", tmp_path / "lucene")
    packages = ("-p", "java", "-p", "org", "-p", "lucene")
    assert mypy(tmp_path, "--no-site-packages", *packages).startswith("Success")


@pytest.mark.soak
def test_the_stubs_have_the_members_that_the_wrapper_has(tmp_path: Path) -> None:
    allowed = tmp_path / "allowed"
    allowed.write_text("\n".join((*_NOT_COMPARED, *hidden_members())))
    options = ("--concise", "--ignore-disjoint-bases", "--ignore-unused-allowlist", "--allowlist")
    command = (sys.executable, "-c", _STUBTEST, *options, allowed, "java", "org", "lucene")
    programs.run(*command, cwd=tmp_path)
