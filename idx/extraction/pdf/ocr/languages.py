"""Languages of OCR: those of the documents of a folder, by the names of Tesseract's data."""

from collections.abc import Collection, Mapping
from typing import Final

MIN_DOCUMENTS: Final = 10
"""Minimum number of documents of known languages by which those of their scans are guessed."""

_MIN_SHARE: Final = 0.05
"""Minimum share of the documents that are in a language; each language takes time on each page."""

_OTHER_NAMES: Final = {"ku": "kmr", "sr": "srp srp_latn", "zh": "chi_sim chi_tra"}
"""Names that are no codes of ISO 639-2, by the code of ISO 639-1."""

_CODES: Final = (
    "af=afr am=amh ar=ara as=asm az=aze be=bel bg=bul bn=ben bo=bod br=bre bs=bos ca=cat co=cos "
    "cs=ces cy=cym da=dan de=deu dv=div dz=dzo el=ell en=eng eo=epo es=spa et=est eu=eus fa=fas "
    "fi=fin fo=fao fr=fra fy=fry ga=gle gd=gla gl=glg gu=guj he=heb hi=hin hr=hrv ht=hat hu=hun "
    "hy=hye id=ind is=isl it=ita iu=iku ja=jpn jv=jav ka=kat kk=kaz km=khm kn=kan ko=kor ky=kir "
    "la=lat lb=ltz lo=lao lt=lit lv=lav mi=mri mk=mkd ml=mal mn=mon mr=mar ms=msa mt=mlt my=mya "
    "ne=nep nl=nld no=nor oc=oci or=ori pa=pan pl=pol ps=pus pt=por qu=que ro=ron ru=rus sa=san "
    "sd=snd si=sin sk=slk sl=slv sq=sqi su=sun sv=swe sw=swa ta=tam te=tel tg=tgk th=tha ti=tir "
    "to=ton tr=tur tt=tat ug=uig uk=ukr ur=urd uz=uzb vi=vie yi=yid yo=yor"
)
"""Codes of ISO 639-1 and 639-2 of the languages that Tesseract has data for."""

_NAMES: Final = {
    **{code: (name,) for code, name in (pair.split("=") for pair in _CODES.split())},
    **{code: tuple(names.split()) for code, names in _OTHER_NAMES.items()},
}


def languages_for(
    documents: Mapping[str, int], installed: Collection[str], most: int
) -> str | None:
    """Return the languages to read scans with, by those of the documents beside them.

    They are in alphabetical order, so that they change, and pages are read again, as rarely as
    possible.

    Args:
        documents: the number of documents by language, as ISO 639-1 has it.
        installed: the languages that Tesseract can read.
        most: maximum number of languages.

    Returns:
        The languages, by Tesseract's names, with ``+`` between them; None if there are too few
        documents, or Tesseract can read none of their languages.
    """
    total = sum(documents.values())
    if total < MIN_DOCUMENTS:
        return None
    frequent = [
        code
        for code in sorted(documents, key=lambda code: -documents[code])
        if documents[code] >= _MIN_SHARE * total
    ]
    names = [name for code in frequent for name in _NAMES.get(code, ()) if name in installed]
    return "+".join(sorted(names[:most])) or None
