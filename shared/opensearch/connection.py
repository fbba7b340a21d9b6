"""Connections to a cluster: requests with bounds, repeated where that helps, and their errors."""

import json
import logging
import random
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NoReturn

from opensearchpy import OpenSearch, exceptions
from urllib3 import Timeout
from urllib3.exceptions import ConnectTimeoutError, NewConnectionError

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
from shared.java.cancellation import check
from shared.opensearch.address import Address, Credentials
from shared.settings.types import is_loopback_name
from shared.version import software_version

LEAST_VERSION: Final = (3, 0)
"""Least version of OpenSearch: its scores are those of Lucene 10 (``BM25Similarity``)."""

REQUEST_SECONDS: Final = 15.0
"""Maximum duration of one request; a search that takes longer is an error."""

CONNECT_SECONDS: Final = 5.0
"""Maximum duration of the connection to a node, so that another one is asked soon."""

BULK_SECONDS: Final = 60.0
"""Maximum duration of one request that writes."""

_ATTEMPTS: Final = 6
"""Number of times that a request is sent before its error is reported."""

_FIRST_PAUSE: Final = 0.1
"""Seconds before the second attempt; each further pause is twice as long, give or take a half."""

_BUSY: Final = frozenset((429, 502, 503, 504))
"""HTTP statuses of a cluster that may answer later."""

_UNKNOWN: Final = frozenset((502, 504))
"""Those of a proxy that has lost the answer, so that the cluster may have done what was asked."""

_NODE_GONE: Final = frozenset(
    (
        *("node_disconnected_exception", "node_not_connected_exception", "node_closed_exception"),
        *("connect_transport_exception", "receive_timeout_transport_exception"),
        *("no_shard_available_action_exception", "no_node_available_exception"),
        *("process_cluster_event_timeout_exception", "cluster_manager_not_discovered_exception"),
        *("unavailable_shards_exception", "shard_not_found_exception"),
    )
)
"""Types of errors of a cluster that has just lost a node; another one takes its place."""

_CONNECTIONS: Final = 16
"""Number of connections that are kept open."""

_HTTP_UNAUTHORIZED, _HTTP_FORBIDDEN, _HTTP_NOT_FOUND, _HTTP_CONFLICT = 401, 403, 404, 409
_HTTP_UNAVAILABLE = 503


class ConflictError(Exception):
    """Another writer changed a document first."""


class Connection:
    """Connection to a cluster, for any number of threads at once.

    Args:
        address: the address of an index.
        credentials: what the cluster is shown; None for those of the environment.

    Attributes:
        address: the address of the index.
        requests: the number of requests sent, with repeated ones.
    """

    def __init__(self, address: Address, credentials: Credentials | None = None) -> None:
        known = credentials or Credentials.from_environment()
        self.address = address
        self.requests = 0
        self._is_checked = False
        # Each failed attempt is logged by the library with the whole body of the request.
        logging.getLogger("opensearch").setLevel(logging.CRITICAL)
        headers = {"user-agent": f"mcp-lucene/{software_version()}"}
        if known.token:
            headers["authorization"] = f"Bearer {known.token}"
        elsewhere = [host for host, _ in address.nodes if not is_loopback_name(host)]
        if elsewhere and not address.is_tls and (known.user or known.token):
            warnings.warn(
                f"the password or token for {elsewhere[0]} is sent unencrypted, and so are the "
                "texts; write opensearchs:// if it speaks TLS",
                stacklevel=2,
            )
        tls: dict[str, Any] = {}
        if address.is_tls and known.certificates:
            tls["ca_certs"] = known.certificates
        self._client = OpenSearch(
            hosts=[{"host": host, "port": port} for host, port in address.nodes],
            http_auth=known.user,
            headers=headers,
            use_ssl=address.is_tls,
            http_compress=True,
            pool_maxsize=_CONNECTIONS,
            # A node that does not answer is left out for a minute, if there are others.
            max_retries=0,
            retry_on_timeout=True,
            **tls,
        )

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def get(self, path: str, **parameters: Any) -> Any:
        """Ask for something; the errors are those of `request`."""
        return self.request("GET", path, **parameters)

    def search(
        self,
        bodies: Sequence[Mapping[str, Any]],
        *,
        may_be_partial: bool = False,
        **parameters: Any,
    ) -> list[Any]:
        """Run searches on the index in one request.

        Args:
            bodies: the searches.
            may_be_partial: true if the caller notices when a shard did not answer, or not in time;
                else that is an error.
            parameters: options of all of them, such as ``search_type``.

        Raises:
            QueryError: the cluster refuses a query.
            McpLuceneError: as `request`.
        """
        parameters["allow_partial_search_results"] = str(may_be_partial).lower()
        if len(bodies) == 1:
            return [self.request("POST", f"/{self.address.name}/_search", bodies[0], **parameters)]
        header = {"index": self.address.name, **parameters}
        lines = (line for body in bodies for line in (header, body))
        answers = self.request("POST", "/_msearch", lines)["responses"]
        for answer in answers:
            if "error" in answer:
                self._refused(answer.get("status", 0), answer)
        return list(answers)

    def request(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | Iterable[Mapping[str, Any]] | bytes | None = None,
        *,
        seconds: float = REQUEST_SECONDS,
        is_repeatable: bool = True,
        when_lost: Callable[[], None] | None = None,
        **parameters: Any,
    ) -> Any:
        """Send a request until the cluster is able to answer, to another node if one is down.

        Args:
            method: the method of HTTP.
            path: the path.
            body: a body as JSON, or several as lines of JSON.
            seconds: the maximum duration of each attempt.
            is_repeatable: false if the cluster must not do it twice, so that only a request that it
                did not accept is sent again.
            when_lost: a function that is called when an answer is lost, so that the cluster may do
                what was asked, now or later.
            parameters: the parameters of the query.

        Raises:
            ConflictError: another writer changed the document first.
            IndexMissingError: there is no such index.
            ClusterUnreachableError: no node answered.
            ClusterAccessError: the user has no right to do so.
            ClusterRefusedError: the cluster refused for another reason.
            ClusterVersionError: the program at the address is another one.
            SearchStoppedError: the call was cancelled meanwhile.
        """
        if not self._is_checked:
            self._is_checked = True
            self._check_version()
        sent = _encoded(body) if body is not None else None
        lines = body is not None and not isinstance(body, Mapping)
        headers = {"content-type": "application/x-ndjson" if lines else "application/json"}
        # The library hands it to urllib3, but declares numbers only.
        timeout: Any = Timeout(connect=CONNECT_SECONDS, read=seconds)
        others = len(self.address.nodes) - 1
        attempt = 0
        while True:
            check()
            self.requests += 1
            try:
                return self._client.transport.perform_request(
                    method,
                    path,
                    params=parameters,
                    timeout=timeout,
                    body=sent,
                    headers=headers,
                )
            except exceptions.OpenSearchException as error:
                if when_lost and _is_lost(error):
                    when_lost()
                if others and _is_down(error, is_repeatable=is_repeatable):
                    others -= 1
                    continue
                attempt += 1
                if attempt == _ATTEMPTS or not _may_help(error, is_repeatable=is_repeatable):
                    self._raise(error)
            time.sleep(_FIRST_PAUSE * 2 ** (attempt - 1) * random.uniform(0.5, 1.5))  # noqa: S311 - no secret

    def _check_version(self) -> None:
        found = self.request("GET", "/")
        version = found.get("version", {}) if isinstance(found, dict) else {}
        number = str(version.get("number", "unknown"))
        needed = f"OpenSearch {'.'.join(map(str, LEAST_VERSION))} or newer"
        if version.get("distribution") != "opensearch":
            name = f"Elasticsearch {number}" if "number" in version else "another program"
            raise ClusterVersionError(self.address.path, name, needed)
        if tuple(int(part) for part in number.split(".")[:2]) < LEAST_VERSION:
            raise ClusterVersionError(self.address.path, f"OpenSearch {number}", needed)

    def _raise(self, error: exceptions.OpenSearchException) -> NoReturn:
        path = self.address.path
        match error:
            case exceptions.SSLError():
                raise ClusterUnreachableError(
                    path, _tls_reason(str(error.info)), _TLS_HELP
                ) from error
            case exceptions.ConnectionTimeout():
                raise ClusterUnreachableError(
                    path, f"no answer within {REQUEST_SECONDS:.0f} s", "ask again later"
                ) from error
            case exceptions.ConnectionError():
                raise ClusterUnreachableError(path, *self._connection_reason(error)) from error
            case exceptions.TransportError():
                info = error.info if isinstance(error.info, dict) else {}
                status = error.status_code if isinstance(error.status_code, int) else 0
                self._refused(status, info, error)
            case exceptions.SerializationError():
                raise ClusterVersionError(
                    path, "a program that does not answer in JSON", "OpenSearch"
                ) from error
        raise error

    def _connection_reason(self, error: exceptions.ConnectionError) -> tuple[str, str]:
        text = str(error.info)
        if "Name or service not known" in text or "resolve" in text.lower():
            hosts = ", ".join(host for host, _ in self.address.nodes)
            return f"there is no host {hosts}", ""
        if "refused" in text.lower():
            return f"nothing listens at {self.address.shown_nodes}", ""
        if "RemoteDisconnected" in text or "reset by peer" in text or "BadStatusLine" in text:
            return "the connection was closed at once", "write opensearchs:// if it speaks TLS"
        return "the connection was lost", ""

    def _refused(
        self, status: int, info: Mapping[str, Any], error: Exception | None = None
    ) -> NoReturn:
        """Raise the error for an answer with a status and an explanation."""
        raise _error_of(self.address, status, info) from error


_TLS_HELP: Final = (
    "write opensearch:// if it speaks no TLS, or name the file of its certificates with "
    "IDX_OPENSEARCH_CA"
)


def _tls_reason(text: str) -> str:
    if "WRONG_VERSION_NUMBER" in text or "record layer" in text:
        return "it does not speak TLS"
    if "CERTIFICATE_VERIFY_FAILED" in text:
        return "its certificate is signed by nobody that this machine knows"
    return "no TLS connection could be made"


def _error_of(address: Address, status: int, info: Mapping[str, Any]) -> Exception:
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
    if found is None and status in _BUSY:
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
    if kinds & _NODE_GONE:
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


def _block(reason: str) -> str:
    if "flood" in reason or "read-only-allow-delete" in reason or "allow delete" in reason:
        return "a disk of the cluster is too full"
    if "write" in reason:
        return "writing is blocked; if idx rebuild was interrupted at its last step, run it again"
    return "it is read-only" if "read" in reason else reason[:200]


def _is_down(error: exceptions.OpenSearchException, *, is_repeatable: bool) -> bool:
    """Check whether a node was not able to take a request, so that another one may."""
    if isinstance(error, exceptions.SSLError) or not isinstance(error, exceptions.ConnectionError):
        return False
    return is_repeatable or not _is_lost(error)


def _is_lost(error: exceptions.OpenSearchException) -> bool:
    """Check whether the cluster may have got a request, or get it later, without an answer."""
    if isinstance(error, exceptions.SSLError):
        return False
    if isinstance(error, exceptions.ConnectionError):
        # Without a connection nothing was done.
        return not isinstance(error.info, NewConnectionError | ConnectTimeoutError)
    return isinstance(error, exceptions.TransportError) and error.status_code in _UNKNOWN


def _may_help(error: exceptions.OpenSearchException, *, is_repeatable: bool) -> bool:
    """Check whether the same request may succeed later."""
    if isinstance(error, exceptions.SSLError):
        return False
    if isinstance(error, exceptions.ConnectionError):
        # A node that is starting refuses connections; nothing was done.
        refused = "refused" in str(error.info).lower()
        is_timeout = isinstance(error, exceptions.ConnectionTimeout)
        return not refused and is_repeatable and not is_timeout
    if not isinstance(error, exceptions.TransportError):
        return False
    if is_repeatable:
        return error.status_code in _BUSY or error.error in _NODE_GONE
    return error.status_code in _BUSY - _UNKNOWN


def _encoded(body: Mapping[str, Any] | Iterable[Mapping[str, Any]] | bytes) -> bytes:
    if isinstance(body, bytes):
        return body
    if isinstance(body, Mapping):
        return json.dumps(body, ensure_ascii=False).encode()
    return b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in body)
