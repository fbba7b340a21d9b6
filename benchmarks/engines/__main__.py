"""This project side by side with plain Lucene on the same chunks: time, space and memory.

Each engine writes and searches in processes of its own, with data that is made beforehand. The
machine should be idle. It prints the figures as JSON.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Final

from benchmarks.engines import quick
from benchmarks.engines.catalogue import engines
from benchmarks.engines.data import Queries
from benchmarks.engines.java import CompilerMissingError, PlainLucene
from benchmarks.engines.measuring import RUN, measured

SIZES: Final = (10_000, 100_000)


def main() -> None:
    """Measure, and write the page; or compare a few figures with their bounds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--sizes",
        type=int,
        nargs="*",
        default=SIZES,
        help="numbers of chunks",
    )
    parser.add_argument(
        "--folder",
        type=Path,
        help="keep texts and indexes here, 16 GB for 1,000,000 chunks, "
        "and write only those that are not there yet",
    )
    parser.add_argument("--quick", action="store_true", help="only look for regressions")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        try:
            compared = engines(PlainLucene.compiled(Path(temporary) / "plain-lucene.jar"))
        except CompilerMissingError as error:
            sys.exit(f"Error: {error}")
        if arguments.quick:
            sys.exit("\n".join(quick.broken(Path(temporary) / "data", compared)) or None)
        folder = arguments.folder or Path(temporary)
        for size in sorted(arguments.sizes):
            run = measured(folder / str(size), size, compared, Queries())
            print(RUN.dump_json(run, indent=1).decode())


if __name__ == "__main__":
    main()
