"""The ways to find what was meant by a misspelled word, as steps of this project's pipeline.

Each takes the place of `shared.query.steps.spelling.SimilarWords`; all else of a search stays the
same. N-grams need a field of their own in an index that is made here.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeGuard
from unittest.mock import patch

from idx.evaluation.collection.documents import read_documents
from shared import Document, Index, create
from shared.analysis.analyzers import prepare, tokens
from shared.analysis.languages import FOLDED, Chain, Step, chain
from shared.model import schema
from shared.query.lucene_terms import LuceneTerms
from shared.query.steps.spelling import SimilarWords
from shared.query.tree import Fuzzy, Leaf, Node, Occur, Terms, Word, any_of, best_of, weighted
from shared.storage.mapping import chunk_search_fields

GRAMS: Final[dict[str, Chain]] = {
    "trigrams": chain(*FOLDED, Step("nGram", {"minGramSize": "3", "maxGramSize": "3"})),
    "grams": chain(
        *FOLDED,
        Step("patternReplace", {"pattern": "^(.*)$", "replacement": "_$1_"}),
        Step("nGram", {"minGramSize": "2", "maxGramSize": "4"}),
    ),
}
"""The fields of n-grams; those of two to four letters know where a word begins and ends."""

UNKNOWN_GRAMS: Final = 4.0
"""What all n-grams of a word that no chunk has count for together. Of 0.5 to 6 the best for
trigrams on half of Cranfield's queries with one word misspelled; it makes hardly a difference."""

ADDED_GRAMS: Final = 2.0
"""What they count for beside the word itself; likewise, of 0.1 to 2."""


class NoSimilarWords(SimilarWords):
    """Leaves every word as it is."""

    def __call__(self, leaf: Leaf, occur: Occur) -> Node:  # noqa: ARG002 - as every step has it
        """The leaf."""
        return leaf


class FuzzyWords(SimilarWords):
    """Takes every word for those a few edits away, too: FuzzyQuery, with the edits of AUTO.

    AUTO is what Elasticsearch and OpenSearch call it: one edit from three letters on, two from six.
    """

    def __call__(self, leaf: Leaf, occur: Occur) -> Node:
        """The leaf, or what is like it."""
        if not _is_plain(leaf, occur):
            return leaf
        edits = (len(leaf.text) >= 3) + (len(leaf.text) >= 6)  # noqa: PLR2004 - as said above
        return best_of(leaf, Fuzzy(leaf.text, edits)) if edits else leaf


class UnknownWordsAsGrams(SimilarWords):
    """Looks for the n-grams of words that no chunk has."""

    grams = "trigrams"

    def __call__(self, leaf: Leaf, occur: Occur) -> Node:
        """The leaf, or its n-grams."""
        if not _is_plain(leaf, occur) or not self._is_unknown(leaf, occur):
            return leaf
        return _grams_of(self.grams, leaf.text, UNKNOWN_GRAMS)


class WordsAndGrams(SimilarWords):
    """Looks for every word, and for its n-grams beside it."""

    grams = "trigrams"

    def __call__(self, leaf: Leaf, occur: Occur) -> Node:
        """The leaf, and its n-grams."""
        if not _is_plain(leaf, occur):
            return leaf
        return any_of(leaf, _grams_of(self.grams, leaf.text, ADDED_GRAMS))


class UnknownWordsAsMoreGrams(UnknownWordsAsGrams):
    """The same with n-grams of two to four letters."""

    grams = "grams"


class WordsAndMoreGrams(WordsAndGrams):
    """The same with n-grams of two to four letters."""

    grams = "grams"


def _is_plain(leaf: Leaf, occur: Occur) -> TypeGuard[Word]:
    return isinstance(leaf, Word) and not leaf.field and occur != "must_not"


def _grams_of(name: str, word: str, weight: float) -> Node:
    grams = [gram for position in tokens(name, word) for gram in position]
    return any_of(*(weighted(Terms(name, (gram,)), weight / len(grams)) for gram in grams))


def spell_checked(terms: LuceneTerms, text: str, *_: int, **__: bool) -> list[tuple[str, float]]:
    """What Lucene's DirectSpellChecker finds in content and titles with up to two edits at once."""
    from org.apache.lucene.index import Term
    from org.apache.lucene.search.spell import DirectSpellChecker, SuggestMode

    checker = DirectSpellChecker()
    checker.setMaxEdits(2 if len(text) >= 7 else 1)  # noqa: PLR2004 - as the project has it
    checker.setMinPrefix(1)
    alike: dict[str, float] = {}
    for name in (schema.CONTENT, schema.TITLE):
        term, mode = Term(name, text), SuggestMode.SUGGEST_WHEN_NOT_IN_INDEX
        for word in checker.suggestSimilar(term, 3, terms.reader, mode, 0.6):
            alike.setdefault(str(word.string), float(word.score))
    return sorted(alike.items(), key=lambda entry: -entry[1])[:3]


@dataclass(frozen=True, eq=False)
class Method:
    """A way to find what was meant.

    Attributes:
        name: what the tables call it.
        index: the field of n-grams that its index has beside the others, if any.
        replaced: what takes the place of what in this project, by the full names.
    """

    name: str
    index: str = ""
    replaced: dict[str, Any] = field(default_factory=dict)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Searches work so within the block."""
        with ExitStack() as stack:
            for name, other in self.replaced.items():
                stack.enter_context(patch(name, other))
            yield


_STEP: Final = "shared.query.pipeline.SimilarWords"
_TERMS: Final = "shared.query.steps.spelling.similar_terms"
_COGNATES: Final = "shared.query.steps.similar_terms.spellings"

NOTHING: Final = Method("nothing", replaced={_STEP: NoSimilarWords})
EDITS: Final = Method("edit distance", replaced={_COGNATES: lambda _: None})
THIS_PROJECT: Final = Method("this project: edit distance and other spellings")
METHODS: Final = (
    NOTHING,
    THIS_PROJECT,
    EDITS,
    Method("DirectSpellChecker, two edits at once", replaced={_TERMS: spell_checked}),
    Method("trigrams of unknown words", "trigrams", {_STEP: UnknownWordsAsGrams}),
    Method("trigrams of all words", "trigrams", {_STEP: WordsAndGrams}),
    Method("2 to 4 letters of unknown words", "grams", {_STEP: UnknownWordsAsMoreGrams}),
    Method("2 to 4 letters of all words", "grams", {_STEP: WordsAndMoreGrams}),
    Method("edit distance for all words (FuzzyQuery)", replaced={_STEP: FuzzyWords}),
)


@contextmanager
def known_grams() -> Iterator[None]:
    """The analyzers know the fields of n-grams within the block."""
    with patch.dict("shared.analysis.analyzers._FIELDS", GRAMS):
        yield


def write(documents: Path, path: Path, grams: str) -> int:
    """Write an index of a collection.

    Args:
        documents: the file of the documents.
        path: the index folder.
        grams: the field of n-grams to write beside the others; blank for none.

    Returns:
        The bytes of its files.
    """
    create(path)

    def with_grams(document: Document, content: str, section: str = "") -> Iterator[Any]:
        yield from chunk_search_fields(document, content, section)
        if grams:
            yield gram_field(grams, f"{document.title}\n{content}")

    with (
        patch("shared.storage.mapping.chunk_search_fields", with_grams),
        Index(path) as index,
    ):
        for document in read_documents(documents):
            index.add(document)
    return sum(file.stat().st_size for file in path.iterdir())


def gram_field(name: str, text: str) -> Any:
    """A text as n-grams without positions."""
    from org.apache.lucene.document import Field, FieldType
    from org.apache.lucene.index import IndexOptions

    prepare(name)
    kind = FieldType()
    kind.setIndexOptions(IndexOptions.DOCS_AND_FREQS)
    kind.setTokenized(True)
    return Field(name, text, kind)
