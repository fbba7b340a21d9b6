"""Addresses of indexes on a cluster, credentials, and connections.

Requests have bounds, are repeated where that helps, and raise the project's own errors.
"""

import json
import logging
import os
import random
import re
import time
import warnings
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from opensearchpy import OpenSearch, Transport, exceptions, helpers
from urllib3 import Timeout
from urllib3.exceptions import NewConnectionError

from shared.errors import (
    ClusterRefusedError,
    ClusterVersionError,
    ConfigurationError,
    IndexPathError,
    McpLuceneError,
)
from shared.files.index_folder import ClusterPath
from shared.installation import software_version
from shared.java.cancellation import check
from shared.opensearch.cluster_errors import (
    BUSY,
    NODE_GONE,
    ConflictError,
    error_of,
    own_error,
    part_missing,
    reason_of,
)
from shared.settings.defaults import (
    OPENSEARCH_PASSWORD_VARIABLE,
    OPENSEARCH_TOKEN_VARIABLE,
    OPENSEARCH_USER_VARIABLE,
    OPENSEARCH_VARIABLES,
)
from shared.settings.types import is_loopback_name

DEFAULT_PORT: Final = 9200

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,200}")
"""Name of an index that OpenSearch accepts, with room for a suffix."""

_EXAMPLE: Final = (
    "write it as opensearch://HOST:9200/NAME, or opensearchs:// for TLS, with commas between the "
    "hosts of several nodes"
)

_NODES: Final = re.compile(r"(opensearchs?)://([^/?#]*)([^?#]*)(.*)", re.DOTALL)
"""Protocol, nodes, name and rest of an address."""


@dataclass(frozen=True)
class Address:
    """Address of an index: host and HTTP port of each node that may be asked, and its name."""

    path: Path
    nodes: tuple[tuple[str, int], ...]
    name: str
    is_tls: bool

    @classmethod
    def of(cls, path: Path | str) -> "Address":
        shown = ClusterPath(path)
        parts = _NODES.fullmatch(str(shown))
        scheme, hosts, name, rest = parts.groups() if parts else ("", "", "", "")
        try:
            nodes = tuple(map(_node, hosts.split(",")))
        except ValueError as error:
            raise IndexPathError(shown, f"it is not a valid address ({error})", _EXAMPLE) from error
        name = unquote(name.strip("/"))
        if rest or not all(host for host, _ in nodes) or not _NAME.fullmatch(name):
            raise IndexPathError(
                shown,
                "it is not the address of an index, whose name has small letters, digits, and "
                "- _ . only",
                _EXAMPLE,
            )
        return cls(shown, nodes, name, scheme == "opensearchs")


def _node(text: str) -> tuple[str, int]:
    """Return the host and port of a node; an empty host if there is none."""
    parts = urlsplit(f"//{text}")
    return parts.hostname or "", parts.port or DEFAULT_PORT


def _credentials() -> tuple[tuple[str, str] | None, str | None, str | None]:
    """Return user and password, token, and the certificates that sign those of the cluster.

    They come from the environment.
    """
    user, password, token, certificates = (
        os.environ.get(name) or None for name in OPENSEARCH_VARIABLES
    )
    if (user is None) != (password is None):
        missing = OPENSEARCH_PASSWORD_VARIABLE if user else OPENSEARCH_USER_VARIABLE
        raise ConfigurationError(missing, "it is not set, but the other of the pair is")
    if user and token:
        raise ConfigurationError(
            OPENSEARCH_TOKEN_VARIABLE, f"it is set beside {OPENSEARCH_USER_VARIABLE}; keep one"
        )
    return ((user, password) if user and password else None), token, certificates


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

_CONNECTIONS: Final = 16
"""Number of connections that are kept open."""

Operation = tuple[Mapping[str, Any], Mapping[str, Any] | None]
"""Operation of a bulk request, such as ``{"index": {"_id": …}}``, and the document it writes."""


class _Transport(Transport):
    """Transport that asks another node at once if one is down, and a busy cluster after a pause.

    The library's own attempts follow each other without a pause.
    """

    def perform_request(self, method: str, url: str, *args: Any, **options: Any) -> Any:
        others = len(self.hosts) - 1
        attempt = 0
        while True:
            check()
            try:
                return super().perform_request(method, url, *args, **options)
            except exceptions.TransportError as error:
                # One that the cluster may do at any later time must not be done twice: the
                # second time might be after what it wrote was replaced and deleted.
                is_lost = isinstance(error, exceptions.ConnectionTimeout)
                if (is_lost or error.status_code == HTTPStatus.GATEWAY_TIMEOUT) and url.endswith(
                    "/_bulk"
                ):
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

    def __init__(self, path: Path | str) -> None:
        self.address = address = Address.of(path)
        user, token, certificates = _credentials()
        self._is_checked = False
        # Each failed attempt is logged by the library with the whole body of the request.
        logging.getLogger("opensearch").setLevel(logging.CRITICAL)
        headers = {"user-agent": f"mcp-lucene/{software_version()}"}
        if token:
            headers["authorization"] = f"Bearer {token}"
        elsewhere = [host for host, _ in address.nodes if not is_loopback_name(host)]
        if elsewhere and not address.is_tls and (user or token):
            warnings.warn(
                f"the password or token for {elsewhere[0]} is sent unencrypted, and so are the "
                "texts; write opensearchs:// if it speaks TLS",
                stacklevel=2,
            )
        self._client = OpenSearch(
            hosts=[{"host": host, "port": port} for host, port in address.nodes],
            transport_class=_Transport,
            http_auth=user,
            headers=headers,
            use_ssl=address.is_tls,
            ca_certs=certificates if address.is_tls else None,
            http_compress=True,
            pool_maxsize=_CONNECTIONS,
            # A node that does not answer is left out for a minute, if there are others.
            max_retries=0,
            retry_on_timeout=True,
        )

    def close(self) -> None:
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
        lines = (json.dumps(line, ensure_ascii=False) for body in bodies for line in (header, body))
        asked = "".join(f"{line}\n" for line in lines)
        answers = self.request("POST", "/_msearch", asked)["responses"]
        for answer in answers:
            if "error" in answer:
                raise error_of(self.address.path, answer.get("status", 0), answer)
        return list(answers)

    def request(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | str | None = None,
        *,
        seconds: float = REQUEST_SECONDS,
        **parameters: Any,
    ) -> Any:
        """Send a request until the cluster is able to answer, to another node if one is down.

        Each attempt may take some seconds. It may be done twice if an answer is lost: what must not
        be has a condition, such as ``if_seq_no``; if it is not met, that is a `ConflictError`.
        """
        self._check_version()
        with self._own_errors():
            return self._client.transport.perform_request(
                method,
                path,
                params=parameters,
                # The library hands it to urllib3, but declares numbers only.
                timeout=_timeout(seconds),
                body=body,
            )

    def bulk(
        self, index: str, operations: Iterable[Operation], **parameters: Any
    ) -> Iterator[tuple[str, str]]:
        """Write documents, and yield the ids of those that the cluster does not accept, with why.

        A bulk request that gets no answer in time is an error, and not sent again.
        """
        self._check_version()
        with self._own_errors():
            for _, item in helpers.streaming_bulk(
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
                if kind == "delete" and status == HTTPStatus.NOT_FOUND and not problem:
                    continue
                error = error_of(self.address.path, status, {"error": problem})
                if isinstance(error, ClusterRefusedError | ConflictError):
                    yield result["_id"], reason_of(problem)
                else:
                    raise error

    def hits(
        self, query: Mapping[str, Any], **body: Any
    ) -> Generator[Mapping[str, Any], None, None]:
        """Yield all documents that a query matches, as they are at the beginning (scroll)."""
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
            raise own_error(self.address.path, error) from error


def _may_help(error: exceptions.TransportError) -> bool:
    """Check whether the same request may succeed later."""
    if isinstance(error, exceptions.SSLError | exceptions.ConnectionTimeout):
        return False
    if isinstance(error, exceptions.ConnectionError):
        # A node that is starting refuses connections.
        return not isinstance(error.info, NewConnectionError)
    return error.status_code in BUSY or error.error in NODE_GONE


def _timeout(seconds: float) -> Any:
    return Timeout(connect=CONNECT_SECONDS, read=seconds)
