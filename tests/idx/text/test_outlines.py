"""LaTeX, Org, reStructuredText and AsciiDoc: the text as it is, with its headings."""

import pytest

from tests.idx.conftest import Read

LATEX = r"""\documentclass{article}
\title{Wells \& \emph{pumps}}
\author{Ana Ruiz \and Bo Li}
% \section{Not this one}
\begin{document}
\section[Short]{The \textbf{deep} well}
Water.
\subsection*{Pumps}
\end{document}
"""
ORG = """#+TITLE: Garden
#+AUTHOR: Ana
#+FILETAGS: :water:soil:
* TODO [#A] Dig a well :work:
Text with *bold* words.
** Pumps
"""
RST = """======
Manual
======

Wells
=====

Water.

Pumps
-----

===  ===
A    B
===  ===

A paragraph
that has two lines
------------------

Soil
====
"""
ASCIIDOC = "= Manual\n\n== Wells\n\n----\ncode\n----\n\n=== Pumps\n"


@pytest.mark.parametrize(
    ("name", "text", "title", "headings"),
    [
        ("a.tex", LATEX, "Wells & pumps", [(3, "The deep well"), (4, "Pumps")]),
        ("a.org", ORG, "Garden", [(1, "Dig a well"), (2, "Pumps")]),
        ("a.rst", RST, "Manual", [(1, "Manual"), (2, "Wells"), (3, "Pumps"), (2, "Soil")]),
        ("a.adoc", ASCIIDOC, "Manual", [(1, "Manual"), (2, "Wells"), (3, "Pumps")]),
    ],
)
def test_headings_are_found_and_the_text_stays(
    read: Read, name: str, text: str, title: str, headings: list[tuple[int, str]]
) -> None:
    extracted = read(name, text)
    assert (extracted.text, extracted.is_own_text, extracted.title) == (text, True, title)
    assert [(heading.level, heading.text) for heading in extracted.headings] == headings
    for heading in extracted.headings:
        assert heading.text.split()[-1] in extracted.text[heading.start :].split("\n")[0]


def test_they_say_who_wrote_them(read: Read) -> None:
    assert read("a.tex", LATEX).metadata == {"author": "Ana Ruiz, Bo Li"}
    assert read("a.org", ORG).metadata == {"author": "Ana", "keywords": ["water", "soil"]}
