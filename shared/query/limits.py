"""Limits for the size of a query, and the errors of queries that Lucene refuses."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import lucene
from java.io import StringReader
from java.lang import IllegalArgumentException, StackOverflowError
from org.apache.lucene.queryparser.charstream import FastCharStream
from org.apache.lucene.queryparser.classic import (
    QueryParserConstants,
    QueryParserTokenManager,
    TokenMgrError,
)
from org.apache.lucene.search import IndexSearcher
from org.apache.lucene.util.automaton import TooComplexToDeterminizeException

from shared.analysis.analyzers import folded
from shared.errors import QueryError, QueryParseError
from shared.java.cancellation import allows_costly
from shared.model import schema
from shared.query import tree
from shared.query.terms import IndexTerms
from shared.storage import lucene_errors

MAX_QUERY_LENGTH: Final = 20_000  # characters; more than a page of text is not a query
MAX_TERMS: Final = 2_048  # distinct words, phrases and patterns in a query
MAX_CLAUSES: Final = 64 * MAX_TERMS  # that Lucene may make of them, counted per field and language
MAX_DEPTH: Final = 50  # nested parentheses; each level costs several nested calls in Python

MAX_BOOST: Final = 1e18
"""Maximum product of the weights of a part of a query and of the parentheses around it. Lucene's
scores are floats of 32 bits, up to 3e38 (IEEE 754)."""

MAX_FUZZY_LETTERS: Final = 64
MAX_FUZZY_LETTERS_IN_ALL: Final = 500
"""Maximum number of letters in a word with ``~``, and in all such words of a query. Lucene's
automaton takes time quadratic in the letters: 0.2 s for 64 Chinese ones, 80 s for 2,000."""

MAX_EXPRESSION_LETTERS: Final = 200
MAX_EXPRESSIONS_LETTERS: Final = 1_000
MAX_REPETITIONS: Final = 100
"""Maximum number of letters of a regular expression and of all together, and maximum number in the
one pair of braces that each may have: Lucene writes repetitions out."""

_MAX_REPEATED_GROUPS: Final = 5  # groups with a plus, each of which Lucene writes twice

MAX_TERMS_LOOKED_AT: Final = 50_000_000
"""Maximum number of terms that Lucene may examine for all patterns of a query. It examines some ten
million per second, several times: to find the chunks, to count them, and to find the parts of the
query in each of them."""

_LETTERS_APART: Final = 16  # factor by which a leading letter of a pattern reduces examined terms
_FUZZY_SHARE: Final = 8  # factor by which Lucene reduces them to find those within two edits
_BITS_OF_A_TERM: Final = 8  # chunks that cost as much as a term: a pattern takes a bit for each
_PLAIN_POSITIONS: Final = 40  # words in phrases, per field, that take milliseconds for a document

MAX_STARS: Final = 20

_Pattern = tree.Pattern | tree.Fuzzy | tree.Expression | tree.Range

_BRACES: Final = re.compile(r"\{(\d*),?(\d*)")


def check_expressions(classic: str) -> None:
    """Refuse regular expressions and wildcards that would take Lucene too much time or memory."""
    stars = "*" * MAX_STARS
    if "/" not in classic and stars not in classic:
        return
    with_wildcards = (QueryParserConstants.PREFIXTERM, QueryParserConstants.WILDTERM)
    expressions = []
    for kind, image in _tokens(classic):
        if kind == QueryParserConstants.REGEXPTERM:
            expressions.append(image[1:-1])
        elif kind in with_wildcards and stars in image:
            raise QueryParseError(f"a word has {MAX_STARS} or more * in a row; one says the same")
    lengths = list(map(len, expressions))
    if max(lengths, default=0) > MAX_EXPRESSION_LETTERS or sum(lengths) > MAX_EXPRESSIONS_LETTERS:
        raise QueryError(
            f"a regular expression may have {MAX_EXPRESSION_LETTERS} letters, and all of a query "
            f"{MAX_EXPRESSIONS_LETTERS:,}; use fewer or shorter ones"
        )
    for expression in expressions:
        braces = _BRACES.findall(expression)
        counts = [int(count[-9:]) for pair in braces for count in pair if count]
        if (
            len(braces) + ("&" in expression) > 1
            or max(counts, default=0) > MAX_REPETITIONS
            or expression.count(")+") > _MAX_REPEATED_GROUPS
        ):
            raise QueryError(
                f"the regular expression {expression[:80]!r} repeats too much: it may have one "
                f"pair of braces, of at most {MAX_REPETITIONS}, or an &, and "
                f"{_MAX_REPEATED_GROUPS} groups with a +; use *"
            )


def _tokens(classic: str) -> Iterator[tuple[int, str]]:
    """Yield the kinds and texts of a query's tokens, as Lucene's parser tokenizes it."""
    tokens = QueryParserTokenManager(FastCharStream(StringReader(classic)))
    while True:
        try:
            token = tokens.getNextToken()
        except lucene.JavaError as error:
            if not TokenMgrError.instance_(error.getJavaException()):
                raise
            # The parser stops at the same position, and reports it.
            return
        if token.kind == QueryParserConstants.EOF:
            return
        yield token.kind, token.image


def check_text(text: str) -> None:
    """Refuse a text that is too long for a query, or that cannot be repeated in an answer."""
    length = len(text)
    if length <= MAX_QUERY_LENGTH:
        # One Arabic ligature becomes 18 letters.
        length = max(length, len(unicodedata.normalize("NFKC", text)))
    if length > MAX_QUERY_LENGTH:
        raise QueryError(
            f"the query has {length:,} characters; at most {MAX_QUERY_LENGTH:,} are allowed: "
            "ask for fewer words"
        )
    schema.encoded(text)


def check_fuzzy_words(words: Sequence[str]) -> None:
    """Refuse words with ``~``, all those of a query, that would take Lucene too long."""
    # Folding may lengthen words: one Arabic ligature becomes 18 letters.
    letters = [max(len(word), len(folded(word))) for word in words]
    if max(letters, default=0) > MAX_FUZZY_LETTERS or sum(letters) > MAX_FUZZY_LETTERS_IN_ALL:
        raise QueryError(
            f"words with ~ may have {MAX_FUZZY_LETTERS} letters each, and "
            f"{MAX_FUZZY_LETTERS_IN_ALL} in all; use fewer or shorter ones"
        )


def check_boosts(node: tree.Node, boost: float = 1.0) -> None:
    """Refuse weights with which a score would overflow; those around a part multiply."""
    if boost > MAX_BOOST:
        raise QueryError(
            f"the weights of the query come to more than {MAX_BOOST:.0e}; use smaller numbers "
            "behind ^"
        )
    match node:
        case tree.Weighted():
            check_boosts(node.node, boost * node.weight)
        case tree.Clauses():
            for clause in node.clauses:
                check_boosts(clause.node, boost)


def check_allowed() -> None:
    """Refuse a costly query while too many abandoned ones are still running."""
    if not allows_costly():
        raise QueryError(
            "the server still works on queries that took too long, and runs no more with "
            "wildcards, ranges, regular expressions, words with ~ or long phrases until they "
            "end; ask for plain words, or ask again later"
        )


@contextmanager
def running() -> Iterator[None]:
    """Turn exceptions of Lucene that a query causes, when parsed or run, into a `QueryError`."""
    try:
        yield
    except lucene.JavaError as error:
        thrown = error.getJavaException()
        if IndexSearcher.TooManyClauses.instance_(thrown):
            raise too_many_clauses() from error
        if TooComplexToDeterminizeException.instance_(thrown):
            raise QueryError(
                "the query has a pattern that is too complex; use a simpler one"
            ) from error
        if StackOverflowError.instance_(thrown):
            raise nested_too_deeply() from error
        if IllegalArgumentException.instance_(thrown):
            raise QueryParseError(lucene_errors.text(error.getJavaException())) from error
        raise


def nested_too_deeply() -> QueryError:
    return QueryError("the query is nested too deeply; use fewer parentheses")


def too_many_clauses() -> QueryError:
    return QueryError(
        f"the query comes to more than {MAX_TERMS:,} terms; use fewer words or longer prefixes"
    )


def is_costly(leaves: Sequence[tree.Node]) -> bool:
    """Check whether a query can take long on a large index, apart from the number of its words."""
    positions = sum(len(leaf.positions) for leaf in leaves if isinstance(leaf, tree.TermPhrase))
    return positions > _PLAIN_POSITIONS or bool(_patterns(leaves))


def check_patterns(leaves: Sequence[tree.Node], terms: IndexTerms) -> None:
    """Refuse patterns for which Lucene would examine too many terms of an index in total."""
    cost = sum([_cost(leaf, terms) for leaf in _patterns(leaves)])
    if cost > MAX_TERMS_LOOKED_AT:
        raise QueryError(
            "the wildcards, ranges, regular expressions and words with ~ of the query would have "
            f"Lucene look at {cost:,} terms of this index, and {MAX_TERMS_LOOKED_AT:,} are "
            "allowed; use fewer of them, or such that begin with letters"
        )


def _patterns(leaves: Sequence[tree.Node]) -> list[_Pattern]:
    """Return the leaves for which Lucene examines terms."""
    found = [leaf for leaf in leaves if isinstance(leaf, _Pattern)]
    return [leaf for leaf in found if not schema.is_number_field(leaf.field or "")]


def _cost(leaf: _Pattern, terms: IndexTerms) -> int:
    field, parts = leaf.field or "", 1
    match leaf:
        case tree.Pattern():
            parts = _LETTERS_APART ** min(len(leaf.beginning[0]), 8)
        case tree.Fuzzy():
            parts = _FUZZY_SHARE * _LETTERS_APART ** min(leaf.prefix, 8)
    return terms.dictionary(field) // parts + terms.chunks(field) // _BITS_OF_A_TERM
