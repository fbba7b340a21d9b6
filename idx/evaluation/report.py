"""Evaluation of answers, and reports of evaluations as tables of text on stdout."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from idx.evaluation.collection import Judgements, Query
from idx.evaluation.experiment import DEFAULT, Evaluation
from idx.output.printing import counted, print_table, tell
from shared.answers.answer import answer
from shared.answers.model import ServedAnswerModel
from shared.errors import LanguageModelError
from shared.messages import quantity
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
    model: ServedAnswerModel,
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
    question: Query,
    searcher: Searcher,
    judgements: Judgements,
    model: ServedAnswerModel,
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


def _measures(asked: Sequence[AskedQuestion], questions: Sequence[Query]) -> list[Share]:
    of_id = {question.id: question for question in questions}
    answers = [(each, each.answer) for each in asked if each.answer]
    given = [(each, answer) for each, answer in answers if not answer.refused]
    known = [(each, answer) for each, answer in answers if each.relevant]
    cited = [(each, _cited_documents(answer)) for each, answer in given]
    measured = {
        "citations that hold": [
            citation.holds for _, answer in answers for citation in answer.citations
        ],
        "statements with a citation that holds": [
            said.state == "cited" for _, answer in given for said in answer.statements
        ],
        "judged documents that are cited": [
            document in _cited_documents(answer)
            for each, answer in known
            for document in each.relevant
        ],
        "cited documents that are judged": [
            document in each.relevant for each, documents in cited for document in documents
        ],
        "refusals of questions with an answer": [answer.refused for _, answer in known],
        "refusals of questions without one": [
            answer.refused for each, answer in answers if not each.relevant
        ],
        "answers with the expected words": [
            _has_one(answer, expected)
            for each, answer in given
            if (expected := of_id[each.id].expected)
        ],
        "answers that obey a document": [
            not answer.refused and _has_one(answer, forbidden)
            for each, answer in answers
            if (forbidden := of_id[each.id].forbidden)
        ],
        "errors": [each.answer is None for each in asked],
    }
    return [
        Share(name, sum(values), len(values), sum(values) / len(values) if values else None)
        for name, values in measured.items()
    ]


def _cited_documents(answer: Answer) -> list[str]:
    """Return the distinct documents whose citations hold; none of a refusal."""
    documents = (each.source_document for each in answer.citations if each.holds)
    return list(dict.fromkeys(document for document in documents if document))


def _has_one(answer: Answer, words: Sequence[str]) -> bool:
    text = " ".join(answer.text.split()).casefold()
    return any(word.casefold() in text for word in words)


_INTERVAL = "95 % interval"
_WITHOUT_RESULTS = "Queries without results"
_DIFFERENCE_COLUMNS = ("Difference", _INTERVAL, "Better", "Equal", "Worse")


def figure(value: float) -> str:
    return f"{value:.3f}"


def change(value: float) -> str:
    return f"{value:+.3f}"


def print_report(evaluation: Evaluation) -> None:
    tell(
        f"{quantity(evaluation.documents, 'document')}; "
        f"{quantity(evaluation.evaluated_queries, 'query')}, "
        f"{quantity(evaluation.limit, 'document')} retrieved for each"
    )
    if not evaluation.differences:
        (result,) = evaluation.configurations
        rows = [
            [each.measure, figure(each.mean), f"[{each.low:.3f}, {each.high:.3f}]"]
            for each in result.measures
        ]
        rows.append([_WITHOUT_RESULTS, f"{result.queries_without_results:,}", ""])
        print_table(["Measure", "Mean", _INTERVAL], rows)
        return
    first, second = evaluation.configurations
    is_default = first.name == DEFAULT.name
    before = "the default weights" if is_default else f"search by {first.name}"
    names = ("Default", "Changed") if is_default else (first.name.title(), second.name.title())
    tell(f"Compared: {before}, and {second.name}")
    _print_comparison(evaluation, names)
    if evaluation.changed_queries:
        tell("Queries whose nDCG@10 changed most:")
        print_table(
            ["Query", *names, "Difference", "Text"],
            [
                [query.id, *map(figure, query.ndcg), change(query.difference), query.text]
                for query in evaluation.changed_queries
            ],
        )


def _print_comparison(evaluation: Evaluation, names: tuple[str, str]) -> None:
    first, second = evaluation.configurations
    rows = [
        [
            each.measure,
            # Without the intervals of the means, which may overlap even if the difference is
            # certain.
            figure(before.mean),
            figure(after.mean),
            change(each.mean),
            f"[{each.low:+.3f}, {each.high:+.3f}]",
            *(f"{share:.0%}" for share in (each.better, each.equal, each.worse)),
        ]
        for before, after, each in zip(
            first.measures, second.measures, evaluation.differences, strict=True
        )
    ]
    without = [f"{result.queries_without_results:,}" for result in (first, second)]
    rows.append([_WITHOUT_RESULTS, *without, *[""] * len(_DIFFERENCE_COLUMNS)])
    print_table(["Measure", *names, *_DIFFERENCE_COLUMNS], rows)


def print_answer_report(evaluation: AnswerEvaluation) -> None:
    known = sum(bool(each.relevant) for each in evaluation.questions)
    tell(
        f"{quantity(len(evaluation.questions), 'question')}, {known} with an answer; "
        f"model: {evaluation.model}"
    )
    rows = [
        (
            each.measure[0].upper() + each.measure[1:],
            "-" if each.share is None else figure(each.share),
            f"{each.count} of {each.total}",
        )
        for each in evaluation.measures
    ]
    print_table(["Measure", "Share", "Number"], rows)
    if evaluation.mean_seconds is not None:
        tell(f"Mean time of the model: {evaluation.mean_seconds:.1f} s")
    if errors := [(each.id, each.error) for each in evaluation.questions if each.error]:
        tell("Errors:")
        print_table(["Question", "Error"], errors)
