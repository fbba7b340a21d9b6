"""Progress of a crawl, counted from the events of `idx sync --json`, see `idx/sync/events.py`."""

from collections import Counter, deque
from typing import Any, Final

from server.administration.results import CrawlProgress
from server.answers.text import cut, json_characters
from shared.model.failures import ERRORS

_MAX_PROBLEMS: Final = 20
"""Maximum number of problems kept; the tool list_failures lists all files."""

_MAX_PROBLEM_CHARACTERS: Final = 800
"""Maximum length of a problem in JSON, in characters."""


class Progress:
    """The counters of a crawl, which add up over pauses.

    Attributes:
        current: the document processed last.
        problems: the last problems, each a sentence.
        is_finished: whether the event ``finished`` has arrived.
    """

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
        """Store a problem, shortened if necessary."""
        self.problems.append(_brief(text))

    def counters(self) -> CrawlProgress:
        """Return the current counters."""
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
