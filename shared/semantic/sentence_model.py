"""Sentence model as it is described: what the vectors of an index were made with."""

import json
from dataclasses import asdict, dataclass
from typing import Final, Literal, Self, get_args

Pooling = Literal["none", "mean", "cls"]
"""Way from the outputs of a model to one vector: the output is the vector, the mean of the tokens'
outputs, or the output of the first token."""

MAX_DIMENSIONS: Final = 4096
"""Maximum number of dimensions of a vector."""


@dataclass(frozen=True, slots=True)
class SentenceModel:
    """A sentence model, as each commit with vectors records it.

    ``unrelated`` are mean and standard deviation of the cosines of questions with texts that have
    nothing to do with them.
    """

    name: str  # as it was given: ``e5``, a folder, a hub's name or an address
    sha256: str  # of its files; "" for a model behind an address
    dimensions: int
    query_prefix: str = ""  # what the model expects before a query
    passage_prefix: str = ""
    pooling: Pooling = "none"
    max_tokens: int = 256  # of a text; the rest is ignored
    languages: tuple[str, ...] = ()  # that it knows, by ISO 639-1; empty for all
    unrelated: tuple[float, float] = (0.0, 0.1)

    def __post_init__(self) -> None:
        if not 1 <= self.dimensions <= MAX_DIMENSIONS:
            raise ValueError(f"dimensions should be from 1 to {MAX_DIMENSIONS:,}")
        if self.pooling not in get_args(Pooling):
            raise ValueError(f"pooling should be one of: {', '.join(get_args(Pooling))}")
        if self.max_tokens < 1:
            raise ValueError("max_tokens should be at least 1")
        mean, deviation = self.unrelated
        if not (-1 <= mean <= 1 and 0 < deviation <= 1):
            raise ValueError("unrelated should be a mean and a standard deviation of cosines")

    def makes_same_vectors(self, other: "SentenceModel") -> bool:
        """Check whether another model is the same, whatever its name or folder."""
        if not self.sha256:
            return self == other
        return self.sha256 == other.sha256

    def knows(self, language: str | None) -> bool:
        """Check whether the model knows a language; an unknown one (None) counts as known."""
        return language is None or not self.languages or language in self.languages

    def dump(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def load(cls, text: str) -> Self:
        values = json.loads(text)
        lists = {"languages": tuple(values["languages"]), "unrelated": tuple(values["unrelated"])}
        return cls(**{**values, **lists})
