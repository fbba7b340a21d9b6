"""Jupyter notebooks: cells with their outputs, without pictures."""

import json

import pytest

from idx.errors import SourceFileError
from tests.idx.conftest import Read

PICTURE = "iVBORw0KGgo" * 100
CELLS = [
    {"cell_type": "markdown", "source": ["# Rainfall\n", "in Oslo\n", f"![x]({PICTURE})"]},
    {
        "cell_type": "code",
        "source": "rain.plot()",
        "outputs": [
            {"output_type": "stream", "text": ["10 %\r", "100 %\n"]},
            {
                "output_type": "display_data",
                "data": {"image/png": PICTURE, "text/plain": ["<Figure 1>"]},
            },
            {
                "output_type": "error",
                "ename": "KeyError",
                "traceback": ["\x1b[31mKeyError\x1b[0m: 7"],
            },
        ],
    },
]


def test_cells_and_outputs_are_text_in_order(read: Read) -> None:
    extracted = read("a.ipynb", json.dumps({"nbformat": 4, "cells": CELLS, "metadata": {}}))
    assert extracted.text == (
        "# Rainfall\nin Oslo\n![x]()\n\nrain.plot()\n\n100 %\n\n<Figure 1>\n\nKeyError: 7"
    )
    assert extracted.title == "Rainfall"
    assert [(heading.text, heading.start) for heading in extracted.headings] == [("Rainfall", 0)]


def test_version_3_has_worksheets(read: Read) -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": "Snow"},
        {"cell_type": "code", "input": "1 + 1", "outputs": [{"output_type": "pyout", "text": "2"}]},
    ]
    extracted = read("a.ipynb", json.dumps({"worksheets": [{"cells": cells}]}))
    assert extracted.text == "## Snow\n\n1 + 1\n\n2"
    assert [heading.level for heading in extracted.headings] == [2]


@pytest.mark.parametrize("text", ["{", "[]", '{"a": 1}', "[" * 100_000])
def test_what_is_no_notebook_is_damaged(read: Read, text: str) -> None:
    with pytest.raises(SourceFileError, match=r"damaged notebook|nested too deeply"):
        read("a.ipynb", text)


def test_cells_of_any_type_are_read(read: Read) -> None:
    cells = [7, None, {"source": {"a": 1}}, {"outputs": [3, {"data": 4}]}, {"source": "kept"}]
    assert read("a.ipynb", json.dumps({"cells": cells, "metadata": 5})).text == "kept"
