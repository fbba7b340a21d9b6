"""Connections to a cluster: requests with bounds, repeated where that helps, and their errors."""

import json
import logging
import random
import time
import warnings
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from opensearchpy import OpenSearch, Transport, exceptions, helpers
from urllib3 import Timeout
from urllib3.exceptions import NewConnectionError

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

_MAX_BULK_BYTES: Final = 5_000_000
_MAX_BULK_OPERATIONS: Final = 5_000
"""Size from which a bulk request is sent; OpenSearch's guide recommends 5 to 15 MB."""

_MAX_BULK_RETRIES: Final = 6
"""Number of times that a document is sent again for which the cluster was too busy."""

_ATTEMPTS: Final = 6
"""Number of times that a request is sent before its error is reported."""

_FIRST_PAUSE: Final = 0.1
"""Seconds before the second attempt; each further pause is twice as long, give or take a half."""

_BUSY: Final = frozenset((429, 502, 503, 504))
"""HTTP statuses of a cluster that may answer later."""

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
_HTTP_UNAVAILABLE, _HTTP_TIMEOUT = 503, 504

Operation = tuple[Mapping[str, Any], Mapping[str, Any] | None]
"""Operation of a bulk request, such as ``{"index": {"_id": …}}``, and the document it writes."""


class ConflictError(Exception):
    """Another writer changed a document first."""


class _Transport(Transport):
    """Transport that asks another node at once if one is down, and a busy cluster after a pause.

    The library's own attempts follow each other without a pause.
    """

    requests = 0

    def perform_request(self, method: str, url: str, *args: Any, **options: Any) -> Any:
        others = len(self.hosts) - 1
        attempt = 0
        while True:
            check()
            self.requests += 1
            try:
                return super().perform_request(method, url, *args, **options)
            except exceptions.TransportError as error:
                # One that the cluster may do at any later time must not be done twice: the
                # second time might be after what it wrote was replaced and deleted.
                is_lost = isinstance(error, exceptions.ConnectionTimeout)
                if (is_lost or error.status_code == _HTTP_TIMEOUT) and url.endswith("/_bulk"):
                    raise
                if others and isinstance(error, exceptions.ConnectionError):
                    others -= 1
                    continue
                attempt += 1
                if attempt == _ATTEMPTS or not _may_help(error):
                    raise
            time.sleep(_FIRST_PAUSE * 2 ** (attempt - 1) * random.uniform(0.5, 1.5))  # noqa: S311 - no secret


class Connection:
    """Connection to the cluster of an index, for any number of threads at once."""

    def __init__(self, address: Address, credentials: Credentials | None = None) -> None:
        known = credentials or Credentials.from_environment()
        self.address = address
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
            transport_class=_Transport,
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

    @property
    def requests(self) -> int:
        """Number of requests sent, with repeated ones."""
        transport = self._client.transport
        return transport.requests if isinstance(transport, _Transport) else 0

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

        It is an error if a shard does not answer, or not in time, unless `may_be_partial` says that
        the caller notices.
        """
        parameters["allow_partial_search_results"] = str(may_be_partial).lower()
        if len(bodies) == 1:
            return [self.request("POST", f"/{self.address.name}/_search", bodies[0], **parameters)]
        header = {"index": self.address.name, **parameters}
        lines = (line for body in bodies for line in (header, body))
        answers = self.request("POST", "/_msearch", lines)["responses"]
        for answer in answers:
            if "error" in answer:
                raise _error_of(self.address, answer.get("status", 0), answer)
        return list(answers)

    def request(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | Iterable[Mapping[str, Any]] | None = None,
        *,
        seconds: float = REQUEST_SECONDS,
        **parameters: Any,
    ) -> Any:
        """Send a request until the cluster is able to answer, to another node if one is down.

        Each attempt may take some seconds. It may be done twice if an answer is lost: what must not
        be has a condition, such as ``if_seq_no``.

        Raises:
            ConflictError: another writer changed the document first.
            IndexMissingError: there is no such index.
            ClusterUnreachableError: no node answered.
            ClusterAccessError: the user has no right to do so.
            ClusterRefusedError: the cluster refused for another reason.
            ClusterVersionError: the program at the address is another one.
            SearchStoppedError: the call was cancelled meanwhile.
        """
        self._check_version()
        lines = body is not None and not isinstance(body, Mapping)
        with self._own_errors():
            return self._client.transport.perform_request(
                method,
                path,
                params=parameters,
                # The library hands it to urllib3, but declares numbers only.
                timeout=_timeout(seconds),
                body=None if body is None else _encoded(body),
                headers={"content-type": "application/x-ndjson" if lines else "application/json"},
            )

    def bulk(
        self, index: str, operations: Iterable[Operation], **parameters: Any
    ) -> Iterator[tuple[str, str]]:
        """Write documents, and yield the ids of those that the cluster does not accept, with why.

        A bulk request that gets no answer in time is an error, and not sent again.
        """
        self._check_version()
        with self._own_errors():
            for is_done, item in helpers.streaming_bulk(
                self._client,
                operations,
                chunk_size=_MAX_BULK_OPERATIONS,
                max_chunk_bytes=_MAX_BULK_BYTES,
                raise_on_error=False,
                expand_action_callback=tuple,
                max_retries=_MAX_BULK_RETRIES,
                initial_backoff=1,
                max_backoff=8,
                yield_ok=False,
                index=index,
                # Else the cluster would make an index in place of one that was removed.
                require_alias="true",
                request_timeout=_timeout(BULK_SECONDS),
                **parameters,
            ):
                ((kind, result),) = item.items()
                status, problem = result["status"], result.get("error")
                if is_done or (kind == "create" and status == _HTTP_CONFLICT):
                    continue
                if kind == "delete" and status == _HTTP_NOT_FOUND and not problem:
                    continue
                error = _error_of(self.address, status, {"error": problem})
                if isinstance(error, ClusterRefusedError | ConflictError):
                    yield result["_id"], _reason(problem)
                else:
                    raise error

    def hits(
        self, query: Mapping[str, Any], **body: Any
    ) -> Generator[Mapping[str, Any], None, None]:
        """Yield all documents that a query matches, as they are at the beginning (scroll).

        Raises:
            ClusterUnreachableError: a shard did not answer, so that documents may be missing.
        """
        page = self.request(
            "POST",
            f"/{self.address.name}/_search",
            {"query": query, "size": 1000, "sort": ["_doc"], **body},
            scroll="2m",
            allow_partial_search_results="false",
        )
        scroll_id = page["_scroll_id"]
        try:
            while True:
                # Of later pages, the cluster returns what the other shards have, and the helper of
                # the library takes one without hits for the end.
                if page["_shards"]["successful"] < page["_shards"]["total"]:
                    raise part_missing(self.address.path)
                if not page["hits"]["hits"]:
                    return
                yield from page["hits"]["hits"]
                scroll_id = page["_scroll_id"]
                body = {"scroll": "2m", "scroll_id": scroll_id}
                page = self.request("POST", "/_search/scroll", body)
        finally:
            with suppress(McpLuceneError):
                # It ends by itself, too; an error of the pages says more.
                self.request("DELETE", "/_search/scroll", {"scroll_id": scroll_id})

    def _check_version(self) -> None:
        if self._is_checked:
            return
        self._is_checked = True
        found = self.request("GET", "/")
        version = found.get("version", {}) if isinstance(found, dict) else {}
        number = str(version.get("number", "unknown"))
        needed = f"OpenSearch {'.'.join(map(str, LEAST_VERSION))} or newer"
        if version.get("distribution") != "opensearch":
            name = f"Elasticsearch {number}" if "number" in version else "another program"
            raise ClusterVersionError(self.address.path, name, needed)
        if tuple(int(part) for part in number.split(".")[:2]) < LEAST_VERSION:
            raise ClusterVersionError(self.address.path, f"OpenSearch {number}", needed)

    @contextmanager
    def _own_errors(self) -> Iterator[None]:
        """Raise the project's own errors in place of the library's."""
        try:
            yield
        except exceptions.OpenSearchException as error:
            raise self._own_error(error) from error

    def _own_error(self, error: Exception) -> Exception:
        path = self.address.path
        match error:
            case exceptions.SSLError():
                return ClusterUnreachableError(path, _tls_reason(str(error.info)), _TLS_HELP)
            case exceptions.ConnectionTimeout():
                return ClusterUnreachableError(path, "no answer in time", "try again later")
            case exceptions.ConnectionError():
                return ClusterUnreachableError(path, *self._connection_reason(error))
            case exceptions.TransportError():
                info = error.info if isinstance(error.info, dict) else {}
                status = error.status_code if isinstance(error.status_code, int) else 0
                return _error_of(self.address, status, info)
            case exceptions.SerializationError():
                return ClusterVersionError(
                    path, "a program that does not answer in JSON", "OpenSearch"
                )
        return error

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


def _reason(problem: Mapping[str, Any]) -> str:
    cause = problem.get("caused_by", problem)
    return str(cause.get("reason") or problem.get("reason"))[:300]


def _block(reason: str) -> str:
    if "flood" in reason or "read-only-allow-delete" in reason or "allow delete" in reason:
        return "a disk of the cluster is too full"
    if "write" in reason:
        return "it is being rebuilt; if idx rebuild was interrupted, run it again"
    return "it is read-only" if "read" in reason else reason[:200]


def _may_help(error: exceptions.TransportError) -> bool:
    """Check whether the same request may succeed later."""
    if isinstance(error, exceptions.SSLError | exceptions.ConnectionTimeout):
        return False
    if isinstance(error, exceptions.ConnectionError):
        # A node that is starting refuses connections.
        return not isinstance(error.info, NewConnectionError)
    return error.status_code in _BUSY or error.error in _NODE_GONE


def _timeout(seconds: float) -> Any:
    return Timeout(connect=CONNECT_SECONDS, read=seconds)


def _encoded(body: Mapping[str, Any] | Iterable[Mapping[str, Any]]) -> bytes:
    if isinstance(body, Mapping):
        return json.dumps(body, ensure_ascii=False).encode()
    return b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in body)
