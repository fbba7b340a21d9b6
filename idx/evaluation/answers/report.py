"""Report of an evaluation of answers as tables of text."""

from collections.abc import Sequence

from idx.evaluation.answers.results import AnswerEvaluation, Share
from idx.output.printing import tell
from idx.output.tables import print_table
from shared.messages import quantity


def print_answer_report(evaluation: AnswerEvaluation) -> None:
    """Print an evaluation of answers on stdout."""
    known = sum(bool(each.relevant) for each in evaluation.questions)
    tell(
        f"{quantity(len(evaluation.questions), 'question')}, {known} with an answer; "
        f"model: {evaluation.model}"
    )
    _print_shares(evaluation.measures)
    if evaluation.mean_seconds is not None:
        tell(f"Mean time of the model: {evaluation.mean_seconds:.1f} s")
    if evaluation.without_hits:
        tell("Questions with an answer but without a likely hit, by word:")
        print_table(
            ["Word", "Questions"],
            [(group.word, ", ".join(group.questions)) for group in evaluation.without_hits],
        )
    if evaluation.judge:
        tell(f"In the opinion of {evaluation.judge}:")
        _print_shares(evaluation.judged)
    if errors := [(each.id, each.error) for each in evaluation.questions if each.error]:
        tell("Errors:")
        print_table(["Question", "Error"], errors)


def _print_shares(shares: Sequence[Share]) -> None:
    rows = [
        (
            each.measure[0].upper() + each.measure[1:],
            "-" if each.share is None else f"{each.share:.3f}",
            f"{each.count} of {each.total}",
        )
        for each in shares
    ]
    print_table(["Measure", "Share", "Number"], rows)
