"""All orders of the steps of two writers, a reader, a cleaner and crashes, on the real state.

The index is modelled as a cluster keeps it: chunks as written, and the state that one swap at a
time changes. What becomes visible is decided by `State`, and in the queries of a search by
`shared.opensearch.queries`, which a test compares with it.
"""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Final, NamedTuple

import pytest

from shared.opensearch import layout
from shared.opensearch.queries import MOST_TERMS, Query, hidden, of_documents
from shared.opensearch.state import (
    ABANDONED_SECONDS,
    GRACE_SECONDS,
    LEASE_SECONDS,
    Replaced,
    State,
)

DOCUMENT: Final = "d"
OLD: Final = "old"
PARTS: Final = 2
"""Number of chunks of each version of the document, sent in two requests."""

LAST: Final = 5
"""The step of a writer that makes its batch visible."""

CLEANING: Final = 3
"""Number of steps of a cleaner."""

Chunk = tuple[int, str, int]
"""A chunk: its batch, the version of the document, and its number."""


class Writer(NamedTuple):
    """A writer that replaces the document, and what it will do next.

    Attributes:
        name: the version that it writes.
        step: the number of steps done.
        batch: its batch; 0 before it has one.
        had_earlier: whether an earlier batch was open before it looked for earlier chunks.
        earlier: the documents with earlier chunks, as it has seen them.
        lost_answer: whether the answer to its last request was lost with a node.
        is_done: whether its command has returned.
        has_failed: whether its command has reported an error.
    """

    name: str
    step: int = 0
    batch: int = 0
    had_earlier: bool = False
    earlier: frozenset[str] = frozenset()
    lost_answer: bool = False
    is_done: bool = False
    has_failed: bool = False

    @property
    def is_at_end(self) -> bool:
        return self.is_done or self.has_failed


class Reader(NamedTuple):
    """A search: the state that it has read, and what it has found."""

    state: State | None = None
    read_at: float = 0.0
    found: frozenset[Chunk] | None = None
    must_see: frozenset[str] = frozenset()


OVER: Final = Reader(found=frozenset(), read_at=-GRACE_SECONDS)
"""A search after its answer."""


class Cleaner(NamedTuple):
    """Another writer that cleans up.

    Attributes:
        step: the number of steps done.
        before: what the state that it goes by says of them.
        removable: batches whose replaced chunks it deletes.
        dead: batches of dead writers whose chunks it deletes.
    """

    step: int = 0
    before: State | None = None
    removable: tuple[int, ...] = ()
    dead: tuple[int, ...] = ()


class World(NamedTuple):
    """The cluster and all that work with it.

    Attributes:
        state: the state of the index.
        chunks: the chunks on the cluster.
        visible: the chunks that the last refresh shows.
        now: the time in seconds.
        writers: the writers.
        reader: the search.
        is_new: whether there was no old version of the document.
        cleaner: the cleaner.
        is_late: whether a long time has passed.
        repeats: whether the cluster may get the first chunk of the first writer again at any time.
    """

    state: State
    chunks: frozenset[Chunk]
    visible: frozenset[Chunk]
    now: float
    writers: tuple[Writer, ...]
    reader: Reader
    is_new: bool
    cleaner: Cleaner = Cleaner()
    is_late: bool = False
    repeats: bool = False


def beginning(*names: str, is_new: bool = False) -> World:
    """An index, with the old version of the document that batch 1 wrote unless it is new."""
    state, batch = State().opened(0.0)
    state = state.published(batch, [], 0.0)
    chunks = frozenset((batch, OLD, number) for number in range(0 if is_new else PARTS))
    return World(state, chunks, chunks, 1.0, tuple(map(Writer, names)), Reader(), is_new)


def beginning_between(*, is_new: bool) -> World:
    """The same, where a batch of others was published since the first of two writers began."""
    world = written(beginning("a", "b", is_new=is_new), 0)
    state, batch = world.state.opened(0.0)
    return world._replace(state=state.published(batch, [], 0.0))


def written(world: World, place: int) -> World:
    """The world after the next step of a writer.

    Each is one request, but the index is refreshed with the last chunk: nobody sees chunks of an
    open batch.
    """
    writer = world.writers[place]
    state, chunks, visible = world.state, world.chunks, world.visible
    if writer.step == 0:
        state, batch = state.opened(world.now)
        writer = writer._replace(batch=batch)
    elif writer.step == 1:
        chunks |= {(writer.batch, writer.name, 0)}
    elif writer.step == 2:
        chunks |= {(writer.batch, writer.name, number) for number in range(1, PARTS)}
        visible = chunks
    elif writer.step == 3:
        writer = writer._replace(had_earlier=state.has_earlier(writer.batch))
    elif writer.step == 4:
        there = any(batch < writer.batch for batch, _, _ in visible)
        writer = writer._replace(earlier=frozenset({DOCUMENT}) if there else frozenset())
    elif writer.lost_answer and state.is_published(writer.batch):
        writer = writer._replace(is_done=True)
    else:
        documents = {DOCUMENT} if writer.had_earlier else writer.earlier
        try:
            late = [DOCUMENT] if world.repeats and not place else []
            state = state.published(writer.batch, documents, world.now, late=late)
            writer = writer._replace(is_done=True)
        except KeyError:
            writer = writer._replace(has_failed=True)
    writer = writer._replace(step=writer.step + 1)
    writers = (*world.writers[:place], writer, *world.writers[place + 1 :])
    return world._replace(state=state, chunks=chunks, visible=visible, writers=writers)


def lost(world: World, place: int) -> World:
    """The world after the last step of a writer that does not get its answer, and so repeats it."""
    writer = world.writers[place]
    state = written(world, place).state
    writer = writer._replace(lost_answer=True)
    writers = (*world.writers[:place], writer, *world.writers[place + 1 :])
    return world._replace(state=state, writers=writers)


def arrived(world: World) -> World:
    """The world after a chunk has come that was sent again long before."""
    writer = world.writers[0]
    return world._replace(chunks=world.chunks | {(writer.batch, writer.name, 0)})


def renewed(world: World, place: int) -> World:
    """The world after a sign of life of a writer's batch, which must be open."""
    state = world.state.renewed(world.writers[place].batch, world.now)
    return world._replace(state=state)


def cleaned(world: World) -> World:
    """The world after the next step of the cleaner: a swap, deletions, and another swap.

    It deletes in several requests; what others do meanwhile cannot undo a deletion.
    """
    state, chunks, now, cleaner = world.state, world.chunks, world.now, world.cleaner
    if cleaner.step == 0:
        expired = state.expired(now)
        state = state.without_expired(now)
        dead = (batch for batch in expired if batch in state.abandoned)
        removable = state.removable(now)
        before = State(
            open=state.as_searched.open if removable else {},
            replaced={batch: state.replaced[batch] for batch in removable},
            late=state.late if removable else {},
        )
        cleaner = Cleaner(0, before, tuple(removable), tuple(dead))
    elif cleaner.step == 1:
        for batch in cleaner.removable:
            chunks = frozenset(chunk for chunk in chunks if chunk[0] >= batch)
        chunks = frozenset(chunk for chunk in chunks if chunk[0] not in cleaner.dead)
    elif cleaner.before is not None:
        state = state.removed(cleaner.removable, cleaner.before)
    cleaner = cleaner._replace(step=cleaner.step + 1)
    visible = world.visible & chunks
    return world._replace(state=state, chunks=chunks, visible=visible, cleaner=cleaner)


cleaned_next = cleaned
"""The cleaner of the exploration, which a test replaces."""


def searched(world: World) -> World:
    """The world after the next step of the search: it reads the state, then it finds chunks."""
    reader = world.reader
    if reader.state is None:
        done = frozenset(writer.name for writer in world.writers if writer.is_done)
        reader = Reader(world.state.as_searched, world.now, must_see=done)
        return world._replace(reader=reader)
    if world.now - reader.read_at > GRACE_SECONDS:
        # Its request has ended with an error long before.
        return world._replace(reader=reader._replace(found=frozenset()))
    found = frozenset(chunk for chunk in world.visible if reader.state.shows(chunk[0], DOCUMENT))
    return world._replace(reader=reader._replace(found=found))


def following(world: World) -> Iterator[World]:
    """All worlds that one step can make of another one; a crash is a writer without further ones.

    Refreshes of the cluster by itself, and by others, may happen at any time.
    """
    for place, writer in enumerate(world.writers):
        if not writer.is_at_end:
            yield written(world, place)
        if writer.step == LAST and not writer.is_at_end and not writer.lost_answer:
            yield lost(world, place)
        if world.state.open.get(writer.batch, world.now) < world.now:
            yield renewed(world, place)
    if world.repeats and world.writers[0].is_at_end:
        yield arrived(world)
    if world.reader.found is None:
        yield searched(world)
    if world.visible != world.chunks:
        yield world._replace(visible=world.chunks)
    if world.cleaner.step < CLEANING:
        yield cleaned_next(world)
    if not world.is_late:
        later = world.now + max(LEASE_SECONDS, GRACE_SECONDS) + 1
        yield world._replace(now=later, is_late=True)


def versions(chunks: frozenset[Chunk]) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for _, version, number in chunks:
        found.setdefault(version, set()).add(number)
    return found


def complaints_of_search(world: World) -> Iterator[str]:
    """What is wrong with the answer of the search."""
    reader = world.reader
    if reader.found is not None and world.now - reader.read_at <= GRACE_SECONDS:
        seen = versions(reader.found)
        if len(seen) > 1 or (not seen and (reader.must_see or not world.is_new)):
            yield f"a search sees {len(seen)} versions"
        elif any(len(numbers) < PARTS for numbers in seen.values()):
            yield "a search sees a part of a version"
        elif reader.must_see and seen.keys() == {OLD}:
            yield "a search does not see what was written before it began"


def complaints(world: World) -> Iterator[str]:
    """What is wrong with a world; whoever stops here has crashed.

    Whatever happens next, a search that begins now must see one whole version.
    """
    shown = frozenset(chunk for chunk in world.visible if world.state.shows(chunk[0], DOCUMENT))
    now = versions(shown)
    done = [writer for writer in world.writers if writer.is_done]
    may_be_none = world.is_new and not done
    if len(now) > 1 or (not now and not may_be_none):
        yield f"the state shows {now}"
    if any(len(numbers) < PARTS for numbers in now.values()):
        yield f"the state shows a part of {now}"
    if done and now and next(iter(now)) == OLD:
        yield "a version that was written is lost"
    if len(done) == len(world.writers) > 1 and now:
        last = max(done, key=lambda writer: writer.batch)
        if last.name not in now:
            yield f"{last.name} was begun last, but {now} is shown"


def remembered(world: World) -> World:
    """The world without what no later step and no complaint depends on, so that more are alike."""
    writers = tuple(
        Writer(of.name, batch=of.batch, is_done=of.is_done, has_failed=of.has_failed)
        if of.is_at_end and of.step
        else of
        for of in world.writers
    )
    reader = world.reader if world.reader.found is None else OVER
    cleaner = world.cleaner if world.cleaner.step < CLEANING else Cleaner(CLEANING)
    if (writers, reader, cleaner) == (world.writers, world.reader, world.cleaner):
        return world
    return world._replace(writers=writers, reader=reader, cleaner=cleaner)


def explored(world: World, *, stops: bool = False) -> tuple[set[World], dict[str, World]]:
    """Return the worlds that can follow, and those with something wrong.

    Args:
        world: the beginning.
        stops: true to stop as soon as something is wrong.
    """
    seen, waiting, wrong = {world}, [world], dict[str, World]()
    while waiting and not (stops and wrong):
        for after in following(waiting.pop()):
            short = remembered(after)
            if after.reader.found is not None and after.reader is not OVER:
                wrong |= dict.fromkeys(complaints_of_search(after), after)
            if short not in seen:
                seen.add(short)
                waiting.append(short)
                wrong |= dict.fromkeys(complaints(after), after)
    return seen, wrong


def meets(query: Query, batch: int, document: str) -> bool:
    """Check whether a chunk meets a condition, as a cluster does."""
    ((kind, about),) = query.items()
    if kind == "bool":
        ((occurrence, parts),) = about.items()
        every = [meets(part, batch, document) for part in parts]
        return all(every) if occurrence == "filter" else any(every)
    ((field, wanted),) = about.items()
    value = batch if field == layout.BATCH else document
    if kind == "terms":
        assert len(wanted) <= MOST_TERMS
        return value in wanted
    ((comparison, bound),) = wanted.items()
    return batch < int(bound) if comparison == "lt" else batch >= int(bound)


def check_that_queries_agree(state: State, documents: Iterable[str]) -> None:
    """Check that a search leaves out on the cluster what `State.shows` says."""
    conditions = hidden(state)
    for batch in range(1, state.next + 1):
        for document in documents:
            is_hidden = any(meets(query, batch, document) for query in conditions)
            assert state.shows(batch, document) is not is_hidden


@pytest.fixture(autouse=True)
def _hashable(monkeypatch: pytest.MonkeyPatch) -> None:
    """States are hashed by some of what they say, and compared by all of it."""
    monkeypatch.setattr(
        State,
        "__hash__",
        lambda state: hash((state.next, *state.open, 0, *state.replaced, 0, *state.abandoned)),
    )


def test_a_writer_and_a_reader_in_any_order() -> None:
    worlds, wrong = explored(beginning("a"))
    assert wrong == {}
    assert len(worlds) > 100


@pytest.mark.parametrize("is_new", [False, True])
def test_two_writers_of_one_document_a_reader_and_crashes_in_any_order(*, is_new: bool) -> None:
    worlds, wrong = explored(beginning("a", "b", is_new=is_new))
    assert wrong == {}
    assert len(worlds) > 10_000


@pytest.mark.parametrize("is_new", [False, True])
def test_two_writers_and_a_batch_between_them_in_any_order(*, is_new: bool) -> None:
    worlds, wrong = explored(beginning_between(is_new=is_new))
    assert wrong == {}
    assert len(worlds) > 10_000
    for state in {world.state for world in worlds}:
        check_that_queries_agree(state, [DOCUMENT, "another"])


TWO: Final = beginning("a", "b")
TWO_OF_NEW: Final = beginning("a", "b", is_new=True)
REPEATED: Final = TWO._replace(repeats=True)


def test_two_writers_and_a_request_that_comes_late_in_any_order() -> None:
    worlds, wrong = explored(REPEATED)
    assert wrong == {}
    assert len(worlds) > 10_000


@pytest.mark.parametrize(
    ("world", "name", "broken"),
    [
        (TWO_OF_NEW, "has_earlier", lambda *_: False),
        (TWO, "removable", lambda state, _: list(state.replaced)),
        (
            TWO,
            "withdrawn",
            lambda state, batch, _: replace(
                state, open={other: at for other, at in state.open.items() if other != batch}
            ),
        ),
        (TWO, "is_published", lambda state, batch: batch in state.abandoned),
        (TWO, "shows", lambda state, batch, _: batch < state.next),
        (
            beginning_between(is_new=False),
            "removed",
            lambda state, batches, _: replace(state, replaced=without(state, batches)),
        ),
        (REPEATED, "_staying", lambda *_: {}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_search_finds_what_is_wrong(
    monkeypatch: pytest.MonkeyPatch, world: World, name: str, broken: object
) -> None:
    monkeypatch.setattr(State, name, broken)
    assert explored(world, stops=True)[1]


def without(state: State, batches: Iterable[int]) -> dict[int, Replaced]:
    """What is replaced but by some batches."""
    return {batch: of for batch, of in state.replaced.items() if batch not in batches}


def test_the_search_finds_a_cleaner_that_deletes_before_it_withdraws(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def hasty(world: World) -> World:
        state, now = world.state, world.now
        after = cleaned(world)
        if world.cleaner.step == 0:
            cleaner = after.cleaner._replace(dead=tuple(state.expired(now)))
            return after._replace(state=state, cleaner=cleaner)
        if world.cleaner.step == CLEANING - 1:
            return after._replace(state=after.state.without_expired(now))
        return after

    monkeypatch.setattr(sys.modules[__name__], "cleaned_next", hasty)
    assert explored(beginning("a"), stops=True)[1]


def test_what_an_open_batch_may_add_is_hidden_by_one_condition() -> None:
    state, first = State().opened(0.0)
    for document in ("b", "c", "a"):
        state, other = state.opened(0.0)
        state = state.published(other, [document], 0.0)
    late = GRACE_SECONDS + 1
    assert state.removable(GRACE_SECONDS - 1) == []
    done = state.removable(late)
    assert done == [3, 4]
    state = state.removed(done, state)
    assert state.replaced == {first + 1: Replaced(("a", "b", "c"), 0.0)}
    check_that_queries_agree(state, "abcd")
    assert not state.removable(late)
    assert not state.removed_later
    state = state.published(first, ["a"], late)
    assert state.removable(late) == [first + 1]
    assert state.removed([first + 1], state).replaced.keys() == {first}


def test_two_cleaners_forget_no_document_of_each_other() -> None:
    state, first = State().opened(0.0)
    state, second = state.opened(0.0)
    state = state.published(second, ["a"], 0.0)
    state, third = state.opened(0.0)
    state = state.published(third, ["b"], 0.0)
    late = GRACE_SECONDS + 1
    slow = state
    assert slow.removable(late) == [third]
    # The one that reads the state later deletes what is of the second batch only.
    later = state.published(first, [], late)
    fast = later.removable(late)
    assert fast == [second, third]
    after = later.removed(slow.removable(late), slow).removed(fast, later)
    assert after.replaced == {second: Replaced(("b",), 0.0)}


def test_more_documents_are_hidden_than_one_condition_can_name() -> None:
    documents = [f"{number:06}" for number in range(2 * MOST_TERMS + 1)]
    state, batch = State().opened(0.0)
    check_that_queries_agree(state.published(batch, documents, 0.0), documents[:: MOST_TERMS // 2])
    assert not meets(of_documents([]), batch, "")
    assert meets(of_documents(documents), batch, documents[-1])


def test_abandoned_batches_stay_hidden_for_a_day() -> None:
    state, batch = State().opened(0.0)
    state = state.withdrawn(batch, 0.0)
    assert not state.shows(batch, DOCUMENT)
    assert state.forgettable(ABANDONED_SECONDS - 1) == []
    assert state.forgettable(ABANDONED_SECONDS + 1) == [batch]


def test_what_was_replaced_in_a_batch_that_is_late_stays_hidden_for_a_day() -> None:
    state, first = State().opened(0.0)
    state = state.published(first, [], 0.0, late=[DOCUMENT])
    for documents in ([], [DOCUMENT, "of others"]):
        state, batch = state.opened(0.0)
        state = state.published(batch, documents, 0.0)
    late = GRACE_SECONDS + 1
    state = state.removed(state.removable(late), state)
    assert state.replaced == {first + 1: Replaced((DOCUMENT,), 0.0)}
    assert state.removable(late) == []
    assert state.complete(ABANDONED_SECONDS - 1) == []
    assert state.complete(ABANDONED_SECONDS + 1) == [first]
    assert first in state.copied(late)[0].abandoned
    state = state.forgotten([first])
    assert state.removable(late) == [first + 1]


def test_a_state_is_loaded_as_it_was_dumped() -> None:
    state, first = State(folders='["x"]').opened(1.0)
    state, second = state.opened(2.0)
    state = state.published(second, ["b", "a"], 3.0, late=["a"]).withdrawn(first, 4.0)
    assert State.load(state.dump()) == state
    assert [state.shows(batch, "a") for batch in (first, second, second + 1)] == [
        False,
        True,
        False,
    ]


def test_a_state_serves_no_search_of_another_index_with_its_name() -> None:
    state, other = State.of_new_index(), State.of_new_index()
    later, _ = state.opened(1.0)
    rebuilt, _ = later.copied(2.0)
    assert state.still_serves(State.load(later.dump()))
    assert not state.still_serves(other)
    assert not state.still_serves(rebuilt)
    older = {name: value for name, value in State().dump().items() if name != "identity"}
    assert not State.load(older).still_serves(State.load(older))


def test_a_sign_of_life_changes_nothing_for_a_search() -> None:
    state, batch = State.of_new_index().opened(1.0)
    alive = state.renewed(batch, 2.0).frozen_at(3.0)
    assert alive.as_searched == state.as_searched
    for other in (state.opened(2.0)[0], state.published(batch, [], 2.0), state.withdrawn(batch, 2)):
        assert other.as_searched != state.as_searched


def test_batches_have_ascending_numbers() -> None:
    state, numbers = State(), []
    for _ in range(4):
        state, number = state.opened(0.0)
        numbers.append(number)
    assert all(one < other for one, other in pairwise(numbers))
