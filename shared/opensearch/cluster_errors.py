"""Errors of a cluster as those of the project, each with what to do."""

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

from opensearchpy import exceptions

from shared.errors import (
    ClusterAccessError,
    ClusterRefusedError,
    ClusterUnreachableError,
    ClusterVersionError,
    IndexMissingError,
    IndexWriteError,
    QueryError,
)

BUSY: Final = frozenset((429, 502, 503, 504))
"""HTTP statuses of a cluster that may answer later."""

NODE_GONE: Final = frozenset(
    (
        *("node_disconnected_exception", "node_not_connected_exception", "node_closed_exception"),
        *("connect_transport_exception", "receive_timeout_transport_exception"),
        "shard_not_found_exception",
    )
)
"""Types of errors, with other statuses, of a cluster that has just lost a node; another one takes
its place."""

_QUERY_ERRORS: Final = frozenset(
    (
        *("too_many_clauses", "too_many_nested_clauses", "query_shard_exception"),
        *("search_phase_execution_exception", "parsing_exception"),
    )
)

_CONNECTION_HELP: Final = (
    "check the address, and that the cluster runs; write opensearchs:// if it speaks TLS"
)

_TLS_HELP: Final = (
    "write opensearch:// if it speaks no TLS, or name the file of its certificates with "
    "IDX_OPENSEARCH_CA"
)


class ConflictError(Exception):
    """Another writer changed a document first."""


def own_error(path: Path, error: exceptions.OpenSearchException) -> Exception:
    match error:
        case exceptions.SSLError():
            return ClusterUnreachableError(path, str(error.info), _TLS_HELP)
        case exceptions.ConnectionTimeout():
            return ClusterUnreachableError(path, "no answer in time", "try again later")
        case exceptions.ConnectionError():
            # Behind the library's name for the connection.
            reason = str(error.info).rpartition("): ")[2]
            return ClusterUnreachableError(path, reason, _CONNECTION_HELP)
        case exceptions.TransportError():
            info = error.info if isinstance(error.info, dict) else {}
            status = error.status_code if isinstance(error.status_code, int) else 0
            return error_of(path, status, info)
        case exceptions.SerializationError():
            return ClusterVersionError(path, "a program that does not answer in JSON", "OpenSearch")
    return error


def error_of(path: Path, status: int, info: Mapping[str, Any]) -> Exception:
    """Return the error for an answer with a status and an explanation."""
    causes = list(_causes(info.get("error", {})))
    kinds = {str(cause.get("type")) for cause in causes}
    reason = str((causes and causes[-1].get("reason")) or f"HTTP status {status}")
    found: Exception
    if status == HTTPStatus.CONFLICT:
        found = ConflictError(reason)
    elif status == HTTPStatus.SERVICE_UNAVAILABLE and "search_phase_execution_exception" in kinds:
        found = part_missing(path)
    elif "cluster_block_exception" in kinds:
        found = IndexWriteError(path, f"the index is blocked ({_block(reason)})")
    elif "index_not_found_exception" in kinds:
        found = IndexMissingError(path)
    elif "index_closed_exception" in kinds:
        help_ = f"open it: POST /{path.name}/_open"
        found = ClusterRefusedError(path, "the index is closed", help_)
    elif status in BUSY or kinds & NODE_GONE:
        problem = f"it is overloaded or has lost a node ({reason[:300]})"
        found = ClusterUnreachableError(path, problem, "ask again later")
    elif kinds & _QUERY_ERRORS:
        found = QueryError(
            f"the cluster cannot run the query ({reason[:300]}); use fewer or simpler words"
        )
    elif status == HTTPStatus.UNAUTHORIZED:
        found = ClusterAccessError(path, "the user, password or token is wrong or missing")
    elif status == HTTPStatus.FORBIDDEN:
        found = ClusterAccessError(path, "this user may not do it")
    else:
        found = ClusterRefusedError(path, f"{reason[:300]} ({status})")
    return found


def part_missing(path: Path) -> ClusterUnreachableError:
    """Return the error for a shard of which no copy can be asked."""
    return ClusterUnreachableError(
        path, "a part of the index is on no node that runs", "start its node, or ask again later"
    )


def _causes(problem: Any) -> Iterable[Mapping[str, Any]]:
    """Yield the causes of an error, the innermost last."""
    while isinstance(problem, dict):
        yield problem
        for cause in problem.get("root_cause", []):
            if isinstance(cause, dict):
                yield {key: value for key, value in cause.items() if key != "root_cause"}
        problem = problem.get("caused_by")


def reason_of(problem: Mapping[str, Any]) -> str:
    cause = problem.get("caused_by", problem)
    return str(cause.get("reason") or problem.get("reason"))[:300]


def _block(reason: str) -> str:
    if "flood" in reason or "read-only-allow-delete" in reason or "allow delete" in reason:
        return "a disk of the cluster is too full"
    if "write" in reason:
        return "it is being rebuilt; if idx rebuild was interrupted, run it again"
    return "it is read-only" if "read" in reason else reason[:200]
