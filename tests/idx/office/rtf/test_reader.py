import pytest

from tests.idx.conftest import Read


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (r"one\par two\line three\tab four", "one\n\ntwo\nthree four"),
        ("plain \\b bold\\b0  wo\nrd", "plain bold word"),
        (r"caf\'e9 \'80 \ldblquote x\rdblquote\emdash\~y \_ \{\}\\", "café € “x”— y - {}\\"),
        (r"\u8364? \u-10179?\u-8704? {\uc0\u233}{\uc2\u233\'65\'65}e", "€ 😀 éée"),
        (r"{\f1 \'cf\'f0\'e8\'e2\'e5\'f2} \'e9", "Привет é"),
        (r"{\f2\'93\'fa\'96\'7b}", "日本"),
        (r"a{\*\unknown b}{\pict 00ff}{\v hidden}{\deleted gone}\v no\v0 c", "ac"),
        (r"a{\field{\*\fldinst HYPERLINK x}{\fldrslt link}}", "alink"),
        (r"{\header top}a{\footnote note}b{\*\annotation said}", "ab\n\ntop\n\nnote\n\nsaid"),
        (r"{\listtext 1.\tab}item{\*\bkmkstart x}", "1. item"),
        (r"a{\pict\bin5 }{}{}}b", "ab"),
        (
            r"b\par\pard\intbl c\par\pard\intbl d\cell\cell e\cell\row\intbl f\cell\row\pard g",
            "b\n\nc d | | e\nf\n\ng",
        ),
        (r"exam\-ple exam\u173?ple", "example example"),
        # What stands for a character in Unicode may have a name, too.
        (r"a\u8212\emdash text\u8209\_x", "a\u2014text\u2010x"),
        (r"\u8226\tab Item\u8230\par Next", "\u2022 Item...\n\nNext"),
        (
            r"a{\footnote\intbl b\cell c\cell\row\intbl d\cell\row\pard e}\par\intbl f\cell\row",
            "a\n\nf\n\nb | c\nd\n\ne",
        ),
        (
            r"{\upr{gro\'df?}{\*\ud{gro\u223?\u8364?}}}!{\footnote{\upr{n}{\*\ud{o}}}}",
            "groß€!\n\no",
        ),
        (r"one \v hidden\plain  shown {\f1 \'cf\plain \'e9}", "one shown П\xe9"),
    ],
)
def test_words_of_rich_text_are_read(read: Read, body: str, text: str) -> None:
    data = (
        r"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fcharset0 A;}{\f1\fcharset204 B{\*\falt C};}"
        r"{\f2\fcharset128 D;}}{\colortbl;\red0;}{\stylesheet{\s1 Normal;}}" + body + "}after it"
    )
    extracted = read("a.rtf", data)
    assert extracted.text == text
    assert extracted.warnings == ()


def test_rich_text_may_hold_any_bytes(read: Read) -> None:
    assert read("a.rtf", b"{\\rtf1 a{\\pict\\bin8 \0\0%PDF-}}b\0}").text == "ab"


def test_properties_of_rich_text_are_read(read: Read) -> None:
    extracted = read(
        "a.rtf",
        r"{\rtf1\ansi{\*\generator Writer 1;}{\info{\title G\'e4rten}{\author Ana}{\subject S}"
        r"{\keywords a, b}{\creatim\yr2025\mo3\dy1\hr10\min5}{\revtim\yr0\mo0\dy0}}text}",
    )
    assert (extracted.text, extracted.title) == ("text", "Gärten")
    assert extracted.metadata == {
        "author": "Ana",
        "subject": "S",
        "keywords": ["a", "b"],
        "creator": "Writer 1",
        "created": "2025-03-01T10:05:00",
    }


def test_truncated_rich_text_is_read_with_a_warning(read: Read) -> None:
    extracted = read("a.rtf", r"{\rtf1\ansi one {\b two")
    assert extracted.text == "one two"
    assert extracted.warnings == ("it ends in the middle; the rest is missing",)


def test_rich_text_of_any_depth_is_read(read: Read) -> None:
    assert (
        read("a.rtf", r"{\rtf1 " + "{" * 200_000 + "deep" + "}" * 200_000 + " x}").text == "deep x"
    )


def test_plain_text_is_in_the_default_font(read: Read) -> None:
    fonts = r"{\fonttbl{\f0\fcharset204 B;}{\f1\fcharset0 A;}}"
    data = r"{\rtf1\ansi\deff0" + fonts + r"{\f1 \'e9\plain \'cf\'f0}}"
    assert read("a.rtf", data).text == "éПр"


def test_a_property_in_two_forms_is_one(read: Read) -> None:
    data = r"{\rtf1{\info{\upr{\title Gro\'df}{\*\ud{\title Gro\u223?\u8364?}}}{\author A}}text}"
    extracted = read("a.rtf", data)
    assert (extracted.title, extracted.metadata["author"]) == ("Groß€", "A")
    assert extracted.text == "text"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be"])
def test_rich_text_that_an_editor_has_saved_is_read(read: Read, encoding: str) -> None:
    mark = "\ufeff" if encoding.endswith("be") else ""
    data = (mark + r"{\rtf1\ansi caf\'e9\par two}").encode(encoding)
    assert read("a.rtf", data).text == "café\n\ntwo"
