"""An operation of `idx`: its command, state, progress and outcome.

The progress of a crawl is counted from the events of `idx sync --json`, see `idx/sync/events.py`.
"""

import json
import secrets
import signal
import time
from collections import Counter, deque
from collections.abc import Sequence
from typing import Any, Final, Literal

from server.administration.child import Child
from server.administration.results import CrawlProgress, OperationName, OperationStatus, State
from server.answers.errors import OperationStateError
from server.answers.text import cut, fitting, json_characters
from shared.messages import quantity, utc_time
from shared.model.failures import ERRORS

_MAX_PROBLEMS: Final = 20  # problems kept; the tool list_failures lists all files
_MAX_PROBLEM_CHARACTERS: Final = 800  # of a problem in JSON


class Progress:
    """The counters of a crawl, which add up over pauses."""

    def __init__(self) -> None:
        self.current: str | None = None
        self.problems: deque[str] = deque(maxlen=_MAX_PROBLEMS)
        self.is_finished = False
        self._counts: Counter[str] = Counter()
        self._planned = 0
        self._skipped = 0
        # If a file is now empty, its document is deleted as well; the plan counts the file once.
        self._emptied = 0
        self._last_empty: str | None = None
        self._unreachable = 0

    def begin_run(self) -> None:
        """Reset the unreachable folders, which `idx` reports again in each run."""
        self._unreachable = 0
        self.is_finished = False

    def process_event(self, event: dict[str, Any]) -> None:
        """Process an event; unknown ones are ignored."""
        match event:
            case {"event": "planned"}:
                done = self._done()
                self._planned = done + event["add"] + event["update"] + event["delete"]
                # Files done by an earlier run are unchanged for a later one.
                unchanged = event["skip"] + event["failed_before"]
                gone = self._counts["deleted"] - self._emptied
                self._skipped = max(0, unchanged - (done - gone))
            case {"event": "indexed", "action": action, "source_document": name}:
                self._counts[action] += 1
                self._counts["chunks"] += event["chunks"]
                self.current = _brief(name)
                for warning in event["warnings"]:
                    self.add_problem(f"{event['file_path']}: {warning}")
            case {"event": "deleted", "source_document": name}:
                self._counts["deleted"] += 1
                self._emptied += name == self._last_empty
                self.current = _brief(name)
            case {"event": "notindexed", "source_document": name, "kind": kind}:
                self._counts[kind] += 1
                self.current = _brief(name)
                self._last_empty = name if kind in {"empty", "secret"} else None
                if kind != "unsupported":
                    self.add_problem(f"{event['file_path']}: {event['reason']}")
            case {"event": "leftout"}:
                self.add_problem(f"{event['file_path']}: {event['reason']}, and is skipped")
            case {"event": "problem", "message": message}:
                self._unreachable += 1
                self.add_problem(message)
            case {"event": "finished"}:
                self.is_finished = True

    def add_problem(self, text: str) -> None:
        self.problems.append(_brief(text))

    def counters(self) -> CrawlProgress:
        counts = self._counts
        return CrawlProgress(
            planned=self._planned,
            remaining=max(0, self._planned - self._done()),
            added=counts["added"],
            updated=counts["updated"],
            deleted=counts["deleted"],
            skipped=self._skipped,
            failed=sum(counts[kind] for kind in ERRORS) + self._unreachable,
            unsupported=counts["unsupported"],
            empty=counts["empty"],
            chunks=counts["chunks"],
        )

    def _done(self) -> int:
        return self._counts.total() - self._counts["chunks"] - self._emptied


def _brief(text: str) -> str:
    excess = json_characters(text) - _MAX_PROBLEM_CHARACTERS
    return cut(text, excess) or f"{text[:100]}…" if excess > 0 else text


RequestedState = Literal["paused", "stopped"]  # a state that a client can request for an operation

_TRANSITIONS: Final[dict[RequestedState, State]] = {"paused": "pausing", "stopped": "stopping"}

_ALLOWED_FROM: Final[dict[RequestedState, frozenset[State]]] = {
    "paused": frozenset({"running", "pausing"}),
    "stopped": frozenset({"running", "pausing", "stopping"}),
}

_ENDED: Final = frozenset[State]({"stopped", "done", "failed"})

_INTERRUPTED_EXIT_CODES: Final = (130, 143)  # exit codes of idx after Ctrl-C and SIGTERM
_MAX_RESULT_BYTES: Final = 10_000  # of the output of a command without events
_MAX_DIRECTORIES_CHARACTERS: Final = 6_000  # of the folders in an answer
_MAX_BRIEF_ERROR_CHARACTERS: Final = 300  # of an error in a list of operations

_NOTICES: Final[dict[State, str]] = {
    "running": "See its progress with crawl_status and this operation_id.",
    "pausing": "It is committing its work; check with crawl_status when it is paused.",
    "paused": "Its work so far is in the index; continue with resume_crawl, or use stop_crawl.",
    "stopping": "It is committing its work; check with crawl_status when it has ended.",
    "stopped": "Its work is in the index; start_crawl continues from there.",
}


class Operation:
    """Work that `idx` does in one run, or in several if it is paused."""

    def __init__(
        self, name: OperationName, command: Sequence[str], directories: Sequence[str] = ()
    ) -> None:
        self.name: OperationName = name
        self.id = f"{name}-{secrets.token_hex(4)}"
        self.command = tuple(command)
        self.directories = tuple(directories)
        self.state: State = "running"
        self.child: Child | None = None
        self._progress = Progress() if name == "crawl" else None
        self._printed = bytearray()
        self._requested: RequestedState | None = None
        self._started = utc_time()
        self._ended: str | None = None
        self._seconds = 0.0
        self._run_started = time.monotonic()
        self._exit_code: int | None = None
        self.error: str | None = None  # the reason of a failure

    @property
    def has_ended(self) -> bool:
        return self.state in _ENDED

    def refuse_unless_paused(self) -> None:
        if self.state != "paused":
            raise OperationStateError(self.name, self.id, self.state, "resumed")

    def begin_run(self) -> None:
        """Begin the first run of `idx`, or another one after a pause."""
        self.state = "running"
        self._requested = None
        self._exit_code = None
        self._run_started = time.monotonic()
        if self._progress is not None:
            self._progress.begin_run()

    def attach(self, child: Child) -> None:
        """Store the started process, and terminate it if that was requested meanwhile."""
        self.child = child
        if self._requested is not None:
            child.terminate()

    def request(self, requested: RequestedState) -> None:
        """Request a pause or stop: `idx` commits its work and ends."""
        if self.state == "paused" and requested == "stopped":
            self._finish("stopped")
            return
        if self.state not in _ALLOWED_FROM[requested] or self._progress is None:
            raise OperationStateError(self.name, self.id, self.state, requested)
        self._requested = requested
        self.state = _TRANSITIONS[requested]
        if self.child is not None:
            self.child.terminate()

    def process_line(self, line: bytes) -> None:
        if self._progress is None:
            self._printed += line[: _MAX_RESULT_BYTES - len(self._printed)]
            return
        try:
            event = json.loads(line)
        except ValueError:
            self._progress.add_problem("idx printed a line that cannot be read")
            return
        self._progress.process_event(event)

    def end_run(self, child: Child, code: int) -> None:
        self.child = None
        self._exit_code = code
        is_complete = self._progress is not None and self._progress.is_finished
        if code == 0 or is_complete:
            # Unreadable files make idx exit with 1; they are counted in the progress.
            self._finish("done")
        elif self._requested is not None and child.ended_on_request:
            self._finish(self._requested)
        else:
            self.fail(_reason(child, code))

    def fail(self, reason: str) -> None:
        self.child = None
        self.error = reason
        self._finish("failed")

    def status(self, *, brief: bool = False) -> OperationStatus:
        shown = [] if brief else list(self.directories)
        shown = shown[: fitting(shown, _MAX_DIRECTORIES_CHARACTERS)]
        notices = [_NOTICES.get(self.state)]
        if not brief and len(shown) < len(self.directories):
            notices.append(f"There are {quantity(len(self.directories), 'directory')} in all.")
        progress = self._progress
        is_active = self.child is not None
        return OperationStatus(
            operation_id=self.id,
            operation=self.name,
            state=self.state,
            started=self._started,
            ended=self._ended,
            seconds=round(self._seconds + (time.monotonic() - self._run_started) * is_active, 1),
            directories=shown,
            progress=progress.counters() if progress else None,
            current=progress.current if progress and is_active else None,
            problems=[*progress.problems] if progress and not brief else [],
            result=self._result(),
            exit_code=self._exit_code,
            error=self.error[:_MAX_BRIEF_ERROR_CHARACTERS] if self.error and brief else self.error,
            notice=" ".join(filter(None, notices)) or None,
        )

    def _finish(self, state: State) -> None:
        if self.state != "paused":
            self._seconds += time.monotonic() - self._run_started
        self.state = state
        if self.has_ended:
            self._ended = utc_time()

    def _result(self) -> dict[str, Any] | None:
        if self._progress is not None or self.state != "done":
            return None
        try:
            answer = json.loads(self._printed)
        except ValueError:
            return None
        return answer if isinstance(answer, dict) else None


def _reason(child: Child, code: int) -> str:
    """Return the reason of a failed run, as a sentence."""
    if code < 0:
        return (
            f"idx was ended by signal {-code} ({signal.strsignal(-code)}), by another program or "
            "for lack of memory; the index still has its last commit: start it again"
        )
    if code in _INTERRUPTED_EXIT_CODES:
        return "another program ended idx, which committed its work; start it again"
    return child.last_error_line or f"idx ended with the exit code {code} without a message"
