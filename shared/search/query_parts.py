"""Parts of a query, such as its words, with their rarity."""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from shared.analysis.identifiers import names_in
from shared.analysis.stop_words import WITH_FUNCTION_WORDS, is_function_word
from shared.model import schema
from shared.query.index_terms import IndexTerms, present
from shared.query.pipeline import ParsedQuery
from shared.query.tree import (
    Clause,
    Clauses,
    Everything,
    Fuzzy,
    Node,
    Nothing,
    Terms,
    Word,
    leaves,
    rewrite,
)

_LEAST_SHARE: Final = 0.05
"""Minimum share of the chunks in a language for its function words to be recognized: "sea" is a
form of "to be" in Spanish, which matters only if Spanish may be meant."""

_QUOTED_WORD: Final = re.compile(r'(?<!\\)"([^"\s]+)"')
"""Phrase of one word, which is an ordinary word in the tree."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a query.

    Attributes:
        ways: the possible matches of the part on fields, each with its similarity to what was
            typed, from 0 to 1; only those that some chunk has.
        rarity: the inverse document frequency of its most common form; the maximum if no chunk has
            any.
    """

    ways: Sequence[tuple[Node, float]]
    rarity: float

    @property
    def most_alike(self) -> float:
        """Similarity of the most similar way to what was typed."""
        return max((alike for _, alike in self.ways), default=0.0)


def wordings(query: ParsedQuery) -> tuple[Sequence[Clause], Sequence[Clause]]:
    """Return the clauses of a query, and those of the rewritten query."""
    # The steps turn even a single phrase or pattern into several clauses.
    is_one = not isinstance(query.parsed, Clauses)
    asked = (Clause(query.words),) if is_one else _clauses(query.words)
    return asked, _clauses(query.rewritten)


def _clauses(tree: Node) -> Sequence[Clause]:
    match tree:
        case Clauses(clauses):
            return clauses
        case Nothing():
            return ()
    return (Clause(tree),)


def parts_of(
    clauses: Sequence[Clause], query: ParsedQuery, terms: IndexTerms, chunks: int
) -> list[Part]:
    """Return the parts of a query.

    Function words, such as "what" and "the", are parts only in quotes, or if there are no other
    words. A query that only excludes matches has no parts.

    Args:
        clauses: the clauses of one of its wordings.
        query: the query after all steps.
        terms: the terms of the index.
        chunks: the number of chunks in the index.
    """
    wanted = [
        clause
        for clause in clauses
        if clause.occur in {"should", "must"} and not isinstance(clause.node, Everything)
    ]
    known = [
        language
        for language in WITH_FUNCTION_WORDS & query.languages.keys()
        if terms.chunks(schema.language_field(schema.CONTENT, language)) >= _LEAST_SHARE * chunks
    ]
    quoted = frozenset(_QUOTED_WORD.findall(query.read.classic))
    empty_in = [_empty_in(clause.node, known, quoted) for clause in wanted]
    likely = _most_common(empty_in)
    telling = [
        # The frequency of a word in German does not show its rarity in English.
        _part(clause, query, terms, likely if languages else (), chunks)
        for clause, languages in zip(wanted, empty_in, strict=True)
        if not languages & likely
    ]
    parts = telling or [_part(clause, query, terms, (), chunks) for clause in wanted]
    return [part for part in parts if part is not None]


def _empty_in(node: Node, languages: Collection[str], quoted: Collection[str]) -> set[str]:
    """Return the languages in which a part has only function words, none of them in quotes."""
    found = set(languages)
    for leaf in leaves(node):
        if not isinstance(leaf, Word) or leaf.field is not None or leaf.text in quoted:
            return set()
        if names_in([leaf.text]):
            return set()
        found = {language for language in found if is_function_word(language, leaf.text)}
    return found


def _most_common(languages: Collection[Collection[str]]) -> set[str]:
    """Return the languages in which most parts are function words, on a tie several."""
    counts = Counter(language for of_part in languages for language in of_part)
    most = max(counts.values(), default=0)
    return {language for language, count in counts.items() if count == most}


def _part(
    clause: Clause,
    query: ParsedQuery,
    terms: IndexTerms,
    languages: Collection[str],
    chunks: int,
) -> Part | None:
    """Return a part with its possible matches; None if it has no letter.

    Args:
        clause: the part before its words are put on fields.
        query: the whole query.
        terms: the terms of the index.
        languages: the languages whose fields determine the frequency; empty for all fields.
        chunks: the number of chunks in the index.
    """
    fields = {schema.language_field(schema.CONTENT, language) for language in languages}
    if fields:
        chunks = max(map(terms.chunks, fields))
    asks, most, there = False, 0, []
    for way, alike in _ways(clause, query):
        asks = True
        found, frequency = _present(way, terms, fields)
        if found is not None:
            there.append((found, alike))
            most = max(most, frequency)
    rarity = math.log(1 + (chunks - most + 0.5) / (most + 0.5))
    return Part(there, rarity) if asks else None


def _ways(clause: Clause, query: ParsedQuery) -> Iterator[tuple[Node, float]]:
    """Yield each leaf of a part on its fields; a part with conditions is kept whole."""
    if _has_conditions(clause.node):
        yield rewrite(clause.node, query.on_fields, clause.occur), 1.0
        return
    for leaf in leaves(clause.node):
        alike = leaf.alike if isinstance(leaf, Word) else 1.0
        for way in leaves(query.on_fields(leaf, clause.occur)):
            match way:
                case Nothing():
                    pass
                case Fuzzy(text, edits, _, str(field)):
                    yield Terms(field, (text,)), 1.0
                    yield way, max(0.0, 1 - edits / len(text))
                case _:
                    yield way, alike


def _has_conditions(node: Node) -> bool:
    return isinstance(node, Clauses) and any(
        clause.occur in {"must", "must_not"} or _has_conditions(clause.node)
        for clause in node.clauses
    )


def _present(way: Node, terms: IndexTerms, fields: Collection[str]) -> tuple[Node | None, int]:
    """Return the part of a way that is in the index, and its frequency in some or all fields."""
    match way:
        # Fast path: nearly all ways are single terms.
        case Terms(field, (text,)):
            frequency = terms.frequency(field, text)
            return way if frequency else None, frequency if not fields or field in fields else 0
    found = present(way, terms)
    frequencies = (
        terms.frequency(leaf.field, text)
        for leaf in leaves(found)
        if isinstance(leaf, Terms) and (not fields or leaf.field in fields)
        for text in leaf.texts
    )
    return None if isinstance(found, Nothing) else found, max(frequencies, default=0)
