"""Settings: the environment and the flags become one frozen value, whole strings only.

The only room that reads the process environment, so that every other room can be tested with a value.
Only surfaces and the service may import it. Spellings follow the family (facts 8); a value that does not
parse as a whole is `settings.bad_value`, never half a number.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from eliza_catalog.errors import SettingsError

DEFAULT_HUB = "https://huggingface.co"
DEFAULT_TIER = "2b"
DEFAULT_HEADROOM_MIB = 1536
MOST_THREADS = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What the surfaces pass down.

    `tier` is as the user wrote it; `hub_was_named` tells an address the user chose from the default;
    `headroom_mib` is the RAM that is left to the rest of the device.
    """

    state_dir: Path
    hub: str
    hub_was_named: bool
    hub_token: str | None
    tier: str
    headroom_mib: int
    library: Path | None

    def __repr__(self) -> str:
        """Show the settings without the token."""
        shown = {name: getattr(self, name) for name in ("state_dir", "hub", "tier", "headroom_mib", "library")}
        return f"Settings({shown}, hub_token={'set' if self.hub_token else 'unset'})"


def read_settings(
    environ: Mapping[str, str] | None = None,
    *,
    state_dir: Path | None = None,
    hub: str | None = None,
    tier: str | None = None,
) -> Settings:
    """Merge flags over environment over defaults.

    Raises:
        SettingsError: `settings.bad_value` for a value that does not parse as a whole.
    """
    env = os.environ if environ is None else environ
    named_hub = hub or _first_hub(env)
    _check_threads(env)
    return Settings(
        state_dir=_folder((state_dir or _state_dir(env)).expanduser().absolute()),
        hub=(named_hub or DEFAULT_HUB).rstrip("/"),
        hub_was_named=named_hub is not None,
        hub_token=_token(env),
        tier=tier or env.get("ELIZA_TIER") or DEFAULT_TIER,
        headroom_mib=_whole_number(env, "ELIZA_LOCAL_RAM_HEADROOM_MB", DEFAULT_HEADROOM_MIB),
        library=Path(env["ELIZA_NATIVE_LIB"]) if env.get("ELIZA_NATIVE_LIB") else None,
    )


def _state_dir(env: Mapping[str, str]) -> Path:
    named = env.get("ELIZA_STATE_DIR")
    if named:
        return Path(named)
    from platformdirs import user_data_path  # imported late: a named folder needs none of it

    return user_data_path("eliza-agent", appauthor=False)


def _folder(state_dir: Path) -> Path:
    if state_dir.exists() and not state_dir.is_dir():
        raise SettingsError("bad_value", f"'{state_dir}' is a file; Eliza-1 keeps its state in a folder.")
    return state_dir


def _token(env: Mapping[str, str]) -> str | None:
    token = env.get("ELIZA_HF_TOKEN", "").strip()
    if not (token.isascii() and token.isprintable()):
        raise SettingsError("bad_value", "ELIZA_HF_TOKEN holds characters that no token has.")
    return token or None


def _check_threads(env: Mapping[str, str]) -> None:
    """Say before anything begins that ELIZA_THREADS is wrong; the library reads it itself."""
    if env.get("ELIZA_THREADS") and not 1 <= _whole_number(env, "ELIZA_THREADS", 1) <= MOST_THREADS:
        raise SettingsError("bad_value", f"ELIZA_THREADS must be between 1 and {MOST_THREADS}.")


def _first_hub(env: Mapping[str, str]) -> str | None:
    listed = f"{env.get('ELIZA_HF_BASE_URLS', '')},{env.get('ELIZA_HF_BASE_URL', '')}".split(",")
    return next((part.strip() for part in listed if part.strip()), None)


def _whole_number(env: Mapping[str, str], name: str, default: int) -> int:
    text = env.get(name, "").strip()
    if not text:
        return default
    if not (text.isascii() and text.isdigit()):
        raise SettingsError(
            "bad_value",
            f"{name} must be a whole number, not '{text}'.",
            details={"name": name, "value": text},
        )
    return int(text)
