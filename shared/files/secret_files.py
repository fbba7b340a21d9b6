"""Names of files and folders that hold secrets, and the check of files that leave the machine."""

import functools
import os
from collections.abc import Collection, Iterable
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Final

from shared.files.content import content_hash
from shared.files.secret_content import BYTES, found_secret
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
