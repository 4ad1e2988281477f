"""Removes an installed bundle: off the list, out of sight, then its bytes.

In this order a crash leaves at worst unreferenced bytes, which the next removal collects. Never removes the
bundle that answers; keeps house amendment 2 (versions share their blobs).
"""

from __future__ import annotations

from eliza_agent.store.active import ActiveFile
from eliza_agent.store.blobs import BlobStore
from eliza_agent.store.layout import StateLayout
from eliza_agent.store.lock import lock_state
from eliza_agent.store.registry import Registry
from eliza_catalog.errors import ActivationError


def remove_bundle(layout: StateLayout, key: str) -> int:
    """Remove an installed bundle and every blob that no other bundle needs; return the bytes freed.

    Raises:
        ActivationError: `activation.not_installed`, or `activation.in_use` when it is the active one.
        StorageError: `storage.locked`, or the disk's refusal.
    """
    with lock_state(layout):
        registry, active, blobs = Registry(layout), ActiveFile(layout), BlobStore(layout)
        registry.get(key)
        if active.read().active == key:
            raise ActivationError("in_use", "This Eliza-1 is the active one.", details={"key": key})
        active.forget_previous(key)
        registry.remove(key)
        layout.report(key).unlink(missing_ok=True)
        blobs.remove_tree(key)
        return blobs.collect_garbage()
