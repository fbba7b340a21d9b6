"""Secrets: names of files and folders that hold them, their shapes, and files that may be sent.

Of the content of files only shapes that are unmistakable are detected, so that a text about keys
remains a document: a private key needs its first line of data after the header, a token its full
length. The shapes are those of gitleaks (github.com/gitleaks/gitleaks, config/gitleaks.toml of July
2026, MIT licence) that need no keyword next to them; some are wider here. Keys of Azure storage and
secrets of Google clients, which gitleaks lacks, have the shapes documented by their issuers.
"""

import functools
import os
import re
from collections.abc import Collection, Iterable
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Final

from shared.files.access import content_hash
from shared.settings.current import configured

if TYPE_CHECKING:
    from shared.files.patterns import Patterns
    from shared.model.index_results import DocumentFile

_SETTINGS_FILES: Final = ("json", "yaml", "yml", "toml", "ini", "cfg", "conf", "properties", "env")
"""Extensions of configuration files. A report on credentials in PDF, by contrast, is a document."""

SECRETS: Final = (
    *(".env*", "*.env", ".netrc", "_netrc", ".pgpass", "pgpass.conf", ".my.cnf", ".mylogin.cnf"),
    *(".htpasswd", ".git-credentials", ".npmrc", ".yarnrc.yml", ".pypirc", ".dockercfg", ".s3cfg"),
    *(".boto", ".vault-token", ".terraformrc", "terraform.rc", ".rclone.conf", "rclone.conf"),
    *("credentials", ".credentials", "credentials.csv", "credentials.txt", "credentials.xml"),
    *(f"*credentials*.{extension}" for extension in _SETTINGS_FILES),
    *("secrets", "secrets.xml", "secrets.txt", "secrets.csv", "client_secret*.json"),
    *(f"secrets.{extension}" for extension in _SETTINGS_FILES),
    *("accesskeys.csv", "rootkey.csv", "*service-account*.json", "*service_account*.json"),
    *("*.tfstate", "*.tfstate.backup", "*.tfvars", "*.tfvars.json"),
    *("kubeconfig", "kubeconfig.*", "*.kubeconfig", "*.ovpn", "wg[0-9].conf", "wg[0-9][0-9].conf"),
    *("*.nmconnection", "wpa_supplicant.conf", "wallet.dat", "*.wallet", "utc--*--*"),
    *("*.keystore.json", "keystore.json", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*"),
    *("*.pem", "*.key", "*.ppk", "*.p8", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdb"),
    *("*.kdbx", "*.agilekeychain", "*.opvault", "*.1pux", "*.1pif", "*.psafe3", "*.keychain"),
    *("*.keychain-db", "*.gpg", "bitwarden_export*", "bitwarden_encrypted_export*"),
    *("lastpass_export*.csv", "lastpass_vault*.csv", "1password*.csv", "dashlane*.csv"),
    *("keepass*.csv", "keepass*.xml", "chrome?passwords*.csv", "passwords.csv", "logins.json"),
    *("key3.db", "key4.db", "login?data", ".bash_history", ".zsh_history", ".sh_history"),
    *(".python_history", ".node_repl_history", ".psql_history", ".mysql_history"),
    *(".sqlite_history", ".rediscli_history", "fish_history", "consolehost_history.txt"),
    *(".aws/", ".azure/", ".docker/", ".git/", ".gnupg/", ".kube/", ".password-store/", ".ssh/"),
)
"""Patterns of files and folders with secrets, which are never documents.

They are private keys, key stores, password files, settings of programs with passwords, shell
histories and repositories. Case is ignored.
"""


@functools.cache
def _patterns() -> "Patterns":
    # They take 40 ms, and a worker that reads a file by itself needs none.
    from shared.files.patterns import Patterns

    return Patterns(SECRETS)


def is_secret(name: str) -> bool:
    """Check whether the name of a file, or of a folder ending with a slash, is on the list."""
    return bool(_patterns().verdict(name.lower()))


def is_allowed_secret(path: Path, allowed: Collection[str]) -> bool:
    """Check whether the user allows a secret file, under any path of its folder."""
    if not allowed:
        return False
    real = path.parent.resolve() / path.name
    return os.path.normcase(path) in allowed or os.path.normcase(real) in allowed


def is_inside_secret(path: str, folder: str) -> bool:
    """Check whether the target of a link is on the list or lies in a folder on the list."""
    slash = "/" if path.endswith("/") else ""
    *parents, name = path.rstrip("/").removeprefix(f"{folder}/").strip("/").split("/")
    return is_secret(name + slash) or any(is_secret(f"{parent}/") for parent in parents)


def allowed_paths(files: Iterable[Path]) -> frozenset[str]:
    """Return the paths of allowed files for `is_allowed_secret`."""
    named = {path.absolute() for path in files}
    return frozenset(
        os.path.normcase(path)
        for each in named
        for path in (each, each.parent.resolve() / each.name)
    )


BYTES: Final = 1_000_000
"""Maximum number of bytes of a file, and of its text, that are searched."""


# In JSON and in programs a line may end with an escaped \n, quotes and a plus; in a text it may be
# quoted, indented or commented out.
_BREAK: Final = r"(?>(?:[\s\"'+>|#*/]|\\[nrt]){1,40})"
_HEADERS: Final = rf"(?:{_BREAK}[A-Za-z-]{{1,30}}: (?>[^\n\\]{{1,200}})){{0,6}}"

_PATTERNS: Final = (
    (
        "a private key",
        "PRIVATE KEY",
        (
            rf"-----BEGIN (?:[A-Z0-9]{{1,20}} ){{0,3}}PRIVATE KEY(?: BLOCK)?-----{_HEADERS}"
            rf"{_BREAK}([A-Za-z0-9+/=]{{40,}})"
        ),
    ),
    (
        "a private key",
        "PuTTY-User-Key-File",
        (
            r"PuTTY-User-Key-File-\d: (?:(?!PuTTY)[\s\S]){1,3000}?Private-Lines: \d+\s+"
            r"([A-Za-z0-9+/=]{40,})"
        ),
    ),
    ("a private key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1([0-9A-Z]{58})\b"),
    ("an access key of AWS", "AKIA", r"\bAKIA([A-Z2-7]{16})\b"),
    ("an access key of AWS", "ASIA", r"\bASIA([A-Z2-7]{16})\b"),
    ("an access key of AWS", "ABIA", r"\bABIA([A-Z2-7]{16})\b"),
    ("an access key of AWS", "ACCA", r"\bACCA([A-Z2-7]{16})\b"),
    ("an access key of AWS", "ABSK", r"\bABSK([A-Za-z0-9+/]{109,269}={0,2})"),
    ("a key of Azure", "AccountKey=", r"AccountKey=([A-Za-z0-9+/]{86}==)"),
    (
        "a secret of Azure",
        "Q~",
        r"(?<![\w.~-])([A-Za-z0-9_~.]{3}\dQ~[A-Za-z0-9_~.-]{31,34})(?![\w.~-])",
    ),
    *(
        ("a token of GitHub", f"gh{kind}_", rf"\bgh{kind}_([A-Za-z0-9]{{36,255}})\b")
        for kind in "oprsu"
    ),
    ("a token of GitHub", "github_pat_", r"\bgithub_pat_(\w{82})\b"),
    ("a token of GitLab", "glpat-", r"\bglpat-([\w-]{20,})"),
    *(
        (
            "a token of GitLab",
            f"{kind}-",
            rf"\b{kind}-((?=[\w-]{{0,49}}\d)(?=[\w-]{{0,49}}[A-Z])[\w-]{{20,}})",
        )
        for kind in ("gldt", "glrt", "glptt", "glcbt", "glsoat", "glft", "glagent", "gloas")
    ),
    ("a token of GitLab", "GR1348941", r"\bGR1348941([\w-]{20,})"),
    ("a token of Slack", "xox", r"\bxox[abeoprs]-((?:[A-Za-z0-9]+-){1,4}[A-Za-z0-9]{16,})\b"),
    ("a token of Slack", "xapp-", r"\bxapp-\d-([A-Z0-9]+-\d+-[a-z0-9]{32,})\b"),
    (
        "a webhook of Slack",
        "hooks.slack.com/",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/]{43,})",
    ),
    ("a key of Google", "AIza", r"\bAIza([\w-]{35})(?![\w-])"),
    ("a secret of Google", "GOCSPX-", r"\bGOCSPX-([\w-]{28})(?![\w-])"),
    ("a key of Stripe", "_live_", r"\b[rs]k_live_([A-Za-z0-9]{20,})\b"),
    ("a token of npm", "npm_", r"\bnpm_([A-Za-z0-9]{36})\b"),
    ("a token of PyPI", "pypi-AgE", r"\bpypi-AgE([\w-]{50,})"),
    ("a key of OpenAI", "T3BlbkFJ", r"\bsk-([\w-]{10,200}T3BlbkFJ[\w-]{10,})"),
    ("a key of Anthropic", "sk-ant-", r"\bsk-ant-([\w-]{80,})"),
    ("a token of Hugging Face", "hf_", r"\bhf_([A-Za-z]{34})\b"),
    ("a token of Hugging Face", "api_org_", r"\bapi_org_([A-Za-z]{34})\b"),
    ("a token of DigitalOcean", "_v1_", r"\bdo[opr]_v1_([a-f0-9]{64})\b"),
    ("a key of SendGrid", "SG.", r"\bSG\.([\w-]{22}\.[\w-]{43})(?![\w-])"),
    ("a key of Brevo", "xkeysib-", r"\bxkeysib-([a-f0-9]{64}-[A-Za-z0-9]{16})\b"),
    *(
        ("a token of Shopify", f"shp{kind}_", rf"\bshp{kind}_([a-fA-F0-9]{{32}})\b")
        for kind in ("at", "ca", "pa", "ss")
    ),
    ("a token of Square", "sq0atp-", r"\bsq0atp-([\w-]{22,60})"),
    ("a token of Databricks", "dapi", r"\bdapi([a-f0-9]{32}(?:-\d)?)\b"),
    ("a token of Vault", "hvs.", r"\bhvs\.([\w-]{90,120})(?![\w-])"),
    ("a token of Vault", "hvb.", r"\bhvb\.([\w-]{138,300})(?![\w-])"),
    ("a token of Terraform", ".atlasv1.", r"\b[A-Za-z0-9]{14}\.atlasv1\.([\w=-]{60,70})"),
    ("a token of Atlassian", "ATATT3", r"\bATATT3([\w=-]{186})"),
    ("a key of Heroku", "HRKU-AA", r"\bHRKU-AA([\w-]{58})(?![\w-])"),
    ("a token of Grafana", "glsa_", r"\bglsa_([A-Za-z0-9]{32}_[A-Fa-f0-9]{8})\b"),
    ("a token of Grafana", "glc_", r"\bglc_([A-Za-z0-9+/]{32,400})"),
    ("a token of Sentry", "sntrys_eyJ", r"\bsntrys_eyJ([A-Za-z0-9+/=_]{80,})"),
    ("a token of Sentry", "sntryu_", r"\bsntryu_([a-f0-9]{64})\b"),
    ("a key of New Relic", "NRAK-", r"\bNRAK-([A-Z0-9]{27})\b"),
    ("a key of Postman", "PMAK-", r"\bPMAK-([a-f0-9]{24}-[a-f0-9]{34})\b"),
    ("a token of Pulumi", "pul-", r"\bpul-([a-f0-9]{40})\b"),
    ("a key of RubyGems", "rubygems_", r"\brubygems_([a-f0-9]{48})\b"),
    ("a token of Doppler", "dp.pt.", r"\bdp\.pt\.([A-Za-z0-9]{43})\b"),
    ("a key of Perplexity", "pplx-", r"\bpplx-([A-Za-z0-9]{48})\b"),
    ("a token of Notion", "ntn_", r"\bntn_([0-9]{11}[A-Za-z0-9]{35})\b"),
    ("a token of Airtable", "pat", r"\bpat([A-Za-z0-9]{14}\.[a-f0-9]{64})\b"),
    ("a key of Linear", "lin_api_", r"\blin_api_([A-Za-z0-9]{40})\b"),
    ("a token of PlanetScale", "pscale_", r"\bpscale_(?:tkn|oauth|pw)_([\w=.-]{32,64})"),
    ("a token of Fly", "fm2_", r"\bfm2_([A-Za-z0-9+/]{100,})"),
    ("a token of 1Password", "ops_eyJ", r"\bops_eyJ([A-Za-z0-9+/]{250,})"),
    ("an access key of Alibaba", "LTAI", r"\bLTAI([A-Za-z0-9]{20})\b"),
    ("a token of Facebook", "EAA", r"\bEAA[MC]([A-Za-z0-9]{100,})\b"),
)
"""Secrets, each with a text that it always has, which is found much faster, and its pattern."""

_SHAPES: Final = [
    (name, marker.encode(), re.compile(pattern.encode())) for name, marker, pattern in _PATTERNS
]

_MIN_DISTINCT_CHARACTERS: Final = 8
"""Minimum number of distinct characters in the random part; ghp_xxxx is a placeholder."""


def found_secret(content: bytes) -> str | None:
    """Describe the first secret in some content, without quoting it; None if there is none."""
    content = content[:BYTES]
    for name, marker, pattern in _SHAPES:
        if marker not in content:
            continue
        for found in pattern.finditer(content):
            if _is_random(found[1]):
                line = content.count(b"\n", 0, found.start()) + 1
                return f"{name} (line {line:,})"
    return None


def _is_random(part: bytes) -> bool:
    return len(set(part)) >= _MIN_DISTINCT_CHARACTERS and b"EXAMPLE" not in part.upper()


def reason_to_withhold(file: "DocumentFile", stream: BufferedReader) -> str | None:
    """Return why the original file of a document must stay where it is; None if it may be sent.

    It may have become a secret since it was indexed, or have had secrets within it, which the index
    does not have.
    """
    if is_allowed_secret(Path(file.file_path), allowed_paths(configured("allow_secrets") or ())):
        return None
    beginning = stream.read(BYTES)
    stream.seek(0)
    if is_inside_secret(file.path, ""):
        return "has the name of a secret"
    if secret := found_secret(beginning):
        return f"seems to contain {secret}"
    if file.left_out:
        return "has secrets within it, which were left out of the index; read its chunks"
    if file.left_out is not None:
        is_same = content_hash(stream) == file.file_hash
        stream.seek(0)
        return None if is_same else "has changed, and what is within it may be secret by now"
    return None
