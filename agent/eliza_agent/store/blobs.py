"""Proven files, each kept once under its own digest, and the trees that are made of them.

A file enters by rename after its digest was proven by the caller; a bundle version is a tree of hard links
(or copies where the file system has none), built aside and published by one rename. Never fetches anything
and never trusts a name: `is_intact` reads the bytes (house amendment 2).
"""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from uuid import uuid4

from eliza_agent.store.atomic import (
    disk_errors,
    flush_folder,
    make_folder,
    move_into_place,
    prepare_folders,
    read_bytes_if_there,
    write_bytes,
    write_json,
)
from eliza_agent.store.layout import PRIVATE_FILE, StateLayout
from eliza_agent.store.note import NOTE_FAULTS, parse_note
from eliza_catalog.errors import IntegrityError, StorageError
from eliza_catalog.terms import BundlePath, Sha256

_NO_LINK = {errno.EXDEV, errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS}
_RECORD_SCHEMA = 1


class BlobStore:
    """The proven files and published trees of one state folder. Every method blocks on the disk."""

    def __init__(self, layout: StateLayout) -> None:
        self._layout = layout

    def has(self, digest: Sha256) -> bool:
        """Whether a file of that digest was once proven; see `is_intact` for whether it still is."""
        return self._layout.blob(digest).is_file()

    def size_bytes(self, digest: Sha256) -> int | None:
        """Return the size of a proven file, or None when it is absent."""
        blob = self._layout.blob(digest)
        return blob.stat().st_size if blob.is_file() else None

    def is_intact(self, digest: Sha256) -> bool:
        """Read a proven file again and say whether it still has its digest; an absent one has not.

        Raises:
            StorageError: the disk refused to read.
        """
        blob = self._layout.blob(digest)
        with disk_errors(blob):
            return blob.is_file() and hash_file(blob) == digest

    def discard(self, digest: Sha256) -> None:
        """Take away a file that lost its digest, so that it is fetched anew.

        Raises:
            StorageError: see `store.atomic.storage_error`.
        """
        blob = self._layout.blob(digest)
        with disk_errors(blob):
            blob.unlink(missing_ok=True)

    def adopt(self, part: Path, digest: Sha256) -> Path:
        """Move a file whose digest the caller has just proven, and flushed, under that digest.

        Raises:
            StorageError: see `store.atomic.storage_error`; the part stays where it was then.
        """
        blob = self._layout.blob(digest)
        with disk_errors(part):
            if not blob.parent.is_dir():
                make_folder(blob.parent)
                flush_folder(self._layout.blobs)
            part.chmod(PRIVATE_FILE)
        move_into_place(part, blob)
        return blob

    def keep_manifest(self, data: bytes) -> Sha256:
        """Keep a manifest's very bytes under their digest and return it.

        Raises:
            StorageError: see `store.atomic.storage_error`.
        """
        digest = Sha256(hashlib.sha256(data).hexdigest())
        prepare_folders(self._layout)
        if read_bytes_if_there(self._layout.manifest(digest)) != data:
            write_bytes(self._layout.manifest(digest), data)
        return digest

    def materialise(self, key: str, files: Mapping[BundlePath, Sha256], documents: Mapping[str, bytes]) -> Path:
        """Publish the tree of a bundle: `files` linked from blobs, `documents` (the manifest) written beside them.

        A tree that is already there and complete is kept; an incomplete or changed one is replaced.

        Raises:
            IntegrityError: `integrity.missing` when a blob is absent.
            StorageError: see `store.atomic.storage_error`; no half tree is ever published.
        """
        target = self._layout.bundle(key)
        if not self._is_complete(target, files, documents):
            staged = self._build(files, documents)
            self._write_record(key, files)
            self._publish(staged, target)
        return target

    def _is_complete(self, root: Path, files: Mapping[BundlePath, Sha256], documents: Mapping[str, bytes]) -> bool:
        linked = (_is_same(path.below(root), self._layout.blob(digest)) for path, digest in files.items())
        written = (read_bytes_if_there(BundlePath(name).below(root)) == data for name, data in documents.items())
        return root.is_dir() and all(linked) and all(written)

    def _build(self, files: Mapping[BundlePath, Sha256], documents: Mapping[str, bytes]) -> Path:
        root = self._layout.staging / uuid4().hex
        make_folder(root)
        try:
            for path, digest in files.items():
                self._place(digest, path.below(root))
            for name, data in documents.items():
                make_folder(BundlePath(name).below(root).parent)
                write_bytes(BundlePath(name).below(root), data)
            _flush_tree(root)
        except BaseException:
            shutil.rmtree(root, ignore_errors=True)
            raise
        return root

    def _place(self, digest: Sha256, target: Path) -> None:
        blob = self._layout.blob(digest)
        if not blob.is_file():
            raise IntegrityError("missing", "A file of this Eliza-1 is missing.", details={"sha256": digest.hex})
        make_folder(target.parent)
        with disk_errors(target):
            link_or_copy(blob, target)

    def _write_record(self, key: str, files: Mapping[BundlePath, Sha256]) -> None:
        listed = {path.text: digest.hex for path, digest in files.items()}
        write_json(self._layout.tree_record(key), {"schema": _RECORD_SCHEMA, "files": listed})

    def _publish(self, staged: Path, target: Path) -> None:
        replaced = self._layout.staging / uuid4().hex
        with disk_errors(target):
            if target.exists():
                target.rename(replaced)
            staged.rename(target)
            flush_folder(target.parent)
            shutil.rmtree(replaced, ignore_errors=True)

    def recorded_tree(self, key: str) -> dict[BundlePath, Sha256]:
        """Return which digest was published at which place of a bundle's tree (the manifest not counted).

        Raises:
            StorageError: `storage.registry_corrupt` when the note of the tree is absent or not ours.
        """
        return _read_record(self._layout.tree_record(key))

    def remove_tree(self, key: str) -> None:
        """Take a published tree away: first out of sight by one rename, then its files.

        Raises:
            StorageError: see `store.atomic.storage_error`.
        """
        target, doomed = self._layout.bundle(key), self._layout.staging / uuid4().hex
        with disk_errors(target):
            if target.exists():
                target.rename(doomed)
            self._layout.tree_record(key).unlink(missing_ok=True)
            flush_folder(self._layout.bundles)
            shutil.rmtree(doomed, ignore_errors=True)

    def collect_garbage(self) -> int:
        """Delete blobs that no published tree needs, and abandoned stagings; return the bytes freed.

        Unfinished parts are wanted and stay. A blob with a second hard link stays whatever the records say.

        Raises:
            StorageError: see `store.atomic.storage_error`.
        """
        wanted = self._recorded_digests()
        freed = 0
        with disk_errors(self._layout.blobs):
            for blob in self._layout.blobs.glob("??/*"):
                status = blob.stat()
                if blob.name not in wanted and status.st_nlink == 1:
                    blob.unlink()
                    freed += status.st_size
            for abandoned in self._layout.staging.glob("*"):
                shutil.rmtree(abandoned, ignore_errors=True)
        return freed

    def _recorded_digests(self) -> set[str]:
        wanted: set[str] = set()
        for record in self._layout.bundles.glob("*.tree.json"):
            wanted.update(digest.hex for digest in _read_record(record).values())
        return wanted


def hash_file(path: Path) -> Sha256:
    """Return the digest of a file's bytes.

    Raises:
        OSError: the disk refused; callers translate.
    """
    with path.open("rb") as file:
        return Sha256(hashlib.file_digest(file, "sha256").hexdigest())


def link_or_copy(source: Path, target: Path) -> None:
    """Give `source` a second name; on a file system without hard links, copy it (the kernel shares blocks if it can).

    Raises:
        OSError: the disk refused; callers translate.
    """
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in _NO_LINK:
            raise
        shutil.copyfile(source, target)
        target.chmod(PRIVATE_FILE)


def _read_record(record: Path) -> dict[BundlePath, Sha256]:
    data = read_bytes_if_there(record) or b""
    try:
        document = parse_note(data)
        if document["schema"] != _RECORD_SCHEMA:
            raise ValueError(f"schema {document['schema']!r}")
        listed = {BundlePath(path): Sha256(digest) for path, digest in document["files"].items()}
    except NOTE_FAULTS as error:
        raise StorageError(
            "registry_corrupt",
            "The note of an installed Eliza-1 cannot be read.",
            remedy="Run `eliza-agent setup` again; it writes the note anew.",
            details={"path": str(record), "fault": str(error)},
        ) from error
    return listed


def _is_same(placed: Path, blob: Path) -> bool:
    try:
        there, kept = placed.stat(), blob.stat()
    except OSError:
        return False
    if (there.st_dev, there.st_ino) == (kept.st_dev, kept.st_ino):
        return True
    return kept.st_nlink == 1 and there.st_size == kept.st_size and hash_file(placed) == hash_file(blob)


def _flush_tree(root: Path) -> None:
    with disk_errors(root):
        for folder, _, names in os.walk(root):
            for name in names:
                descriptor = os.open(Path(folder) / name, os.O_RDONLY)
                try:
                    _flush_copied(descriptor)
                finally:
                    os.close(descriptor)
            flush_folder(Path(folder))


def _flush_copied(descriptor: int) -> None:
    if os.fstat(descriptor).st_nlink == 1:  # a link's bytes were flushed when the blob was proven
        os.fsync(descriptor)
