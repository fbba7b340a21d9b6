"""Limits for the size of a query, and the errors of queries that Lucene refuses."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import lucene
from java.lang import IllegalArgumentException, StackOverflowError
from org.apache.lucene.search import IndexSearcher
from org.apache.lucene.util.automaton import TooComplexToDeterminizeException

from shared.analysis.analyzers import normalized
from shared.errors import QueryError, QueryParseError
from shared.java.cancellation import allows_costly
from shared.model import schema
from shared.query.tree import Clauses, Node, Weighted
from shared.storage import lucene_errors

MAX_QUERY_LENGTH: Final = 20_000
"""Maximum length of a query, in characters; more than a page of text is not a query."""

MAX_TERMS: Final = 2_048
"""Maximum number of distinct words, phrases and patterns in a query."""

MAX_CLAUSES: Final = 64 * MAX_TERMS
"""Maximum number of clauses that Lucene may make of them, counted per field and language."""

MAX_DEPTH: Final = 50
"""Maximum depth of nested parentheses; each level costs several nested calls in Python."""

MAX_BOOST: Final = 1e18
"""Maximum product of the weights of a part of a query and of the parentheses around it. Lucene's
scores are floats of 32 bits, up to 3e38 (IEEE 754)."""

MAX_FUZZY_LETTERS: Final = 64

MAX_FUZZY_LETTERS_IN_ALL: Final = 500
"""Maximum number of letters in a word with ``~``, and in all such words of a query. Lucene's
automaton takes time quadratic in the letters: 0.2 s for 64 Chinese ones, 80 s for 2,000."""


def check_length(text: str) -> None:
    """Refuse a text that is too long for a query.

    Raises:
        QueryError: the text is longer than `MAX_QUERY_LENGTH`.
    """
    if len(text) > MAX_QUERY_LENGTH:
        raise QueryError(
            f"the query has {len(text):,} characters; at most {MAX_QUERY_LENGTH:,} are allowed: "
            "ask for fewer words"
        )


def check_characters(text: str) -> None:
    """Refuse a text that cannot be repeated in an answer.

    Raises:
        InvalidTextError: it contains half of a surrogate pair.
    """
    schema.encoded(text)


def check_fuzzy_words(words: Sequence[str]) -> None:
    """Refuse words with ``~`` that would take Lucene too long.

    Args:
        words: all such words of a query.

    Raises:
        QueryError: they are too long.
    """
    # Folding may lengthen words: one Arabic ligature becomes 18 letters.
    letters = [max(len(word), len(normalized(schema.CONTENT, word))) for word in words]
    if max(letters, default=0) > MAX_FUZZY_LETTERS or sum(letters) > MAX_FUZZY_LETTERS_IN_ALL:
        raise QueryError(
            f"words with ~ may have {MAX_FUZZY_LETTERS} letters each, and "
            f"{MAX_FUZZY_LETTERS_IN_ALL} in all; use fewer or shorter ones"
        )


def check_boosts(node: Node, boost: float = 1.0) -> None:
    """Refuse weights with which a score would overflow.

    Args:
        node: a query, or a part of it.
        boost: the product of the weights around the part.

    Raises:
        QueryError: the product of the weights exceeds `MAX_BOOST`.
    """
    if boost > MAX_BOOST:
        raise QueryError(
            f"the weights of the query come to more than {MAX_BOOST:.0e}; use smaller numbers "
            "behind ^"
        )
    match node:
        case Weighted():
            check_boosts(node.node, boost * node.weight)
        case Clauses():
            for clause in node.clauses:
                check_boosts(clause.node, boost)


def check_allowed() -> None:
    """Refuse a costly query while too many abandoned ones are still running.

    Raises:
        QueryError: too many are running.
    """
    if not allows_costly():
        raise QueryError(
            "the server still works on queries that took too long, and runs no more with "
            "wildcards, ranges, regular expressions, words with ~ or long phrases until they "
            "end; ask for plain words, or ask again later"
        )


@contextmanager
def running() -> Iterator[None]:
    """Turn exceptions of Lucene that a query causes, when parsed or run, into a `QueryError`.

    Raises:
        QueryParseError: a part of the query, such as a regular expression, is not valid.
        QueryError: the query has too many terms or is nested too deeply.
    """
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
            raise QueryParseError(lucene_errors.message(error)) from error
        raise


def nested_too_deeply() -> QueryError:
    """Return the error for a query with too many nested parentheses."""
    return QueryError("the query is nested too deeply; use fewer parentheses")


def too_many_clauses() -> QueryError:
    """Return the error for a query with too many terms."""
    return QueryError(
        f"the query comes to more than {MAX_TERMS:,} terms; use fewer words or longer prefixes"
    )
