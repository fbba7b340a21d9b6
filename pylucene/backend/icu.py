"""ICU's jar without the data that Lucene never reads: names and formats of CLDR.

Lucene uses ICU to divide, normalize, transliterate, fold and sort text. The names of languages,
regions, currencies, units and time zones, the rules that spell out numbers, and the formats of each
locale are nearly half of the jar; root.res, to which ICU falls back, stays.
"""

import re
import zipfile
from pathlib import Path

from .console import BuildError

_UNUSED = re.compile(
    r"com/ibm/icu/impl/data/icudata/"
    r"((curr|lang|rbnf|region|unit|zone)/.*|(?!res_index\.)[a-z]{2,3}(_\w+)?\.res)"
)

# The first moment that an entry can have, so that two builds give the same bytes.
_MOMENT = (1980, 1, 1, 0, 0, 0)


def trim(jar: Path) -> None:
    """Write the jar again without the data that Lucene never reads."""
    trimmed = jar.with_suffix(".trimmed")
    with (
        zipfile.ZipFile(jar) as whole,
        zipfile.ZipFile(trimmed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as parts,
    ):
        files = [name for name in whole.namelist() if not name.endswith("/")]
        kept = [name for name in files if not _UNUSED.fullmatch(name)]
        if len(kept) == len(files):
            raise BuildError(f"{jar.name} has its data in other places than those that are known")
        for name in kept:
            entry = zipfile.ZipInfo(name, _MOMENT)
            entry.create_system = 3  # Unix, on whatever system the build runs
            parts.writestr(entry, whole.read(name), zipfile.ZIP_DEFLATED, 9)
    trimmed.replace(jar)
