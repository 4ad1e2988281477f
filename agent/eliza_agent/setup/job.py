"""The conductor: carries a plan out, rung by rung, from whatever the disk says is there.

Holds no rule of its own: `stages` says what is due, the other rooms do it, the store keeps what it came to. One
lock for the whole job; an interruption at any moment leaves a state from which the same call continues.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from anyio import to_thread

from eliza_agent.download.plan import StagedBundle
from eliza_agent.download.pool import download_bundle
from eliza_agent.setup.activate import activate_bundle, keep_report, kept_report, read_installed
from eliza_agent.setup.prepare import OnSetupEvent, Prepared, rung
from eliza_agent.setup.stages import BundleFacts, Stage, next_stage
from eliza_agent.store.active import ActiveFile
from eliza_agent.store.layout import StateLayout
from eliza_agent.store.lock import hold_lock
from eliza_agent.store.registry import InstalledBundle, Registry
from eliza_agent.verify.artifacts import prove_files
from eliza_agent.verify.device_pass import prove_on_device
from eliza_agent.verify.report import ProvenBundle, VerifyReport
from eliza_catalog.errors import InternalError
from eliza_catalog.manifest import Manifest
from eliza_native.library import Library


@dataclass(frozen=True, slots=True, kw_only=True)
class SetupOutcome:
    """What a setup came to: the bundle that answers now and the proof it stands on."""

    key: str
    report: VerifyReport
    downloaded: bool


async def carry_out(prepared: Prepared, on_event: OnSetupEvent) -> SetupOutcome:
    """Download, prove and activate what was prepared, skipping every rung that the disk says is done.

    Raises:
        DownloadError, IntegrityError, StorageError: while the bytes are fetched; nothing half is published.
        VerifyError: the device proof failed; the report and the files are kept, nothing is activated.
        ActivationError: the bundle may be kept but may not answer.
    """
    async with hold_lock(prepared.request.layout):
        with rung(Stage.DOWNLOAD, on_event) as facts:
            staged = await download_bundle(prepared.plan, prepared.request.layout, on_event)
            facts.values = {"sizeBytes": staged.size_bytes, "key": staged.key}
        await to_thread.run_sync(_register, prepared, staged)
        job = _Job(prepared.request.layout, prepared.library, staged.key, prepared.plan.manifest, on_event)
        return SetupOutcome(key=staged.key, report=await job.climb(), downloaded=True)


async def verify_installed(layout: StateLayout, library: Library, key: str, on_event: OnSetupEvent) -> VerifyReport:
    """Prove an installed bundle anew, files and device; a failure takes its proof away.

    Raises:
        ActivationError: `activation.not_installed`, `activation.manifest_changed`.
        IntegrityError: a file is not the manifest's any more; `setup` repairs it.
        VerifyError: the device proof failed.
    """
    async with hold_lock(layout):
        installed = Registry(layout).get(key)
        try:
            servable = await to_thread.run_sync(read_installed, layout, installed)
            return await _Job(layout, library, key, servable.manifest, on_event).prove()
        except Exception:  # a failure, and never an interruption, takes the proof away
            await to_thread.run_sync(Registry(layout).mark_proven, key, None)
            raise


def _register(prepared: Prepared, staged: StagedBundle) -> None:
    """List the bundle as installed; an entry that is there keeps its proof, for the key names the very bytes."""
    registry = Registry(prepared.request.layout)
    if registry.find(staged.key) is None:
        registry.add(
            InstalledBundle(
                key=staged.key,
                id=str(staged.plan.manifest.id),
                tier=staged.plan.manifest.tier,
                version=staged.plan.manifest.version,
                manifest_sha256=staged.plan.manifest.digest,
                size_bytes=staged.size_bytes,
                installed_at=datetime.now(UTC),
                is_standin=staged.plan.manifest.is_standin,
                hub=staged.plan.source.base_url,
                revision=staged.plan.source.revision,
            )
        )


@dataclass(slots=True)
class _Job:
    layout: StateLayout
    library: Library
    key: str
    manifest: Manifest
    on_event: OnSetupEvent
    proven: ProvenBundle | None = None
    report: VerifyReport | None = field(default=None)

    async def climb(self) -> VerifyReport:
        """Do the rungs that are due until the bundle answers."""
        rungs: dict[Stage, Callable[[], Awaitable[object]]] = {
            Stage.PROVE_FILES: self.prove_files,
            Stage.PROVE_DEVICE: self.prove_device,
            Stage.ACTIVATE: self.activate,
        }
        while (stage := next_stage(await to_thread.run_sync(self.facts))) is not Stage.READY:
            rung_due = rungs.pop(stage, None)
            if rung_due is None:  # it was done and the disk does not show it: never go round in circles
                raise InternalError("broken_promise", "Setting up Eliza-1 does not advance.", details={"stage": stage})
            await rung_due()
        assert self.report is not None
        return self.report

    def facts(self) -> BundleFacts:
        """Read from the disk what is done."""
        installed = Registry(self.layout).get(self.key)
        self.report = self.report or kept_report(self.layout, self.key)
        return BundleFacts(
            published=self.layout.bundle(self.key).is_dir(),
            files_proven=self.proven is not None or installed.proven_at is not None,
            device_proven=installed.proven_at is not None and self._report_stands(),
            active=ActiveFile(self.layout).read().active == self.key,
        )

    def _report_stands(self) -> bool:
        """Whether the kept report is of this manifest and of the library that would run it now."""
        report = self.report
        return (
            report is not None
            and report.passed
            and report.manifest_sha256 == self.manifest.digest.hex
            and report.library_version == self.library_version()
        )

    def library_version(self) -> str:
        """Return the version that a report must carry to stand."""
        return self.library.report().version

    async def prove(self) -> VerifyReport:
        """Prove files and device, whatever was proven before."""
        await self.prove_files()
        return await self.prove_device()

    async def prove_files(self) -> None:
        """Hash every file against the manifest."""
        with rung(Stage.PROVE_FILES, self.on_event) as facts:
            root = self.layout.bundle(self.key)
            self.proven = await prove_files(self.key, root, self.manifest)
            facts.values = {"files": len(self.proven.files), "sizeBytes": self.proven.size_bytes}

    async def prove_device(self) -> VerifyReport:
        """Run the device pass, keep its report whatever it says, and note the proof if it passed."""
        if self.proven is None:
            await self.prove_files()
        assert self.proven is not None
        with rung(Stage.PROVE_DEVICE, self.on_event) as facts:
            report = await prove_on_device(self.library, self.proven, on_step=self.on_event)
            self.report = report
            await to_thread.run_sync(keep_report, self.layout, self.key, report)
            report.require_passed()
            await to_thread.run_sync(Registry(self.layout).mark_proven, self.key, datetime.now(UTC))
            facts.values = {"elapsedMs": round(report.elapsed_ms)}
        return report

    async def activate(self) -> None:
        """Let the bundle answer."""
        with rung(Stage.ACTIVATE, self.on_event):
            await to_thread.run_sync(activate_bundle, self.layout, self.key)
