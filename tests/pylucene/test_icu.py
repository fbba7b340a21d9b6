"""ICU without the data that Lucene never reads: what Lucene does with it is as before."""

import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pytest
from backend import wrapper
from backend.console import BuildError

from tests.pylucene.in_java import run

DATA = "com/ibm/icu/impl/data/icudata"

TRANSLITERATORS = 816
TRANSLITERATED = "b63ef866ff7b221b278048afc9457b145525df996837a3fdf6a9d30ba2707348"
"""Number of ICU's transliterators, and the SHA-256 of what they make of a text, both with ICU's
jar as its project publishes it."""

_ANALYZE = """
import hashlib
from java.lang.invoke import MethodHandles, MethodType
from java.util import Enumeration, HashMap
from org.apache.lucene.analysis.custom import CustomAnalyzer
from org.apache.lucene.analysis.tokenattributes import CharTermAttribute

def terms(text, tokenizer, *filters):
    builder = CustomAnalyzer.builder().withTokenizer(tokenizer, HashMap())
    for name, options in filters:
        given = HashMap()
        for option, value in options.items():
            given.put(option, value)
        builder.addTokenFilter(name, given)
    stream, found = builder.build().tokenStream("field", text), []
    attribute = CharTermAttribute.cast_(stream.addAttribute(CharTermAttribute.class_))
    stream.reset()
    while stream.incrementToken():
        found.append(attribute.toString())
    stream.end()
    stream.close()
    return found

def transliterators():
    returned = MethodType.methodType(lucene.findClass("java/util/Enumeration"))
    of = lucene.findClass("com/ibm/icu/text/Transliterator")
    method = MethodHandles.publicLookup().findStatic(of, "getAvailableIDs", returned)
    ids = Enumeration.cast_(method.invokeWithArguments(lucene.JArray("object")(0)))
    while ids.hasMoreElements():
        yield str(ids.nextElement())
"""

_WORDS = """
answer = {
    "ids": len(list(transliterators())),
    "words": [terms(text, "icu") for text in given],
    "folded": terms("Ⅷ Ünïcode ﬁ", "keyword", ("icuFolding", {})),
    "normalized": terms("Ⅷ Ünïcode ﬁ", "keyword", ("icuNormalizer2", {})),
}
"""

_TRANSLITERATE = """
digest = hashlib.sha256()
for each in sorted(transliterators()):
    digest.update(f"{each} {terms(given, 'keyword', ('icuTransform', {'id': each}))}\\n".encode())
answer = digest.hexdigest()
"""


def jar(path: Path, *names: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, name)
    return path


def test_only_names_and_formats_of_locales_are_left_out(tmp_path: Path) -> None:
    kept = (
        *("com/ibm/icu/text/Collator.class", "META-INF/MANIFEST.MF"),
        *(f"{DATA}/brkitr/thaidict.dict", f"{DATA}/coll/de.res", f"{DATA}/translit/root.res"),
        *(f"{DATA}/root.res", f"{DATA}/res_index.res", f"{DATA}/pool.res", f"{DATA}/nfkc.nrm"),
    )
    unused = (
        f"{DATA}/lang/de.res",
        f"{DATA}/zone/pool.res",
        f"{DATA}/de.res",
        f"{DATA}/sr_Latn.res",
    )
    whole = jar(tmp_path / "icu4j.jar", *kept, *unused)
    wrapper.trim_icu(whole)
    with zipfile.ZipFile(whole) as archive:
        assert {name: archive.read(name).decode() for name in archive.namelist()} == {
            name: name for name in kept
        }


def test_it_is_the_same_every_time(tmp_path: Path) -> None:
    made = [
        jar(tmp_path / name, f"{DATA}/de.res", f"{DATA}/root.res") for name in ("a.jar", "b.jar")
    ]
    for each in made:
        wrapper.trim_icu(each)
    assert made[0].read_bytes() == made[1].read_bytes()
    assert [path.suffix for path in tmp_path.iterdir()] == [".jar", ".jar"]


def test_a_jar_whose_data_is_elsewhere_ends_the_build(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match=r"icu4j\.jar has its data in other places"):
        wrapper.trim_icu(jar(tmp_path / "icu4j.jar", "com/ibm/icu/data/de.res"))


def test_the_installed_jar_is_half_as_large() -> None:
    (file,) = (
        file for file in distribution("pylucene").files or () if file.name.startswith("icu4j")
    )
    assert Path(str(file.locate())).stat().st_size < 8_000_000


def test_words_are_divided_folded_and_normalized_as_before() -> None:
    divided = [
        ["สวัสดี", "ชาว", "โลก"],
        ["ພາສາ", "ລາວ"],
        ["မြန်မာဘာသာ"],
        ["日本語", "を", "話", "し", "ます"],
        ["中文", "分词", "测试"],
        ["ខ្ញុំ", "ស្រឡាញ់", "អ្នក"],
    ]
    answer = run(_ANALYZE + _WORDS, ["".join(words) for words in divided])
    assert answer["ids"] == TRANSLITERATORS
    assert answer["words"] == divided
    assert answer["folded"] == ["viii unicode fi"]
    assert answer["normalized"] == ["viii ünïcode fi"]


@pytest.mark.soak
def test_every_transliterator_works_as_before() -> None:
    text = "Hello Привет γειά שלום नमस्ते สวัสดี こんにちは 한국어 មានជាតិ ສະບາຍດີ မင်္ဂလာပါ 中文 ß ½"
    assert run(_ANALYZE + _TRANSLITERATE, text) == TRANSLITERATED
