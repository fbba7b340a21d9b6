"""Stands for a program that a fork server runs: ``forked_program.py ADDRESS ARGUMENTS``.

The run has this process's streams, folder and environment. Signals that end a program are passed
on, and this process ends as the run does.
"""

import json
import os
import signal
import socket
import sys


def main(address: str, *arguments: str) -> None:
    """Run the program to its end, and exit with its code."""
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(address)
    socket.send_fds(connection, [b"+"], [0, 1, 2])
    # An import of pathlib would take longer than all of this.
    run = [arguments, os.getcwd(), dict(os.environ)]  # noqa: PTH109
    connection.sendall(json.dumps(run).encode() + b"\n")
    # The run alone reads and writes them, and closes them when it likes.
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    passed_on = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    signal.pthread_sigmask(signal.SIG_BLOCK, passed_on)
    with connection.makefile() as lines:
        process = int(lines.readline())
        for number in passed_on:
            signal.signal(number, lambda number, _: os.kill(process, number))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, passed_on)
        code = int(lines.readline())
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


main(*sys.argv[1:])
