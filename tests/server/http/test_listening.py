"""What connections inherit from the socket that is listened on."""

import socket

import pytest

from server.http.serving import Address, listen


@pytest.mark.parametrize(
    ("family", "host"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")]
)
def test_the_body_of_an_answer_does_not_wait_for_its_headers(
    family: socket.AddressFamily, host: str
) -> None:
    with (
        listen(Address(family, host, 0)) as listener,
        socket.create_connection(listener.getsockname()[:2]),
        listener.accept()[0] as connection,
    ):
        assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0
