"""A server of language models on this machine, good, slow, broken or hostile as a test wants it."""

import gzip
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from tests.http_servers import listening


@dataclass
class Request:
    """What the server was asked."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def text(self) -> str:
        """What the user of the model said."""
        return str(self.body["messages"][-1]["content"])


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "ModelServer"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.requests.append(Request(self.path, headers, body))
        try:
            self.server.answer(self)
        except OSError:
            # The client had enough, which is what some tests are about.
            self.close_connection = True

    def do_GET(self) -> None:
        self.server.requests.append(Request(self.path, {}, {}))
        send(self, 200, b"{}")

    def log_message(self, *_: object) -> None:
        pass


Answer = Callable[[_Handler], None]


class ModelServer(ThreadingHTTPServer):
    """Answers every question in the same way."""

    daemon_threads = True
    # Clients that come all at once wait in it.
    request_queue_size = 100

    def __init__(self, answer: Answer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.requests: list[Request] = []
        self.stopped = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def handle_error(self, *_: object) -> None:
        """Write nothing about clients that left: a run of `idx` in this process has its stderr."""


@contextmanager
def serving(answer: Answer) -> Iterator[ModelServer]:
    with listening(ModelServer(answer)) as server:
        try:
            yield server
        finally:
            server.stopped.set()


def send(handler: _Handler, status: int, body: bytes, **headers: str) -> None:
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def completion(content: object, finish_reason: str = "stop", **message: object) -> dict[str, Any]:
    """An answer as OpenAI's protocol has it."""
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "test",
        "choices": [
            {
                "index": 0,
                "finish_reason": finish_reason,
                "message": {"role": "assistant", "content": content, **message},
            }
        ],
    }


def sends(answer: object) -> Answer:
    return sends_bytes(json.dumps(answer).encode())


def sends_bytes(body: bytes, status: int = 200, **headers: str) -> Answer:
    return lambda handler: send(handler, status, body, **headers)


def says(text: object) -> Answer:
    return sends(completion(text))


def is_silent(handler: _Handler) -> None:
    """Takes the question and says nothing."""
    handler.server.stopped.wait(60)
    handler.close_connection = True


def drips(handler: _Handler) -> None:
    """Sends the beginning of an answer, byte by byte, for ever."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", "90000")
    handler.end_headers()
    while not handler.server.stopped.wait(0.02):
        handler.wfile.write(b" ")


def drips_headers(handler: _Handler) -> None:
    """Never comes to the end of its headers."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    while not handler.server.stopped.wait(0.02):
        handler.wfile.write(b"X-More: x\r\n")


def floods(handler: _Handler) -> None:
    """Sends an answer without an end as fast as it can."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.end_headers()
    while not handler.server.stopped.is_set():
        handler.wfile.write(b" " * 65_536)


def inflates(handler: _Handler) -> None:
    """Sends a small body that becomes a hundred megabytes."""
    send(handler, 200, gzip.compress(b" " * 100_000_000), Content_Encoding="gzip")


def hangs_up(handler: _Handler) -> None:
    """Closes the connection in the middle of the answer."""
    handler.send_response(200)
    handler.send_header("Content-Length", "500")
    handler.end_headers()
    handler.wfile.write(b'{"id":')
    handler.close_connection = True


@dataclass(frozen=True)
class Trouble:
    """A server that is of no use, and what is said of it."""

    answer: Answer
    diagnostic: str
    timeout: float = field(default=20.0)


SLOW: Final = "the language model did not answer within 1 s"
NO_ANSWER: Final = "the language model's server sent something other than an answer ("
NOT_ONE_LINE: Final = "the answer of the language model has several lines or control characters"

HTTP_TROUBLES: Final = {
    "inflated": Trouble(inflates, "server compressed its answer"),
    "error 401": Trouble(
        sends_bytes(b'{"error": {"message": "bad key"}}', 401),
        "server answered with HTTP status 401; check its key",
    ),
    "error 404": Trouble(
        sends_bytes(b"no such model", 404), "404; check the address, and the name of the model"
    ),
    "error 429": Trouble(
        sends_bytes(b"{}", 429, Retry_After="60"), "with HTTP status 429; try again later"
    ),
    "error 500": Trouble(sends_bytes(b"secret-of-the-server", 500), "with HTTP status 500"),
}
"""What is no answer of any kind of model, by name."""

TROUBLES: Final = HTTP_TROUBLES | {
    "silent": Trouble(is_silent, SLOW, 1.0),
    "dripping": Trouble(drips, SLOW, 1.0),
    "dripping headers": Trouble(drips_headers, SLOW, 1.0),
    "endless": Trouble(floods, "answered with more than 100,000 bytes"),
    "huge": Trouble(says("word " * 100_000), "answered with more than 100,000 bytes"),
    "hanging up": Trouble(hangs_up, "cannot be reached, or closed the connection"),
    "no JSON": Trouble(sends_bytes(b"<html>rent notice</html>"), NO_ANSWER),
    "half of JSON": Trouble(sends_bytes(b'{"choices": [{"mess'), NO_ANSWER),
    "deep JSON": Trouble(sends_bytes(b"[" * 90_000), NO_ANSWER),
    "no bytes": Trouble(sends_bytes(b""), NO_ANSWER),
    "a list": Trouble(sends([1, 2]), NO_ANSWER),
    "no choices": Trouble(sends(completion("") | {"choices": []}), NO_ANSWER),
    "choices of null": Trouble(sends(completion("") | {"choices": None}), NO_ANSWER),
    "no message": Trouble(sends({"choices": [{}]}), NO_ANSWER),
    "a number for text": Trouble(says(5), NO_ANSWER),
    "not Unicode": Trouble(sends_bytes(b'{"choices": "\xff\xfe"}'), NO_ANSWER),
    "blank": Trouble(says(" \n "), "the answer of the language model is blank"),
    "null": Trouble(says(None), "the answer of the language model is blank"),
    "only quotes": Trouble(says('""'), "the answer of the language model is blank"),
    "only signs": Trouble(says("--- ???"), "the language model returned the same words"),
    "a tool call": Trouble(
        sends(
            completion(
                None,
                "tool_calls",
                tool_calls=[
                    {
                        "id": "1",
                        "type": "function",
                        "function": {"name": "delete", "arguments": "{}"},
                    }
                ],
            )
        ),
        "the answer of the language model is blank",
    ),
    "a refusal": Trouble(
        sends(completion(None, refusal="I will not.")), "the answer of the language model is blank"
    ),
    "thinking too long": Trouble(
        sends(completion("<think>Well, the user", "length")), "answered with more than 200 tokens"
    ),
    "several lines": Trouble(says("lease\n\nHere is why: it is."), NOT_ONE_LINE),
    "markdown": Trouble(says("```json\n{}\n```"), NOT_ONE_LINE),
    "control characters": Trouble(says("lease\x1b[2J\x07 period"), NOT_ONE_LINE),
    "a null character": Trouble(says("lease\0period"), NOT_ONE_LINE),
    "text turned around": Trouble(says("lease \u202eperiod"), NOT_ONE_LINE),
    "half of a surrogate pair": Trouble(says("lease \ud800"), NOT_ONE_LINE),
    "an essay": Trouble(says("The period of notice is " * 40), "is too long for a query"),
}
"""Everything but an answer, by name."""


# Answers in parts, as events of the server.


def event(content: object, finish_reason: str | None = None) -> bytes:
    """An event with a part of an answer."""
    delta = {} if content is None else {"role": "assistant", "content": content}
    chunk = {
        "id": "1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "test",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}],
    }
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def pieces(text: str, size: int = 7) -> list[str]:
    """A text in parts of this many characters, which divide words and citations."""
    return [text[start : start + size] for start in range(0, len(text), size)]


def begin_events(handler: _Handler) -> None:
    """Send the head of an answer in parts, which ends with the connection."""
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream; charset=utf-8")
    handler.send_header("Connection", "close")
    handler.end_headers()
    handler.close_connection = True


def streams(
    text: str, finish_reason: str | None = "stop", *, size: int = 7, pause: float = 0
) -> Answer:
    """Answers as a model that says this, part by part."""

    def answer(handler: _Handler) -> None:
        begin_events(handler)
        for part in pieces(text, size):
            handler.wfile.write(event(part))
            if pause and handler.server.stopped.wait(pause):
                return
        handler.wfile.write(event(None, finish_reason) + b"data: [DONE]\n\n")

    return answer


def streams_events(*events: bytes) -> Answer:
    def answer(handler: _Handler) -> None:
        begin_events(handler)
        handler.wfile.write(b"".join(events))

    return answer


def streams_for_ever(text: str, pause: float = 0) -> Answer:
    """Answers as a model that says the same again and again."""

    def answer(handler: _Handler) -> None:
        begin_events(handler)
        while not handler.server.stopped.wait(pause):
            handler.wfile.write(event(text))

    return answer


def breaks_off(text: str) -> Answer:
    """Closes the connection after a part of the answer, in the middle of an event."""

    def answer(handler: _Handler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Content-Length", "1000000")
        handler.end_headers()
        handler.wfile.write(event(text) + b'data: {"id"')
        handler.close_connection = True

    return answer


def quoting(text: str, *quotes: str) -> str:
    """A reply in the format that is asked for, with a quote for 1, 2 and so on."""
    lines = [f'[{number}] "{quote}"' for number, quote in enumerate(quotes, start=1)]
    return "\n".join((text, "QUOTES:", *lines))


ANSWER_TROUBLES: Final = HTTP_TROUBLES | {
    "silent": Trouble(is_silent, SLOW, 1.0),
    "dripping": Trouble(streams_for_ever("word ", 0.1), SLOW, 1.0),
    "dripping headers": Trouble(drips_headers, SLOW, 1.0),
    "endless": Trouble(streams_for_ever("word " * 50), "is longer than 2000 tokens, its limit"),
    "endless events": Trouble(
        streams_events(b": nothing\n\n" * 300_000), "answered with more than 2,100,000 bytes"
    ),
    "cut": Trouble(breaks_off("The rent is"), "cannot be reached, or closed the connection"),
    "no end": Trouble(streams_events(event("The rent is")), "broke off"),
    "nothing": Trouble(streams_events(), "broke off its answer"),
    "not in parts": Trouble(says("The rent is 10 [1]."), "but as nothing in particular"),
    "a web page": Trouble(sends_bytes(b"<html>", Content_Type="text/html"), "but as text/html"),
    "no JSON": Trouble(streams_events(b"data: <html>\n\n"), NO_ANSWER),
    "a list": Trouble(streams_events(b"data: [1]\n\n"), NO_ANSWER),
    "an error": Trouble(
        streams_events(event("The"), b'data: {"error": {"message": "secret-of-the-server"}}\n\n'),
        NO_ANSWER,
    ),
    "blank": Trouble(streams(" \n "), "the answer of the language model is blank"),
    "only quotes": Trouble(streams('QUOTES:\n[1] "the rent"'), "is blank"),
    "thinking too long": Trouble(
        streams("<think>Well, the user", "length"),
        "more than 2000 tokens; allow more with answer_max_tokens",
    ),
}
"""Everything but an answer in parts, by name."""
