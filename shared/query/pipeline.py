"""Pipeline from a typed query to the tree that finds its hits.

1. Characters that are not meant as syntax are escaped (`shared.query.syntax`).
2. Lucene's classic syntax is parsed into a tree, plain language that does not parse as plain text
   (`shared.query.parser`). Named fields become filters and metadata fields
   (`shared.query.named_fields`).
3. Function words, such as "what" and "the", are left out beside other words
   (`shared.analysis.languages`). They are kept in quotes, with a plus or in an expression with
   operators.
4. One pass puts each word, phrase and pattern on the fields of the index, as far as some chunk has
   it (`shared.query.words`). A word that no chunk has is replaced by compounds with it, or else by
   similar words (`shared.query.spelling`), or else by the parts of a compound.
5. The words next to each other, and the language of the query, add to the scores.
6. The tree is compiled to a query of the engine: of Lucene (`shared.query.lucene`), or of a
   cluster (`shared.opensearch.compiler`).

The weights of the matches are in `shared.model.weights`.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from shared.analysis.analyzers import as_typed, folded, tokens, tokens_of, with_blanks
from shared.analysis.languages import (
    LANGUAGES,
    SPELLED_OUT,
    UNDETERMINED,
    WITH_COMPOUNDS,
    WITHOUT_BLANKS,
    left_out_of_query,
)
from shared.java.cancellation import check
from shared.model import metadata, schema
from shared.model.document import WORDS_PER_CHUNK
from shared.model.filters import Filter
from shared.model.request import SearchRequest
from shared.model.weights import Weights
from shared.query.limits import check_patterns, check_text
from shared.query.numbers import in_other_numerals, of_words, releases
from shared.query.parser import ReadQuery, parse, read
from shared.query.spelling import Spelling, compounds_of
from shared.query.syntax import WORD, as_meant, to_lucene_syntax
from shared.query.terms import DIGRAPH, Form, IndexTerms
from shared.query.tree import (
    Clause,
    Clauses,
    Everything,
    Expression,
    Fuzzy,
    Node,
    Nothing,
    Occur,
    Pattern,
    Phrase,
    Range,
    Values,
    Wildcard,
    Word,
    any_of,
    best_of,
    clauses_of,
    escaped,
    leaves,
    pieces,
    plain_word,
    rewrite,
    scaled,
    together,
    unescaped,
    unweighted,
    weighted,
)
from shared.query.words import TEXT_FIELDS, Part, Words, fields_of, on_named_field

__all__ = ["ParsedQuery", "Part", "parse_query", "quoted_words", "without_function_words"]

_QUOTED_WORD: Final = re.compile(r'(?<!\\)"([^"\s]+)"')
"""Phrase of one word, which is an ordinary word in the tree."""

_WITHOUT_BLANKS: Final = re.compile(f"[{WITHOUT_BLANKS}]{{2,}}")
"""Word of Thai, Lao, Burmese or Khmer, which may be within what the dictionary takes as a word."""

_NO_LETTERS: Final = re.compile(f"(?:[^{WORD}]|_)+")
_SUFFIX: Final = re.compile(r"\*((?:\\.|[^*?\\])+)", re.DOTALL)

_MOST_COMPOUNDS: Final = 8  # words of a query that are searched in others, in milliseconds each
_NEAR: Final = 3  # slop of near words: the moves that separate them from being adjacent
_SCORED_PREFIX: Final = 4  # letters of a prefix that is specific enough to score its terms


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
    leaves: Sequence[Node]  # of the tree, with those that must not match

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
    """Parse a query and apply all steps, within `running`; a blank one matches every chunk."""
    check_text(request.query)
    meant = as_meant(request.query, request.syntax)
    if request.syntax != "lucene":
        meant = with_blanks(meant)
    if meant != request.query:
        request = replace(request, query=meant)
    asked = read(request, terms)
    languages = _languages(terms, (*request.filters, *asked.filters))
    usual: Occur = "must" if request.operator == "and" else "should"
    quoted = quoted_words(asked.classic)
    telling, language = without_function_words(asked.tree, quoted, usual, languages)
    spelling = Spelling(terms, language)
    words = Words(terms, weights, tuple(languages), request.operator == "and")
    tree, parts = _Pass(words, spelling, quoted, request.syntax != "lucene").run(telling)
    rewritten = _rewritten(request, weights, usual, languages)
    other_parts: Sequence[Part] = ()
    if not isinstance(rewritten, Nothing):
        other, other_parts = _Pass(words, spelling, (), takes_other_words=False).run(rewritten)
        if other_parts:
            tree = any_of(tree, weighted(other, weights.rewritten))
    is_plain = all(
        clause.occur != "must_not" and plain_word(clause) is not None
        for clause in clauses_of(asked.tree)
    )
    typed = [as_typed(word) for word in request.query.split()]
    if is_plain and usual == "should":
        numbers = of_words(request.query, terms, weights)
        numerals = in_other_numerals(typed, terms)
        tree = any_of(tree, numbers, numerals, words.neighbours(typed))
    if is_plain:
        tree = _with_ranks(tree, typed, language, words)
    every = leaves(tree, excluded=True)
    check_patterns(every, terms)
    return ParsedQuery(
        *(asked, telling, tree, parts, rewritten, other_parts),
        *(spelling, languages, weights, is_plain, every),
    )


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
    pairs = zip(tree.clauses, left_out, strict=True)
    telling = tuple(clause for clause, is_left_out in pairs if not is_left_out)
    if all(clause.occur == "must_not" for clause in telling):
        return tree, language
    return Clauses(telling), language


def _with_ranks(tree: Node, typed: Sequence[str], language: str | None, words: Words) -> Node:
    """Return a tree of plain words whose hits score more as a phrase, and in their language."""
    if isinstance(tree, Nothing | Everything):
        return tree
    weights, languages = words.weights, words.languages
    if len(typed) <= WORDS_PER_CHUNK:
        terms = [(token.text,) for of_word in tokens_of(typed) for token in of_word]
        row = scaled(words.terms.row(schema.CONTENT, terms), weights.whole)
        if len(terms) > 1 and not isinstance(row, Nothing):
            # Beside the words: Lucene skips what cannot be among the best on one level only.
            tree = Clauses((*clauses_of(tree), Clause(row, "rank")))
    versions = releases(typed, words.terms, weights)
    ranks = [] if isinstance(versions, Nothing) else [versions]
    if language is not None and len(languages) > 1 and language in languages:
        # A chunk of which no language is known may be in this one.
        either = Values(schema.LANGUAGES, (language, UNDETERMINED))
        ranks.append(weighted(either, weights.language))
    if ranks:
        tree = Clauses((Clause(tree, "must"), *(Clause(node, "rank") for node in ranks)))
    return tree


@dataclass
class _Pass:
    """The one pass over a query that puts its parts on the fields of the index."""

    words: Words
    spelling: Spelling
    quoted: Collection[str]
    takes_other_words: bool
    compounds: int = 0
    unprepared: Node | None = None  # whose words are analyzed at once, if one is not cached

    @cached_property
    def _context(self) -> tuple[object, ...]:
        """All that the tree of a word depends on besides the word, in searchers of one reader."""
        words = self.words
        return self.takes_other_words, words.requires_all, words.languages, self.spelling.language

    def run(self, tree: Node) -> tuple[Node, list[Part]]:
        """Return a query on fields, and its parts that a hit should have."""
        self.unprepared = tree
        parts: list[Part] = []
        clauses = []
        for clause in clauses_of(tree):
            check()
            node, found = self._clause(clause)
            if node is None:
                continue
            clauses.append(Clause(node, clause.occur))
            if clause.occur != "must_not" and not isinstance(clause.node, Everything):
                parts += found
        return together(clauses), parts

    def _clause(self, clause: Clause) -> tuple[Node | None, Sequence[Part]]:
        """Return a clause on fields, and its parts; None if it has no letters."""
        node, weight = unweighted(clause.node)
        if not isinstance(node, Word):
            found = rewrite(node, self._leaf, clause.occur)
            return found and weighted(found, weight), [self.words.part(found)] if found else []
        terms = self.words.terms
        key = (node.text, node.field, clause.occur, node.text in self.quoted, self._context)
        known = terms.words.get(key)
        if known is None:
            noted = self.spelling.noted
            known = self._word(node, clause.occur)
            if self.spelling.noted == noted:
                terms.remember(key, known)
        return known[0] and weighted(known[0], weight), known[1]

    def _word(self, word: Word, occur: Occur) -> tuple[Node | None, list[Part]]:
        """Return a word on fields, and its parts; None if it has no letters."""
        words = self.words
        if self.unprepared:
            words.prepare([leaf.text for leaf in leaves(self.unprepared) if isinstance(leaf, Word)])
            self.unprepared = None
        forms = words.forms(word.text)
        if word.text in self.quoted and len(forms) > 1:
            found = self._phrase(Phrase((word.text,), field=word.field), occur)
            return found, [words.part(found)] if found else []
        made = words.word(word, forms, occur)
        is_alone = word.field is None and occur != "must_not" and len(forms) == 1
        if made[0] is not None and is_alone and self.takes_other_words:
            other = self._other_words(word, forms[0], made[0])
            return (other.found, [other]) if other else made
        return made

    def _other_words(self, word: Word, form: Form, node: Node) -> Part | None:
        """Return compounds with a word, words that it may stand for, or the parts of a compound.

        None if the word is right.
        """
        words, weight = self.words, self.words.weights.similar
        is_known = not isinstance(node, Nothing)
        halves: Node = Nothing()
        if not is_known:
            if not isinstance(compounds := self._compounds_of(form.term), Nothing):
                return words.part(compounds)
            if _WITHOUT_BLANKS.fullmatch(form.term):
                return words.part(self._wildcard(Wildcard(f"*{form.term}*")))
            halves = any_of(words.apart(form.term), words.initials(word.text))
        similar = self.spelling.similar(word.text, form.stems, is_known=is_known)
        if similar is None or not weight:
            if not is_known:
                halves = any_of(halves, words.parts_of_compound(form.term))
            return None if isinstance(halves, Nothing) else words.part(halves)
        meant, _ = words.word(Word(similar.text), words.forms(similar.text))
        other = best_of(node, halves, weighted(meant or Nothing(), weight * similar.alike))
        return words.part(other, alike=1.0 if is_known else similar.alike)

    def _compounds_of(self, term: str) -> Node:
        """Return the compounds with a word; `Nothing` if there are none."""
        words = self.words
        if not words.weights.compound or WITH_COMPOUNDS.isdisjoint(words.languages):
            return Nothing()
        if self.compounds >= _MOST_COMPOUNDS:
            self.spelling.noted += 1
            return Nothing()
        self.compounds += 1
        found = compounds_of(words.terms, term)
        return words.row([found], TEXT_FIELDS, factor=words.weights.compound)

    def _leaf(self, leaf: Node, occur: Occur) -> Node | None:
        """Return the node for a word, a phrase or a pattern; None if it has no letters."""
        match leaf:
            case Word():
                return self._word(leaf, occur)[0]
            case Phrase():
                return self._phrase(leaf, occur)
            case Wildcard():
                return self._wildcard(leaf)
            case Fuzzy() | Expression() | Range() if leaf.field in (None, *TEXT_FIELDS):
                return self._on_text_fields(leaf)
        return leaf

    def _phrase(self, phrase: Phrase, occur: Occur) -> Node | None:
        if phrase.field is not None and phrase.field not in TEXT_FIELDS:
            return on_named_field(phrase.field, " ".join(phrase.words))
        fields, words = fields_of(phrase.field), self.words
        positions = _positions(phrase.words)
        if not positions:
            return None
        exact = words.row(positions, fields, phrase.slop)
        if phrase.slop or occur == "must_not" or len(positions) == 1:
            return exact
        near = words.row(positions, fields, _NEAR)
        if isinstance(near, Nothing):
            return near
        exact = scaled(exact, words.weights.exact_phrase)
        near = scaled(near, words.weights.near_phrase)
        return Clauses((Clause(near), Clause(exact, "rank")))

    def _wildcard(self, leaf: Wildcard) -> Node:
        """Return the node for a word with ``*`` and ``?`` in it.

        A pattern that begins with ``*`` is searched in reversed terms, since terms are sorted by
        their beginnings. One with ``*`` on both sides matches as a prefix, as a suffix, and within
        words.
        """
        if leaf.field is None and not leaf.pattern.strip("*"):
            return Everything()
        if leaf.field is not None and leaf.field not in TEXT_FIELDS:
            return self._pattern(leaf.field, leaf.pattern)
        suffix = _SUFFIX.fullmatch(leaf.pattern)
        if suffix and leaf.field is None:
            return scaled(self._ending(_plain(suffix[1])), self.words.weights.content)
        fields = fields_of(leaf.field)
        return self.words.on_texts(fields, lambda field: self._pattern(field, leaf.pattern))

    def _on_text_fields(self, leaf: Fuzzy | Expression | Range) -> Node | None:
        match leaf:
            case Fuzzy(text):
                leaf = replace(leaf, text=_NO_LETTERS.sub("", folded(text)))
                if not leaf.text:
                    return None
            case Range(low, high):
                leaf = replace(leaf, low=low and folded(low), high=high and folded(high))
        fields = fields_of(leaf.field)
        return self.words.on_texts(fields, lambda field: replace(leaf, field=field))

    def _pattern(self, field: str, pattern: str) -> Node:
        if schema.is_keyword_field(field):
            return Pattern(field, pattern, scored=False)
        found = [(wildcards, letters and _plain(letters)) for wildcards, letters in pieces(pattern)]
        whole = "".join(wildcards or escaped(letters) for wildcards, letters in found)
        match found:
            case [("", letters), ("*", "")]:
                return self._beginning(field, letters)
            case [("*", ""), ("", letters), ("*", "")] if field == schema.CONTENT:
                within = scaled(Pattern(field, whole, scored=False), self.words.weights.pattern)
                return any_of(self._beginning(field, letters), self._ending(letters), within)
        return self._with_the_rest(Pattern(field, whole, scored=True))

    def _beginning(self, field: str, letters: str) -> Node:
        pattern = Pattern(field, f"{escaped(letters)}*", scored=len(letters) >= _SCORED_PREFIX)
        return self._with_the_rest(pattern) if pattern.scored else pattern

    def _ending(self, letters: str) -> Node:
        return self._beginning(schema.REVERSED, letters[::-1])

    def _with_the_rest(self, pattern: Pattern) -> Node:
        """Score the most significant terms, and match all others, whatever their number."""
        return any_of(pattern, scaled(replace(pattern, scored=False), self.words.weights.pattern))


def _positions(words: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the terms of a phrase, at each position with and without the e for an umlaut."""
    found: list[tuple[str, ...]] = []
    for word in words:
        parts, spelled = (
            [token.text for token in tokens(as_typed(one))]
            for one in (word, word.translate(SPELLED_OUT))
        )
        others = spelled if len(spelled) == len(parts) else parts
        found += (
            tuple(dict.fromkeys((part, other, DIGRAPH.sub(r"\1", part))))
            for part, other in zip(parts, others, strict=True)
        )
    return found


def _plain(letters: str) -> str:
    """Return letters of a pattern as in a term, in which a word of several parts is joined."""
    return _NO_LETTERS.sub("", folded(unescaped(letters)))
