"""The index that takes the place of another one: written beside it, then given its name.

docs/scale.md describes which steps keep what others write meanwhile.
"""

import time
from contextlib import suppress
from dataclasses import replace
from typing import Final

from shared.errors import (
    ClusterBusyError,
    ClusterUnreachableError,
    IndexMissingError,
    McpLuceneError,
)
from shared.opensearch import layout
from shared.opensearch.connection import BULK_SECONDS
from shared.opensearch.failures import copy_failures
from shared.opensearch.state import State
from shared.opensearch.store import FIRST, Store

_RENEWAL_SECONDS: Final = 30.0
"""Seconds between the signs of life while writers are locked out."""

_MANAGER_SECONDS: Final = "10s"
"""Time for which a change of names may wait for the manager of the cluster, which then drops it:
shorter than that for which its answer is waited for."""


class LostTurnError(Exception):
    """Somebody has written or rebuilt the index, since the last sign of life was too long ago."""


class Successor:
    """The index that a rebuild writes beside an old one, in which no batch can be begun meanwhile.

    Whoever stands still for longer than a sign of life lasts may lose the turn to another one: each
    step that matters finds out, and so does the last one, on the cluster itself.

    Args:
        old: the old index.

    Attributes:
        store: the new index.

    Raises:
        ClusterBusyError: somebody is writing the index, or rebuilds it.
        IndexFolderError: the index cannot be used; the class says why.
    """

    def __init__(self, old: Store) -> None:
        self._old = old
        self._path = old.connection.address.path
        self._physical = old.physical()
        self._has_blocked = False
        before, _ = old.state()
        self._check_turn(before)
        # One that was restored from a snapshot may have any name; then nothing is known of others.
        number = self._physical.rpartition("-")[2]
        self._number = int(number) if number.isdecimal() else before.copies
        left_over = [self._name(number) for number in range(self._number + 1, before.copies + 1)]
        if before.frozen and old.settings().get("blocks", {}).get("write") == "true":
            # Left by a rebuild whose last step had no answer: it may be executed even now.
            for name in left_over:
                self._discard(name)
            self._unblock()
        self._known = self._freeze()
        self.store = Store(old.connection, self._name(self._known.copies))
        try:
            for name in left_over:
                self._discard(name)
            self._create()
        except BaseException:
            self.give_up()
            raise

    def renew(self) -> None:
        """Give a sign of life if it is time.

        Raises:
            LostTurnError: the class says why.
        """
        if time.time() - self._known.frozen > _RENEWAL_SECONDS:
            self._renew()

    def take_place(self, state: State) -> None:
        """Give the new index the name of the old one, in one step, and remove the old one.

        Args:
            state: the state of the new index.

        Raises:
            LostTurnError: the class says why.
            ClusterUnreachableError: it is not known whether that has happened, if `give_up` says
                the same afterwards.
        """
        self._renew()
        self.store.refresh()
        self.store.put_state(state, {"op_type": "create"})
        # From here on nobody can write, however long this process stands still.
        self._has_blocked = True
        self._old.connection.request("PUT", f"/{self._physical}/_block/write")
        # Others may have noted some until now.
        copy_failures(self._old, self.store)
        self._check(self._old.state()[0])
        self._change_names(
            {"remove": {"index": self.store.name, "alias": self._mark, "must_exist": True}},
            {"add": {"index": self.store.name, "alias": self._old.name}},
            {"remove_index": {"index": self._physical}},
        )

    def give_up(self) -> bool:
        """Remove the new index as far as possible, and let writers begin again.

        Returns:
            False if it has taken the place of the old one, and so is there to stay.

        Raises:
            ClusterUnreachableError: it is not known which of both has happened. Writers stay locked
                out, lest they write what is removed later.
        """
        try:
            self._discard(self.store.name)
            holder = self._old.physical()
            if holder == self.store.name:
                return False
            if holder != self._physical:
                # That of another rebuild, which has removed the old one.
                self._remove()
            if self._has_blocked and self._old.state()[0].frozen == self._known.frozen:
                self._unblock()
        except IndexMissingError:
            # Somebody has removed the old one, and none has its name.
            self._remove()
            return True
        except McpLuceneError as error:
            if not self._has_blocked:
                # It was not about to do so: the next rebuild removes it.
                return True
            raise ClusterUnreachableError(
                self._path,
                "it is not known whether the new index has taken the place of the old one",
                "rebuild it again as soon as the cluster runs; until then nobody can write",
            ) from error
        with suppress(McpLuceneError):
            # Else writers can begin after two minutes.
            self._old.change(self._thawed)
        return True

    def _name(self, number: int) -> str:
        return f"{self._old.name}-{number:0{len(FIRST)}d}"

    @property
    def _mark(self) -> str:
        """Another name, which tells the new index from one that a late request has made."""
        return f"{self.store.name}-copy"

    def _create(self) -> None:
        """Create the new index, which has as many shards and replicas."""
        settings = self._old.settings()
        shards, replicas = int(settings["number_of_shards"]), layout.replicas_in(settings)
        body = {**layout.creation(shards, replicas), "aliases": {self._mark: {}}}
        self._old.connection.request("PUT", f"/{self.store.name}", body)

    def _freeze(self) -> State:
        now = time.time()

        def frozen(state: State) -> State:
            self._check_turn(state)
            for batch in state.expired(now):
                # If its writer is not dead after all, it must not publish what the copy would not
                # have.
                state = state.withdrawn(batch, now)
            if state.open:
                raise ClusterBusyError(
                    self._path,
                    "somebody is writing the index",
                    "wait until that has ended, two minutes at most",
                )
            # A number that was given once is never given again: late requests may know it.
            return replace(state.frozen_at(now), copies=max(state.copies, self._number) + 1)

        return self._old.change(frozen, lambda state: state.frozen == now)

    def _check_turn(self, state: State) -> None:
        if state.is_frozen(time.time()):
            raise ClusterBusyError(
                self._path, "the index is being rebuilt", "wait until that has ended"
            )

    def _renew(self) -> None:
        now = time.time()

        def renewed(state: State) -> State:
            self._check(state)
            return state.frozen_at(now)

        self._known = self._old.change(renewed, lambda state: state.frozen == now)

    def _check(self, state: State) -> None:
        """Check that the old index is as it was when it was frozen.

        Raises:
            LostTurnError: the class says why.
        """
        known = self._known
        # No batch was open then, and a further one takes a number; so does a further rebuild.
        if (state.identity, state.next, state.copies) != (known.identity, known.next, known.copies):
            raise LostTurnError
        if state.frozen != known.frozen:
            raise LostTurnError

    def _thawed(self, state: State) -> State:
        return state.frozen_at(0.0) if state.frozen == self._known.frozen else state

    def _discard(self, name: str) -> None:
        """Remove a new index unless it has the name of the old one; it may be gone already.

        A change of names that is still under way does nothing from then on.
        """
        with suppress(IndexMissingError):
            # The first action fails, and with it the second, if the old index was removed.
            self._change_names(
                {"add": {"index": self._physical, "alias": self._old.name}},
                {"remove_index": {"index": name}},
            )

    def _remove(self) -> None:
        """Remove the new index, which cannot get the name of the old one any more."""
        with suppress(McpLuceneError):
            self._old.connection.request("DELETE", f"/{self.store.name}")

    def _change_names(self, *actions: dict[str, object]) -> None:
        self._old.connection.request(
            "POST",
            "/_aliases",
            {"actions": actions},
            seconds=BULK_SECONDS,
            is_repeatable=False,
            cluster_manager_timeout=_MANAGER_SECONDS,
        )

    def _unblock(self) -> None:
        settings = {"index.blocks.write": None}
        self._old.connection.request("PUT", f"/{self._physical}/_settings", settings)
