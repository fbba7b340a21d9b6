"""Secrets in the content of a file: private keys and tokens of shapes that are known.

Only what its own form gives away is recognized, so that a text about keys stays a document: a
private key needs its first line of data behind the header, a token its whole length. The shapes are
those that their issuers document, as collected by gitleaks (config/gitleaks.toml, MIT licence) and
by GitHub's list of secret scanning patterns.
"""

import re
from typing import Final, NamedTuple

from shared.errors import SourceFileError

BYTES: Final = 1_000_000
"""How much of a file, and of its text, is looked at."""


class SecretFileError(SourceFileError):
    """A file holds what seems to be a secret, and nobody has allowed it."""


class _Shape(NamedTuple):
    """How a secret looks.

    Attributes:
        name: of what it is, with its article.
        marker: is in every secret of the kind; to look for it takes hardly any time.
        pattern: the secret, with its random part as the only group.
    """

    name: str
    marker: bytes
    pattern: re.Pattern[bytes]


def _shape(name: str, marker: str, pattern: str) -> _Shape:
    return _Shape(name, marker.encode(), re.compile(pattern.encode()))


# In JSON and in programs a line may end with the two characters \n, quotes and a plus; in a text it
# may be quoted, indented or a comment.
_BREAK: Final = r"(?>(?:[\s\"'+>|#*/]|\\[nrt]){1,40})"
_HEADERS: Final = rf"(?:{_BREAK}[A-Za-z-]{{1,30}}: (?>[^\n\\]{{1,200}})){{0,6}}"

_SHAPES: Final = (
    _shape(
        "a private key",
        "PRIVATE KEY",
        rf"-----BEGIN (?:[A-Z0-9]{{1,20}} ){{0,3}}PRIVATE KEY(?: BLOCK)?-----{_HEADERS}"
        rf"{_BREAK}([A-Za-z0-9+/=]{{40,}})",
    ),
    _shape(
        "a private key",
        "PuTTY-User-Key-File",
        r"PuTTY-User-Key-File-\d: (?:(?!PuTTY)[\s\S]){1,3000}?Private-Lines: \d+\s+"
        r"([A-Za-z0-9+/=]{40,})",
    ),
    _shape("a private key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1([0-9A-Z]{58})\b"),
    _shape("an access key of AWS", "AKIA", r"\bAKIA([A-Z2-7]{16})\b"),
    _shape("an access key of AWS", "ASIA", r"\bASIA([A-Z2-7]{16})\b"),
    _shape("a key of Azure", "AccountKey=", r"AccountKey=([A-Za-z0-9+/]{86}==)"),
    *(
        _shape("a token of GitHub", f"gh{kind}_", rf"\bgh{kind}_([A-Za-z0-9]{{36,255}})\b")
        for kind in "oprsu"
    ),
    _shape("a token of GitHub", "github_pat_", r"\bgithub_pat_(\w{82})\b"),
    _shape("a token of GitLab", "glpat-", r"\bglpat-([\w-]{20,})"),
    _shape("a token of Slack", "xox", r"\bxox[abeoprs]-((?:[A-Za-z0-9]+-){1,4}[A-Za-z0-9]{16,})\b"),
    _shape("a token of Slack", "xapp-", r"\bxapp-\d-([A-Z0-9]+-\d+-[a-z0-9]{32,})\b"),
    _shape(
        "a webhook of Slack",
        "hooks.slack.com/",
        r"hooks\.slack\.com/(?:services|workflows)/([A-Za-z0-9+/]{43,})",
    ),
    _shape("a key of Google", "AIza", r"\bAIza([\w-]{35})(?![\w-])"),
    _shape("a secret of Google", "GOCSPX-", r"\bGOCSPX-([\w-]{28})(?![\w-])"),
    _shape("a key of Stripe", "_live_", r"\b[rs]k_live_([A-Za-z0-9]{20,})\b"),
    _shape("a token of npm", "npm_", r"\bnpm_([A-Za-z0-9]{36})\b"),
    _shape("a token of PyPI", "pypi-AgE", r"\bpypi-AgE([\w-]{50,})"),
    _shape("a key of OpenAI", "T3BlbkFJ", r"\bsk-([\w-]{10,200}T3BlbkFJ[\w-]{10,})"),
    _shape("a key of Anthropic", "sk-ant-", r"\bsk-ant-([\w-]{80,})"),
    _shape("a token of Hugging Face", "hf_", r"\bhf_([A-Za-z]{34})\b"),
    _shape("a token of DigitalOcean", "_v1_", r"\bdo[opr]_v1_([a-f0-9]{64})\b"),
    _shape("a key of SendGrid", "SG.", r"\bSG\.([\w-]{22}\.[\w-]{43})(?![\w-])"),
)

_LEAST_DIFFERENT: Final = 8
"""Different characters of a random part; with fewer it stands for one, as in ghp_xxxx."""


def found_secret(content: bytes) -> str | None:
    """What the first secret in some content is, in words and without quoting it; None if none."""
    content = content[:BYTES]
    for shape in _SHAPES:
        if shape.marker not in content:
            continue
        for found in shape.pattern.finditer(content):
            if _is_random(found[1]):
                line = content.count(b"\n", 0, found.start()) + 1
                return f"{shape.name} (line {line:,})"
    return None


def _is_random(part: bytes) -> bool:
    return len(set(part)) >= _LEAST_DIFFERENT and b"EXAMPLE" not in part.upper()
