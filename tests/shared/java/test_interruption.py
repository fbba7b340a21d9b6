from typing import Any

import lucene
import pytest
from java.util import ArrayList

from shared.java import vm
from shared.java.vm import in_background


def wrongly_called() -> None:
    anything: Any = ArrayList()
    anything.get("text")


def of_java() -> None:
    ArrayList().get(0)


def of_python() -> None:
    raise KeyError("work")


def interrupted() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("work", "error"),
    [
        (wrongly_called, lucene.InvalidArgsError),
        (of_java, lucene.JavaError),
        (of_python, KeyError),
        (interrupted, KeyboardInterrupt),
    ],
)
def test_whatever_ends_the_work_is_raised(work: Any, error: type[BaseException]) -> None:
    vm.start()
    with pytest.raises(error):
        for _ in in_background(work, lambda: None):
            pass


def test_work_that_is_done_raises_nothing() -> None:
    done: list[int] = []
    for _ in in_background(lambda: done.append(1), lambda: None):
        pass
    assert done == [1]
