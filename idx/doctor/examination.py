"""Sequence of all checks, in which the cause of a problem comes before its effects."""

from pathlib import Path

from idx.doctor import machine
from idx.doctor.clients import clients
from idx.doctor.finding import Finding, Findings
from idx.doctor.java import java, lucene
from idx.doctor.settings import index_path, settings
from shared.backends import chosen
from shared.errors import ExtraMissingError


def examine(named: Path | None) -> Findings:
    """Run all checks.

    Args:
        named: the index folder given by the user; None for the configured one.
    """
    path = index_path(named)
    yield from machine.python()
    yield from machine.extras()
    yield from machine.ocr()
    yield from machine.libreoffice()
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
    """Check the disk, or the cluster, that the index is on."""
    try:
        of_cluster = chosen(path, "findings")
    except ExtraMissingError:
        # The check of the index reports it.
        return
    if of_cluster:
        for found in of_cluster(path):
            yield Finding(*found)
    else:
        yield from machine.disk(path)


def _engine() -> Findings:
    for finding in lucene():
        yield finding
        if finding.status == "problem":
            return
    yield from java()
