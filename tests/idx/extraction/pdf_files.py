"""PDFs made for the tests: by fpdf2, and by hand where it writes no such thing."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from fpdf import FPDF

from idx.extraction.types import Extracted, ExtractionOptions
from idx.pdf.reader import extract_pdf

FRUIT = [["Name", "Amount", "Remark"], ["Apple", "3", "red"], ["Pear", "4", "green"]]
FRUIT_ROWS = "Name | Amount | Remark\nApple | 3 | red\nPear | 4 | green"

ENGINES = ("auto", "pdfium", "pdfplumber")
DATA = Path(__file__).parents[2] / "data"
HELLO = "BT /F1 12 Tf 20 200 Td (Hello river) Tj ET"
FOUR_CELLS = "".join(
    f"0 {100 + 20 * step} m 120 {100 + 20 * step} l S {60 * step} 100 m {60 * step} 140 l S "
    for step in range(3)
) + "".join(
    f"BT /F1 9 Tf {5 + 60 * column} {126 - 20 * row} Td (c{row}{column}) Tj ET "
    for row in range(2)
    for column in range(2)
)


def extract(file: Path, engine: str = "auto", password: str | None = None) -> Extracted:
    options = ExtractionOptions(pdf_engine=engine, pdf_password=password)
    return extract_pdf(file, file.read_bytes(), options)


def write_pdf(file: Path, write: Callable[[FPDF], object]) -> Path:
    pdf = FPDF()
    pdf.set_font("Helvetica", size=12)
    write(pdf)
    pdf.output(str(file))
    return file


def write_pages(file: Path, pages: Iterable[str]) -> Path:
    def write(pdf: FPDF) -> None:
        for page in pages:
            pdf.add_page()
            add_lines(pdf, page)

    return write_pdf(file, write)


def write_table(file: Path, rows: Sequence[Sequence[str]] = FRUIT) -> Path:
    def write(pdf: FPDF) -> None:
        pdf.add_page()
        add_table(pdf, rows)

    return write_pdf(file, write)


def add_lines(pdf: FPDF, text: str) -> None:
    pdf.multi_cell(0, text=text, new_x="LMARGIN", new_y="NEXT")


def add_table(pdf: FPDF, rows: Sequence[Sequence[str]], **options: float) -> None:
    with pdf.table(rows, **options):
        pass


def by_hand(file: Path, objects: dict[int, str | bytes], trailer: str = "/Root 1 0 R") -> Path:
    """A PDF of these objects, by number, without a table of where they stand."""
    parts = [b"%PDF-1.7\n"]
    for number, content in objects.items():
        body = content if isinstance(content, bytes) else content.encode("latin-1")
        parts.append(b"%d 0 obj\n%b\nendobj\n" % (number, body))
    parts.append(b"trailer\n<<%b>>\n%%%%EOF\n" % trailer.encode())
    file.write_bytes(b"".join(parts))
    return file


def pdf(*objects: bytes) -> bytes:
    """A PDF of objects whose numbers begin at 1, the first of which is the catalogue."""
    data = b"%PDF-1.7\n"
    offsets = []
    for number, content in enumerate(objects, 1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    size = len(objects) + 1
    return data + (
        b"xref\n0 %d\n0000000000 65535 f \n%b"
        b"trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (size, table, size, len(data))
    )


def stream(content: str, entries: str = "") -> bytes:
    data = content.encode("latin-1")
    return b"<<%b/Length %d>>\nstream\n%b\nendstream" % (entries.encode(), len(data), data)


def set_letters(objects: dict[int, str | bytes], mapping: str) -> None:
    """Give the font of pages a table of the characters that its codes stand for."""
    objects[4] = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 6 0 R>>"
    objects[6] = stream(
        f"begincmap 1 begincodespacerange <00> <ff> endcodespacerange\n{mapping} endcmap"
    )


def pages_by_hand(
    kids: Sequence[int], content: str, count: int | None = None, page: str = ""
) -> dict[int, str | bytes]:
    """A catalog, its pages with these numbers, which share one content, and a font."""
    listed = " ".join(f"{kid} 0 R" for kid in kids)
    return {
        1: "<</Type/Catalog/Pages 2 0 R>>",
        2: f"<</Type/Pages/Kids[{listed}]/Count {len(kids) if count is None else count}"
        "/MediaBox[0 0 300 300]/Resources<</Font<</F1 4 0 R>>>>>>",
        3: stream(content),
        4: "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        **dict.fromkeys(kids, f"<</Type/Page/Parent 2 0 R/Contents 3 0 R{page}>>"),
    }
