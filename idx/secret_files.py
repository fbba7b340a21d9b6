"""Files and folders that hold secrets, known by their names."""

from typing import Final

from idx.patterns import Patterns

SECRETS: Final = (
    *(".env*", ".netrc", ".pgpass", ".htpasswd", ".git-credentials", ".aws/", ".ssh/", ".gnupg/"),
    *("id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "*.pem", "*.key", "*.ppk", "*.p8"),
    *("*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdb", "*.kdbx", "*.agilekeychain", "*.gpg"),
    ".git/",
)
"""Private keys, key stores, password files and repositories: never documents. Capitals are no
difference."""

_SECRETS: Final = Patterns(SECRETS)


def is_secret(name: str) -> bool:
    """Whether a file, or a folder with a slash at its end, is on the list."""
    return bool(_SECRETS.verdict(name.lower()))


def is_behind_secret(path: str, folder: str) -> bool:
    """Whether what a link leads to is on the list, or lies in what is.

    Args:
        path: of what it leads to, without links, with a slash at its end for a folder.
        folder: the folder that was named by the user, without links; what it lies in itself does
            not count.
    """
    slash = "/" if path.endswith("/") else ""
    *parents, name = path.rstrip("/").removeprefix(f"{folder}/").strip("/").split("/")
    return is_secret(name + slash) or any(is_secret(f"{parent}/") for parent in parents)
