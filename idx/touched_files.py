"""Files whose time was changed but not their size: their bytes tell whether they are others."""

from dataclasses import replace

from idx.extraction.outcome import Unreadable
from idx.extraction.pool import ExtractionPool
from idx.plan import Plan
from shared.errors import SourceFileError


def leave_out_unchanged(plan: Plan, pool: ExtractionPool) -> None:
    """Take the files with the bytes that they had out of the changes of a plan.

    Args:
        plan: what is to be done.
        pool: hashes the files, each within its limits.

    Raises:
        ReadersDiedError: the processes of the pool end as soon as they start.
    """
    touched = [change for change in plan.changes if change.source_document in plan.touched]
    settled = set()
    for change, hashed in pool.hashes(touched):
        name = change.source_document
        state = plan.touched[name]
        if isinstance(hashed, Unreadable):
            plan.errors.append(SourceFileError(change.path, hashed.reason))
        elif hashed == state.content_hash:
            plan.skipped += 1
            plan.unchanged[name] = replace(
                state, modified_ns=change.modified_ns, other_volume=change.other_volume
            )
        else:
            continue
        settled.add(name)
    plan.changes = [change for change in plan.changes if change.source_document not in settled]
