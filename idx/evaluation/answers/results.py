"""Results of an evaluation of answers as plain data, to be printed or saved."""

from dataclasses import dataclass

from shared.model.answers import Answer


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a number of things.

    Attributes:
        measure: the things that are counted.
        count: the number of those that are as they should be, or as the measure says.
        total: the number of all.
        share: the quotient; None if there are none.
    """

    measure: str
    count: int
    total: int
    share: float | None


@dataclass(frozen=True)
class AskedQuestion:
    """A question and what became of it.

    Attributes:
        id: the id of the question.
        text: the question.
        relevant: the ids of the documents that answer it; none if there is no answer.
        answer: the checked answer; None after an error.
        error: the reason why there is no answer; else None.
        verdict: whether the judge finds that the cited quotes prove the answer; None without a
            judge, a verdict, or an answer.
    """

    id: str
    text: str
    relevant: list[str]
    answer: Answer | None
    error: str | None
    verdict: bool | None = None


@dataclass(frozen=True, slots=True)
class WordGroup:
    """A word, and the ids of the questions without a likely hit that have it."""

    word: str
    questions: list[str]


@dataclass(frozen=True)
class AnswerEvaluation:
    """Complete result of an evaluation of answers.

    Attributes:
        model: the model that answered.
        measures: what was measured without any other model.
        without_hits: questions with an answer whose search found nothing likely, by their words.
        judge: the model that judged; None without one.
        judged: what it found; empty without one.
        mean_seconds: the mean time of an answer for which a model was asked, in seconds.
        questions: all questions.
    """

    model: str
    measures: list[Share]
    without_hits: list[WordGroup]
    judge: str | None
    judged: list[Share]
    mean_seconds: float | None
    questions: list[AskedQuestion]
