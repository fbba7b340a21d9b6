"""XML: prose without tags, data as it is, lines as in the file."""

import time

import pytest

from tests.idx.conftest import Read

ARTICLE = """<?xml version="1.0"?>
<!DOCTYPE article [<!ENTITY secret SYSTEM "file:///etc/passwd">]>
<article><title>Wells &amp; pumps</title>
<para role="a > b">Water, H<sub>2</sub>O, comes from the
<emphasis>well</emphasis> behind the house&#33; &secret;</para>
<!-- a comment
--><row><entry>Oslo</entry><entry>2024</entry></row>
<para><![CDATA[if a < b]]> and so on, until the end of the paragraph is reached,
which takes a while, because prose has many words and few tags, unlike the settings
of a program.</para>
</article>
"""


def test_prose_is_read_without_tags(read: Read) -> None:
    extracted = read("a.xml", ARTICLE)
    lines = extracted.text.split("\n")
    assert lines[2].strip() == "Wells & pumps"
    assert lines[3].strip() == "Water, H2O, comes from the"
    assert lines[4] == "well behind the house! &secret;"
    assert lines[6].strip() == "Oslo 2024"
    assert lines[7].startswith("if a < b and so on")
    assert (extracted.title, extracted.is_own_text) == ("Wells & pumps", True)


def test_settings_stay_as_they_are(read: Read) -> None:
    settings = (
        '<settings>\n  <property name="url" value="jdbc:h2"/>\n  <port>80</port>\n</settings>'
    )
    assert read("pom.xml", settings).text == settings


@pytest.mark.soak
@pytest.mark.parametrize(
    "piece", ["<!DOCTYPE [", "<a b='", '<a b="', "<!--", "<![CDATA[", "<a ", "&#", "<?"]
)
def test_hostile_markup_takes_no_longer(read: Read, piece: str) -> None:
    def seconds(pieces: int) -> float:
        started = time.process_time()
        read("a.xml", piece * pieces)
        return time.process_time() - started

    # Ten times as much takes ten times as long, and not a hundred times.
    assert seconds(50_000) < 30 * max(seconds(5_000), 0.02)
