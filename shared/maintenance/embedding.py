"""Embedding: vectors for the chunks of an index that have none yet.

The text is committed, and found by words, before its vectors are made. Worker processes make them;
the lock is held only while vectors are stored, a batch at a time, so that a run that is stopped
keeps what it has stored, and the next one continues. A chunk whose text changes meanwhile keeps no
vector of its old text.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from org.apache.lucene.search import IndexSearcher

from shared.analysis.detection import language_of
from shared.errors import SemanticModelError
from shared.files import index_folder
from shared.java import vm
from shared.maintenance.upkeep import Progress, Step
from shared.semantic import worker
from shared.semantic.models import check_allowed, check_extra, encoder_of, install
from shared.semantic.passages import key_of
from shared.semantic.sentence_model import SentenceModel
from shared.settings.defaults import DEFAULT_WAIT
from shared.settings.machine import default_workers
from shared.storage import lucene_errors
from shared.storage.commits import open_last_commit, sentence_model
from shared.storage.integrity import open_directory
from shared.storage.passages import passages_matching
from shared.storage.vectors import with_vectors, without_vectors
from shared.workers import end_pool, new_pool, result_of, schedule
from shared.writing.index import Index

if TYPE_CHECKING:
    from pebble import ProcessPool

_Batch = list[tuple[str, str]]
"""Ids and passages of chunks."""

_TEXTS_PER_TASK: Final = 16
"""Number of passages that a worker embeds at once, a third of a second's work."""

_TASKS_PER_WORKER: Final = 2
"""Number of tasks that wait for each worker, so that none is idle."""

_FEW_TEXTS: Final = 8
"""Maximum number of passages that this process embeds itself: a worker takes as long to start."""

_MIN_STORED: Final = 500
"""Minimum number of vectors that are stored together."""

_MAX_COMMITS: Final = 20
"""Number of commits of a long run: each writes the vectors of whole segments again."""

_TASK_SECONDS: Final = 600.0
"""Maximum time of a worker for a task, in seconds, with its start and a slow machine."""

_MIN_TELLING_CHARACTERS: Final = 200
"""Minimum length of a passage whose language excludes it from the model."""

_FEATURE: Final = "search by meaning"

_WORKER_BYTES: Final = 4_000_000_000
"""Maximum address space of a worker, in bytes; the libraries reserve a gigabyte."""


@dataclass(frozen=True, slots=True)
class EmbeddingState:
    """State of the vectors of an index.

    Attributes:
        model: the sentence model; None if search by meaning is off.
        chunks: the number of chunks.
        embedded: the number of chunks that have a vector, or are in a language that the model does
            not know.
    """

    model: SentenceModel | None
    chunks: int
    embedded: int

    @property
    def pending(self) -> int:
        """Number of chunks that are still to be embedded."""
        return self.chunks - self.embedded if self.model else 0


@dataclass(frozen=True, slots=True)
class Embedded:
    """Result of an embedding.

    Attributes:
        chunks: the number of chunks that got a vector.
        other_languages: the number of those that are in a language that the model does not know.
        seconds: the time that it took.
    """

    chunks: int
    other_languages: int
    seconds: float


def embedding_state(path: Path | str) -> EmbeddingState:
    """Return the state of the vectors of an index.

    Raises:
        IndexFolderError: the index cannot be used; the class says why.
    """
    with _reader(index_folder.absolute(path)) as (folder, reader):
        searcher = IndexSearcher(reader)
        return EmbeddingState(
            sentence_model(reader, folder),
            int(reader.numDocs()),
            int(searcher.count(with_vectors())),
        )


def switch_on(path: Path | str, name: str, *, wait: float = DEFAULT_WAIT) -> SentenceModel:
    """Make a sentence model part of an index; `embed` then makes the vectors.

    Args:
        path: the index folder.
        name: the model, see `shared.semantic.models.install`. Another one than before removes the
            vectors of that one.
        wait: seconds to wait for another writer to end.

    Raises:
        SemanticModelError: the model is missing, damaged, unsafe or unsuitable.
        ExtraMissingError: a library is not installed.
        IndexFolderError: the index cannot be used; the class says why.
    """
    index_folder.identify(index_folder.absolute(path))
    model = install(name).model
    with Index(path, wait=wait) as index:
        if index.sentence_model != model:
            index.sentence_model = model
    return model


def switch_off(path: Path | str, *, wait: float = DEFAULT_WAIT) -> bool:
    """Remove the sentence model and all vectors from an index.

    Returns:
        False if there was no model.

    Raises:
        IndexFolderError: the index cannot be used; the class says why.
    """
    with Index(path, wait=wait) as index:
        was_on = index.sentence_model is not None
        if was_on:
            index.sentence_model = None
    return was_on


def embed(
    path: Path | str,
    *,
    wait: float = DEFAULT_WAIT,
    workers: int | None = None,
    progress: Progress = iter,
    named: str | None = None,
) -> Embedded:
    """Make the vectors that an index lacks.

    On an interruption (``KeyboardInterrupt``) the vectors made so far are stored first.

    Args:
        path: the index folder.
        wait: seconds to wait for another writer to end, each time when vectors are stored.
        workers: the number of worker processes; None for one for each core.
        progress: a function that passes on the steps.
        named: the model that the user has named for this index just now; None for none. Texts are
            sent to a server on another machine only if this, or the setting ``semantic``, names it.

    Raises:
        SemanticModelError: the model is missing, damaged, or another one by now, or its server does
            not answer or must not be asked.
        ExtraMissingError: a library is not installed.
        IndexLockedError: another writer held the lock for the whole time.
        IndexFolderError: the index cannot be used; the class says why.
    """
    began = time.monotonic()
    with _reader(index_folder.absolute(path)) as (folder, reader):
        model = sentence_model(reader, folder)
        pending = int(IndexSearcher(reader).count(without_vectors())) if model else 0
        if model is None or not pending:
            return Embedded(0, 0, 0.0)
        check_extra(_FEATURE)
        check_allowed(model, named)
        # A model that cannot be used is named before workers start.
        encoder_of(model)
        count = min(workers or default_workers(), -(-pending // _TEXTS_PER_TASK))
        run = _Run(folder, model, wait, max(_MIN_STORED, pending // _MAX_COMMITS))
        passages = passages_matching(reader, without_vectors())
        try:
            with _encoding(model, count, pending) as encode:
                done = run.embedded(encode, passages)
                for _ in progress(Step("Embedding", number, pending) for number in done):
                    pass
        finally:
            run.store()
    seconds = time.monotonic() - began
    return Embedded(run.stored, run.other_languages, round(seconds, 3))


_Encode = Callable[[list[str]], Callable[[], list[bytes]]]
"""Function that has passages embedded, and returns one that waits for their values."""


@dataclass(slots=True)
class _Run:
    """An embedding under way.

    Attributes:
        path: the index folder.
        model: the model.
        wait: seconds to wait for another writer.
        stored_together: the number of vectors that are stored together.
        stored: the number of chunks that got a value.
        other_languages: the number of those without a vector.
        waiting: the passages and values that are not stored yet, by chunk id.
    """

    path: Path
    model: SentenceModel
    wait: float
    stored_together: int
    stored: int = 0
    other_languages: int = 0
    waiting: dict[str, tuple[str, bytes]] = field(default_factory=dict)

    def embedded(self, encode: _Encode, passages: Iterable[tuple[str, str]]) -> Iterator[int]:
        """Embed passages and yield the number of those that are done, task by task."""
        tasks: deque[tuple[_Batch, Callable[[], list[bytes]]]] = deque()
        done = 0
        passages = iter(passages)
        limit = _TASKS_PER_WORKER * default_workers()
        while True:
            while len(tasks) < limit and (batch := list(islice(passages, _TEXTS_PER_TASK))):
                known = self._of_known_languages(batch)
                done += len(batch) - len(known)
                if known:
                    tasks.append((known, encode([passage for _, passage in known])))
            if not tasks:
                return
            batch, values = tasks.popleft()
            for (id_, passage), value in zip(batch, values(), strict=True):
                self.waiting[id_] = (passage, value)
            done += len(batch)
            if len(self.waiting) >= self.stored_together:
                self.store()
            yield done

    def store(self) -> None:
        """Store the vectors that are waiting, in one commit."""
        waiting, self.waiting = self.waiting, {}
        if waiting:
            with Index(self.path, wait=self.wait) as index:
                # Another program may have switched the model meanwhile.
                if index.sentence_model == self.model:
                    self.stored += index.set_vectors(waiting)

    def _of_known_languages(self, batch: _Batch) -> _Batch:
        """Return the passages in languages that the model knows; the others get no vector."""
        known = []
        for id_, passage in batch:
            # A language is not known for certain from a title.
            is_telling = self.model.languages and len(passage) >= _MIN_TELLING_CHARACTERS
            language = language_of(passage) if is_telling else None
            if language is None or self.model.knows(language):
                known.append((id_, passage))
            else:
                self.waiting[id_] = (passage, key_of(passage))
                self.other_languages += 1
        return known


@contextmanager
def _encoding(model: SentenceModel, workers: int, pending: int) -> Iterator[_Encode]:
    """Lend a function that has passages embedded, here or by worker processes."""
    if pending <= _FEW_TEXTS:
        yield lambda passages: partial(worker.values_of, model, passages)
        return
    pool = new_pool(workers, _WORKER_BYTES, worker.prepare)
    try:
        yield partial(_embed_there, pool, model)
    finally:
        end_pool(pool)


def _embed_there(
    pool: "ProcessPool", model: SentenceModel, passages: list[str]
) -> Callable[[], list[bytes]]:
    with _alive(model):
        task = schedule(pool, worker.values_of, _TASK_SECONDS, model, passages)
    return _alive(model)(partial(result_of, pool, task))


@contextmanager
def _alive(model: SentenceModel) -> Iterator[None]:
    """Convert the errors of workers that ended to one that says so."""
    from pebble import ProcessExpired

    try:
        yield
    except (TimeoutError, ProcessExpired, BrokenExecutor) as error:
        reason = f"a worker process ended while it embedded texts ({type(error).__name__})"
        raise SemanticModelError(model.name, reason) from error


@contextmanager
def _reader(path: Path) -> Iterator[tuple[Path, Any]]:
    """Lend a reader of the last commit, with the path of the index."""
    index_folder.identify(path)
    with (
        vm.attached("batch"),
        lucene_errors.reading(path),
        closing(open_directory(path)) as directory,
        closing(open_last_commit(directory, path)) as reader,
    ):
        yield path, reader
