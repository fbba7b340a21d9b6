"""Packages of Office Open XML made for the tests, part by part, as no library writes them."""

from collections.abc import Mapping

from tests.idx.files import zipped

TRANSITIONAL = "http://schemas.openxmlformats.org/"
STRICT = "http://purl.oclc.org/ooxml/"

_MAIN = {
    "wo": "wordprocessingml.document",
    "pp": "presentationml.presentation",
    "xl": "spreadsheetml.sheet",
}


def namespaces(base: str) -> str:
    """Declarations of the namespaces of transitional or strict documents."""
    year = "" if base == STRICT else "2006/"
    main = {"w": "wordprocessingml", "p": "presentationml", "x": "spreadsheetml", "a": "drawingml"}
    return " ".join(
        (
            *(f'xmlns:{prefix}="{base}{name}/{year}main"' for prefix, name in main.items()),
            f'xmlns:r="{base}officeDocument/{year}relationships"',
        )
    )


def relationships(base: str, **links: str) -> str:
    """Relationships of a part: the kind of each, and its target; ids are ``r`` and their number."""
    year = "" if base == STRICT else "2006/"
    listed = "".join(
        f'<Relationship Id="r{number}" Type="{base}officeDocument/{year}relationships/'
        f'{kind.partition("_")[0]}" Target="{target}"/>'
        for number, (kind, target) in enumerate(links.items(), start=1)
    )
    url = "http://schemas.openxmlformats.org/package/2006/relationships"
    return f'<Relationships xmlns="{url}">{listed}</Relationships>'


def package(main: str, parts: dict[str, str | bytes], base: str = TRANSITIONAL) -> bytes:
    """An archive of parts, in which NS stands for the declarations of namespaces."""
    kind = f"application/vnd.openxmlformats-officedocument.{_MAIN[main[:2]]}.main+xml"
    url = "http://schemas.openxmlformats.org/package/2006/content-types"
    written = {
        "[Content_Types].xml": f'<Types xmlns="{url}"><Default Extension="xml" ContentType='
        f'"application/xml"/><Override PartName="/{main}" ContentType="{kind}"/></Types>',
        "_rels/.rels": relationships(base, officeDocument=main),
        **parts,
    }
    declared = namespaces(base)
    return zipped(
        **{
            part: content.replace("NS", declared) if isinstance(content, str) else content
            for part, content in written.items()
        }
    )


def docx(
    body: str,
    *,
    numbering: str = "",
    styles: str = "",
    base: str = TRANSITIONAL,
    links: Mapping[str, str] | None = None,
    parts: Mapping[str, str | bytes] | None = None,
) -> bytes:
    """A Word document of a body and its definitions; further relationships come after two."""
    listed = {"numbering": "numbering.xml", "styles": "styles.xml", **(links or {})}
    written: dict[str, str | bytes] = {
        "word/document.xml": f"<w:document NS><w:body>{body}</w:body></w:document>",
        "word/_rels/document.xml.rels": relationships(base, **listed),
        "word/numbering.xml": f"<w:numbering NS>{numbering}</w:numbering>",
        "word/styles.xml": f"<w:styles NS>{styles}</w:styles>",
    }
    return package("word/document.xml", written | dict(parts or {}), base)


def paragraph(text: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def item(text: str, level: int = 0, list_id: int = 1, properties: str = "") -> str:
    """A numbered paragraph."""
    place = f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{list_id}"/></w:numPr>'
    return paragraph(text, place + properties)


def level(place: int, form: str, text: str, more: str = "", start: int = 1) -> str:
    return (
        f'<w:lvl w:ilvl="{place}"><w:start w:val="{start}"/><w:numFmt w:val="{form}"/>{more}'
        f'<w:lvlText w:val="{text}"/></w:lvl>'
    )


def definition(*levels: str, name: int = 0, more: str = "") -> str:
    content = "".join(levels)
    return f'<w:abstractNum w:abstractNumId="{name}">{more}{content}</w:abstractNum>'


def numbered(list_id: int = 1, name: int = 0, more: str = "") -> str:
    return f'<w:num w:numId="{list_id}"><w:abstractNumId w:val="{name}"/>{more}</w:num>'


def style(name: str, properties: str = "", *, title: str = "", based_on: str = "") -> str:
    return (
        f'<w:style w:type="paragraph" w:styleId="{name}"><w:name w:val="{title or name}"/>'
        f'<w:basedOn w:val="{based_on}"/><w:pPr>{properties}</w:pPr></w:style>'
    )
