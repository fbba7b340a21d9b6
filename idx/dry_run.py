"""Showing what a synchronization would do."""

from collections.abc import Iterable
from pathlib import Path

from idx.ingestion import planned
from idx.output import print_json, say, tell, warn
from idx.report import plan_line
from idx.synchronization import Settings, preview


def show_plan(paths: Iterable[Path], settings: Settings, *, as_json: bool) -> bool:
    """Print the documents that would be added, updated and deleted.

    Args:
        paths: the folders.
        settings: of the run that would be.
        as_json: whether to print them as JSON.

    Returns:
        Whether every folder could be looked at.
    """
    plan = preview(paths, settings)
    actions = {
        "add": [change.source_document for change in plan.changes if change.is_new],
        "update": [change.source_document for change in plan.changes if not change.is_new],
        "delete": plan.deletions,
    }
    for missing in plan.missing:
        warn(missing.message)
    for error in plan.errors:
        say(f"Error: {error}")
    if as_json:
        numbers = {"skip": plan.skipped, "failed_before": plan.failed_before}
        print_json({**actions, **numbers, "errors": [*map(str, plan.errors)]})
    else:
        for action, names in actions.items():
            for name in names:
                tell(f"{action.upper():6} {name}")
        tell(plan_line(planned(plan)))
    return not plan.errors
