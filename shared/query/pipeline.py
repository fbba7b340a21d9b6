"""From what was typed to a query of Lucene, step by step.

1. What is not meant as syntax is escaped (`shared.query.syntax`).
2. Lucene's classic syntax is parsed into a tree (`shared.query.parser`), plain language that does
   not parse as plain text (`shared.query.plain_language`). What it names becomes filters
   (`shared.query.steps.metadata_filters`) and fields of the metadata
   (`shared.query.steps.metadata_fields`).
   What a language model has made of the query (`shared.rewriting`) is plain text, and joins the
   tree after step 6 as another way to match.
3. Phrases match nearby words, too (`shared.query.steps.phrases`).
4. Wildcards are put on the fields that are fast (`shared.query.steps.wildcards`).
5. A word that no chunk has becomes German compounds that it is part of
   (`shared.query.steps.compounds`), or else similar words (`shared.query.steps.spelling`).
6. Words are looked for in every field, in their base forms (`shared.query.steps.words`).
7. Terms that no chunk has are left out, and those that are common in one language count little in
   all (`shared.query.index_terms`).
8. Words that are neighbours count more where they are near (`shared.query.steps.phrases`): the best
   hits are scored again (`shared.search.ranking`).
9. The tree becomes a query of Lucene (`shared.query.compiler`).

What each match counts for is in `shared.model.weights`.
"""

from collections.abc import Mapping, Sequence
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
from shared.query.plain_language import read
from shared.query.steps import phrases, phrases as proximity, wildcards
from shared.query.steps.compounds import GERMAN, Compounds
from shared.query.steps.spelling import Correction, SimilarWords
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

_LEAST_SHARE: Final = 1 / 10_000
"""The share of the chunks that a language has for words to be looked for in it: a name or a table
is taken for a language now and then, and each language costs as much as the others."""


_FEW_CONDITIONS: Final = 10
"""Filters on beginnings or ranges; each looks at all values of a key of the metadata."""


@dataclass(frozen=True)
class Stage:
    """What one step has made of a query.

    Attributes:
        step: the name of the step.
        result: the tree after it.
    """

    step: str
    result: Node


@dataclass(frozen=True)
class ParsedQuery:
    """A query that has gone through all steps.

    Attributes:
        syntax: the text as Lucene's parser got it.
        notes: sentences for whoever asked, where the query was not read as it may have been meant.
        filters: the conditions that the query names, which are no part of the tree.
        stages: what each step has made of the tree, in their order; the last is what is run.
        corrections: the words that no chunk has, and what was looked for instead.
        rare: the words that hardly any chunk has, as they were typed.
        words: the tree before its words were put on fields.
        rewritten: the words of the rewritten query, on no fields either; `Nothing` without one.
        on_fields: what puts them there.
        languages: the weight of each language whose base forms are looked for.
        weights: what each match counts for.
        lucene: the query of Lucene that finds and ranks the hits.
        matching: a query that matches the same chunks, and is faster to count them.
        rescoring: a query whose scores are added to those of the best hits, if there is anything
            to add. None of the three belongs to a thread.
        costly: whether it can take so long that its searcher has to be one that can be stopped
            (`shared.java.cancellation.stoppable`).
    """

    syntax: str
    notes: tuple[str, ...]
    filters: Sequence[Filter]
    stages: tuple[Stage, ...]
    corrections: tuple[Correction, ...]
    rare: tuple[str, ...]
    words: Node
    rewritten: Node
    on_fields: Change
    languages: Mapping[str, float]
    weights: Weights
    lucene: Any
    matching: Any
    rescoring: Any | None
    costly: bool

    @property
    def tree(self) -> Node:
        """The tree after all steps."""
        return self.stages[-1].result

    @property
    def parsed(self) -> Node:
        """The tree before all steps."""
        return self.stages[0].result

    @property
    def browses(self) -> bool:
        """Whether it matches every chunk, each with the same score."""
        return isinstance(self.tree, Everything)


def prepare(request: SearchRequest, searcher: Any) -> ParsedQuery:
    """Take a query through all steps.

    Args:
        request: what is looked for; a blank text matches every chunk, and the filters may tell the
            language.
        searcher: the Lucene searcher that will run the query.

    Raises:
        QueryParseError: the text is not valid syntax; the message says where.
        QueryError: the query is too long, too large, or cannot be run.
        InvalidTextError: the text is not valid Unicode.
    """
    text, operator, weights = request.query, request.operator, request.weights
    check_length(text)
    check_characters(text)
    reader = searcher.getIndexReader()
    asked = read(request, reader)
    tree = asked.tree
    rewritten = _rewritten(request)
    terms = terms_of(reader)
    filters = (*request.filters, *asked.filters)
    languages = language_weights(terms, reader.maxDoc(), filters, weights)
    # A word is asked for by several steps.
    on_fields = cache(WordsOnFields(languages, requires_all=operator == "and", weights=weights))
    similar = SimilarWords(
        reader, terms, on_fields, 0 if request.syntax == "lucene" else weights.similar
    )
    german = 0.0 if request.syntax == "lucene" else languages.get(GERMAN, 0.0)
    steps: dict[str, Change] = {
        "phrases": partial(phrases.near, weights=weights),
        "wildcards": partial(wildcards.on_fields, weights=weights),
        "compounds": Compounds(reader, terms, on_fields, weights, german),
        "similar": similar,
    }
    pairs = [*proximity.neighbours(tree, weights), proximity.whole(tree, text, weights)]
    pairs += (
        weighted(pair, weights.rewritten) for pair in proximity.neighbours(rewritten, weights)
    )
    near = [rewrite(pair, on_fields) for pair in pairs]
    stages = [Stage("parse", tree)]
    if not isinstance(rewritten, Nothing):
        stages.append(Stage("rewritten", rewritten))
    with running():
        for name, change in steps.items():
            check()
            tree = rewrite(tree, change)
            stages.append(Stage(name, tree))
            if name == "wildcards":
                # Two thousand of them take seconds in the steps that follow.
                check_patterns(tree, terms)
        words, other = tree, weighted(rewrite(rewritten, on_fields), weights.rewritten)
        tree = any_of(rewrite(words, on_fields), other)
        stages.append(Stage("fields", tree))
        tree = as_rare_as_anywhere(present(tree, terms), terms)
        pairs = [present(pair, terms) for pair in near]
        stages += [Stage("index", tree), Stage("proximity", proximity.with_neighbours(tree, pairs))]
        check()
        costly = is_costly(tree) or sum(map(_looks_at_values, request.filters)) > _FEW_CONDITIONS
        if costly:
            check_patterns(tree, terms)
            check_allowed()
        compiler = Compiler(terms.query, guard=guarded if costly else None)
        lucene, nearness = compiler.query(tree), any_of(*pairs)
        return ParsedQuery(
            syntax=asked.classic,
            notes=asked.notes,
            filters=asked.filters,
            stages=tuple(stages),
            corrections=tuple(similar.corrections),
            rare=tuple(similar.rare),
            words=words,
            rewritten=rewritten,
            on_fields=on_fields,
            languages=languages,
            weights=weights,
            lucene=lucene,
            matching=replace(compiler, ranks=False).query(tree) if ranks(tree) else lucene,
            rescoring=None if isinstance(nearness, Nothing) else compiler.query(nearness),
            costly=costly,
        )


def _looks_at_values(condition: Filter) -> bool:
    return condition.operator in {"prefix", "range"}


def _rewritten(request: SearchRequest) -> Node:
    text = request.rewritten or ""
    check_length(text)
    if not (text.strip() and request.query.strip() and request.weights.rewritten):
        return Nothing()
    return parse(text, to_lucene_syntax(text, "plain"), request.operator)


def language_weights(
    terms: IndexTerms, chunks: int, filters: Sequence[Filter], weights: Weights
) -> dict[str, float]:
    """The languages of an index and what a word's form in each counts for.

    Without a filter on the language, languages of less than one chunk in 10,000 are left out.

    Args:
        terms: those of the commit to be searched.
        chunks: how many chunks it has.
        filters: the conditions of the search; one on the language leaves only that language.
        weights: what the forms of words count for.
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
    """The values of which a hit has one; none if the condition is another."""
    match condition:
        case Filter(operator="eq"):
            return [condition.value]
        case Filter(operator="in", value=list(values)):
            return values
    return []
