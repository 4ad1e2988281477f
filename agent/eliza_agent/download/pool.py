"""The whole plan: everything that makes one bundle complete, in one cancel scope.

Small files first, a few at a time, one bar for all; an interruption at any moment keeps every byte. Holds the
store's lock while it runs and publishes the tree by one rename (house rules, 5.1; amendment 2).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import anyio

from eliza_agent.download.events import FileDone, OnEvent, Planned, Retrying
from eliza_agent.download.limits import Limits
from eliza_agent.download.meter import Meter
from eliza_agent.download.plan import DownloadPlan, PlannedFile, StagedBundle
from eliza_agent.download.sizing import require_space, size_plan
from eliza_agent.download.transfer import Desk, fetch_file, in_thread
from eliza_agent.download.transport import RemoteFile, Transport
from eliza_agent.store.blobs import BlobStore
from eliza_agent.store.layout import StateLayout, bundle_key
from eliza_agent.store.lock import hold_lock
from eliza_catalog.errors import DownloadError, ElizaError
from eliza_catalog.manifest import MANIFEST_NAME
from eliza_catalog.terms import Sha256


async def download_bundle(
    plan: DownloadPlan, layout: StateLayout, on_event: OnEvent, *, limits: Limits | None = None
) -> StagedBundle:
    """Have every file of the plan in the store under its proven digest, and publish the bundle's tree.

    Files that are there are read again and not fetched; one that lost its digest is replaced. Nothing is asked
    of the network when nothing is missing.

    Raises:
        DownloadError: any of its reasons but `conflict`.
        IntegrityError: `digest` or `not_gguf`; nothing is published.
        StorageError: `locked`, `full` (before the transfer or during it), `denied` or `failed`.
    """
    limits = limits or Limits()
    async with hold_lock(layout):
        blobs = BlobStore(layout)
        await in_thread(blobs.keep_manifest, plan.fetched.data)
        present = await _present(plan, blobs)
        missing = [file for file in plan.distinct_files() if file.sha256 not in present]
        async with Transport(plan.source, limits) as transport:
            sizes = await size_plan(missing, transport)
            await in_thread(require_space, layout, missing, sizes, limits.reserve_bytes)
            await _Pool(plan, layout, blobs, transport, on_event).run(present, missing, sizes)
        key = bundle_key(plan.manifest.id, plan.manifest.version, plan.manifest.digest)
        root = await in_thread(blobs.materialise, key, plan.tree(), {MANIFEST_NAME: plan.fetched.data})
        total = sum(present.values()) + sum(remote.size_bytes for remote in sizes.values())
        return StagedBundle(root=root, key=key, plan=plan, size_bytes=total)


async def _present(plan: DownloadPlan, blobs: BlobStore) -> dict[Sha256, int]:
    """Return the sizes of the plan's files that are in the store and intact; drop those that are not."""
    present: dict[Sha256, int] = {}
    for file in plan.distinct_files():
        size = await in_thread(blobs.size_bytes, file.sha256)
        if size is None:
            continue
        if await in_thread(blobs.is_intact, file.sha256):
            present[file.sha256] = size
        else:
            await in_thread(blobs.discard, file.sha256)
    return present


@dataclass(slots=True)
class _Pool:
    plan: DownloadPlan
    layout: StateLayout
    blobs: BlobStore
    transport: Transport
    on_event: OnEvent
    failures: list[ElizaError] = field(default_factory=list)

    async def run(
        self, present: Mapping[Sha256, int], missing: Sequence[PlannedFile], sizes: Mapping[Sha256, RemoteFile]
    ) -> None:
        """Fetch all of `missing`; the first failure ends the others, which keep what they have."""
        total = sum(present.values()) + sum(sizes[file.sha256].size_bytes for file in missing)
        meter = Meter(total, self.on_event, self.transport.limits.events_per_s)
        for digest, size in present.items():
            meter.credit(digest, size)
        self.on_event(Planned(total_bytes=total, files=len(self.plan.files), present_bytes=meter.received_bytes))
        for file in self.plan.distinct_files():
            if file.sha256 in present:
                self.on_event(FileDone(file=file.path, size_bytes=present[file.sha256], was_present=True))
        queue = iter(sorted(missing, key=lambda file: (sizes[file.sha256].size_bytes, file.path)))
        async with anyio.create_task_group() as group:
            for _ in range(self.transport.limits.parallel_files):
                group.start_soon(self._work, queue, sizes, meter, group.cancel_scope)
        if self.failures:
            raise self.failures[0]
        if missing:
            meter.tell(missing[-1].path, at_once=True)

    async def _work(
        self, queue: Iterator[PlannedFile], sizes: Mapping[Sha256, RemoteFile], meter: Meter, scope: anyio.CancelScope
    ) -> None:
        desk = Desk(
            layout=self.layout,
            blobs=self.blobs,
            transport=self.transport,
            on_length=lambda file, length: meter.moved(file.sha256, file.path, length),
            on_retry=self._tell_retry,
        )
        try:
            for file in queue:
                size = sizes[file.sha256].size_bytes
                await fetch_file(file, size, desk)
                self.on_event(FileDone(file=file.path, size_bytes=size, was_present=False))
        except ElizaError as error:
            self.failures.append(error)
            scope.cancel()

    def _tell_retry(self, file: PlannedFile, error: DownloadError) -> None:
        self.on_event(Retrying(file=file.path, code=error.code, message=error.message))
