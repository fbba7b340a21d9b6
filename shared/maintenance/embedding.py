"""Embedding: vectors for the chunks of an index that have none yet.

The text is committed, and found by words, before its vectors are made. Worker processes make them
at low priority; the lock is held only while vectors are stored, a batch at a time, so that a run
that is stopped keeps what it has stored, and the next one continues. A chunk whose text changes
meanwhile keeps no vector of its old text.
"""

import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from org.apache.lucene.search import IndexSearcher

from shared.analysis.detection import language_of
from shared.backends import chosen
from shared.errors import SemanticModelError
from shared.files import index_folder
from shared.java import vm
from shared.maintenance.upkeep import Progress, Step
from shared.model import schema
from shared.query.lucene import Compiler
from shared.query.tree import Clause, Clauses, Exists
from shared.semantic.models import (
    check_allowed,
    check_extra,
    install,
    is_usable,
    prepare_worker,
    stored_vectors_of,
)
from shared.semantic.sentence_model import SentenceModel
from shared.semantic.windows import (
    MAX_CHARACTERS,
    MAX_WINDOWS,
    Window,
    heading_of,
    key_of,
    packed,
    windows_of,
)
from shared.settings.current import sentence_model as configured_model
from shared.settings.defaults import DEFAULT_SENTENCE_MODEL, DEFAULT_WAIT, default_workers
from shared.storage import lucene_errors
from shared.storage.commits import open_last_commit, sentence_model
from shared.storage.integrity import open_directory
from shared.storage.passages import MOST_TOGETHER, Embeddable, StoredText, texts_matching
from shared.workers import end_pool, new_pool, result_of, schedule
from shared.writing.index import Index

if TYPE_CHECKING:
    from pebble import ProcessPool

_Batch = list[list[StoredText]]
"""Chunks that are embedded at once, those of a document together."""

_TASKS_PER_WORKER: Final = 2
"""Number of tasks that wait for each worker, so that none is idle."""

_FEW_CHUNKS: Final = 8
"""Maximum number of chunks that this process embeds itself: a worker takes as long to start."""

_MIN_STORED: Final = 500

_MAX_COMMITS: Final = 20
"""Number of commits of a long run: each writes the vectors of whole segments again."""

_TASK_SECONDS: Final = 600.0
"""Maximum time of a worker for a task, in seconds, with its start and a slow machine."""

_MIN_TELLING_CHARACTERS: Final = 200
"""Minimum length of a text whose language excludes it from the model."""

_WITH_VECTORS: Final = Exists(schema.VECTOR)
_WITHOUT_VECTORS: Final = Clauses((Clause(_WITH_VECTORS, "must_not"),))

_WORKER_BYTES: Final = 4_000_000_000
"""Maximum address space of a worker, in bytes; the libraries reserve a gigabyte."""


@dataclass(frozen=True, slots=True)
class EmbeddingState:
    """State of the vectors of an index."""

    model: SentenceModel | None  # None if search by meaning is off
    chunks: int
    embedded: int  # those that have vectors, or a language or script that the model does not know

    @property
    def pending(self) -> int:
        """Number of chunks that are still to be embedded."""
        return self.chunks - self.embedded if self.model else 0


@dataclass(frozen=True, slots=True)
class Embedded:
    """Result of an embedding."""

    chunks: int
    other_languages: int  # those whose language or script the model does not know: without vectors
    seconds: float


def embedding_state(path: Path | str) -> EmbeddingState:
    """Return the state of the vectors of an index."""
    with _opened(path) as index:
        return EmbeddingState(index.model, index.chunks, index.embedded)


def model_of_new_index() -> SentenceModel | None:
    """Return the sentence model of an index that is being created; None if it gets none."""
    wanted = configured_model()
    if wanted is not None or not is_usable(DEFAULT_SENTENCE_MODEL):
        return None
    return install(DEFAULT_SENTENCE_MODEL)


def switch_on(path: Path | str, name: str, *, wait: float = DEFAULT_WAIT) -> SentenceModel:
    """Make a sentence model part of an index; `embed` then makes the vectors.

    The name is as `shared.semantic.models.install` takes it. Another model than before removes the
    vectors of that one.
    """
    # An index that cannot be used is named before a model is downloaded.
    embedding_state(path)
    model = install(name)
    with Index(path, wait=wait) as index:
        if index.sentence_model != model:
            index.sentence_model = model
    return model


def switch_off(path: Path | str, *, wait: float = DEFAULT_WAIT) -> bool:
    """Remove the sentence model and all vectors from an index."""
    with Index(path, wait=wait) as index:
        was_on = index.sentence_model is not None
        if was_on:
            index.sentence_model = None
    return was_on


def embed(
    path: Path | str,
    *,
    wait: float = DEFAULT_WAIT,
    progress: Progress = iter,
    named: str | None = None,
) -> Embedded:
    """Make the vectors that an index lacks.

    On an interruption (``KeyboardInterrupt``) the vectors made so far are stored first. Each time
    when vectors are stored, it waits for another writer to end. Texts are sent to a server on
    another machine only if the model that the user has `named` just now, or the setting
    ``semantic``, is that server's.
    """
    began = time.monotonic()
    with _opened(path) as index:
        model, pending = index.model, index.chunks - index.embedded
        if model is None or not pending:
            return Embedded(0, 0, 0.0)
        check_extra("search by meaning")
        check_allowed(model, named)
        # A model that cannot be used is named before workers start.
        stored_vectors_of(model, [])
        count = min(default_workers(), -(-pending // MOST_TOGETHER))
        run = _Run(index.path, model, wait, max(_MIN_STORED, pending // _MAX_COMMITS))
        try:
            with _encoding(model, count, pending) as encode:
                done = run.embedded(encode, index.texts())
                for _ in progress(Step("Embedding", number, pending) for number in done):
                    pass
        finally:
            run.store()
    seconds = time.monotonic() - began
    return Embedded(run.stored, run.other_languages, round(seconds, 3))


_Encode = Callable[[list[str]], Callable[[], list[bytes]]]
"""Function that has texts embedded, and returns one that waits for their vectors."""


@dataclass(slots=True)
class _Run:
    """An embedding under way."""

    path: Path
    model: SentenceModel
    wait: float
    stored_together: int
    stored: int = 0
    other_languages: int = 0
    waiting: dict[str, bytes] = field(default_factory=dict)

    def embedded(self, encode: _Encode, texts: Iterator[list[StoredText]]) -> Iterator[int]:
        """Embed texts and yield the number of chunks that are done, task by task."""
        tasks: deque[tuple[_Batch, list[list[Window]], Callable[[], list[bytes]]]] = deque()
        done = 0
        limit = _TASKS_PER_WORKER * default_workers()
        while True:
            while len(tasks) < limit and (batch := _batch(texts)):
                windows = [
                    windows_of(
                        heading_of(some[0].title, some[0].path), [self._read(text) for text in some]
                    )
                    for some in batch
                ]
                encoded = [window.text for of_document in windows for window in of_document]
                tasks.append((batch, windows, encode(encoded)))
            if not tasks:
                return
            batch, windows, wait = tasks.popleft()
            vectors = iter(wait())
            for some, of_document in zip(batch, windows, strict=True):
                self._keep(some, [(window, next(vectors)) for window in of_document])
                done += len(some)
            if len(self.waiting) >= self.stored_together:
                self.store()
            yield done

    def _keep(self, texts: list[StoredText], vectors: list[tuple[Window, bytes]]) -> None:
        """Keep the values of neighbouring chunks until they are stored."""
        found: list[list[tuple[int, int, bytes]]] = [[] for _ in texts]
        for window, vector in vectors:
            for number, begin, end in window.places if vector else ():
                found[number].append((begin, end, vector))
        for text, own in zip(texts, found, strict=True):
            self.waiting[text.id] = packed(key_of(text.title, text.content), own[:MAX_WINDOWS])
            self.other_languages += not own

    def store(self) -> None:
        """Store the vectors that are waiting, in one commit."""
        waiting, self.waiting = self.waiting, {}
        if waiting:
            with Index(self.path, wait=self.wait) as index:
                # Another program may have switched the model meanwhile.
                if index.sentence_model == self.model:
                    self.stored += index.set_vectors(waiting)

    def _read(self, text: StoredText) -> str:
        """Return what is embedded of a chunk: nothing if the model does not know its language."""
        # A language is not known for certain from a title.
        is_telling = self.model.languages and len(text.content) >= _MIN_TELLING_CHARACTERS
        language = language_of(text.content) if is_telling else None
        is_known = language is None or self.model.knows(language)
        return text.content[:MAX_CHARACTERS] if is_known else ""


def _batch(texts: Iterator[list[StoredText]]) -> _Batch:
    """Return the next chunks, as many as are embedded at once; empty after the last one."""
    batch: _Batch = []
    while sum(map(len, batch)) < MOST_TOGETHER and (some := next(texts, None)):
        batch.append(some)
    return batch


@contextmanager
def _encoding(model: SentenceModel, workers: int, pending: int) -> Iterator[_Encode]:
    """Lend a function that has texts embedded, here or by worker processes."""
    if pending <= _FEW_CHUNKS:
        yield lambda texts: partial(stored_vectors_of, model, texts)
        return
    pool = new_pool(workers, _WORKER_BYTES, prepare_worker)
    try:
        yield partial(_embed_there, pool, model)
    finally:
        end_pool(pool)


def _embed_there(
    pool: "ProcessPool", model: SentenceModel, texts: list[str]
) -> Callable[[], list[bytes]]:
    with _alive(model):
        task = schedule(pool, stored_vectors_of, _TASK_SECONDS, model, texts)
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
def _opened(path: Path | str) -> Iterator[Embeddable]:
    """Lend the last commit of an index."""
    if other := chosen(path, "embeddable"):
        with other(path) as index:
            yield index
        return
    path = index_folder.absolute(path)
    index_folder.identify(path)
    with (
        vm.attached("batch"),
        lucene_errors.reading(path),
        closing(open_directory(path)) as directory,
        closing(open_last_commit(directory, path)) as reader,
    ):
        yield Embeddable(
            path,
            sentence_model(reader, path),
            int(reader.numDocs()),
            int(IndexSearcher(reader).count(Compiler().query(_WITH_VECTORS))),
            partial(texts_matching, reader, Compiler().query(_WITHOUT_VECTORS)),
        )
