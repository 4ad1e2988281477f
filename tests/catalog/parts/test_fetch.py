"""Story: packages come once, whole and proven, or not at all with a reason."""

from __future__ import annotations

import hashlib
import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from eliza_catalog.errors import DownloadError, IntegrityError
from eliza_catalog.parts.fetch import PACKAGES, Package, fetch, opened_member, read_text
from eliza_catalog.parts.made import made_once
from eliza_catalog.terms import Sha256


def wheel(at: Path, text: str = "hello") -> Path:
    """Write a small installable wheel."""
    file = at / "eliza_test_part-1.0-py3-none-any.whl"
    info = "eliza_test_part-1.0.dist-info"
    with zipfile.ZipFile(file, "w") as packed:
        packed.writestr("eliza_test_part/data.txt", text)
        packed.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: eliza-test-part\nVersion: 1.0\n")
        packed.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        packed.writestr(f"{info}/RECORD", "")
    return file


def pinned(file: Path, name: str = "eliza-test-part") -> Package:
    raw = file.read_bytes()
    digest = Sha256(hashlib.sha256(raw).hexdigest())
    return Package(name=name, version="1.0", client="pip", file=file.name, holds="a test part",
                   size_bytes=len(raw), sha256=digest)  # fmt: skip


@pytest.fixture(autouse=True)
def _no_index(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Pip itself runs, but knows only the folder `shelf`."""
    (tmp_path / "shelf").mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "shelf"))


def test_a_package_comes_once_and_is_announced_with_its_size(tmp_path: Path) -> None:
    package, said = pinned(wheel(tmp_path / "shelf")), list[str]()
    archive = fetch(package, tmp_path / "cache", said.append)
    assert read_text(archive, "eliza_test_part/data.txt") == "hello"
    assert len(said) == 1
    assert "MiB" in said[0]
    (tmp_path / "shelf" / package.file).unlink()
    assert fetch(package, tmp_path / "cache", said.append) == archive
    assert len(said) == 1


def test_a_package_that_is_something_else_is_not_kept(tmp_path: Path) -> None:
    package = pinned(wheel(tmp_path, "what was pinned"))
    wheel(tmp_path / "shelf", "what came")
    with pytest.raises(IntegrityError) as caught:
        fetch(package, tmp_path / "cache", lambda _: None)
    assert caught.value.code == "integrity.digest"
    assert list((tmp_path / "cache/packages").iterdir()) == []


def test_an_unreachable_package_is_a_typed_error_and_leaves_nothing(tmp_path: Path) -> None:
    package = pinned(wheel(tmp_path), name="eliza-no-such-part")
    with pytest.raises(DownloadError) as caught:
        fetch(package, tmp_path / "cache", lambda _: None)
    assert caught.value.code == "download.offline"
    assert "eliza-no-such-part" in caught.value.details["said"]
    assert list((tmp_path / "cache/packages").iterdir()) == []


def test_a_damaged_archive_in_the_cache_is_fetched_again(tmp_path: Path) -> None:
    package = pinned(wheel(tmp_path / "shelf"))
    kept = tmp_path / "cache/packages" / package.file
    kept.parent.mkdir(parents=True)
    kept.write_bytes(b"x" * package.size_bytes)
    fetch(package, tmp_path / "cache", lambda _: None)
    assert Sha256(hashlib.sha256(kept.read_bytes()).hexdigest()) == package.sha256


def test_members_of_both_kinds_of_archive_are_read(tmp_path: Path) -> None:
    packed = tmp_path / "p.tgz"
    with tarfile.open(packed, "w:gz") as written:
        info = tarfile.TarInfo("package/a")
        info.size = 2
        written.addfile(info, io.BytesIO(b"hi"))
    assert read_text(packed, "package/a") == "hi"
    for archive in (packed, wheel(tmp_path)):
        with pytest.raises(IntegrityError), opened_member(archive, "no/such"):
            pass


def test_every_pin_is_whole() -> None:
    assert {package.client for package in PACKAGES.values()} == {"pip", "npm"}
    assert all(package.size_bytes > 0 for package in PACKAGES.values())


def test_a_made_file_is_made_once_for_the_same_inputs(tmp_path: Path) -> None:
    made: list[Path] = []

    def make(out: Path) -> None:
        made.append(out)
        out.write_text("x")

    first = made_once(tmp_path, "a.bin", ["1"], make)
    assert made_once(tmp_path, "a.bin", ["1"], make) == first
    assert made_once(tmp_path, "a.bin", ["2"], make) != first
    assert len(made) == 2


def test_a_make_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def make(out: Path) -> None:
        out.write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        made_once(tmp_path, "a.bin", [], make)
    assert list((tmp_path / "made").iterdir()) == []
