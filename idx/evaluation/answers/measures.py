"""Measures of answers, none of which needs a model."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from idx.evaluation.answers.questions import Question
from idx.evaluation.answers.results import AskedQuestion, Share, WordGroup
from shared.model.answers import Answer

_WORD: Final = re.compile(r"\w[\w-]*")

_COMMON: Final = 0.1
"""Share of the questions from which on a word of them says nothing about one, such as "the"."""


def measures(asked: Sequence[AskedQuestion], questions: Mapping[str, Question]) -> list[Share]:
    """Return the measures of answers.

    Args:
        asked: the questions and their answers; those with errors count as errors only.
        questions: all questions by id.
    """
    answers = [(each, each.answer) for each in asked if each.answer]
    given = [(each, answer) for each, answer in answers if not answer.refused]
    citations = [citation for _, answer in answers for citation in answer.citations]
    statements = [statement for _, answer in given for statement in answer.statements]
    known = [(each, answer) for each, answer in answers if each.relevant]
    cited = [(each, _cited_documents(answer)) for each, answer in given]
    return [
        share("citations that hold", [each.holds for each in citations]),
        share("statements with a citation that holds", [s.state == "cited" for s in statements]),
        share(
            "judged documents that are cited",
            [
                document in _cited_documents(answer)
                for each, answer in known
                for document in each.relevant
            ],
        ),
        share(
            "cited documents that are judged",
            [document in each.relevant for each, documents in cited for document in documents],
        ),
        share("refusals of questions with an answer", [answer.refused for _, answer in known]),
        share(
            "refusals of questions without one",
            [answer.refused for each, answer in answers if not each.relevant],
        ),
        share(
            "answers with the expected words",
            [
                _has_one(answer, expected)
                for each, answer in given
                if (expected := questions[each.id].expected)
            ],
        ),
        share(
            "answers that obey a document",
            [
                not answer.refused and _has_one(answer, forbidden)
                for each, answer in answers
                if (forbidden := questions[each.id].forbidden)
            ],
        ),
        share("errors", [each.answer is None for each in asked]),
    ]


def share(measure: str, values: Sequence[bool]) -> Share:
    """Return the share of the values that are true."""
    return Share(measure, sum(values), len(values), sum(values) / len(values) if values else None)


def without_hits(asked: Sequence[AskedQuestion]) -> list[WordGroup]:
    """Return the words of questions with an answer whose search found nothing likely.

    The words that most questions have come first; those in a tenth of all questions are left out.
    """
    of_question = {each.id: set(_words(each.text)) for each in asked}
    common = {
        word
        for words in of_question.values()
        for word in words
        if sum(word in others for others in of_question.values()) > max(1, _COMMON * len(asked))
    }
    groups: dict[str, list[str]] = {}
    for each in asked:
        if each.relevant and each.answer and each.answer.reason in {"no_hits", "low_confidence"}:
            for word in sorted(of_question[each.id] - common):
                groups.setdefault(word, []).append(each.id)
    ordered = sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))
    return [WordGroup(word, ids) for word, ids in ordered]


def _words(text: str) -> Iterator[str]:
    return (word.casefold() for word in _WORD.findall(text))


def _cited_documents(answer: Answer) -> list[str]:
    """Return the distinct documents whose citations hold; none of a refusal."""
    documents = (each.source_document for each in answer.citations if each.holds)
    return list(dict.fromkeys(document for document in documents if document))


def _has_one(answer: Answer, words: Sequence[str]) -> bool:
    text = " ".join(answer.text.split()).casefold()
    return any(word.casefold() in text for word in words)
