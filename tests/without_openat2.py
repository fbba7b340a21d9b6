"""A sandbox as containers have them: the system call openat2 does not exist in it."""

import ctypes
import errno
from typing import Final

_NO_NEW_PRIVILEGES: Final = 38
_SECCOMP: Final = 22
_FILTER: Final = 2
"""Arguments of prctl(2)."""

_LOAD: Final = 0x20
_JUMP_IF_EQUAL: Final = 0x15
_RETURN: Final = 0x06
_ALLOW: Final = 0x7FFF0000
_ERROR: Final = 0x00050000
"""See seccomp(2) and bpf(4)."""

_OPENAT2: Final = 437

WITHOUT_OPENAT2: Final = "from tests.without_openat2 import forbid; forbid()\n"
"""What a program begins with that runs in the sandbox, with all processes that it starts."""


class _Instruction(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_uint16),
        ("if_true", ctypes.c_uint8),
        ("if_false", ctypes.c_uint8),
        ("value", ctypes.c_uint32),
    )


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("instructions", ctypes.POINTER(_Instruction)))


def forbid() -> None:
    """Put this process, and those that it starts from now on, into the sandbox."""
    instructions = (
        (_LOAD, 0, 0, 0),
        (_JUMP_IF_EQUAL, 0, 1, _OPENAT2),
        (_RETURN, 0, 0, _ERROR | errno.ENOSYS),
        (_RETURN, 0, 0, _ALLOW),
    )
    array = (_Instruction * len(instructions))(*(_Instruction(*each) for each in instructions))
    program = _Program(len(instructions), array)
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    for arguments in (
        (_NO_NEW_PRIVILEGES, 1, 0, 0, 0),
        (_SECCOMP, _FILTER, ctypes.byref(program), 0, 0),
    ):
        if prctl(*arguments):
            raise OSError(ctypes.get_errno(), "the sandbox cannot be made")
