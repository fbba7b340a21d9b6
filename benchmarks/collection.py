"""The test collection that benchmarks measure on, the Cranfield collection by default."""

import argparse
from pathlib import Path
from typing import Final, Self

DATA: Final = Path(__file__).parents[2] / "shared" / "data"
COLLECTION: Final = DATA / "cranfield"
NAMES: Final = ("cranfield", "cacm", "cisi")


class Collection:
    """The files of a test collection, in the formats of `idx eval`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.documents = self.folder / "documents.jsonl"
        self.queries = self.folder / "queries.jsonl"
        self.judgements = self.folder / "qrels.tsv"

    @classmethod
    def from_arguments(cls, description: str | None) -> Self:
        """The collection that the command line names."""
        parser = argparse.ArgumentParser(description=description)
        parser.add_argument("--folder", type=Path, default=COLLECTION, help="see idx eval")
        found = cls(parser.parse_args().folder)
        files = (found.documents, found.queries, found.judgements)
        missing = [file.name for file in files if not file.is_file()]
        if missing:
            parser.error(
                f"no test collection in {found.folder}: {', '.join(missing)} missing; "
                "name one by --folder"
            )
        return found


def collections() -> list[Collection]:
    """The three collections on which all constants of ranking are chosen together."""
    return [Collection(DATA / name) for name in NAMES]
