"""Errors of a cluster as those of the project, each with what to do."""

from collections.abc import Iterable, Mapping
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
    McpLuceneError,
    QueryError,
)
from shared.opensearch.address import Address

BUSY: Final = frozenset((429, 502, 503, 504))
"""HTTP statuses of a cluster that may answer later."""

NODE_GONE: Final = frozenset(
    (
        *("node_disconnected_exception", "node_not_connected_exception", "node_closed_exception"),
        *("connect_transport_exception", "receive_timeout_transport_exception"),
        *("no_shard_available_action_exception", "no_node_available_exception"),
        *("process_cluster_event_timeout_exception", "cluster_manager_not_discovered_exception"),
        *("unavailable_shards_exception", "shard_not_found_exception"),
    )
)
"""Types of errors of a cluster that has just lost a node; another one takes its place."""

_HTTP_UNAUTHORIZED, _HTTP_FORBIDDEN, _HTTP_CONFLICT, _HTTP_UNAVAILABLE = 401, 403, 409, 503

_TLS_HELP: Final = (
    "write opensearch:// if it speaks no TLS, or name the file of its certificates with "
    "IDX_OPENSEARCH_CA"
)


class ConflictError(Exception):
    """Another writer changed a document first."""


def own_error(address: Address, error: exceptions.OpenSearchException) -> Exception:
    """Return the project's own error for one of the library's."""
    path = address.path
    match error:
        case exceptions.SSLError():
            return ClusterUnreachableError(path, _tls_reason(str(error.info)), _TLS_HELP)
        case exceptions.ConnectionTimeout():
            return ClusterUnreachableError(path, "no answer in time", "try again later")
        case exceptions.ConnectionError():
            return ClusterUnreachableError(path, *_connection_reason(address, error))
        case exceptions.TransportError():
            info = error.info if isinstance(error.info, dict) else {}
            status = error.status_code if isinstance(error.status_code, int) else 0
            return error_of(address, status, info)
        case exceptions.SerializationError():
            return ClusterVersionError(path, "a program that does not answer in JSON", "OpenSearch")
    return error


def _connection_reason(address: Address, error: exceptions.ConnectionError) -> tuple[str, str]:
    text = str(error.info)
    if "Name or service not known" in text or "resolve" in text.lower():
        hosts = ", ".join(host for host, _ in address.nodes)
        return f"there is no host {hosts}", ""
    if "refused" in text.lower():
        return f"nothing listens at {address.shown_nodes}", ""
    if "RemoteDisconnected" in text or "reset by peer" in text or "BadStatusLine" in text:
        return "the connection was closed at once", "write opensearchs:// if it speaks TLS"
    return "the connection was lost", ""


def _tls_reason(text: str) -> str:
    if "WRONG_VERSION_NUMBER" in text or "record layer" in text:
        return "it does not speak TLS"
    if "CERTIFICATE_VERIFY_FAILED" in text:
        return "its certificate is signed by nobody that this machine knows"
    return "no TLS connection could be made"


def error_of(address: Address, status: int, info: Mapping[str, Any]) -> Exception:
    """Return the error for an answer with a status and an explanation."""
    path = address.path
    causes = list(_causes(info.get("error", {})))
    kinds = {str(cause.get("type")) for cause in causes}
    reason = str(causes[-1].get("reason")) if causes else f"HTTP status {status}"
    if status == _HTTP_CONFLICT:
        return ConflictError(reason)
    is_unavailable = status == _HTTP_UNAVAILABLE and "search_phase_execution_exception" in kinds
    found = part_missing(path) if is_unavailable else _of_kind(address, kinds, reason)
    if found is None and status == _HTTP_UNAUTHORIZED:
        found = ClusterAccessError(path, "the user, password or token is wrong or missing")
    if found is None and status == _HTTP_FORBIDDEN:
        found = ClusterAccessError(path, "this user may not do it")
    if found is None and status in BUSY:
        found = ClusterUnreachableError(path, f"it is overloaded ({status})", "ask again later")
    return found or ClusterRefusedError(path, f"{reason[:300]} ({status})")


def part_missing(path: Path) -> ClusterUnreachableError:
    """Return the error for a shard of which no copy can be asked."""
    return ClusterUnreachableError(
        path, "a part of the index is on no node that runs", "start its node, or ask again later"
    )


def _of_kind(address: Address, kinds: set[str], reason: str) -> McpLuceneError | None:
    """Return the error for one of the types of errors of OpenSearch; None for others."""
    path = address.path
    if "cluster_block_exception" in kinds:
        return IndexWriteError(path, f"the index is blocked ({_block(reason)})")
    if "index_not_found_exception" in kinds:
        return IndexMissingError(path)
    if "index_closed_exception" in kinds:
        help_ = f"open it: POST /{address.name}/_open"
        return ClusterRefusedError(path, "the index is closed", help_)
    if kinds & NODE_GONE:
        return ClusterUnreachableError(path, f"it has lost a node ({reason})", "ask again later")
    return _of_query(kinds, reason)


def _of_query(kinds: set[str], reason: str) -> QueryError | None:
    if kinds & {"too_many_clauses", "too_many_nested_clauses"}:
        return QueryError(
            "the query comes to more clauses than the cluster allows "
            "(indices.query.bool.max_clause_count); use fewer words"
        )
    if kinds & {"search_phase_execution_exception", "query_shard_exception", "parsing_exception"}:
        return QueryError(f"the cluster cannot run the query: {reason[:300]}")
    return None


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
