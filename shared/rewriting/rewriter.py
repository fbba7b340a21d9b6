"""Rewriting of a query into concise English by a language model, and checks of its answer.

Both queries are searched. If anything goes wrong, the original is searched alone, and a diagnostic
gives the reason: a search never fails because of its language model. The answer of a model is only
text to search for: it is never parsed as syntax, and an answer that is not a list of words is
refused.
"""

import unicodedata
from dataclasses import dataclass
from typing import Final, Protocol

from shared.errors import ExtraMissingError, LanguageModelError
from shared.model.request import Syntax
from shared.query.syntax import is_plain
from shared.rewriting.kept_words import survives, verbatim, without_inventions

MAX_QUERY_CHARACTERS: Final = 1_000
"""Maximum length of a query that is rewritten, in characters; a longer one is a text, not a
question."""

MAX_ANSWER_CHARACTERS: Final = 400
"""Maximum length of a concise query, in characters."""

_MAX_LENGTH_RATIO: Final = 4
_SHORT_ANSWER_CHARACTERS: Final = 100
"""Length of an answer, in characters, up to which it may exceed `_MAX_LENGTH_RATIO` times the
query."""

_SURROUNDING_CHARACTERS: Final = " \t\r\n\"'`*“”„«»"
"""Characters that models put around an answer."""


class LanguageModel(Protocol):
    """A model that rewrites queries."""

    async def rewrite(self, query: str) -> str:
        """Return the query as rewritten by the model, unchecked."""


@dataclass(frozen=True, slots=True)
class Rewriting:
    """Result of rewriting a query."""

    rewritten: str | None = None
    diagnostic: str | None = None
    client_diagnostic: str | None = None

    @property
    def diagnostics(self) -> list[str] | None:
        """Diagnostic in the form of answers."""
        return [self.diagnostic] if self.diagnostic else None


async def rewrite_query(query: str, model: LanguageModel, syntax: Syntax = "auto") -> Rewriting:
    """Rewrite a query, unless it is blank."""
    if not query.strip():
        return Rewriting()
    try:
        _check_query(query, syntax)
        return Rewriting(_checked(await model.rewrite(query), query))
    except (LanguageModelError, ExtraMissingError) as error:
        return Rewriting(
            diagnostic=f"The query was not rewritten: {error}.",
            client_diagnostic=f"The query was not rewritten: {error.client_message()}.",
        )


def _check_query(query: str, syntax: Syntax) -> None:
    """Refuse a query that rewriting would make worse, before a model is asked."""
    if not is_plain(query, syntax):
        raise LanguageModelError("it contains query syntax")
    if len(query) > MAX_QUERY_CHARACTERS:
        raise LanguageModelError(f"it is longer than {MAX_QUERY_CHARACTERS:,} characters")


def _checked(answer: str, query: str) -> str:
    """Return the rewritten query of an answer, with all words that must be kept."""
    text = answer.strip(_SURROUNDING_CHARACTERS)
    if not text:
        raise LanguageModelError("the answer of the language model is blank")
    if len(text) > max(
        _SHORT_ANSWER_CHARACTERS, min(MAX_ANSWER_CHARACTERS, _MAX_LENGTH_RATIO * len(query))
    ):
        raise LanguageModelError("the answer of the language model is too long for a query")
    # These include line breaks: a query is one line, and several lines are an explanation.
    if any(unicodedata.category(character).startswith("C") for character in text):
        raise LanguageModelError(
            "the answer of the language model has several lines or control characters"
        )
    kept = without_inventions(text, query)
    lost = [part for part in verbatim(query) if not survives(part, kept)]
    rewritten = " ".join((*kept.split(), *lost))
    if not any(map(str.isalnum, kept)) or _without_case_and_spacing(
        rewritten
    ) == _without_case_and_spacing(query):
        raise LanguageModelError("the language model returned the same words")
    return rewritten


def _without_case_and_spacing(text: str) -> list[str]:
    """Return the words of a text, ignoring case and punctuation."""
    words = ("".join(filter(str.isalnum, word)) for word in text.casefold().split())
    return [word for word in words if word]
