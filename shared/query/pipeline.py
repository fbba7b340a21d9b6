"""Pipeline from a typed query to the tree that finds its hits.

1. Characters that are not meant as syntax are escaped (`shared.query.syntax`).
2. Lucene's classic syntax is parsed into a tree (`shared.query.parser`); plain language that does
   not parse is treated as plain text (`shared.query.plain_language`). Named fields become filters
   (`shared.query.metadata_filters`) and metadata fields (`shared.query.metadata_fields`).
3. Function words are left out (`shared.query.function_words`).
4. Each word, phrase and pattern is put on the fields of the index, as far as some chunk has it
   (`shared.query.words`). A word that no chunk has is replaced by German compounds with it
   (`shared.query.compounds`), or else by similar words (`shared.query.spelling`).
5. The words next to each other, and the language of the query, add to the scores.
6. The tree is compiled to a query of the engine: of Lucene (`shared.query.compiler`), or of a
   cluster (`shared.opensearch.search.compiler`).

The weights of the matches are in `shared.model.weights`.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from shared.analysis.languages import LANGUAGES, UNDETERMINED
from shared.java.cancellation import check
from shared.model import metadata, schema
from shared.model.chunks import WORDS_PER_CHUNK
from shared.model.filters import Filter
from shared.model.request import SearchRequest
from shared.model.weights import Weights
from shared.query.compounds import WITH_COMPOUNDS, compounds_of
from shared.query.function_words import Telling, quoted_words, without_function_words
from shared.query.index_terms import IndexTerms, rarity
from shared.query.limits import check_characters, check_length, check_patterns, running
from shared.query.parser import parse
from shared.query.plain_language import ReadQuery, read
from shared.query.spelling import Spelling
from shared.query.syntax import as_meant, to_lucene_syntax
from shared.query.tree import (
    Best,
    Clause,
    Clauses,
    Everything,
    Node,
    Nothing,
    Occur,
    Phrase,
    Terms,
    Values,
    Weighted,
    Wildcard,
    Word,
    any_of,
    best_of,
    leaves,
    weighted,
)
from shared.query.words import Piece, WordsOnFields

_WITHOUT_BLANKS: Final = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]{2,}")
"""Word of Thai, Lao, Burmese or Khmer, which may be within what the dictionary takes as a word."""

_MOST_COMPOUNDS: Final = 8
"""Maximum number of words of a query for which compounds are searched, since each takes
milliseconds."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a query that a hit should have.

    Attributes:
        found: the part on fields, without terms that no chunk has; `Nothing` if none is left.
        rarity: the inverse document frequency of its most common form.
        alike: the similarity of the word that is searched to the one that was typed, from 0 to 1.
        is_word: true if it is a word without signs that is searched as it was typed.
    """

    found: Node
    rarity: float
    alike: float
    is_word: bool


@dataclass(frozen=True)
class ParsedQuery:
    """A query after all steps.

    Attributes:
        read: the query as parsed, before all steps.
        telling: the tree without function words.
        tree: the tree that finds the hits.
        parts: the parts of the query, such as its words; empty if it matches everything.
        other: the rewritten query, without function words; `Nothing` without one.
        rewritten: its parts.
        spelling: the words that hardly any chunk has, and the words that replace them.
        languages: the languages in which words are searched, with the share of their chunks.
        weights: the weight of each kind of match.
        is_plain: whether it consists of words without operators and fields.
    """

    read: ReadQuery
    telling: Node
    tree: Node
    parts: Sequence[Part]
    other: Node
    rewritten: Sequence[Part]
    spelling: Spelling
    languages: Mapping[str, float]
    weights: Weights
    is_plain: bool

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
    """Parse a query and apply all steps.

    Args:
        request: the request; a blank query matches every chunk, and a filter may restrict the
            language.
        terms: the terms of the commit that will be searched.
        weights: the weight of each kind of match.

    Raises:
        QueryParseError: the text is not valid syntax; the message names the position.
        QueryError: the query is too long, too large, or cannot be run.
        InvalidTextError: the text is not valid Unicode.
    """
    check_length(request.query)
    check_characters(request.query)
    request = replace(request, query=as_meant(request.query, request.syntax))
    asked = read(request, terms)
    languages = _languages(terms, (*request.filters, *asked.filters))
    usual: Occur = "must" if request.operator == "and" else "should"
    quoted = quoted_words(asked.classic)
    telling = without_function_words(asked.tree, quoted, usual, languages)
    spelling = Spelling(terms, telling.language)
    words = WordsOnFields(terms, tuple(languages), weights, request.operator == "and")
    with running():
        pass_ = _Pass(words, spelling, quoted, takes_other_words=request.syntax != "lucene")
        tree, parts = pass_.run(telling.tree)
        others = _Pass(words, spelling, (), takes_other_words=False)
        rewritten = _rewritten(request, weights, usual, languages)
        other, other_parts = others.run(rewritten)
        if other_parts and not isinstance(other, Nothing):
            tree = any_of(tree, weighted(other, weights.rewritten))
        is_plain = all(map(_is_plain, clauses_of(asked.tree)))
        if is_plain:
            if usual == "should":
                typed = request.query.split()
                tree = any_of(tree, words.numbers(request.query), words.neighbours(typed))
            tree = _with_ranks(tree, request.query, telling, words, languages)
        check_patterns(tree, terms)
    return ParsedQuery(
        asked,
        telling.tree,
        tree,
        parts,
        rewritten,
        other_parts,
        spelling,
        languages,
        weights,
        is_plain,
    )


def _rewritten(
    request: SearchRequest, weights: Weights, usual: Occur, languages: Mapping[str, float]
) -> Node:
    text = request.rewritten or ""
    check_length(text)
    if not (text.strip() and request.query.strip() and weights.rewritten):
        return Nothing()
    tree = parse(text, to_lucene_syntax(text, "plain"), request.operator)
    return without_function_words(tree, (), usual, languages).tree


class _Pass:
    """The one pass over a query that puts its parts on the fields of the index.

    Args:
        words: the step for words.
        spelling: the search for misspelled words.
        quoted: the words that stand alone in quotes.
        takes_other_words: whether words that no chunk has may be replaced.
    """

    def __init__(
        self,
        words: WordsOnFields,
        spelling: Spelling,
        quoted: Collection[str],
        *,
        takes_other_words: bool,
    ) -> None:
        self._words = words
        self._quoted = quoted
        self._spelling = spelling
        self._takes_other_words = takes_other_words
        self._compounds = 0

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
            if clause.occur in {"should", "must"} and not isinstance(clause.node, Everything):
                parts += pieces
        return _together(clauses), parts

    def _clause(self, clause: Clause) -> tuple[Node | None, list[Part]]:
        """Return a clause on fields, and its parts; None if it has no letters."""
        node, weight = (
            (clause.node.node, clause.node.weight)
            if isinstance(clause.node, Weighted)
            else (clause.node, 1.0)
        )
        words = self._words
        key = (
            *(node, clause.occur, self._takes_other_words),
            *(words.requires_all, words.languages, words.weights),
        )
        is_quoted = isinstance(node, Word) and node.text in self._quoted
        if isinstance(node, Word) and not is_quoted and (known := words.terms.words.get(key)):
            return weighted(known[0], weight), known[1]
        noted = len(self._spelling.corrections) + len(self._spelling.rare)
        if isinstance(node, Word):
            found, pieces, alike = self._word(node, clause.occur)
        else:
            found = self._node(node, clause.occur)
            pieces, alike = [Piece(found)] if found is not None else [], 1.0
        terms = self._words.terms
        parts = [
            Part(
                piece.found,
                rarity(piece.found, terms),
                alike,
                piece.is_word and alike == 1.0,
            )
            for piece in pieces
        ]
        if found is None:
            return None, parts
        is_as_typed = len(self._spelling.corrections) + len(self._spelling.rare) == noted
        if isinstance(node, Word) and not is_quoted and is_as_typed:
            words.terms.remember(key, (found, parts))
        return weighted(found, weight), parts

    def _node(self, node: Node, occur: Occur) -> Node | None:
        match node:
            case Weighted(inner, weight):
                found = self._node(inner, occur)
                return found and weighted(found, weight)
            case Best(nodes):
                made = [self._node(inner, occur) for inner in nodes]
                return best_of(*(one for one in made if one is not None))
            case Clauses(clauses):
                parts = [
                    (self._node(part.node, _inner(occur, part.occur)), part.occur)
                    for part in clauses
                ]
                left = [Clause(part, role) for part, role in parts if part is not None]
                return _together(left) if left else None
            case Word():
                return self._word(node, occur)[0]
        return self._words.node(node, occur)

    def _word(self, word: Word, occur: Occur) -> tuple[Node | None, list[Piece], float]:
        """Return a word on fields, its parts, and the similarity of what is searched to it."""
        forms = self._words.forms(word.text)
        if word.text in self._quoted and len(forms) > 1:
            found = self._words.node(Phrase((word.text,), field=word.field), occur)
            return found, [] if found is None else [Piece(found)], 1.0
        made = self._words.word(word, occur)
        if made is None:
            return None, [], 1.0
        node, pieces = made
        if word.field is None and occur != "must_not" and len(forms) == 1:
            other = self._other_words(word, node)
            if other is not None:
                return other[0], [Piece(other[0])], other[1]
        return node, pieces, 1.0

    def _other_words(self, word: Word, node: Node) -> tuple[Node, float] | None:
        """Return compounds with a word, or words that it may stand for, and how similar they are.

        None if the word is searched as it is.
        """
        if not self._takes_other_words:
            return None
        words, weights = self._words, self._words.weights
        is_known = not isinstance(node, Nothing)
        form = words.forms(word.text)[0]
        has_compounds = not WITH_COMPOUNDS.isdisjoint(words.languages)
        if not is_known and weights.compound and has_compounds:
            found = self._compounds_of(form.term)
            if found:
                return found, 1.0
        if not is_known and _WITHOUT_BLANKS.fullmatch(form.term):
            return words.node(Wildcard(f"*{form.term}*")) or Nothing(), 1.0
        halves = Nothing() if is_known else words.apart(form.term)
        similar = self._spelling.similar(word.text, form.stems, is_known=is_known)
        if not similar or not weights.similar:
            return None if isinstance(halves, Nothing) else (halves, 1.0)
        nodes = [halves]
        for other in similar:
            made = words.word(Word(other.text))
            if made is not None:
                nodes.append(weighted(made[0], weights.similar * other.weight))
        best = best_of(node, *nodes) if is_known else best_of(*nodes)
        return best, 1.0 if is_known else similar[0].alike

    def _compounds_of(self, term: str) -> Node | None:
        if self._compounds >= _MOST_COMPOUNDS:
            return None
        self._compounds += 1
        words, weights = self._words, self._words.weights
        found = compounds_of(words.terms, term)
        fields = {schema.CONTENT: weights.content, schema.TITLE: weights.title}
        nodes = [
            weighted(Terms(field, there), weights.compound * weight)
            for field, weight in fields.items()
            if (there := tuple(text for text in found if words.terms.frequency(field, text)))
        ]
        return any_of(*nodes) if nodes else None


def _inner(outer: Occur, inner: Occur) -> Occur:
    if "must_not" in (outer, inner):
        return "must_not"
    return "should" if inner == "rank" else inner


def clauses_of(tree: Node) -> list[Clause]:
    """Return the clauses of a query: those of the whole tree, or the tree as the only one."""
    match tree:
        case Clauses(clauses):
            return list(clauses)
        case Nothing():
            return []
    return [Clause(tree)]


def _together(clauses: Sequence[Clause]) -> Node:
    """Return the tree of clauses on fields, without those that no chunk meets."""
    if not clauses:
        return Nothing()
    required = [clause for clause in clauses if clause.occur == "must"]
    found = [clause for clause in clauses if not isinstance(clause.node, Nothing)]
    if any(isinstance(clause.node, Nothing) for clause in required):
        return Nothing()
    is_optional = not required and any(clause.occur == "should" for clause in clauses)
    if is_optional and not any(clause.occur == "should" for clause in found):
        return Nothing()
    if [clause.occur for clause in found] == ["should"]:
        return found[0].node
    # Only terms that no chunk has were excluded.
    return Clauses(tuple(found)) if found else Everything()


def _with_ranks(
    tree: Node, text: str, telling: Telling, words: WordsOnFields, languages: Mapping[str, float]
) -> Node:
    """Return a tree of plain words whose hits score more as a phrase, and in their language."""
    weights, typed = words.weights, text.split()
    if isinstance(tree, Nothing | Everything):
        return tree
    if weights.whole and len(typed) <= WORDS_PER_CHUNK:
        row = weighted(words.row_of(typed), weights.whole)
        if not isinstance(row, Nothing):
            # Beside the words: Lucene skips what cannot be among the best on one level only.
            tree = Clauses((*clauses_of(tree), Clause(row, "rank")))
    if len(languages) > 1 and telling.language is not None and telling.language in languages:
        # A chunk of which no language is known may be in this one.
        either = Values(schema.LANGUAGES, (telling.language, UNDETERMINED))
        ranked = Clause(weighted(either, weights.language), "rank")
        tree = Clauses((Clause(tree, "must"), ranked))
    return tree


def _is_plain(clause: Clause) -> bool:
    """Check whether a part is a word that a chunk may have in any field."""
    # A word that occurs twice weighs more.
    node = clause.node.node if isinstance(clause.node, Weighted) else clause.node
    return clause.occur != "must_not" and isinstance(node, Word) and node.field is None


def _languages(terms: IndexTerms, filters: Sequence[Filter]) -> Mapping[str, float]:
    """Return the languages in which words are searched, each with the share of its chunks.

    Args:
        terms: the terms of the commit to be searched.
        filters: the filters of the search; one on the language leaves only that language, and the
            chunks whose language is unknown.
    """
    for condition in filters:
        if condition.field == metadata.LANGUAGE and len(values := _only(condition)) == 1:
            language = str(values[0])
            unknown = {code: n for code, n in terms.languages.items() if code == UNDETERMINED}
            return ({language: 1.0} if language in LANGUAGES else {}) | unknown
    return terms.languages


def _only(condition: Filter) -> Sequence[object]:
    """Return the values that a filter allows; empty for filters that do not list values."""
    match condition:
        case Filter(operator="eq"):
            return [condition.value]
        case Filter(operator="in", value=list(values)):
            return values
    return []
