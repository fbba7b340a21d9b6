"""All orders of the steps of two writers, a reader, a cleaner and crashes, on the real state.

The index is modelled as a cluster keeps it: chunks as written, and the state that one swap at a
time changes. What becomes visible is decided by `shows`, and in the queries of a search by
`hidden`, which a test compares with it.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, Final, NamedTuple

import pytest

from shared.opensearch import layout
from shared.opensearch.state import (
    ABANDONED_SECONDS,
    GRACE_SECONDS,
    MOST_TERMS,
    Query,
    Replaced,
    State,
    any_of,
    file_version_of,
    hidden,
    version_of,
)

DOCUMENT: Final = "d"
OLD: Final = "old"
DELETION: Final = "deletion"
"""Name of a writer that deletes the document."""

PARTS: Final = 2
"""Number of chunks of each version of the document, sent in two requests."""

PUBLISHING: Final = 4
"""The step of a writer that makes its batch visible."""

CLEANED: Final = 3
"""Number of steps of a cleaner."""

_DAY: Final = ABANDONED_SECONDS + 2 * GRACE_SECONDS
TIMES: Final = (1.0, GRACE_SECONDS + 2, _DAY, 2 * _DAY)
"""Times at which something happens. From one to the next, what was replaced is to be deleted, or an
open batch to be given up, or one that was given up to be forgotten."""

Chunk = tuple[int, str, int]
"""A chunk: its batch, the version of the document, and its number."""


class Writer(NamedTuple):
    """A writer that replaces the document, with the number of its steps that are done.

    `seen` is the state by which it has looked up the earlier versions, and these.
    """

    name: str
    step: int = 0
    batch: int = 0
    begun: float = 0.0
    seen: tuple[State, tuple[str, ...]] | None = None
    has_lost_answer: bool = False
    end: str = ""


class Reader(NamedTuple):
    """A search: the state that it has read, when, what it must see, and what it has found."""

    state: State | None = None
    read_at: float = 0.0
    must_see: str = OLD
    found: frozenset[Chunk] | None = None


ENDED: Final = Reader(found=frozenset())
"""A search that has ended, whatever it has found: what follows is alike."""


class Cleaner(NamedTuple):
    """Whoever deletes what no search sees: the steps done, and what the state has told at first.

    `forgets` has the batches that leave the state, `versions` and `batches` what is deleted.
    """

    step: int = 0
    forgets: frozenset[int] = frozenset()
    versions: frozenset[str] = frozenset()
    batches: frozenset[int] = frozenset()


class World(NamedTuple):
    """The cluster and all that work with it.

    `visible` is what the last refresh shows, `last` the version that was published last.
    """

    state: State
    chunks: frozenset[Chunk]
    visible: frozenset[Chunk]
    writers: tuple[Writer, ...]
    last: str
    now: float = TIMES[0]
    reader: Reader = Reader()
    cleaner: Cleaner = Cleaner()


def beginning(*names: str, is_new: bool = False) -> World:
    """An index, with the old version of the document that batch 1 wrote unless it is new."""
    state, batch = State().opened(0.0)
    state = state.published(batch, [], 0.0)
    chunks = frozenset((batch, OLD, number) for number in range(0 if is_new else PARTS))
    return World(state, chunks, chunks, tuple(map(Writer, names)), DELETION if is_new else OLD)


@cache
def version(batch: int) -> str:
    return version_of(batch, DOCUMENT)


def shows(state: State, batch: int, version: str) -> bool:
    """Check whether a search sees a chunk."""
    is_known = batch < state.next and batch not in state.open and batch not in state.abandoned
    return is_known and version not in state.hidden_versions


def shown(world: World, state: State) -> frozenset[Chunk]:
    return frozenset(of for of in world.visible if shows(state, of[0], version(of[0])))


def with_writer(world: World, place: int, writer: Writer) -> World:
    writers = (*world.writers[:place], writer, *world.writers[place + 1 :])
    return world._replace(writers=writers)


def written(world: World, place: int) -> World:
    """The world after the next step of a writer, each of which is one request.

    The index is refreshed with the last chunk: nobody sees chunks of an open batch.
    """
    writer = world.writers[place]
    state, batch = world.state, writer.batch
    parts = [] if writer.name == DELETION else [(batch, writer.name, of) for of in range(PARTS)]
    after = writer._replace(step=writer.step + 1)
    if writer.step == 0:
        state, batch = state.opened(world.now)
        after = after._replace(batch=batch, begun=world.now)
        return with_writer(world._replace(state=state), place, after)
    if writer.step <= PARTS and world.now > writer.begun + 2 * ABANDONED_SECONDS:
        # It sends nothing after a day, and nothing is under way for another one.
        return with_writer(world, place, writer._replace(end="failed"))
    if writer.step == 1:
        return with_writer(world._replace(chunks=world.chunks.union(parts[:1])), place, after)
    if writer.step == 2:
        chunks = world.chunks.union(parts)
        return with_writer(world._replace(chunks=chunks, visible=chunks), place, after)
    if writer.step < PUBLISHING:
        earlier = {version(of[0]) for of in shown(world, state)}
        return with_writer(world, place, after._replace(seen=(state, tuple(sorted(earlier)))))
    return published(world, place)


def published(world: World, place: int) -> World:
    """The world after a writer has tried to swap the state that it has seen."""
    writer, state = world.writers[place], world.state
    if writer.has_lost_answer and writer.batch in state.replaced:
        return with_writer(world, place, writer._replace(end="done"))
    if writer.batch not in state.open:
        return with_writer(world, place, writer._replace(end="failed"))
    assert writer.seen
    known, earlier = writer.seen
    if known != state:
        return with_writer(world, place, writer._replace(step=PUBLISHING - 1, seen=None))
    state = state.published(writer.batch, earlier, world.now)
    world = world._replace(state=state, last=writer.name)
    return with_writer(world, place, writer._replace(end="done"))


def lost(world: World, place: int) -> World:
    """The world after a writer has swapped the state, or not, and does not get the answer."""
    writer = published(world, place).writers[place]
    again = writer._replace(end="", step=PUBLISHING - 1, has_lost_answer=True)
    return with_writer(published(world, place), place, again)


def cleaned(world: World) -> World:
    """The world after the next step of the cleaner: it reads the state, deletes, and swaps.

    It has committed before, and so refreshed the index; what is not visible is not deleted.
    """
    cleaner, state, now = world.cleaner, world.state, world.now
    if cleaner.step == 0:
        removable, forgettable, expired = (
            frozenset(of(now)) for of in (state.removable, state.forgettable, state.expired)
        )
        versions = (name for batch in removable for name in state.replaced[batch].versions)
        return world._replace(
            state=state.withdrawn(expired, now),
            visible=world.chunks,
            cleaner=Cleaner(1, removable | forgettable, frozenset(versions), expired | forgettable),
        )
    after = cleaner._replace(step=cleaner.step + 1)
    if cleaner.step == 1:
        gone = {
            of
            for of in world.visible
            if of[0] in cleaner.batches or version(of[0]) in cleaner.versions
        }
        chunks, visible = world.chunks - gone, world.visible - gone
        return world._replace(chunks=chunks, visible=visible, cleaner=after)
    return world._replace(state=state.without(cleaner.forgets), cleaner=after)


def searched(world: World) -> World:
    """The world after the next step of the search: it reads the state, then it finds chunks."""
    reader = world.reader
    if reader.state is None:
        return world._replace(reader=Reader(world.state, world.now, world.last))
    return world._replace(reader=reader._replace(found=shown(world, reader.state)))


def following(world: World) -> Iterator[World]:
    """All worlds that one step can make of another one; a crash is a writer without further ones.

    Refreshes of the cluster by itself, and by others, may happen at any time.
    """
    for place, writer in enumerate(world.writers):
        if not writer.end:
            yield written(world, place)
        if writer.step == PUBLISHING and not writer.end and not writer.has_lost_answer:
            yield lost(world, place)
    if world.reader.found is None:
        yield searched(world)
    if world.visible != world.chunks:
        yield world._replace(visible=world.chunks)
    if world.cleaner.step < CLEANED:
        yield cleaned(world)
    # Two writers and several cleaners, for days, are more worlds than a test has time for.
    is_alone = len(world.writers) == 1
    if world.cleaner.step and is_alone:
        # It has ended, or been killed, and somebody else cleans.
        yield world._replace(cleaner=Cleaner())
    times = TIMES if is_alone else TIMES[:2]
    if world.now < times[-1]:
        # Whoever has read the state a minute before has ended with an error.
        reader = world.reader if world.reader.state is None else ENDED
        yield world._replace(now=times[times.index(world.now) + 1], reader=reader)


def complaint(found: Iterable[Chunk], expected: str) -> str:
    """What is wrong with chunks that are shown; empty if they are one whole version, or none."""
    seen = sorted((name, number) for _, name, number in found)
    wanted = [] if expected == DELETION else [(expected, number) for number in range(PARTS)]
    return "" if seen == wanted else f"{seen} instead of {expected}"


def complaints(world: World) -> Iterator[str]:
    """What is wrong with a world; whoever stops here has crashed."""
    if problem := complaint(shown(world, world.state), world.last):
        yield f"the state shows {problem}"
    reader = world.reader
    found = reader.found if reader.state is not None else None
    if found is not None and (problem := complaint(found, reader.must_see)):
        yield f"a search sees {problem}"


def explored(world: World) -> tuple[set[World], str]:
    """Return the worlds that can follow, and the first thing that is wrong with one of them."""
    seen, waiting = {world}, [world]
    while waiting:
        for after in following(waiting.pop()):
            reader = after.reader
            has_found = reader.state is not None and reader.found is not None
            kept = after._replace(reader=ENDED) if has_found else after
            is_new = kept not in seen
            if has_found or is_new:
                for problem in complaints(after):
                    return seen, problem
            if is_new:
                seen.add(kept)
                waiting.append(kept)
    return seen, ""


@pytest.fixture(autouse=True)
def _hashable(monkeypatch: pytest.MonkeyPatch) -> None:
    """States are hashed by some of what they say, and compared by all of it."""
    monkeypatch.setattr(
        State,
        "__hash__",
        lambda of: hash((of.next, *of.open, 0, *of.replaced, 0, *of.abandoned)),
    )


@pytest.mark.parametrize("is_new", [False, True], ids=["old", "new"])
@pytest.mark.parametrize("names", [("a",), ("a", "b"), ("a", DELETION)], ids=", ".join)
def test_writers_of_one_document_a_reader_and_crashes_in_any_order(
    names: tuple[str, ...], *, is_new: bool
) -> None:
    worlds, problem = explored(beginning(*names, is_new=is_new))
    assert not problem
    assert len(worlds) > 100 ** len(names)
    for state in {world.state for world in worlds}:
        check_that_queries_agree(state, [DOCUMENT, "another"])


def hides_nothing(state: State, batch: int, _: str) -> bool:
    return batch < state.next and batch not in state.open


def hides_no_open_batch(state: State, batch: int, version: str) -> bool:
    return batch < state.next and version not in state.hidden_versions


def replaces_what_it_saw_first(world: World, place: int) -> World:
    """A writer that does not look again after another one was faster."""
    writer = world.writers[place]
    if writer.end or writer.batch not in world.state.open or not writer.seen:
        return published_as_it_is(world, place)
    return published_as_it_is(
        with_writer(world, place, writer._replace(seen=(world.state, writer.seen[1]))), place
    )


published_as_it_is = published


@pytest.mark.parametrize(
    ("where", "name", "broken"),
    [
        (__name__, "shows", hides_nothing),
        (__name__, "shows", hides_no_open_batch),
        (State, "removable", lambda state, _: list(state.replaced)),
        (State, "expired", lambda state, _: list(state.open)),
        (State, "forgettable", lambda state, _: list(state.abandoned)),
        (__name__, "published", replaces_what_it_saw_first),
    ],
    ids=["replaced", "open", "grace", "killed", "late", "lookup"],
)
def test_the_search_finds_what_is_wrong(
    monkeypatch: pytest.MonkeyPatch, where: Any, name: str, broken: Callable[..., Any]
) -> None:
    if where is State:
        monkeypatch.setattr(State, name, broken)
    else:
        monkeypatch.setattr(f"{where}.{name}", broken)
    assert explored(beginning("a"))[1] or explored(beginning("a", "b"))[1]


def meets(query: Query, batch: int, version: str) -> bool:
    """Check whether a chunk meets a condition, as a cluster does."""
    ((kind, about),) = query.items()
    if kind == "bool":
        return any(meets(part, batch, version) for part in about["should"])
    ((field, wanted),) = about.items()
    value: object = batch if field == layout.BATCH else version
    if kind == "terms":
        assert len(wanted) <= MOST_TERMS
        return value in wanted
    return batch >= int(wanted["gte"])


def check_that_queries_agree(state: State, documents: Iterable[str]) -> None:
    """Check that a search leaves out on the cluster what `shows` says."""
    conditions = hidden(state)
    for batch in range(1, state.next + 1):
        for version in (version_of(batch, document) for document in documents):
            is_hidden = any(meets(query, batch, version) for query in conditions)
            assert shows(state, batch, version) is not is_hidden


def test_more_versions_are_hidden_than_one_condition_can_name() -> None:
    documents = [f"{number:06}" for number in range(2 * MOST_TERMS + 1)]
    state, first = State().opened(0.0)
    state, second = state.published(first, [], 0.0).opened(0.0)
    state = state.published(second, [version_of(first, name) for name in documents], 0.0)
    check_that_queries_agree(state, documents[:: MOST_TERMS // 2])
    assert not meets(any_of(layout.VERSION, []), first, "")


def test_a_batch_that_was_given_up_is_never_published_and_hidden_for_a_day() -> None:
    state, batch = State().opened(0.0)
    assert state.expired(ABANDONED_SECONDS - 1) == []
    assert state.expired(ABANDONED_SECONDS + 1) == [batch]
    state = state.withdrawn([batch], 0.0)
    with pytest.raises(KeyError):
        state.published(batch, [], 0.0)
    assert not shows(state, batch, version_of(batch, DOCUMENT))
    assert state.forgettable(ABANDONED_SECONDS - 1) == []
    assert state.forgettable(ABANDONED_SECONDS + 1) == [batch]
    assert state.without([batch]).abandoned == {}


def test_a_batch_that_is_open_during_a_rebuild_is_never_published_in_the_copy() -> None:
    state, first = State.of_new_index().opened(0.0)
    copy, batch = state.copied(1.0)
    assert copy.identity not in {"", state.identity}
    assert shows(copy, batch, version_of(batch, DOCUMENT))
    assert not shows(copy, first, version_of(first, DOCUMENT))
    with pytest.raises(KeyError):
        copy.published(first, [], 2.0)


def test_a_state_is_loaded_as_it_was_dumped() -> None:
    state, first = State(folders='["x"]').opened(1.0)
    state, second = state.opened(2.0)
    state = state.published(second, ["b", "a"], 3.0).withdrawn([first], 4.0)
    assert State.load(state.dump()) == state
    assert state.replaced == {second: Replaced(("a", "b"), 3.0)}


def test_the_text_of_a_document_and_the_state_of_its_file_are_replaced_apart() -> None:
    assert version_of(1, "d") != file_version_of(1, "d")
    assert version_of(1, "d") != version_of(11, "d")
