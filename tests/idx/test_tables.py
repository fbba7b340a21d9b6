"""Tables as people keep them: bank statements, reports, numbers as Excel displays them."""

import re
from datetime import datetime
from pathlib import Path

import pytest
import xlsxwriter  # type: ignore[import-untyped]

from idx.extraction.types import ExtractionOptions
from tests.conftest import Idx
from tests.idx.conftest import FILES, Read, extract
from tests.idx.files import make
from tests.idx.office.test_open_document import with_content

COMDIRECT = """Umsätze Girokonto
Buchungstag;Wertstellung (Valuta);Vorgang;Buchungstext;Umsatz in EUR
01.12.24;02.12.24;Lastschrift/Belastung;Einkauf Markt;-36,85
03.12.24;03.12.24;Entgelte;Gebühr;-17

Umsätze Tagesgeld PLUS-Konto
Keine Umsätze vorhanden.

Umsätze Depot
Buchungstag;Geschäftstag;Stück / Nom.;Bezeichnung;WKN;Währung;Ausführungskurs;Umsatz in EUR
06.12.24;05.12.24;10;Fonds Nord;ABC123;EUR;100,00;-1.000,00
"""
ING = """Umsatzanzeige;Datei erstellt am: 10.10.2026 09:00

IBAN;DE00 5001 0517 0000 0000 00
Kontoname;Girokonto
Bank;ING
Kunde;Erika Muster
Zeitraum;01.10.2026 - 10.10.2026
Saldo;1.234,56;EUR

Sortierung;Datum absteigend

In der CSV-Datei finden Sie alle bereits gebuchten Umsätze; vorgemerkte werden nicht aufgenommen.

Buchung;Wertstellung;Auftraggeber;Buchungstext;Verwendungszweck;Saldo;Währung;Betrag;Währung
06.10.2026;06.10.2026;Tankstelle;Lastschrift;Tanken;1.188,89;EUR;-61,25;EUR
"""
ITALIAN = """Conto corrente n. 000012345;;;;
Saldo iniziale al 01/02/2026;;;;12.345,67

Data contabile;Data valuta;Descrizione operazione;Dare;Avere
03/02/2026;03/02/2026;BONIFICO DA ROSSI MARIO;;1.220,00
05/02/2026;04/02/2026;PAGAMENTO FERRAMENTA;85,40;
Saldo finale al 28/02/2026;;;;12.346,43
"""
FRENCH = """Numéro de compte : 00012345678;Nom du compte : M. DUPONT;Devise : EUR;

Solde en fin de période;;;;1 234,56

Date;Numéro d'opération;Libellé;Débit;Crédit;Détail
28/03/24;0001234;PRLV EDF;-84,00;;Abonnement mars
05/03/24;0001235;VIREMENT SALAIRE;;+2 100,00;Société générale
"""
ENGLISH = """Account Name,Current Account
Account Number,****1234
Available Balance,"£1,234.56"

Date,Type,Description,Value,Balance
05 Mar 2024,DPC,"RENT, FLAT 2",-950.00,284.56
01 Mar 2024,BAC,SALARY ACME LTD,2100.00,1234.56
"""
TABS = """Kontoauszug\tGirokonto
Inhaber\tErika Muster
Stand\t31.03.2024

Datum\tText\tBetrag
01.03.2024\tMiete\t-950,00
02.03.2024\tStrom\t-84,00
\tSumme\t-1.034,00
"""
HEADLESS = "Bergmann;RE-2031;2024-04-01;1240\nLindner;RE-2032;2024-04-05;980\nMayr;RE-2033;;77\n"

STATEMENTS = {
    "comdirect.csv": (
        COMDIRECT,
        "cp1252",
        ["Vorgang: Entgelte | Buchungstext: Gebühr | Umsatz in EUR: -17", "WKN: ABC123"],
    ),
    "ing.csv": (
        ING,
        "utf-8-sig",
        ["\nKunde | Erika Muster\n", "Verwendungszweck: Tanken | Saldo: 1.188,89 | Währung: EUR"],
    ),
    "conto.csv": (
        ITALIAN,
        "utf-8",
        [
            "\nSaldo iniziale al 01/02/2026 | ",
            "PAGAMENTO FERRAMENTA | Dare: 85,40\n",
            "\nSaldo finale al 28/02/2026 | Avere: 12.346,43",
        ],
    ),
    "compte.csv": (
        FRENCH,
        "cp1252",
        ["Libellé: VIREMENT SALAIRE | Crédit: +2 100,00 | Détail: Société générale"],
    ),
    "account.csv": (
        ENGLISH,
        "utf-8",
        ["\nAccount Number | ****1234\n", "Description: RENT, FLAT 2 | Value: -950.00 | Balance:"],
    ),
    "tabs.csv": (TABS, "utf-16", ["\nStand | 31.03.2024\n", "\nText: Summe | Betrag: -1.034,00"]),
    "headless.csv": (HEADLESS, "utf-8", ["\nBergmann | RE-2031 | 2024-04-01 | 1240\n"]),
}


def shown(idx: Idx, name: str) -> str:
    return "\n" + idx("show", name).stdout


def test_values_of_bank_statements_are_behind_their_headings(idx: Idx) -> None:
    folder = make(idx.folder / "papers")
    for name, (text, encoding, _) in STATEMENTS.items():
        (folder / name).write_bytes(text.replace("\n", "\r\n").encode(encoding))
    idx("sync", folder)
    for name, (_, _, pieces) in STATEMENTS.items():
        text = shown(idx, name)
        assert [piece for piece in pieces if piece not in text] == [], (name, text)
        assert not re.search(r"(?:Girokonto|Kontoname|Account Name|2031): ", text), (name, text)
    # Lines are those of the file.
    assert "ing.csv, lines 1-15" in shown(idx, "ing.csv")


def rows(sheet: object, *written: object) -> None:
    for number, row in enumerate(written):
        sheet.write_row(number, 0, row)  # type: ignore[attr-defined]


def report(book: xlsxwriter.Workbook) -> None:
    sheet = book.add_worksheet("Bericht")
    rows(sheet, ["Umsatzbericht"], ["Stand", "31.03.2024"], [])
    sheet.merge_range("A4:A5", "Region")
    sheet.merge_range("B4:D4", "Umsatz")
    sheet.merge_range("E4:F4", "Kosten")
    sheet.write_row(4, 1, ["Jan", "Feb", "Mär", 2022, 2023])
    sheet.merge_range("A6:A7", "Nord")
    sheet.write_row(5, 1, [110, 120, 130, 91, 92])
    sheet.write_row(6, 1, [111, 121, 131, 81, 82])
    rows(years := book.add_worksheet("Jahre"), ["Region", 2022, 2023], ["Nord", 10, 12])
    years.write_row(2, 0, ["Süd", 7, 9])
    headless = book.add_worksheet("Ohne")
    rows(headless, ["Bergmann", "RE-2031", 1240], ["Lindner", "RE-2032", 980])
    rows(
        book.add_worksheet("Zwei"),
        *(["Artikel", "Preis"], ["Schraube", 0.12], ["Mutter", 0.08], []),
        *(["Lager Süd"], ["Ort", "Leiter", "Bestand"], ["Ulm", "Anna", 12], ["Bonn", "Bo", 8]),
    )


def test_headings_of_reports_are_found_wherever_they_are(idx: Idx) -> None:
    folder = make(idx.folder / "papers")
    with xlsxwriter.Workbook(folder / "report.xlsx") as book:
        report(book)
    (folder / "report.xls").write_bytes((FILES / "report.xls").read_bytes())
    cell = "<table:table-cell{}><text:p>{}</text:p></table:table-cell>".format
    covered = "<table:covered-table-cell/>"
    lines = (
        cell("", "Verbrauch"),
        "",
        cell(' table:number-rows-spanned="2"', "Haus")
        + cell(' table:number-columns-spanned="2"', "Strom")
        + covered,
        covered + cell("", "Jan") + cell("", "Feb"),
        cell(' table:number-rows-spanned="2"', "Ost") + cell("", "12") + cell("", "13"),
        covered + cell("", "14") + cell("", "15"),
    )
    sheet = "".join(f"<table:table-row>{line}</table:table-row>" for line in lines)
    content = f'<table:table table:name="V">{sheet}</table:table>'
    (folder / "report.ods").write_bytes(with_content("book.ods", "spreadsheet", content))
    idx("sync", folder)
    text = shown(idx, "report.xlsx")
    for line in (
        "Stand | 31.03.2024",
        *("Region: Nord | Umsatz Jan: 110 | Umsatz Feb: 120 | Umsatz Mär: 130 | Kosten 2022: 91",),
        *("Region: Nord | Umsatz Jan: 111 | Umsatz Feb: 121 | Umsatz Mär: 131 | Kosten 2022: 81",),
        *("Region: Süd | 2022: 7 | 2023: 9", "Lindner | RE-2032 | 980"),
        *("Artikel: Mutter | Preis: 0,08", "Lager Süd", "Ort: Ulm | Leiter: Anna | Bestand: 12"),
    ):
        assert f"\n{line}" in text, text
    for line in (
        *("Umsatzbericht", "Region: Nord | Umsatz Jan: 110 | Umsatz Feb: 120 | Kosten Jan: 91"),
        "Region: Nord | Umsatz Jan: 210",
    ):
        assert f"\n{line}" in shown(idx, "report.xls")
    for line in ("Haus: Ost | Strom Jan: 12 | Strom Feb: 13", "Haus: Ost | Strom Jan: 14"):
        assert f"\n{line}" in shown(idx, "report.ods")


FORMATS = [
    (1067, "00000", "01067 (1067)"),
    (42, '"RE-"0000', "RE-0042 (42)"),
    (78051120, r"000\-00\-0000", "078-05-1120"),
    (5550188, r"[<=9999999]###\-####;\(###\)\ ###\-####", "555-0188"),
    (1234.5, '#,##0.00\\ "€"', "1.234,50 €"),
    (-1234.5, '#,##0.00\\ "€";[Red]\\-#,##0.00\\ "€"', "-1.234,50 €"),
    (1234567, "#,##0,", "1.235 (1234567)"),
    (0.0712, "0.0%", "7,1% (7,12%)"),
    (12345, "0.00E+00", "1,23E+04 (12345)"),
    (2.75, "# ?/?", "2 3/4 (2,75)"),
    (0, '0.00;-0.00;"keine"', "keine (0)"),
    (815, "@", "815"),
    (45356, r"[$-407]d/\ mmmm\ yyyy", "5/ März 2024 (2024-03-05)"),
    (45356, r"dddd\,\ dd\.mm\.yy", "Dienstag, 05.03.24 (2024-03-05)"),
    (45356.75, "dd/mm/yyyy hh:mm", "05/03/2024 18:00 (2024-03-05 18:00:00)"),
    (0.75, "hh:mm", "18:00:00"),
    (1.5, "[h]:mm", "36:00:00"),
]


@pytest.mark.parametrize(
    ("pattern", "displayed"),
    [
        ("[$CHF-807]\\ #,##0.00", "CHF 1\u2019234.50"),
        ("[$\u20ac-407]\\ #,##0.00", "\u20ac 1.234,50"),
        ("[$$-80A]#,##0.00", "$1,234.50"),
    ],
)
def test_a_format_tells_the_signs_of_its_country(
    tmp_path: Path, pattern: str, displayed: str
) -> None:
    with xlsxwriter.Workbook(tmp_path / "a.xlsx") as book:
        sheet = book.add_worksheet("S")
        sheet.write_row(0, 0, ["Was", "Wert"])
        sheet.write(1, 0, "Bolzen")
        sheet.write_number(1, 1, 1234.5, book.add_format({"num_format": pattern}))
    assert extract(tmp_path / "a.xlsx", ExtractionOptions()).text.endswith(f"Wert: {displayed}")


def test_numbers_are_as_excel_displays_them_and_found_as_stored(idx: Idx) -> None:
    folder = make(idx.folder / "papers")
    with xlsxwriter.Workbook(folder / "a.xlsx") as book:
        sheet = book.add_worksheet("S")
        sheet.write_row(0, 0, ["Was", "Wert"])
        for number, (value, pattern, _) in enumerate(FORMATS, start=1):
            sheet.write(number, 0, f"Zeile {chr(64 + number)}")
            sheet.write_number(number, 1, value, book.add_format({"num_format": pattern}))
    with xlsxwriter.Workbook(folder / "us.xlsx") as book:
        sheet = book.add_worksheet("S")
        sheet.write_row(0, 0, ["Item", "Price", "Due", "Share"])
        sheet.write(1, 0, "Bolt")
        for column, (value, pattern) in enumerate(
            [(1234.5, "$#,##0.00"), (45356, "[$-409]mmm d, yyyy"), (0.25, "0%")], start=1
        ):
            sheet.write_number(1, column, value, book.add_format({"num_format": pattern}))
    typed = (
        '<table:table-cell office:value-type="{}" office:{}="{}"><text:p>{}</text:p>'
        "</table:table-cell>"
    ).format
    name = "<table:table-cell><text:p>{}</text:p></table:table-cell>".format
    lines = (
        "".join(map(name, ("Kunde", "PLZ", "Umsatz", "Datum"))),
        name("Berg")
        + typed("float", "value", "1069", "01069")
        + typed("currency", "value", "1234.5", "1.234,50 €")
        + typed("date", "date-value", "2024-03-05", "05.03.24"),
    )
    sheet = "".join(f"<table:table-row>{line}</table:table-row>" for line in lines)
    content = f'<table:table table:name="S">{sheet}</table:table>'
    (folder / "a.ods").write_bytes(with_content("book.ods", "spreadsheet", content))
    idx("sync", folder)
    text = shown(idx, "a.xlsx")
    for number, (_, pattern, wanted) in enumerate(FORMATS, start=1):
        assert f"Was: Zeile {chr(64 + number)} | Wert: {wanted}\n" in text, (pattern, text)
    assert "Price: $1,234.50 | Due: Mar 5, 2024 (2024-03-05) | Share: 25%" in shown(idx, "us.xlsx")
    assert "PLZ: 01069 (1069) | Umsatz: 1.234,50 € | Datum: 05.03.24 (2024-03-05)" in shown(
        idx, "a.ods"
    )
    for query in ("01067", "1067", "RE-0042", "78051120", "1234.5", "2024-03-05", "1234567"):
        assert "a.xlsx" in idx("search", query).stdout, query


def test_a_table_of_many_sparse_rows_keeps_its_headings(read: Read) -> None:
    written = ["Name;Telefon;Ort;Alter"]
    for number in range(200):
        written += [f"Maier {number};0{number}7712345;Ulm;{number % 60}"] * 9
        written += ["", f"Nord {number};;;"] if number % 2 else [f"Süd {number};;;"]
        written.append(f"Lind {number};0{number}8812345;Ulm;{number % 50}")
        written.append("Huber;unbekannt;Köln;keine Angabe")
    text = read("a.csv", "\n".join(written)).text
    assert "Name: Maier 199 | Telefon: 01997712345 | Ort: Ulm | Alter: 19" in text
    assert "Huber: " not in text


@pytest.mark.parametrize("pattern", ["General", "@", "0.00;;", ";;;", ""])
def test_a_format_that_displays_nothing_keeps_the_number(tmp_path: Path, pattern: str) -> None:
    with xlsxwriter.Workbook(tmp_path / "a.xlsx", {"default_date_format": "dd.mm.yyyy"}) as book:
        sheet = book.add_worksheet("S")
        sheet.write_row(0, 0, ["Name", "Value", "When"])
        sheet.write_number(1, 1, -4711.5, book.add_format({"num_format": pattern}))
        sheet.write_datetime(1, 2, datetime(2025, 3, 1))
    text = extract(tmp_path / "a.xlsx", ExtractionOptions()).text
    assert "Value: -4711.5 | When: 01.03.2025 (2025-03-01)" in text
