"""Command `idx doctor`."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from idx.cli.options import Json
from idx.output.printing import print_json, tell
from shared.messages import quantity
from shared.settings.defaults import VARIABLES


def doctor(
    index_path: Annotated[
        # The command looks up the default itself, because it must continue if that fails.
        Path | None,
        typer.Option(
            "--index-path",
            "-i",
            envvar=VARIABLES["index_path"],
            metavar="PATH",
            readable=False,
            help="Folder of the index; else the configured one.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Look at everything that can be wrong, and say what to do about it.

    Python, memory and disk, Lucene and Java, the settings, the index and its folders, and the
    clients that are told of the server; the server is started once and asked. Nothing is changed.
    The exit code is 1 if there is a problem.

    Example: idx doctor --index-path ~/index
    """
    from idx.doctor.examination import examine

    findings = []
    for finding in examine(index_path):
        findings.append(finding)
        if not as_json:
            tell(f"{finding.status:<8} {finding.check:<15} {finding.message}")
    problems, warnings = (
        sum(finding.status == status for finding in findings) for status in ("problem", "warning")
    )
    if as_json:
        print_json(
            {
                "findings": [asdict(finding) for finding in findings],
                "problems": problems,
                "warnings": warnings,
            }
        )
    else:
        tell(f"{quantity(problems, 'problem')}, {quantity(warnings, 'warning')}")
    if problems:
        raise typer.Exit(1)
