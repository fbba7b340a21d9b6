"""Calendars and cards: entries as sections."""

from tests.idx.conftest import Read

ICS = """BEGIN:VCALENDAR\r
X-WR-CALNAME:Team\r
BEGIN:VTIMEZONE\r
TZID:Europe/Berlin\r
END:VTIMEZONE\r
BEGIN:VEVENT\r
SUMMARY:Boiler inspection\\, cellar\r
DTSTART;TZID=Europe/Berlin:20250301T100000\r
DTEND:20250301T110000Z\r
LOCATION:Harbour St\r
 reet 5\r
ORGANIZER;CN="Ruiz, Ana":mailto:ana@a.example\r
DESCRIPTION:Bring the\\nkey.\r
BEGIN:VALARM\r
DESCRIPTION:not this\r
END:VALARM\r
END:VEVENT\r
this is not a line\r
END:VCALENDAR\r
"""
VCF = """BEGIN:VCARD
VERSION:2.1
FN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:J=C3=BCrgen =
M=C3=BCller
ORG:Otterline;Pumps
TEL;HOME;VOICE:+49 30 1234
item1.EMAIL:jm@a.example
ADR;HOME:;;Hauptstr. 1;Berlin;;10115;
PHOTO;ENCODING=b;TYPE=JPEG:/9j/4AAQSkZJRg
END:VCARD
"""


def test_events_are_sections(read: Read) -> None:
    calendar = read("a.ics", ICS)
    assert calendar.text == (
        "Boiler inspection, cellar\n"
        "Begins: 2025-03-01 10:00 Europe/Berlin\n"
        "Ends: 2025-03-01 11:00 UTC\n"
        "Location: Harbour Street 5\n"
        "Organizer: Ruiz, Ana <ana@a.example>\n"
        "Bring the\nkey."
    )
    assert calendar.title == "Team"
    assert [heading.text for heading in calendar.headings] == ["Boiler inspection, cellar"]


def test_a_card_is_read_without_its_picture(read: Read) -> None:
    card = read("a.vcf", VCF)
    assert card.text == (
        "Jürgen Müller\nOrganization: Otterline, Pumps\nTelephone: +49 30 1234\n"
        "E-mail: jm@a.example\nAddress: Hauptstr. 1, Berlin, 10115"
    )
    assert card.title == "Jürgen Müller"


def test_genetic_variants_have_the_same_extension(read: Read) -> None:
    variants = "##fileformat=VCFv4.3\n#CHROM\tPOS\n20\t14370\n"
    assert read("a.vcf", variants).text == variants
