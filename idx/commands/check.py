"""Command `idx check`."""

import typer

from idx.cli.options import DEFAULT_INDEX_PATH, IndexPath, Json, Wait
from idx.output.printing import print_json, say, tell
from shared.messages import quantity
from shared.settings.defaults import DEFAULT_WAIT


def check(
    index_path: IndexPath = DEFAULT_INDEX_PATH, wait: Wait = DEFAULT_WAIT, as_json: Json = False
) -> None:
    """Check the index for damage: its files, segments and documents.

    Every file is read and compared with its checksum. Each problem is reported on one line with its
    remedy, and the exit code is then 1. Writers wait until the check ends.

    Example: idx check --index-path ~/my-index
    """
    from dataclasses import asdict

    from idx.errors import message
    from idx.output.progress import shown
    from shared.maintenance.check import check as examine

    found = examine(index_path, wait=wait, progress=shown)
    problems = found.lines(message)
    if as_json:
        print_json(
            {
                "sound": found.sound,
                "documents": found.documents,
                "chunks": found.chunks,
                "segments": [asdict(segment) for segment in found.segments],
                "problems": problems,
            }
        )
    elif found.sound:
        tell(
            f"The index is sound: {quantity(found.documents, 'document')}, "
            f"{quantity(found.chunks, 'chunk')}, {quantity(len(found.segments), 'segment')}"
        )
    else:
        for problem in problems:
            tell(problem)
        say(f"Error: the index is not sound; {quantity(found.problem_count, 'problem')}")
    if not found.sound:
        raise typer.Exit(1)
