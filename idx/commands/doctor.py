"""Command `idx doctor`."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from idx.cli.options import Json
from idx.doctor.checks import (
    Finding,
    Findings,
    clients,
    disk,
    extras,
    index_path,
    java,
    libreoffice,
    lucene,
    ocr,
    python,
    settings,
)
from idx.output.printing import print_json, tell
from shared.backends import chosen
from shared.errors import ExtraMissingError
from shared.messages import quantity
from shared.settings.defaults import VARIABLES


def examine(named: Path | None) -> Findings:
    path = index_path(named)
    yield from python()
    yield from extras()
    yield from ocr()
    yield from libreoffice()
    yield from settings()
    runs = True
    for finding in _engine():
        runs &= finding.status != "problem"
        yield finding
    yield from _place(path)
    if runs:
        from idx.doctor.index import index

        yield from index(path)
    yield from clients()
    if runs:
        from idx.doctor.server import server

        yield from server(path)


def _place(path: Path) -> Findings:
    try:
        of_cluster = chosen(path, "findings")
    except ExtraMissingError:
        # The check of the index reports it.
        return
    if of_cluster:
        for found in of_cluster(path):
            yield Finding(*found)
    else:
        yield from disk(path)


def _engine() -> Findings:
    for finding in lucene():
        yield finding
        if finding.status == "problem":
            return
    yield from java()


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
