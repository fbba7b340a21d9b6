"""Detection of secrets in the content of files: private keys and tokens of known shapes.

Only shapes that are unmistakable are detected, so that a text about keys remains a document: a
private key needs its first line of data after the header, a token its full length. The shapes are
those of gitleaks (github.com/gitleaks/gitleaks, config/gitleaks.toml of July 2026, MIT licence)
that need no keyword next to them; some are wider here. Keys of Azure storage and secrets of Google
clients, which gitleaks lacks, have the shapes documented by their issuers.
"""

import re
from typing import Final, NamedTuple

BYTES: Final = 1_000_000
"""Maximum number of bytes of a file, and of its text, that are searched."""


class _Shape(NamedTuple):
    """Shape of a secret."""

    name: str
    marker: bytes
    pattern: re.Pattern[bytes]


def _shape(name: str, marker: str, pattern: str) -> _Shape:
    return _Shape(name, marker.encode(), re.compile(pattern.encode()))


# In JSON and in programs a line may end with an escaped \n, quotes and a plus; in a text it may be
# quoted, indented or commented out.
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
    _shape("an access key of AWS", "ABIA", r"\bABIA([A-Z2-7]{16})\b"),
    _shape("an access key of AWS", "ACCA", r"\bACCA([A-Z2-7]{16})\b"),
    _shape("an access key of AWS", "ABSK", r"\bABSK([A-Za-z0-9+/]{109,269}={0,2})"),
    _shape("a key of Azure", "AccountKey=", r"AccountKey=([A-Za-z0-9+/]{86}==)"),
    _shape(
        "a secret of Azure",
        "Q~",
        r"(?<![\w.~-])([A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34})(?![\w.~-])",
    ),
    *(
        _shape("a token of GitHub", f"gh{kind}_", rf"\bgh{kind}_([A-Za-z0-9]{{36,255}})\b")
        for kind in "oprsu"
    ),
    _shape("a token of GitHub", "github_pat_", r"\bgithub_pat_(\w{82})\b"),
    _shape("a token of GitLab", "glpat-", r"\bglpat-([\w-]{20,})"),
    *(
        _shape(
            "a token of GitLab",
            f"{kind}-",
            rf"\b{kind}-((?=[\w-]{{0,49}}\d)(?=[\w-]{{0,49}}[A-Z])[\w-]{{20,}})",
        )
        for kind in ("gldt", "glrt", "glptt", "glcbt", "glsoat", "glft", "glagent", "gloas")
    ),
    _shape("a token of GitLab", "GR1348941", r"\bGR1348941([\w-]{20,})"),
    _shape("a token of Slack", "xox", r"\bxox[abeoprs]-((?:[A-Za-z0-9]+-){1,4}[A-Za-z0-9]{16,})\b"),
    _shape("a token of Slack", "xapp-", r"\bxapp-\d-([A-Z0-9]+-\d+-[a-z0-9]{32,})\b"),
    _shape(
        "a webhook of Slack",
        "hooks.slack.com/",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/]{43,})",
    ),
    _shape("a key of Google", "AIza", r"\bAIza([\w-]{35})(?![\w-])"),
    _shape("a secret of Google", "GOCSPX-", r"\bGOCSPX-([\w-]{28})(?![\w-])"),
    _shape("a key of Stripe", "_live_", r"\b[rs]k_live_([A-Za-z0-9]{20,})\b"),
    _shape("a token of npm", "npm_", r"\bnpm_([A-Za-z0-9]{36})\b"),
    _shape("a token of PyPI", "pypi-AgE", r"\bpypi-AgE([\w-]{50,})"),
    _shape("a key of OpenAI", "T3BlbkFJ", r"\bsk-([\w-]{10,200}T3BlbkFJ[\w-]{10,})"),
    _shape("a key of Anthropic", "sk-ant-", r"\bsk-ant-([\w-]{80,})"),
    _shape("a token of Hugging Face", "hf_", r"\bhf_([A-Za-z]{34})\b"),
    _shape("a token of Hugging Face", "api_org_", r"\bapi_org_([A-Za-z]{34})\b"),
    _shape("a token of DigitalOcean", "_v1_", r"\bdo[opr]_v1_([a-f0-9]{64})\b"),
    _shape("a key of SendGrid", "SG.", r"\bSG\.([\w-]{22}\.[\w-]{43})(?![\w-])"),
    _shape("a key of Brevo", "xkeysib-", r"\bxkeysib-([a-f0-9]{64}-[A-Za-z0-9]{16})\b"),
    *(
        _shape("a token of Shopify", f"shp{kind}_", rf"\bshp{kind}_([a-fA-F0-9]{{32}})\b")
        for kind in ("at", "ca", "pa", "ss")
    ),
    _shape("a token of Square", "sq0atp-", r"\bsq0atp-([\w-]{22,60})"),
    _shape("a token of Databricks", "dapi", r"\bdapi([a-f0-9]{32}(?:-\d)?)\b"),
    _shape("a token of Vault", "hvs.", r"\bhvs\.([\w-]{90,120})(?![\w-])"),
    _shape("a token of Vault", "hvb.", r"\bhvb\.([\w-]{138,300})(?![\w-])"),
    _shape("a token of Terraform", ".atlasv1.", r"\b[A-Za-z0-9]{14}\.atlasv1\.([\w=-]{60,70})"),
    _shape("a token of Atlassian", "ATATT3", r"\bATATT3([\w=-]{186})"),
    _shape("a key of Heroku", "HRKU-AA", r"\bHRKU-AA([\w-]{58})(?![\w-])"),
    _shape("a token of Grafana", "glsa_", r"\bglsa_([A-Za-z0-9]{32}_[A-Fa-f0-9]{8})\b"),
    _shape("a token of Grafana", "glc_", r"\bglc_([A-Za-z0-9+/]{32,400})"),
    _shape("a token of Sentry", "sntrys_eyJ", r"\bsntrys_eyJ([A-Za-z0-9+/=_]{80,})"),
    _shape("a token of Sentry", "sntryu_", r"\bsntryu_([a-f0-9]{64})\b"),
    _shape("a key of New Relic", "NRAK-", r"\bNRAK-([A-Z0-9]{27})\b"),
    _shape("a key of Postman", "PMAK-", r"\bPMAK-([a-f0-9]{24}-[a-f0-9]{34})\b"),
    _shape("a token of Pulumi", "pul-", r"\bpul-([a-f0-9]{40})\b"),
    _shape("a key of RubyGems", "rubygems_", r"\brubygems_([a-f0-9]{48})\b"),
    _shape("a token of Doppler", "dp.pt.", r"\bdp\.pt\.([A-Za-z0-9]{43})\b"),
    _shape("a key of Perplexity", "pplx-", r"\bpplx-([A-Za-z0-9]{48})\b"),
    _shape("a token of Notion", "ntn_", r"\bntn_([0-9]{11}[A-Za-z0-9]{35})\b"),
    _shape("a token of Airtable", "pat", r"\bpat([A-Za-z0-9]{14}\.[a-f0-9]{64})\b"),
    _shape("a key of Linear", "lin_api_", r"\blin_api_([A-Za-z0-9]{40})\b"),
    _shape("a token of PlanetScale", "pscale_", r"\bpscale_(?:tkn|oauth|pw)_([\w=.-]{32,64})"),
    _shape("a token of Fly", "fm2_", r"\bfm2_([A-Za-z0-9+/]{100,})"),
    _shape("a token of 1Password", "ops_eyJ", r"\bops_eyJ([A-Za-z0-9+/]{250,})"),
    _shape("an access key of Alibaba", "LTAI", r"\bLTAI([A-Za-z0-9]{20})\b"),
    _shape("a token of Facebook", "EAA", r"\bEAA[MC]([A-Za-z0-9]{100,})\b"),
)

_MIN_DISTINCT_CHARACTERS: Final = 8
"""Minimum number of distinct characters in the random part; ghp_xxxx is a placeholder."""


def found_secret(content: bytes) -> str | None:
    """Describe the first secret in some content, without quoting it; None if there is none."""
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
    return len(set(part)) >= _MIN_DISTINCT_CHARACTERS and b"EXAMPLE" not in part.upper()
