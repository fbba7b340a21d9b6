"""Pipeline from a typed query to the tree that finds its hits, step by step.

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
9. The tree is compiled to a query of the engine: of Lucene (`shared.query.compiler`), or of a
   cluster (`shared.opensearch.search.compiler`).

The weights of the matches are in `shared.model.weights`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial

from shared.analysis.languages import LANGUAGES, UNDETERMINED
from shared.analysis.stems import stem_together
from shared.java.cancellation import check
from shared.model import metadata
from shared.model.filters import Filter
from shared.model.request import SearchRequest
from shared.model.weights import Weights
from shared.query.index_terms import IndexTerms, present
from shared.query.limits import (
    check_characters,
    check_length,
    check_patterns,
    running,
)
from shared.query.parser import parse
from shared.query.parts import Part, clauses_of, exact_words, parts_of, tree_of
from shared.query.plain_language import ReadQuery, read
from shared.query.steps import phrases, wildcards
from shared.query.steps.compounds import Compounds
from shared.query.steps.function_words import without_function_words
from shared.query.steps.spelling import SimilarWords
from shared.query.steps.words import WordsOnFields
from shared.query.syntax import to_lucene_syntax
from shared.query.tree import (
    Change,
    Everything,
    Leaf,
    Node,
    Nothing,
    Occur,
    Word,
    any_of,
    leaves,
    rewrite,
    weighted,
)


@dataclass(frozen=True)
class ParsedQuery:
    """A query after all steps.

    Attributes:
        read: the query as parsed, before all steps.
        parts: the parts of the query, such as its words; empty if it matches everything.
        rewritten: the parts of the rewritten query; empty without one.
        steps: the tree after each step, in order.
        similar: the words that hardly any chunk has, and the words that replace them.
        languages: the languages in which words are searched, with the share of their chunks.
        weights: the weight of each kind of match.
    """

    read: ReadQuery
    parts: Sequence[Part]
    rewritten: Sequence[Part]
    steps: Mapping[str, Node]
    similar: SimilarWords
    languages: Mapping[str, float]
    weights: Weights

    @property
    def parsed(self) -> Node:
        """Tree before all steps."""
        return self.steps["parse"]

    @property
    def telling(self) -> Node:
        """Tree without function words."""
        return self.steps["telling"]

    @property
    def tree(self) -> Node:
        """Tree that finds the hits."""
        return self.steps["index"]

    @property
    def rescored(self) -> Node:
        """Tree that is added to the scores of the best hits."""
        return self.steps["rescored"]

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
    asked = read(request, terms)
    other_words = _rewritten(request, weights)
    languages = _languages(terms, (*request.filters, *asked.filters))
    words_on_fields = WordsOnFields(
        tuple(languages),
        misses_languages=languages.keys() < terms.languages.keys(),
        requires_all=request.operator == "and",
        weights=weights,
    )

    # Several steps need the same words.
    @cache
    def on_fields(leaf: Leaf, occur: Occur = "should") -> Node:
        node = words_on_fields(leaf, occur)
        known = present(node, terms)
        # What no chunk has stays a condition.
        return node if isinstance(known, Nothing) else known

    takes_other_words = request.syntax != "lucene"
    similar = SimilarWords(terms, on_fields, weights.similar if takes_other_words else 0.0)
    compounds = Compounds(
        terms,
        on_fields,
        weights if takes_other_words else replace(weights, compound=0.0),
        is_german="de" in languages,
    )
    usual: Occur = "must" if request.operator == "and" else "should"
    steps: Mapping[str, Change] = {
        "phrases": partial(phrases.near, weights=weights),
        "wildcards": partial(wildcards.on_fields, weights=weights),
        "compounds": compounds,
        "similar": similar,
        "fields": on_fields,
    }
    telling = without_function_words(asked.tree, asked.classic, usual, languages)
    trees = {"parse": asked.tree, "telling": telling}
    stem_together(languages, {leaf.text for leaf in leaves(telling) if isinstance(leaf, Word)})
    with running():
        clauses = [clauses_of(telling)]
        for name, step in steps.items():
            check()
            clauses.append([clause.rewritten(step) for clause in clauses[-1]])
            trees[name] = tree_of(clauses[-1])
            if name == "wildcards":
                # Two thousand of them would take seconds in the following steps.
                check_patterns(trees[name], terms)
        parts = parts_of(clauses[0], clauses[-2], clauses[-1], terms)
        other = clauses_of(without_function_words(other_words, "", usual, languages))
        other_on_fields = [clause.rewritten(on_fields) for clause in other]
        other_parts = parts_of(other, other, other_on_fields, terms)
        if other_parts:
            trees["rewritten"] = tree_of(other)
        found = any_of(trees["fields"], weighted(tree_of(other_on_fields), weights.rewritten))
        trees["index"] = present(found, terms)
        check()
        near = [
            *phrases.neighbours(telling, weights),
            phrases.whole(asked.tree, request.query, weights),
            *(
                weighted(pair, weights.rewritten)
                for pair in phrases.neighbours(tree_of(other), weights)
            ),
        ]
        trees["rescored"] = any_of(
            *exact_words(clauses[-2], weights),
            *(present(rewrite(pair, on_fields), terms) for pair in near),
        )
    return ParsedQuery(asked, parts, other_parts, trees, similar, languages, weights)


def _rewritten(request: SearchRequest, weights: Weights) -> Node:
    text = request.rewritten or ""
    check_length(text)
    if not (text.strip() and request.query.strip() and weights.rewritten):
        return Nothing()
    return parse(text, to_lucene_syntax(text, "plain"), request.operator)


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
