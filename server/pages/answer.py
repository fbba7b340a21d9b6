"""Answers of a language model on the search page, for browsers without JavaScript."""

from dataclasses import dataclass

from fastapi import HTTPException

from server.answers.errors import client_message
from server.api.answering import last_answer, usable_model
from server.runtime.state import ServerState
from shared.answers.answer import answer_events
from shared.answers.model import AnswerModel
from shared.errors import LanguageModelError, QueryError
from shared.model.answers import Answer
from shared.model.request import SearchRequest
from shared.model.search_results import SearchAnswer


@dataclass(frozen=True)
class WholeAnswer:
    """An answer, or the reason why there is none, in a sentence."""

    answer: Answer | None
    problem: str | None


def answer_model(state: ServerState) -> AnswerModel | None:
    """Return the language model that answers questions, or None if none can be asked."""
    if state.answer_model is None:
        return None
    try:
        return usable_model(state)
    except HTTPException:
        return None


async def whole_answer(state: ServerState, question: str) -> WholeAnswer | None:
    """Answer a question; None if no language model can be asked."""
    model = answer_model(state)
    if model is None:
        return None

    async def searched(passages: SearchRequest) -> SearchAnswer:
        return await state.ask(lambda searcher: searcher.search(passages), partial=True)

    try:
        return WholeAnswer(await last_answer(answer_events(question, searched, model)), None)
    except (LanguageModelError, QueryError) as error:
        return WholeAnswer(None, client_message(error))
