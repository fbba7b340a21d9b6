"""Pipeline from a typed query to a Lucene query, step by step.

1. Characters that are not meant as syntax are escaped (`shared.query.syntax`).
2. Lucene's classic syntax is parsed into a tree (`shared.query.parser`); plain language that does
   not parse is treated as plain text (`shared.query.plain_language`). Named fields become filters
   (`shared.query.steps.metadata_filters`) and metadata fields
   (`shared.query.steps.metadata_fields`). A query rewritten by a language model
   (`shared.rewriting`) is plain text, and is added to the tree after step 6 as an alternative.
3. Phrases also match nearby words (`shared.query.steps.phrases`).
4. Wildcards are put on the fields on which they are fast (`shared.query.steps.wildcards`).
5. A word that no chunk has is replaced by German compounds with it
   (`shared.query.steps.compounds`), or else by similar words (`shared.query.steps.spelling`).
6. Words are searched in every field, in their base forms (`shared.query.steps.words`).
7. Terms that no chunk has are removed, and terms that are common in one language weigh little in
   all (`shared.query.index_terms`).
8. Neighbouring words weigh more if they are near each other (`shared.query.steps.phrases`): the
   best hits are rescored (`shared.search.ranking`).
9. The tree is compiled to a Lucene query (`shared.query.compiler`).

The weights of the matches are in `shared.model.weights`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, Final

from shared.analysis.languages import LANGUAGES
from shared.java.cancellation import check, guarded
from shared.model import metadata, schema
from shared.model.filters import Filter
from shared.model.request import SearchRequest
from shared.model.weights import Weights
from shared.query.compiler import Compiler
from shared.query.costs import check_patterns, is_costly
from shared.query.index_terms import IndexTerms, as_rare_as_anywhere, present, terms_of
from shared.query.limits import check_allowed, check_characters, check_length, running
from shared.query.parser import parse
from shared.query.plain_language import ReadQuery, read
from shared.query.steps import phrases, wildcards
from shared.query.steps.compounds import GERMAN, Compounds
from shared.query.steps.spelling import SimilarWords
from shared.query.steps.words import WordsOnFields
from shared.query.syntax import to_lucene_syntax
from shared.query.tree import (
    Change,
    Everything,
    Node,
    Nothing,
    any_of,
    ranks,
    rewrite,
    weighted,
)
from shared.storage.snapshot import Snapshot

_LEAST_SHARE: Final = 1 / 10_000
"""Minimum share of the chunks in a language for words to be searched in it: names and tables are
sometimes mistaken for a language, and each language costs as much as the others."""


_FEW_CONDITIONS: Final = 10
"""Maximum number of prefix and range filters that do not make a query costly; each reads all values
of a metadata key."""


@dataclass(frozen=True)
class CompiledQuery:
    """Lucene queries for a tree, which do not belong to a thread.

    Attributes:
        ranked: the query that finds and ranks the hits.
        matching: a query that matches the same chunks and counts them faster.
        rescoring: a query whose scores are added to those of the best hits; None if there is none.
        costly: true if it can take so long that it needs a stoppable searcher
            (`shared.storage.snapshot.Snapshot.stoppable`).
    """

    ranked: Any
    matching: Any
    rescoring: Any | None
    costly: bool


@dataclass(frozen=True)
class ParsedQuery:
    """A query after all steps.

    Attributes:
        read: the query as parsed, before all steps.
        rewritten: the words of the rewritten query, before all steps; `Nothing` without one.
        steps: the tree after each step, in order; the last one is run.
        similar: the words that hardly any chunk has, and the words that replace them.
        on_fields: the function that puts words on the fields of the index.
        languages: the weight of each language whose base forms are searched.
        weights: the weight of each kind of match.
        lucene: the Lucene queries for it.
    """

    read: ReadQuery
    rewritten: Node
    steps: Mapping[str, Node]
    similar: SimilarWords
    on_fields: Change
    languages: Mapping[str, float]
    weights: Weights
    lucene: CompiledQuery

    @property
    def parsed(self) -> Node:
        """Tree before all steps."""
        return self.steps["parse"]

    @property
    def words(self) -> Node:
        """Tree before its words were put on fields."""
        return self.steps["similar"]

    @property
    def tree(self) -> Node:
        """Tree after all steps."""
        return self.steps["proximity"]

    @property
    def browses(self) -> bool:
        """True if the query matches every chunk, with the same score."""
        return isinstance(self.tree, Everything)


def parse_query(request: SearchRequest, snapshot: Snapshot) -> ParsedQuery:
    """Parse a query and apply all steps.

    Args:
        request: the request; a blank query matches every chunk, and a filter may restrict the
            language.
        snapshot: the commit that will be searched.

    Raises:
        QueryParseError: the text is not valid syntax; the message names the position.
        QueryError: the query is too long, too large, or cannot be run.
        InvalidTextError: the text is not valid Unicode.
    """
    check_length(request.query)
    check_characters(request.query)
    reader, weights = snapshot.reader, snapshot.weights
    asked = read(request, reader)
    other_words = _rewritten(request, weights)
    terms = terms_of(reader)
    filters = (*request.filters, *asked.filters)
    languages = language_weights(terms, reader.maxDoc(), filters, weights)
    # Several steps need the same words.
    on_fields = cache(
        WordsOnFields(languages, requires_all=request.operator == "and", weights=weights)
    )
    takes_other_words = request.syntax != "lucene"
    similar = SimilarWords(reader, terms, on_fields, weights.similar if takes_other_words else 0.0)
    compounds = Compounds(
        reader, terms, on_fields, weights, languages.get(GERMAN, 0.0) if takes_other_words else 0.0
    )
    near = [
        rewrite(pair, on_fields)
        for pair in (
            *phrases.neighbours(asked.tree, weights),
            phrases.whole(asked.tree, request.query, weights),
            *(
                weighted(pair, weights.rewritten)
                for pair in phrases.neighbours(other_words, weights)
            ),
        )
    ]

    def wildcards_on_fields(tree: Node) -> Node:
        tree = rewrite(tree, partial(wildcards.on_fields, weights=weights))
        # Two thousand of them would take seconds in the following steps.
        check_patterns(tree, terms)
        return tree

    def words_on_fields(tree: Node) -> Node:
        return any_of(
            rewrite(tree, on_fields), weighted(rewrite(other_words, on_fields), weights.rewritten)
        )

    steps: dict[str, Callable[[Node], Node]] = {
        "phrases": lambda tree: rewrite(tree, partial(phrases.near, weights=weights)),
        "wildcards": wildcards_on_fields,
        "compounds": lambda tree: rewrite(tree, compounds),
        "similar": lambda tree: rewrite(tree, similar),
        "fields": words_on_fields,
        "index": lambda tree: as_rare_as_anywhere(present(tree, terms), terms),
    }
    tree = asked.tree
    trees = {"parse": tree}
    if not isinstance(other_words, Nothing):
        trees["rewritten"] = other_words
    with running():
        for name, step in steps.items():
            check()
            trees[name] = tree = step(tree)
        pairs = [present(pair, terms) for pair in near]
        trees["proximity"] = phrases.with_neighbours(tree, pairs)
        check()
        lucene = _compiled(tree, pairs, terms, request.filters)
    return ParsedQuery(asked, other_words, trees, similar, on_fields, languages, weights, lucene)


def _compiled(
    tree: Node, pairs: Sequence[Node], terms: IndexTerms, filters: Sequence[Filter]
) -> CompiledQuery:
    """Return the Lucene queries for a tree, and for the pairs of words to be near each other.

    Raises:
        QueryError: the patterns examine too many terms, or no costly query may run now.
    """
    costly = is_costly(tree) or sum(map(_looks_at_values, filters)) > _FEW_CONDITIONS
    if costly:
        check_patterns(tree, terms)
        check_allowed()
    compiler = Compiler(terms.query, guard=guarded if costly else None)
    ranked, nearness = compiler.query(tree), any_of(*pairs)
    return CompiledQuery(
        ranked=ranked,
        matching=replace(compiler, ranks=False).query(tree) if ranks(tree) else ranked,
        rescoring=None if isinstance(nearness, Nothing) else compiler.query(nearness),
        costly=costly,
    )


def _looks_at_values(condition: Filter) -> bool:
    return condition.operator in {"prefix", "range"}


def _rewritten(request: SearchRequest, weights: Weights) -> Node:
    text = request.rewritten or ""
    check_length(text)
    if not (text.strip() and request.query.strip() and weights.rewritten):
        return Nothing()
    return parse(text, to_lucene_syntax(text, "plain"), request.operator)


def language_weights(
    terms: IndexTerms, chunks: int, filters: Sequence[Filter], weights: Weights
) -> dict[str, float]:
    """Return the languages of an index with the weight of a word's form in each.

    Without a filter on the language, languages of less than one chunk in 10,000 are left out.

    Args:
        terms: the terms of the commit to be searched.
        chunks: the number of its chunks.
        filters: the filters of the search; one on the language leaves only that language.
        weights: the weights of the search.
    """
    for condition in filters:
        if condition.field == metadata.LANGUAGE and len(values := _only(condition)) == 1:
            language = str(values[0])
            return {language: weights.most_language} if language in LANGUAGES else {}
    counts = {
        language: terms.chunks(schema.language_field(schema.CONTENT, language))
        for language in LANGUAGES
    }
    return {
        language: weights.language(min(1.0, count / max(1, chunks)))
        for language, count in counts.items()
        if count and count >= _LEAST_SHARE * chunks
    }


def _only(condition: Filter) -> Sequence[object]:
    """Return the values that a filter allows; empty for filters that do not list values."""
    match condition:
        case Filter(operator="eq"):
            return [condition.value]
        case Filter(operator="in", value=list(values)):
            return values
    return []
