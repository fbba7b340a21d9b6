"""The tables of the corpus in docs/measured/extraction.md, which ``python -m tests.corpus`` writes.

``make soak`` downloads the corpus.
"""

import tempfile
from pathlib import Path

from benchmarks.page import write_figures
from tests.corpus.reading import OUTCOMES, SOURCES, compare, sync, unpack


def main() -> None:
    """Read the corpus, and write both tables."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "corpus"
        unpack(folder)
        groups = sync(folder, Path(name) / "index").by_group()
        compared = list(compare(folder))
    write_figures(
        "extraction.md",
        [
            f"| files of {len([*SOURCES.iterdir()])} projects | all | {' | '.join(OUTCOMES)} |",
            f"|---|---:|{'---:|' * len(OUTCOMES)}",
            *(
                f"| {group} | {counts.total()} | "
                + " | ".join(str(counts[outcome] or "") for outcome in OUTCOMES)
                + " |"
                for group, counts in groups.items()
            ),
        ],
        writer="tests.corpus",
    )
    write_figures(
        "extraction.md",
        [
            "| PDF | made by | pages | rows of tables | words of pdfium | not in auto |",
            "|---|---|---:|---:|---:|---:|",
            *(
                f"| {each.name} | {each.creator[:40].replace('|', ' ')} | {each.pages} | "
                f"{each.rows} | {each.words:,} | {each.lost} |"
                for each in compared
            ),
        ],
        writer="tests.corpus, tables",
    )


if __name__ == "__main__":
    main()
