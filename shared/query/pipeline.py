"""Pipeline from a typed query to the tree that finds its hits.

1. Characters that are not meant as syntax are escaped (`shared.query.syntax`).
2. Lucene's classic syntax is parsed into a tree (`shared.query.parser`); plain language that does
   not parse is treated as plain text (`shared.query.read`). Named fields become filters and
   metadata fields (`shared.query.named_fields`, `shared.query.values`).
3. Function words, such as "what" and "the", are left out beside other words
   (`shared.analysis.function_words`). They are kept in quotes, with a plus or in an expression with
   operators.
4. Each word, phrase and pattern is put on the fields of the index, as far as some chunk has it
   (`shared.query.words`). A word that no chunk has is replaced by compounds with it, or else
   by similar words (`shared.query.spelling`).
5. The words next to each other, and the language of the query, add to the scores.
6. The tree is compiled to a query of the engine: of Lucene (`shared.query.lucene`), or of a
   cluster (`shared.opensearch.search.compiler`).

The weights of the matches are in `shared.model.weights`.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from shared.analysis.function_words import left_out_of_query
from shared.analysis.languages import LANGUAGES, UNDETERMINED, WITH_COMPOUNDS
from shared.java.cancellation import check
from shared.model import metadata, schema
from shared.model.chunks import WORDS_PER_CHUNK
from shared.model.filters import Filter
from shared.model.request import SearchRequest
from shared.model.weights import Weights
from shared.query.index_terms import IndexTerms, rarity
from shared.query.limits import check_patterns, check_text, running
from shared.query.on_fields import TEXT_FIELDS
from shared.query.parser import parse
from shared.query.read import ReadQuery, read
from shared.query.spelling import Spelling, compounds_of
from shared.query.syntax import as_meant, to_lucene_syntax
from shared.query.tree import (
    Clause,
    Clauses,
    Everything,
    Leaf,
    Node,
    Nothing,
    Occur,
    Phrase,
    Terms,
    Values,
    Wildcard,
    Word,
    any_of,
    best_of,
    clauses_of,
    leaves,
    plain_word,
    rewrite,
    together,
    unweighted,
    weighted,
)
from shared.query.words import Piece, WordsOnFields

_QUOTED_WORD: Final = re.compile(r'(?<!\\)"([^"\s]+)"')
"""Phrase of one word, which is an ordinary word in the tree."""

_WITHOUT_BLANKS: Final = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]{2,}")
"""Word of Thai, Lao, Burmese or Khmer, which may be within what the dictionary takes as a word."""

_MOST_COMPOUNDS: Final = 8
"""Maximum number of words of a query for which compounds are searched, since each takes
milliseconds."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a query that a hit should have."""

    found: Node  # on fields, without terms that no chunk has; `Nothing` if none is left
    rarity: float  # the inverse document frequency of its most common form
    alike: float  # as in a `Piece`
    is_word: bool


@dataclass(frozen=True)
class ParsedQuery:
    """A query after all steps."""

    read: ReadQuery
    telling: Node  # the parsed tree without function words
    tree: Node  # the tree that finds the hits
    parts: Sequence[Part]  # such as its words; empty if it matches everything
    other: Node  # the rewritten query, without function words; `Nothing` without one
    rewritten: Sequence[Part]  # its parts
    spelling: Spelling
    languages: Mapping[str, float]  # those in which words are searched, see `IndexTerms.languages`
    weights: Weights
    is_plain: bool  # whether it consists of words without operators and fields

    @property
    def steps(self) -> Mapping[str, Node]:
        """The tree after each step, in order."""
        steps = {"parse": self.read.tree, "telling": self.telling, "rewritten": self.other}
        found = {name: tree for name, tree in steps.items() if not isinstance(tree, Nothing)}
        return {**found, "fields": self.tree}

    @property
    def browses(self) -> bool:
        """True if the query matches every chunk, with the same score."""
        return isinstance(self.tree, Everything)


def parse_query(request: SearchRequest, terms: IndexTerms, weights: Weights) -> ParsedQuery:
    """Parse a query and apply all steps; a blank one matches every chunk."""
    check_text(request.query)
    meant = as_meant(request.query, request.syntax)
    if meant != request.query:
        request = replace(request, query=meant)
    asked = read(request, terms)
    languages = _languages(terms, (*request.filters, *asked.filters))
    usual: Occur = "must" if request.operator == "and" else "should"
    quoted = quoted_words(asked.classic)
    telling, language = without_function_words(asked.tree, quoted, usual, languages)
    spelling = Spelling(terms, language)
    words = WordsOnFields(terms, weights, tuple(languages), request.operator == "and")
    with running():
        pass_ = _Pass(words, spelling, quoted, takes_other_words=request.syntax != "lucene")
        tree, parts = pass_.run(telling)
        others = _Pass(words, spelling, (), takes_other_words=False)
        rewritten = _rewritten(request, weights, usual, languages)
        other, other_parts = others.run(rewritten)
        if other_parts and not isinstance(other, Nothing):
            tree = any_of(tree, weighted(other, weights.rewritten))
        is_plain = all(
            clause.occur != "must_not" and plain_word(clause) is not None
            for clause in clauses_of(asked.tree)
        )
        typed = request.query.split()
        if is_plain and usual == "should":
            tree = any_of(tree, words.numbers(request.query), words.neighbours(typed))
        if is_plain:
            tree = _with_ranks(tree, typed, language, words)
        check_patterns(tree, terms)
    return ParsedQuery(
        *(asked, telling, tree, parts, rewritten, other_parts),
        *(spelling, languages, weights, is_plain),
    )


def _rewritten(
    request: SearchRequest, weights: Weights, usual: Occur, languages: Mapping[str, float]
) -> Node:
    text = request.rewritten or ""
    check_text(text)
    if not (text.strip() and request.query.strip() and weights.rewritten):
        return Nothing()
    tree = parse(text, to_lucene_syntax(text, "plain"), request.operator)
    return without_function_words(tree, (), usual, languages)[0]


def quoted_words(classic: str) -> frozenset[str]:
    """Return the words that stand alone in quotes in a query in Lucene's classic syntax."""
    return frozenset(_QUOTED_WORD.findall(classic)) if '"' in classic else frozenset()


def without_function_words(
    tree: Node, quoted: Collection[str], usual: Occur, languages: Mapping[str, float]
) -> tuple[Node, str | None]:
    """Return a parsed query without its function words, if it has others, and their language.

    Those that stand alone in quotes, or have another than the usual role, are kept.
    """
    if not isinstance(tree, Clauses):
        return tree, None
    words = [plain_word(clause) if clause.occur == usual else None for clause in tree.clauses]
    left_out, language = left_out_of_query(
        [word if word and word not in quoted else "" for word in words], languages
    )
    telling = [
        clause
        for clause, is_left_out in zip(tree.clauses, left_out, strict=True)
        if not is_left_out
    ]
    if all(clause.occur == "must_not" for clause in telling):
        return tree, language
    return Clauses(tuple(telling)), language


class _Pass:
    """The one pass over a query that puts its parts on the fields of the index."""

    def __init__(
        self,
        words: WordsOnFields,
        spelling: Spelling,
        quoted: Collection[str],
        *,
        takes_other_words: bool,
    ) -> None:
        self._words = words
        self._spelling = spelling
        self._quoted = quoted
        self._takes_other_words = takes_other_words
        self._compounds = 0
        # All that the tree of a word depends on besides the word.
        self._context = (
            takes_other_words,
            *(words.requires_all, words.languages, words.weights, spelling.language),
        )

    def run(self, tree: Node) -> tuple[Node, list[Part]]:
        """Return a query on fields, and its parts that a hit should have."""
        self._words.prepare([leaf.text for leaf in leaves(tree) if isinstance(leaf, Word)])
        parts: list[Part] = []
        clauses = []
        for clause in clauses_of(tree):
            check()
            node, pieces = self._clause(clause)
            if node is None:
                continue
            clauses.append(Clause(node, clause.occur))
            if clause.occur != "must_not" and not isinstance(clause.node, Everything):
                parts += pieces
        return together(clauses), parts

    def _clause(self, clause: Clause) -> tuple[Node | None, Sequence[Part]]:
        """Return a clause on fields, and its parts; None if it has no letters."""
        node, weight = unweighted(clause.node)
        if not isinstance(node, Word):
            found = rewrite(node, self._leaf, clause.occur)
            parts = [] if found is None else [self._part(Piece(found))]
            return found and weighted(found, weight), parts
        key = (node, clause.occur, node.text in self._quoted, self._context)
        known = self._words.terms.words.get(key)
        if known is None:
            noted = self._spelling.noted
            found, pieces = self._word(node, clause.occur)
            known = found, list(map(self._part, pieces))
            if self._spelling.noted == noted:
                self._words.terms.remember(key, known)
        return known[0] and weighted(known[0], weight), known[1]

    def _part(self, piece: Piece) -> Part:
        return Part(piece.found, rarity(piece.found, self._words.terms), piece.alike, piece.is_word)

    def _leaf(self, leaf: Leaf, occur: Occur) -> Node | None:
        if isinstance(leaf, Word):
            return self._word(leaf, occur)[0]
        return self._words.leaf(leaf, occur)

    def _word(self, word: Word, occur: Occur) -> tuple[Node | None, list[Piece]]:
        """Return a word on fields, and its parts; None if it has no letters."""
        forms = self._words.forms(word.text)
        if word.text in self._quoted and len(forms) > 1:
            found = self._words.leaf(Phrase((word.text,), field=word.field), occur)
            return found, [] if found is None else [Piece(found)]
        made = self._words.word(word, occur)
        if made is None:
            return None, []
        is_alone = word.field is None and occur != "must_not" and len(forms) == 1
        if is_alone and self._takes_other_words and (other := self._other_words(word, made[0])):
            return other.found, [other]
        return made

    def _other_words(self, word: Word, node: Node) -> Piece | None:
        """Return compounds with a word, or words that it may stand for; None if it is right."""
        words, weights = self._words, self._words.weights
        is_known = not isinstance(node, Nothing)
        form = words.forms(word.text)[0]
        halves: Node = Nothing()
        if not is_known:
            if not isinstance(compounds := self._compounds_of(form.term), Nothing):
                return Piece(compounds)
            if _WITHOUT_BLANKS.fullmatch(form.term):
                return Piece(words.leaf(Wildcard(f"*{form.term}*"), "should") or Nothing())
            halves = words.apart(form.term)
        similar = self._spelling.similar(word.text, form.stems, is_known=is_known)
        if not similar or not weights.similar:
            return None if isinstance(halves, Nothing) else Piece(halves)
        made = ((words.word(Word(other.text)), other.weight) for other in similar)
        others = [weighted(of[0], weights.similar * weight) for of, weight in made if of]
        if is_known:
            return Piece(best_of(node, *others))
        return Piece(best_of(halves, *others), alike=similar[0].alike)

    def _compounds_of(self, term: str) -> Node:
        """Return the compounds with a word; `Nothing` if there are none."""
        words = self._words
        if not words.weights.compound or WITH_COMPOUNDS.isdisjoint(words.languages):
            return Nothing()
        if self._compounds >= _MOST_COMPOUNDS:
            self._spelling.noted += 1
            return Nothing()
        self._compounds += 1
        found = compounds_of(words.terms, term)

        def on(field: str) -> Node:
            there = words.there(field, found)
            return Terms(field, there) if there else Nothing()

        return words.on_texts(TEXT_FIELDS, on, words.weights.compound)


def _with_ranks(
    tree: Node, typed: Sequence[str], language: str | None, words: WordsOnFields
) -> Node:
    """Return a tree of plain words whose hits score more as a phrase, and in their language."""
    weights, languages = words.weights, words.languages
    if isinstance(tree, Nothing | Everything):
        return tree
    if weights.whole and len(typed) <= WORDS_PER_CHUNK:
        row = weighted(words.row_of(typed), weights.whole)
        if not isinstance(row, Nothing):
            # Beside the words: Lucene skips what cannot be among the best on one level only.
            tree = Clauses((*clauses_of(tree), Clause(row, "rank")))
    if language is not None and len(languages) > 1 and language in languages:
        # A chunk of which no language is known may be in this one.
        either = Values(schema.LANGUAGES, (language, UNDETERMINED))
        ranked = Clause(weighted(either, weights.language), "rank")
        tree = Clauses((Clause(tree, "must"), ranked))
    return tree


def _languages(terms: IndexTerms, filters: Sequence[Filter]) -> Mapping[str, float]:
    """Return the languages in which words are searched, each with the share of its chunks.

    A filter on the language leaves only that one, and the chunks whose language is unknown.
    """
    for condition in filters:
        value = condition.value
        values = value if isinstance(value, list) else [value]
        is_on_language = condition.field == metadata.LANGUAGE and condition.operator in ("eq", "in")
        if is_on_language and len(values) == 1:
            language = str(values[0])
            unknown = {code: n for code, n in terms.languages.items() if code == UNDETERMINED}
            return ({language: 1.0} if language in LANGUAGES else {}) | unknown
    return terms.languages
