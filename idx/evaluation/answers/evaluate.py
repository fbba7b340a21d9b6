"""Evaluation of answers: asks all questions of a test collection."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from idx.evaluation.answers.judge import verdict
from idx.evaluation.answers.measures import measures, share, without_hits
from idx.evaluation.answers.questions import Question
from idx.evaluation.answers.results import AnswerEvaluation, AskedQuestion
from idx.evaluation.collection.judgements import Judgements
from idx.output.progress import counted
from shared.answers.answer import answer
from shared.answers.model import AnswerModel
from shared.errors import LanguageModelError
from shared.model.request import SearchRequest
from shared.model.search_results import SearchAnswer
from shared.reading.searcher import Searcher


async def evaluate_answers(
    index_path: Path,
    questions: Sequence[Question],
    judgements: Judgements,
    model: AnswerModel,
    *,
    passages: int,
    judge: AnswerModel | None = None,
) -> AnswerEvaluation:
    """Ask all questions, and measure the answers.

    Args:
        index_path: the index folder.
        questions: the questions; those without a relevant document have no answer in the index.
        judgements: the relevance judgements.
        model: the model that answers.
        passages: the number of chunks that it is given.
        judge: a model that gives a second opinion on each answer.

    Raises:
        LanguageModelError: the model or the judge cannot be asked, or answered no question.
        ExtraMissingError: a library of the models' client is not installed.
        QueryError: a question cannot be searched.
    """
    for each in (model, judge):
        if each:
            each.check()
    with Searcher(index_path, program="batch") as searcher:
        asked = [
            await _ask(question, searcher, judgements, model, passages)
            for question in counted(questions, "questions")
        ]
    if all(each.error for each in asked):
        raise LanguageModelError(f"the language model answered no question: {asked[-1].error}")
    if judge:
        asked = [await _judged(each, judge) for each in counted(asked, "verdicts")]
    seconds = [each.answer.model_seconds for each in asked if each.answer and each.answer.model]
    opinions = [each.verdict for each in asked if each.answer and not each.answer.refused]
    return AnswerEvaluation(
        model=model.name or "",
        measures=measures(asked, {question.id: question for question in questions}),
        without_hits=without_hits(asked),
        judge=judge.name if judge else None,
        judged=[
            share("answers that their quotes prove", [each is True for each in opinions]),
            share("answers without a verdict", [each is None for each in opinions]),
        ]
        if judge
        else [],
        mean_seconds=sum(seconds) / len(seconds) if seconds else None,
        questions=asked,
    )


async def _ask(
    question: Question,
    searcher: Searcher,
    judgements: Judgements,
    model: AnswerModel,
    passages: int,
) -> AskedQuestion:
    async def search(request: SearchRequest) -> SearchAnswer:
        return searcher.search(request)

    judged = judgements.relevance.get(question.id, {})
    relevant = sorted(document for document, gain in judged.items() if gain)
    try:
        found = await answer(question.text, search, model, top_k=passages)
    except LanguageModelError as error:
        return AskedQuestion(question.id, question.text, relevant, None, str(error))
    return AskedQuestion(question.id, question.text, relevant, found, None)


async def _judged(asked: AskedQuestion, judge: AnswerModel) -> AskedQuestion:
    if asked.answer is None or asked.answer.refused:
        return asked
    try:
        return replace(asked, verdict=await verdict(asked.answer, judge))
    except LanguageModelError:
        # It is counted among those without a verdict.
        return asked
