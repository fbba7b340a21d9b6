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
            help="Index folder; the configured one by default.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check the installation, the settings and the index, and say how to fix problems.

    Checked are Python, memory, disk, Lucene, Java, the settings, the index with its folders, and
    the MCP clients that know the server; the server is started once and called. Nothing is changed.
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
