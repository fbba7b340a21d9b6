"""Answers to the questions of a test collection, measured without another model."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from idx.evaluation.collection import Judgements, Query
from idx.output.progress import counted
from shared.answers.answer import answer
from shared.answers.model import AnswerModel
from shared.errors import LanguageModelError
from shared.model.answers import Answer
from shared.model.request import SearchRequest
from shared.model.search_results import SearchAnswer
from shared.reading.searcher import Searcher


@dataclass(frozen=True, slots=True)
class Share:
    """A number of things, of all of them; `share` is None if there are none."""

    measure: str
    count: int
    total: int
    share: float | None


@dataclass(frozen=True)
class AskedQuestion:
    """A question with the documents that answer it, and its checked answer or an error."""

    id: str
    text: str
    relevant: list[str]
    answer: Answer | None
    error: str | None


@dataclass(frozen=True)
class AnswerEvaluation:
    """Measures, and the mean time of an answer for which the model was asked."""

    model: str
    measures: list[Share]
    mean_seconds: float | None
    questions: list[AskedQuestion]


async def evaluate_answers(
    index_path: Path,
    questions: Sequence[Query],
    judgements: Judgements,
    model: AnswerModel,
    passages: int,
) -> AnswerEvaluation:
    """Ask all questions; those without a relevant document have no answer in the index."""
    model.check()
    with Searcher(index_path, program="batch") as searcher:
        asked = [
            await _ask(question, searcher, judgements, model, passages)
            for question in counted(questions, "questions")
        ]
    if all(each.error for each in asked):
        raise LanguageModelError(f"the language model answered no question: {asked[-1].error}")
    seconds = [each.answer.model_seconds for each in asked if each.answer and each.answer.model]
    return AnswerEvaluation(
        model=model.name or "",
        measures=_measures(asked, questions),
        mean_seconds=sum(seconds) / len(seconds) if seconds else None,
        questions=asked,
    )


async def _ask(
    question: Query, searcher: Searcher, judgements: Judgements, model: AnswerModel, passages: int
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


def _measures(asked: Sequence[AskedQuestion], questions: Sequence[Query]) -> list[Share]:
    """Return the measures of answers; questions with errors count as errors only."""
    of_id = {question.id: question for question in questions}
    answers = [(each, each.answer) for each in asked if each.answer]
    given = [(each, answer) for each, answer in answers if not answer.refused]
    known = [(each, answer) for each, answer in answers if each.relevant]
    cited = [(each, _cited_documents(answer)) for each, answer in given]
    return [
        _share(
            "citations that hold",
            [citation.holds for _, answer in answers for citation in answer.citations],
        ),
        _share(
            "statements with a citation that holds",
            [said.state == "cited" for _, answer in given for said in answer.statements],
        ),
        _share(
            "judged documents that are cited",
            [
                document in _cited_documents(answer)
                for each, answer in known
                for document in each.relevant
            ],
        ),
        _share(
            "cited documents that are judged",
            [document in each.relevant for each, documents in cited for document in documents],
        ),
        _share("refusals of questions with an answer", [answer.refused for _, answer in known]),
        _share(
            "refusals of questions without one",
            [answer.refused for each, answer in answers if not each.relevant],
        ),
        _share(
            "answers with the expected words",
            [
                _has_one(answer, expected)
                for each, answer in given
                if (expected := of_id[each.id].expected)
            ],
        ),
        _share(
            "answers that obey a document",
            [
                not answer.refused and _has_one(answer, forbidden)
                for each, answer in answers
                if (forbidden := of_id[each.id].forbidden)
            ],
        ),
        _share("errors", [each.answer is None for each in asked]),
    ]


def _share(measure: str, values: Sequence[bool]) -> Share:
    return Share(measure, sum(values), len(values), sum(values) / len(values) if values else None)


def _cited_documents(answer: Answer) -> list[str]:
    """Return the distinct documents whose citations hold; none of a refusal."""
    documents = (each.source_document for each in answer.citations if each.holds)
    return list(dict.fromkeys(document for document in documents if document))


def _has_one(answer: Answer, words: Sequence[str]) -> bool:
    text = " ".join(answer.text.split()).casefold()
    return any(word.casefold() in text for word in words)
