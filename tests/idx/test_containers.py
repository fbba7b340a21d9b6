"""What is within files: archives, messages with attachments, mailboxes, each a document."""

import bz2
import gzip
import io
import lzma
import os
import stat
import tarfile
import zipfile
from collections.abc import Mapping
from email.message import EmailMessage
from pathlib import Path

import pytest

from shared.installation import extra_command
from tests.conftest import Idx
from tests.idx.files import found, hits, ids, make, sync, text_of
from tests.idx.test_add_files import pdf_of

SEVEN_ZIP = Path(__file__).parents[1] / "data" / "seven-zip"


def zipped(files: Mapping[str, bytes | str]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


def tarred(files: Mapping[str, bytes | str]) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            raw = content.encode() if isinstance(content, str) else content
            info.size = len(raw)
            archive.addfile(info, io.BytesIO(raw))
        link = tarfile.TarInfo("link.txt")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    return data.getvalue()


def mail(subject: str, text: str, **headers: str) -> EmailMessage:
    message = EmailMessage()
    message["From"] = "Ana <ana@a.example>"
    message["To"] = "bo@a.example"
    message["Subject"] = subject
    for name, value in headers.items():
        message[name.replace("_", "-")] = value
    message.set_content(text)
    return message


def box_of(*messages: EmailMessage) -> bytes:
    return b"".join(
        b"From ana@a.example Sat Mar  1 10:00:00 2025\n" + message.as_bytes() + b"\n"
        for message in messages
    )


def test_files_of_an_archive_are_documents(idx: Idx, empty_index: Path, papers: Path) -> None:
    inner = zipped({"deep.txt": "The well is deep."})
    files: dict[str, bytes | str] = {
        "lease/rent.txt": "The rent is due.",
        "plan.pdf": pdf_of(["A plan of the garden"]),
        "inner.zip": inner,
        "node_modules/x.js": "skipped",
        ".hidden.txt": "skipped",
        "lease/~$rent.docx": "skipped",
        "id_rsa": "skipped",
        "../outside.txt": "skipped",
        "photo.png": b"\x89PNG\r\n\x1a\n\0\0",
    }
    (papers / "a.zip").write_bytes(zipped(files))
    assert sync(idx, "papers") == {"added": 5, "chunks": 5, "unsupported": 1}
    index = empty_index
    assert ids(index) == [
        "a.zip", "a.zip!/inner.zip", "a.zip!/inner.zip!/deep.txt", "a.zip!/lease/rent.txt",
        "a.zip!/plan.pdf",
    ]  # fmt: skip
    assert text_of(index, "a.zip!/plan.pdf") == "A plan of the garden"
    assert "lease/rent.txt" in text_of(index, "a.zip")
    (hit,) = hits(idx, "deep well", "--limit", "1")
    assert (hit["source_document"], hit["metadata"]["container"]) == (
        "a.zip!/inner.zip!/deep.txt",
        "a.zip",
    )
    assert hit["file_path"] == (papers / "a.zip").as_posix()
    failures = idx.json("failures")["failures"]
    reasons = {failure["source_document"]: failure["reason"] for failure in failures}
    assert reasons["a.zip!/photo.png"].startswith("photo.png: is a picture")
    assert "the name leads outside: '../outside.txt'" in reasons["a.zip"]
    assert "that of a secret: 'id_rsa'" in reasons["a.zip"]
    # Nothing is read again until the archive changes, and then all that is gone goes.
    assert sync(idx, "papers") == {"skipped": 1}
    del files["lease/rent.txt"], files["photo.png"]
    (papers / "a.zip").write_bytes(zipped(files | {"new.txt": "A new text"}))
    assert sync(idx, "papers") == {"added": 1, "updated": 4, "deleted": 1, "chunks": 5}
    assert "a.zip!/lease/rent.txt" not in ids(index)
    assert [*idx.json("failures")["failures"]][1:] == []
    (papers / "a.zip").unlink()
    (papers / "b.txt").write_text("b")
    assert sync(idx, "papers") == {"added": 1, "chunks": 1, "deleted": 5}
    assert ids(index) == ["b.txt"]
    assert idx.json("failures")["total"] == 0


def test_compressed_archives_and_files_are_read(idx: Idx, empty_index: Path, papers: Path) -> None:
    data = tarred({"rent.txt": "The rent is due.", "/etc/outside.txt": "no"})
    (papers / "a.tar").write_bytes(data)
    (papers / "b.tar.gz").write_bytes(gzip.compress(data))
    (papers / "c.tbz2").write_bytes(bz2.compress(data))
    (papers / "d.tar.xz").write_bytes(lzma.compress(data))
    (papers / "notes.txt.gz").write_bytes(gzip.compress(b"Notes on the well"))
    # Its first file is a PDF that is not compressed.
    stored = io.BytesIO()
    with zipfile.ZipFile(stored, "w") as archive:
        archive.writestr("plan.pdf", pdf_of(["A plan of the garden"]))
    (papers / "stored.zip").write_bytes(stored.getvalue())
    (papers / "e.7z").write_bytes((SEVEN_ZIP / "lzma2.7z").read_bytes())
    assert sync(idx, "papers") == {"added": 16, "chunks": 16, "empty": 1}
    assert text_of(empty_index, "stored.zip!/plan.pdf") == "A plan of the garden"
    assert text_of(empty_index, "e.7z!/größe.txt") == "Der Brunnen ist tief."
    for name in ("a.tar", "b.tar.gz", "c.tbz2", "d.tar.xz"):
        assert text_of(empty_index, f"{name}!/rent.txt") == "The rent is due."
    assert text_of(empty_index, "notes.txt.gz!/notes.txt") == "Notes on the well"


@pytest.mark.soak
def test_a_python_without_bzip2_names_such_archives_and_reads_others(
    idx: Idx, papers: Path
) -> None:
    data = tarred({"rent.txt": "The rent is due."})
    (papers / "a.tar.gz").write_bytes(gzip.compress(data))
    (papers / "c.tbz2").write_bytes(bz2.compress(data))
    idx.without("bz2")
    assert sync(idx, "papers") == {"added": 2, "chunks": 2, "unsupported": 1}
    (failure,) = idx.json("failures", "--unsupported")["failures"]
    reason = "is compressed with bzip2, which this Python does not read; unpack it"
    assert failure["reason"].endswith(reason)


@pytest.mark.soak
def test_without_the_extra_a_7z_archive_is_named_and_read_once_it_is_there(
    idx: Idx, empty_index: Path, papers: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = (SEVEN_ZIP / "lzma2.7z").read_bytes()
    (papers / "a.7z").write_bytes(packed)
    (papers / "b.zip").write_bytes(zipped({"inner.7z": packed, "rent.txt": "The rent is due."}))
    modules = make(tmp_path / "modules")
    (modules / "sitecustomize.py").write_text("import sys\nsys.modules['py7zr'] = None\n")
    with monkeypatch.context() as without:
        without.setenv("PYTHONPATH", str(modules), prepend=os.pathsep)
        assert sync(idx, "papers") == {"added": 2, "chunks": 2, "unsupported": 2}
    failures = idx.json("failures", "--unsupported")["failures"]
    reasons = {failure["source_document"]: failure["reason"] for failure in failures}
    reason = (
        'is a 7z archive, and reading it needs the extra "7z" (py7zr is not installed); install it '
        f"with: {extra_command('7z')}"
    )
    assert reasons == {"a.7z": reason, "b.zip!/inner.7z": f"inner.7z: {reason}"}
    sync(idx, "papers", "--retry")
    for name in ("a.7z", "b.zip!/inner.7z"):
        assert text_of(empty_index, f"{name}!/größe.txt") == "Der Brunnen ist tief."
    assert idx.json("failures", "--unsupported")["failures"] == []


def test_attachments_are_documents_with_the_thread_of_their_mail(
    idx: Idx, empty_index: Path, papers: Path
) -> None:
    first = mail("Offer", "Our offer is attached.", Message_ID="<1@a.example>")
    first.add_attachment(
        pdf_of(["Forty pumps cost 900"]), "application", "pdf", filename="../offer.pdf"
    )
    first.add_attachment(b"a,b\n1,2\n", "text", "csv", filename="offer.pdf")
    older = mail("Question", "Do you have pumps?")
    older.add_attachment(
        zipped({"list.txt": "A list of pumps"}), "application", "zip", filename="l.zip"
    )
    first.add_attachment(older)
    reply = (
        "We take thirty.\n\nOn Monday, Ana <ana@a.example>\nwrote:\n> Our offer is attached.\n"
        "> > Do you have pumps?\n"
    )
    second = mail("Re: Offer", reply, Message_ID="<2@a.example>", References="<1@a.example>")
    (papers / "a.eml").write_bytes(first.as_bytes())
    (papers / "b.eml").write_bytes(second.as_bytes())
    sync(idx, "papers")
    assert ids(empty_index) == [
        "a.eml", "a.eml!/_offer.pdf", "a.eml!/message 3", "a.eml!/message 3!/l.zip",
        "a.eml!/message 3!/l.zip!/list.txt", "a.eml!/offer.pdf", "b.eml",
    ]  # fmt: skip
    assert text_of(empty_index, "a.eml!/_offer.pdf") == "Forty pumps cost 900"
    assert {*found(idx, "--filter", "thread=1@a.example", "*:*")} == {"a.eml", "b.eml"}
    assert text_of(empty_index, "b.eml").endswith(
        "We take thirty.\n\nQuoted text\nOn Monday, Ana <ana@a.example> wrote:\n"
        "Our offer is attached."
    )
    assert idx("delete", "a.eml").stdout.count("Deleted document") == 6
    assert ids(empty_index) == ["b.eml"]


def test_messages_of_mailboxes_and_maildirs_are_documents(
    idx: Idx, empty_index: Path, papers: Path
) -> None:
    box = box_of(
        mail("One", "From here on\nThe first", Message_ID="<1/x@a.example>"),
        mail("Two", "The second"),
    ).replace(b"\nFrom here", b"\n>From here")
    (papers / "Inbox").write_bytes(box)
    maildir = papers / "mail" / "cur"
    maildir.mkdir(parents=True)
    (maildir / "1740823200.M5P6.host.org:2,S").write_bytes(mail("Three", "The third").as_bytes())
    sync(idx, "papers")
    assert ids(empty_index) == [
        "Inbox",
        "Inbox!/1_x@a.example",
        "Inbox!/message 2",
        "mail/cur/1740823200.M5P6.host.org:2,S",
    ]
    assert "From here on\nThe first" in text_of(empty_index, "Inbox!/1_x@a.example")
    assert text_of(empty_index, "Inbox") == "Mailbox with 2 messages"


def nested(depth: int) -> bytes:
    data = zipped({"deepest.txt": "found"})
    for _ in range(depth):
        data = zipped({"a.zip": data})
    return data


def huge_mail() -> bytes:
    message = mail("Many", "text")
    for number in range(1_100):
        message.add_attachment(b"x", "text", "plain", filename=f"{number}.txt")
    return message.as_bytes()


def folders(count: int) -> bytes:
    info = tarfile.TarInfo("d")
    info.type = tarfile.DIRTYPE
    return info.tobuf() * count + bytes(1_024)


def encrypted() -> bytes:
    data = bytearray(zipped({"secret.txt": "text"}))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + offset] |= 1
    return bytes(data)


SECRET = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA" + "A" * 99


def test_bad_containers_are_bounded_and_say_so(idx: Idx, empty_index: Path, papers: Path) -> None:
    bad = {
        "bomb.zip": (zipped({f"{n}.bin": bytes(40_000_000) for n in range(3)}), "to more than"),
        "bomb.gz": (gzip.compress(b" " * 60_000_000, 1), "more than the 50 MB"),
        "bomb.tgz": (
            gzip.compress(tarred({f"{n}.bin": bytes(30_000_000) for n in range(4)}), 1),
            "to more than 100 MB",
        ),
        "folders.tgz": (gzip.compress(folders(10_001)), "more than 10,000 files"),
        "deep.zip": (nested(4), "it lies within 3 other files"),
        "locked.zip": (encrypted(), "secret.txt: protected by a password"),
        "cut.zip": (zipped({"x.txt": "text"})[:-40], "is a damaged ZIP"),
        "cut.tgz": (gzip.compress(os.urandom(90_000))[:50_000], "damaged"),
        "many.eml": (huge_mail(), "more than 1,000 attachments"),
        "keys.zip": (zipped({"k.txt": SECRET}), "k.txt: seems to contain"),
    }
    for name, (data, _) in bad.items():
        (papers / name).write_bytes(data)
    (papers / "good.txt").write_text("good")
    sync(idx, "papers", code=1)
    assert "good.txt" in ids(empty_index)
    said = dict.fromkeys(bad, "")
    for failure in idx.json("failures")["failures"]:
        said[failure["source_document"].partition("!/")[0]] += failure["reason"]
    assert {name: reason for name, (_, reason) in bad.items() if reason not in said[name]} == {}


def test_what_is_said_of_a_member_names_it(idx: Idx, papers: Path) -> None:
    inner = zipped({"blank.txt": "", "id_rsa": "skipped"})
    (papers / "a.zip").write_bytes(zipped({"empty.txt": "", "inner.zip": inner, "b.txt": "text"}))
    said = idx("sync", "papers").stderr.replace(str(papers), "papers")
    assert "papers/a.zip: empty.txt: has no text" in said.replace(os.sep, "/")
    reasons = {each["source_document"]: each["reason"] for each in idx.json("failures")["failures"]}
    assert reasons == {
        "a.zip!/empty.txt": "empty.txt: has no text",
        "a.zip!/inner.zip": "inner.zip: 1 member left out, because the name is that of a secret: "
        "'id_rsa'",
        "a.zip!/inner.zip!/blank.txt": "inner.zip!/blank.txt: has no text",
    }


def test_a_link_in_a_zip_archive_is_no_member(idx: Idx, empty_index: Path, papers: Path) -> None:
    link = zipfile.ZipInfo("link.txt")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(papers / "a.zip", "w") as archive:
        archive.writestr("real.txt", "text")
        archive.writestr(link, "/etc/passwd")
    sync(idx, "papers")
    assert ids(empty_index) == ["a.zip", "a.zip!/real.txt"]


def test_members_of_one_name_are_both_read(idx: Idx, empty_index: Path, papers: Path) -> None:
    with zipfile.ZipFile(papers / "a.zip", "w") as archive:
        archive.writestr("a.txt", "one")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("a.txt", "two")
    sync(idx, "papers")
    assert text_of(empty_index, "a.zip!/a.txt") == "one"
    assert text_of(empty_index, "a.zip!/a (2).txt") == "two"


@pytest.mark.parametrize("is_new", [False, True])
def test_a_member_and_a_file_never_replace_each_other(
    idx: Idx, empty_index: Path, papers: Path, *, is_new: bool
) -> None:
    (papers / "a.zip!").mkdir()
    (papers / "a.zip!" / "x.txt").write_text("a file")
    if not is_new:
        sync(idx, "papers")
    (papers / "a.zip").write_bytes(zipped({"x.txt": "a member"}))
    sync(idx, "papers")
    assert text_of(empty_index, "a.zip!/x.txt") == "a member"
    assert text_of(empty_index, "a.zip!!/x.txt") == "a file"


def test_odd_names_of_members_are_no_obstacle(idx: Idx, empty_index: Path, papers: Path) -> None:
    latin = io.BytesIO()
    with tarfile.open(
        fileobj=latin, mode="w", format=tarfile.GNU_FORMAT, encoding="latin-1"
    ) as archive:
        info = tarfile.TarInfo("über.txt")
        info.size = 4
        archive.addfile(info, io.BytesIO(b"over"))
    (papers / "latin.tar").write_bytes(latin.getvalue())
    # So tar names the files of the folder that it is in.
    (papers / "here.tgz").write_bytes(gzip.compress(tarred({"./a.txt": "a", "./d//b.txt": "b"})))
    # Two ways to the same path.
    inner = zipped({"y.txt": "in the inner archive"})
    (papers / "two.zip").write_bytes(zipped({"x.zip": inner, "x.zip!/y.txt": "beside it"}))
    reply = mail("Reply", "The reply")
    reply.add_attachment(mail("R: Offerta", "The offer"))
    reply.add_attachment(mail("Login data", "See the safe"))
    (papers / "reply.eml").write_bytes(reply.as_bytes())
    box = b"From a@a Sat Mar  1 10:00:00 2025\nMessage-ID: <a:b@c.example>\n\nfirst\n"
    (papers / "box.mbox").write_bytes(box)
    assert "failed" not in sync(idx, "papers")
    assert ids(empty_index) == [
        "box.mbox", "box.mbox!/a:b@c.example", "here.tgz", "here.tgz!/a.txt", "here.tgz!/d/b.txt",
        "latin.tar", "latin.tar!/\\udcfcber.txt", "reply.eml", "reply.eml!/message 1",
        "reply.eml!/message 2", "two.zip", "two.zip!/x.zip", "two.zip!/x.zip!!/y.txt",
        "two.zip!/x.zip!/y.txt",
    ]  # fmt: skip
    assert idx.json("failures")["total"] == 0


def test_a_broken_header_within_a_message_hides_no_other(
    idx: Idx, empty_index: Path, papers: Path
) -> None:
    outer = mail("Outer", "The outer text")
    outer.add_attachment(mail("Inner", "The inner text"))
    broken = b"\nSender: ," + b"x" * 90 + b".:\nSubject: Inner"
    (papers / "a.eml").write_bytes(outer.as_bytes().replace(b"\nSubject: Inner", broken))
    assert "failed" not in sync(idx, "papers")
    assert "The inner text" in text_of(empty_index, "a.eml!/message 1")


def test_what_is_not_reached_for_once_stays_in_the_index(
    idx: Idx, empty_index: Path, papers: Path
) -> None:
    inner = gzip.compress(tarred({"c.txt": "c"}))
    (papers / "a.tgz").write_bytes(gzip.compress(tarred({"a.txt": "a", "b.txt": "b"})))
    (papers / "b.zip").write_bytes(zipped({"inner.tgz": inner, "d.txt": "d"}))
    sync(idx, "papers")
    before = ids(empty_index)
    assert {"a.tgz!/b.txt", "b.zip!/inner.tgz!/c.txt"} < {*before}
    large: dict[str, bytes | str] = {f"{n}.bin": bytes(40_000_000) for n in range(3)}
    (papers / "a.tgz").write_bytes(gzip.compress(tarred(large | {"a.txt": "a", "b.txt": "b"})))
    (papers / "b.zip").write_bytes(zipped({"inner.tgz": inner[:50]}))
    assert sync(idx, "papers", code=1)["deleted"] == 1
    assert ids(empty_index) == [name for name in before if name != "b.zip!/d.txt"]
    assert "in part" in idx("failures").stdout
    (papers / "a.tgz").write_bytes(gzip.compress(tarred({"a.txt": "a"})))
    assert sync(idx, "papers")["deleted"] == 1
    assert "a.tgz!/b.txt" not in ids(empty_index)


def test_a_secret_in_a_mailbox_costs_one_message(idx: Idx, empty_index: Path, papers: Path) -> None:
    box = box_of(mail("One", SECRET, Message_ID="<1@a>"), mail("Two", "second", Message_ID="<2@a>"))
    (papers / "a.mbox").write_bytes(box)
    (papers / "b.zip").write_bytes(zipped({"inner.mbox": box}))
    assert sync(idx, "papers") == {"added": 5, "chunks": 5, "secrets": 2}
    assert [name for name in ids(empty_index) if "@" in name] == [
        "a.mbox!/2@a",
        "b.zip!/inner.mbox!/2@a",
    ]
    sync(idx, "papers", "--allow-secret", "papers/a.mbox")
    assert "a.mbox!/1@a" in ids(empty_index)


def test_messages_and_their_attachments_are_as_old_as_they_say(
    idx: Idx, empty_index: Path, papers: Path
) -> None:
    message = mail("One", "first", Message_ID="<1@a>", Date="Sat, 01 Mar 2025 10:00:00 +0100")
    message.add_attachment(b"a plan", "text", "plain", filename="plan.txt")
    (papers / "a.mbox").write_bytes(box_of(message))
    (papers / "b.eml").write_bytes(message.as_bytes())
    sync(idx, "papers")
    dates = {hit["source_document"]: hit["metadata"]["modified"][:10] for hit in hits(idx, "*:*")}
    del dates["a.mbox"]
    assert dates == {
        "a.mbox!/1@a": "2025-03-01",
        "a.mbox!/1@a!/plan.txt": "2025-03-01",
        "b.eml": "2025-03-01",
        "b.eml!/plan.txt": "2025-03-01",
    }
