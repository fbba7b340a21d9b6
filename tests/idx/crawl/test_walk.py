"""What is taken from a folder, what is skipped, and by which patterns."""

import random
import time
from pathlib import Path

import pytest
from pathspec import GitIgnoreSpec

from idx.crawl.patterns import Selection
from idx.crawl.walk import Crawl
from shared.errors import ConfigurationError
from shared.files.patterns import Patterns
from shared.files.secret_files import SECRETS
from shared.settings.current import configuration_file
from tests.conftest import Idx
from tests.idx.files import ids, make
from tests.idx.preparation import indexed
from tests.systems import ON_WINDOWS, makes_links


def found(folder: Path, **selection: object) -> list[str]:
    files = Crawl(folder, Selection(**selection))  # type: ignore[arg-type] # spelled in each test
    return [file.path for file in files]


def test_files_are_found_recursively_and_in_order(tmp_path: Path) -> None:
    make(tmp_path, "b.txt", "a/z.txt", "a/b/c.md", "c/", "A.txt")
    assert found(tmp_path) == ["A.txt", "a/b/c.md", "a/z.txt", "b.txt"]


def test_hidden_files_and_folders_are_taken_only_when_asked_for(tmp_path: Path) -> None:
    make(tmp_path, ".hidden.txt", ".folder/a.txt", "b.txt")
    assert found(tmp_path) == ["b.txt"]
    assert found(tmp_path, hidden=True) == [".folder/a.txt", ".hidden.txt", "b.txt"]


def test_locks_of_open_documents_are_never_taken(tmp_path: Path) -> None:
    make(tmp_path, "~$Report.docx", "a/~$_図.xlsx", ".~lock.b.odt#", "~$folder/c.txt", "d~$.txt")
    assert found(tmp_path, hidden=True) == ["d~$.txt", "~$folder/c.txt"]


def test_include_and_exclude(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "a.txt", "old/b.md", "new/old/c.md", "new/d.MD")
    assert found(tmp_path, include=["*.md"]) == ["a.md", "new/old/c.md", "old/b.md"]
    assert found(tmp_path, exclude=["old/"]) == ["a.md", "a.txt", "new/d.MD"]
    assert found(tmp_path, exclude=["/old/"], include=["*.md"]) == ["a.md", "new/old/c.md"]


def test_ignore_files_take_away_as_in_git(tmp_path: Path) -> None:
    make(tmp_path, "a.log", "a.txt", "keep/b.log", "keep/c.log", "build/d.txt", "sub/build.txt")
    (tmp_path / ".gitignore").write_text("*.log\n/build/\n")
    (tmp_path / "keep" / ".gitignore").write_text("!b.log\n")
    (tmp_path / ".idxignore").write_text("sub/*\n# a comment\n")
    assert found(tmp_path) == ["a.txt", "keep/b.log"]


def test_an_ignore_file_gives_back_neither_secrets_nor_what_the_user_excluded(
    tmp_path: Path,
) -> None:
    make(tmp_path, "server.key", "old/a.txt", "b.txt")
    (tmp_path / ".idxignore").write_text("!*.key\n!old/\n!old/*\n")
    assert found(tmp_path, exclude=["old/"]) == ["b.txt"]


@pytest.mark.parametrize("pattern", SECRETS)
def test_secrets_are_never_taken(tmp_path: Path, pattern: str) -> None:
    name = pattern.replace("*", "x").replace("[0-9]", "1").replace("?", " ")
    make(tmp_path, f"deep/{name}inside.txt" if name.endswith("/") else f"deep/{name}", "b.txt")
    assert found(tmp_path, hidden=True) == ["b.txt"]


@pytest.mark.parametrize(
    "name",
    [
        *("id_rsa", "ID_RSA", "id_ed25519.bak", "server.key", "SERVER.KEY", "Cert.PEM", "a.p12"),
        *(".env", ".ENV.local", ".netrc", "passwords.kdbx", ".ssh/config", ".git/config"),
        *("prod.env", "_netrc", ".npmrc", ".pypirc", ".docker/config.json", ".bash_history"),
        *("terraform.tfstate", "prod.tfvars", "aws-Credentials.json", "secrets.YAML"),
        *("kubeconfig", "rclone.conf", "office.ovpn", "wg0.conf", "wallet.dat", "Login Data"),
        *("bitwarden_export_2024.json", "LastPass_export.csv", "ConsoleHost_history.txt"),
    ],
)
def test_files_with_secrets_are_known_by_any_spelling(tmp_path: Path, name: str) -> None:
    make(tmp_path, name, "b.txt")
    assert found(tmp_path, hidden=True) == ["b.txt"]


@pytest.mark.parametrize(
    "name",
    [
        *("credentials-policy.pdf", "Credentials.docx", "secrets of the sea.txt", "secrets.md"),
        *("trade-secrets.json", "environment.txt", "history.txt", "key.txt", "wg-report.conf"),
        *("passwords.md", "keyboard.keynote", "terraform.md", "monkey.txt", "wallets.csv"),
    ],
)
def test_usual_documents_are_taken_whatever_they_are_about(tmp_path: Path, name: str) -> None:
    make(tmp_path, name)
    assert found(tmp_path) == [name]


@makes_links
def test_links_are_followed_only_when_asked_for_and_never_in_a_circle(tmp_path: Path) -> None:
    outside = make(tmp_path / "outside", "secret.txt")
    folder = make(tmp_path / "folder", "a.txt", "sub/b.txt")
    (folder / "link.txt").symlink_to(outside / "secret.txt")
    (folder / "way-out").symlink_to(outside)
    (folder / "sub" / "circle").symlink_to(folder)
    (folder / "broken").symlink_to(folder / "nothing")
    assert found(folder) == ["a.txt", "sub/b.txt"]
    followed = found(folder, follow_links=True)
    assert followed == ["a.txt", "link.txt", "sub/b.txt", "way-out/secret.txt"]


@makes_links
def test_a_link_gives_no_way_to_secrets(tmp_path: Path) -> None:
    home = make(tmp_path / "home", ".ssh/config", "id_rsa", "notes/.netrc", "notes/a.txt")
    folder = make(home / ".gnupg" / "folder", "b.txt", "c.txt")
    for name, target in {
        "config.txt": home / ".ssh" / "config",
        "keys": home / ".ssh",
        "key.txt": home / "id_rsa",
        "notes": home / "notes",
        "passed-on": folder / "keys",
        "here.txt": folder / "c.txt",
    }.items():
        (folder / name).symlink_to(target)
    followed = found(folder, follow_links=True, hidden=True)
    assert followed == ["b.txt", "c.txt", "here.txt", "notes/a.txt"]


@makes_links
def test_folders_that_link_to_each_other_are_not_walked_without_end(tmp_path: Path) -> None:
    names = [f"{number:02}" for number in range(12)]
    for name in names:
        make(tmp_path / "linked" / name, "a.txt")
        for other in names:
            (tmp_path / "linked" / name / other).symlink_to(tmp_path / "linked" / other)
    folder = make(tmp_path / "folder", "b.txt")
    (folder / "way").symlink_to(tmp_path / "linked" / "00")
    files = found(folder, follow_links=True)
    assert files[:2] == ["b.txt", "way/01/02/a.txt"]
    assert len(files) == 1 + 1 + 11 + 11 * 10
    assert "way/11/10/a.txt" in files


@makes_links
@pytest.mark.parametrize("name", ["index", "link"])
def test_a_folder_to_avoid_is_found_by_no_path(tmp_path: Path, name: str) -> None:
    index = make(tmp_path / "index", "segments_1", "sub/a.txt")
    folder = make(tmp_path / "folder", "b.txt")
    place = index.rename(folder / "index") if name == "index" else index
    (folder / "link").symlink_to(place)
    walk = Crawl(folder, Selection(follow_links=True), avoid=folder / name)
    assert [file.path for file in walk] == ["b.txt"]
    assert walk.folders == [""]
    (error,) = _errors(Crawl(place, Selection(), avoid=folder / name))
    assert "is the index itself" in error


def _errors(walk: Crawl) -> list[str]:
    assert list(walk) == []
    assert walk.unknown == [""]
    return [str(error) for error in walk.errors]


@makes_links
def test_an_ignore_file_that_is_a_link_is_not_read(tmp_path: Path) -> None:
    folder = make(tmp_path / "folder", "a.txt")
    (tmp_path / "rules").write_text("*")
    (folder / ".gitignore").symlink_to(tmp_path / "rules")
    assert found(folder) == ["a.txt"]


def test_a_folder_that_cannot_be_listed_is_named(tmp_path: Path) -> None:
    walk = Crawl(tmp_path / "nowhere", Selection())
    assert list(walk) == []
    (error,) = walk.errors
    reason = "" if ON_WINDOWS else "No such file or directory"
    assert f"cannot be listed: {reason}" in str(error)
    assert walk.unknown == [""]


def test_a_part_of_a_folder_is_looked_at_with_the_rules_of_the_whole(tmp_path: Path) -> None:
    make(tmp_path, "a/b/c.txt", "a/b/d.log", "a/e.txt", "f.txt", "a-b/g.txt")
    (tmp_path / ".gitignore").write_text("*.log")
    walk = Crawl(tmp_path, Selection(), scopes=["a/b", "f.txt"])
    assert [file.path for file in walk] == ["a/b/c.txt", "f.txt"]


def test_what_belongs_to_others_is_not_looked_at(tmp_path: Path) -> None:
    make(tmp_path, "a/b.txt", "index/segments_1", "c.txt")
    walk = Crawl(tmp_path, Selection(), without=frozenset({"index", "a"}))
    assert [file.path for file in walk] == ["c.txt"]


def test_files_that_are_skipped_show_that_a_folder_is_not_empty(tmp_path: Path) -> None:
    make(tmp_path, "folder/", ".hidden")
    walk = Crawl(tmp_path, Selection())
    assert list(walk) == []
    assert not walk.is_empty
    (tmp_path / ".hidden").unlink()
    walk = Crawl(tmp_path, Selection())
    assert list(walk) == []
    assert walk.is_empty


def test_folders_within_have_patterns_of_their_own(tmp_path: Path) -> None:
    make(tmp_path, "a.md", "b.txt", "in/a.md", "in/b.txt", "in/x/a.txt", "in/deep/a.md", "x/a.md")
    own = {
        "in": Selection(include=["*.txt"], exclude=["/x/"]),
        "in/deep": Selection(exclude=["b*"]),
    }
    make(tmp_path, "in/deep/c.txt", "in/deep/b.txt", "in/deep/x/d.txt")
    walk = Crawl(tmp_path, Selection(include=["*.md"], exclude=["in/c.txt"]), own=own)
    assert [found.path for found in walk] == [
        "a.md",
        "in/b.txt",
        "in/deep/c.txt",
        "in/deep/x/d.txt",
        "x/a.md",
    ]
    with pytest.raises(ConfigurationError, match=r"the pattern '\['"):
        Crawl(tmp_path, Selection(), own={"in": Selection(exclude=["["])})


@pytest.mark.soak
def test_bounded_patterns_match_what_unbounded_ones_do() -> None:
    chosen = random.Random(7)  # noqa: S311 - the same ones every time
    matched = 0
    for _ in range(5_000):
        parts = ("a", "b", "c", "*", "*", "?", "[ab]", "/", "**/", "/**/")
        lines = [
            ("!" if chosen.random() < 0.3 else "")
            + "".join(chosen.choices(parts, k=chosen.randint(1, 7)))
            for _ in range(chosen.randint(1, 3))
        ]
        names = ("".join(chosen.choices("abc", k=chosen.randint(1, 4))) for _ in range(4))
        path = "/".join([*names][: chosen.randint(1, 4)]) + chosen.choice(("", "/"))
        try:
            expected = GitIgnoreSpec.from_lines(lines).check_file(path).include
        except ValueError:
            continue
        verdict = Patterns(lines).verdict(path)
        assert verdict == expected, (lines, path)
        matched += verdict is not None
    assert matched > 1_000


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 100 + "*b", "a" * 255),
        ("*" + "?" * 200 + "*?*?*?*b", "a" * 255),
        ("**/a/" * 100 + "**/b", "a/" * 2_000),
        ("/".join(["**/*a*a*a*a*b"] * 20), ("a" * 250 + "/") * 16),
        ("a*" * 100 + "/" + "*a" * 100 + "b", "a" * 250 + "/" + "a" * 250),
    ],
)
def test_no_pattern_takes_long(pattern: str, path: str) -> None:
    patterns = Patterns([pattern])
    started = time.process_time()
    assert patterns.verdict(path) is None
    assert time.process_time() - started < 0.5


@pytest.mark.parametrize(
    "pattern", ["!", "[z-a]", "[", "\\", "a\\", "/", "", "#a", "a[", "!/[", "[[:nope:]]", "(", "{a"]
)
def test_what_is_no_pattern_does_nothing_to_the_others(pattern: str) -> None:
    assert Patterns([pattern]).verdict("other") is None
    assert Patterns(["*.log", pattern]).verdict("a.log") is True


def test_all_folders_can_be_left_out() -> None:
    for pattern in ("*/", "**/", "/*/"):
        assert Patterns([pattern]).verdict("a/") is True
        assert Patterns([pattern]).verdict("a") is None


def test_folders_with_newlines_in_their_names_are_matched() -> None:
    assert Patterns(["*.log"]).verdict("a\nb/c.log") is True
    assert Patterns(["/a*/**/c"]).verdict("a\nb/\n/c") is True


@pytest.mark.parametrize(
    "arguments",
    [
        ("sync", "papers", "--include", "["),
        ("sync", "papers", "--exclude", "["),
        ("config", "set", "include", "a", "["),
        ("config", "set", "exclude", "a", "["),
        ("folders", "add", "papers", "--include", "["),
        ("folders", "add", "papers", "--exclude", "["),
    ],
)
def test_what_is_no_pattern_is_refused_where_the_user_gives_it(
    idx: Idx, empty_index: Path, arguments: tuple[str, ...]
) -> None:
    indexed(empty_index, "a.txt")
    refused = idx(*arguments, code=1)
    assert refused.stderr.startswith("Error: the pattern '[': is not a valid .gitignore pattern")
    assert ids(empty_index) == ["a.txt"]
    assert not configuration_file().exists()
