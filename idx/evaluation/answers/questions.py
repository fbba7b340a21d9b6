"""Questions whose answers are known, one JSON object on each line."""

from dataclasses import dataclass
from pathlib import Path

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from idx.errors import SourceFileError
from idx.evaluation.collection.input_file import UniqueIds, error_at, read_lines
from idx.evaluation.collection.json_lines import entries


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a test collection.

    Attributes:
        id: its id in the judgements.
        text: the question.
        expected: words of which a right answer has one; empty if none are known.
        forbidden: words that an answer has only if the model obeyed a document.
    """

    id: str
    text: str
    expected: tuple[str, ...] = ()
    forbidden: tuple[str, ...] = ()


class _Entry(BaseModel):
    """Question in JSON; other keys are ignored."""

    model_config = ConfigDict(strict=True)

    id: str | int = Field(validation_alias=AliasChoices("_id", "id"))
    text: str
    expected: list[str] = []
    forbidden: list[str] = []


def read_questions(file: Path) -> list[Question]:
    """Read the questions of a file in order.

    Args:
        file: JSON Lines with ``_id`` or ``id``, ``text``, and, if known, ``expected`` and
            ``forbidden``.

    Raises:
        SourceFileError: the file is invalid or empty, or has a duplicate id.
    """
    ids = UniqueIds(file, "question")
    questions = []
    for number, entry in entries(file, read_lines(file), _Entry):
        question = Question(
            str(entry.id), entry.text.strip(), tuple(entry.expected), tuple(entry.forbidden)
        )
        if not question.id or not question.text:
            raise error_at(file, number, "the question has no id or no text")
        ids.add(question.id, number)
        questions.append(question)
    if not questions:
        raise SourceFileError(file, "has no questions")
    return questions
