"""Command `idx repair`."""

from idx.cli.options import DEFAULT_INDEX_PATH, IndexPath, Json, Wait
from idx.output.printing import print_json, say, tell
from shared.messages import quantity
from shared.settings.defaults import DEFAULT_WAIT


def repair(
    index_path: IndexPath = DEFAULT_INDEX_PATH, wait: Wait = DEFAULT_WAIT, as_json: Json = False
) -> None:
    """Save the readable part of a damaged index that has no backup.

    Unreadable segments and incomplete documents are dropped, and each is reported. The damaged
    index is kept in a folder beside the repaired one. An intact index stays unchanged.

    Example: idx repair --index-path ~/my-index
    """
    from dataclasses import asdict

    from idx.output.progress import shown
    from shared.maintenance.repair import repair as save

    done = save(index_path, wait=wait, progress=shown)
    lost = sum(segment.chunks for segment in done.lost_segments)
    if as_json:
        documents = [
            {"id": document.id, "chunks": document.chunks, "problems": document.problems}
            for document in done.removed_documents
        ]
        print_json({**asdict(done), "removed_documents": documents})
        return
    if done.kept_at is None:
        tell("The index is sound; nothing was done.")
        return
    for segment in done.lost_segments:
        tell(f"Lost: segment {segment.name} with {quantity(segment.chunks, 'chunk')}")
    for document in done.removed_documents:
        tell(
            f"Removed: document {document.id[:200]!r} with {quantity(document.chunks, 'chunk')}: "
            f"{' and '.join(document.problems)}"
        )
    if done.removed_chunks:
        tell(f"Removed: {quantity(done.removed_chunks, 'chunk')} without the id of a document")
    tell(
        f"Saved {quantity(done.documents, 'document')} ({quantity(done.chunks, 'chunk')}); the "
        f"damaged index is kept at {done.kept_at}"
    )
    say(
        "To restore what is missing: idx sync adds files again; what came by idx add --id or "
        f"idx bulk has to be added again{'' if lost else ', if it is among the above'}."
    )
