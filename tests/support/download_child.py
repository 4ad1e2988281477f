"""A process of its own that downloads one bundle, to be killed: `python -m tests.support.download_child URL STATE`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import anyio
from tests.support.bundle_repo import FOLDER, accepted

from eliza_agent.download.plan import make_plan
from eliza_agent.download.pool import download_bundle
from eliza_agent.download.source import HubSource
from eliza_agent.download.transport import Transport
from eliza_agent.store.layout import StateLayout
from eliza_catalog.errors import ElizaError


async def download(base_url: str, state: Path) -> None:
    """Fetch the manifest, judge it, and have the bundle; prints one JSON document."""
    try:
        async with Transport(HubSource(base_url=base_url)) as transport:
            fetched = await transport.fetch_manifest(FOLDER)
        plan = make_plan(accepted(fetched.data), fetched)
        staged = await download_bundle(plan, StateLayout(state), lambda event: None)
    except ElizaError as error:
        print(json.dumps(error.as_json()))
        sys.exit(int(error.exit_code))
    print(json.dumps({"key": staged.key, "size_bytes": staged.size_bytes}))


if __name__ == "__main__":
    anyio.run(download, sys.argv[1], Path(sys.argv[2]))
