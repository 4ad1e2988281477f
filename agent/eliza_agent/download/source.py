"""Where bytes come from: a hub's address, a repository, a revision, and who may see the token.

Builds addresses and judges them; opens no socket and reads no setting. A token belongs to its own origin and
is never part of an address, a text or a repr (facts 3.1 URL form; contract section 7).
"""

from __future__ import annotations

import hashlib
import ipaddress
import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from urllib.parse import quote, urlsplit, urlunsplit

from eliza_catalog.errors import SettingsError
from eliza_catalog.terms import BundlePath, Sha256

DEFAULT_REPO = "elizaos/eliza-1"
DEFAULT_REVISION = "main"

_REPO = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*/[A-Za-z0-9][A-Za-z0-9._-]*")
_REVISION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]*")
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Origin:
    """Scheme, host and port: the border that a token must not cross."""

    scheme: str
    host: str
    port: int | None

    @classmethod
    def of(cls, url: str) -> Origin:
        """Return the origin of an address."""
        parts = urlsplit(url)
        scheme = parts.scheme.lower()
        return cls(scheme, (parts.hostname or "").lower(), parts.port or _PORTS.get(scheme))

    @property
    def is_nearby(self) -> bool:
        """Whether the host is this machine or one of its private network, by address or by name."""
        if self.host == "localhost" or self.host.endswith((".localhost", ".local", ".lan", ".home.arpa")):
            return True
        try:
            address = ipaddress.ip_address(self.host)
        except ValueError:
            return False
        return address.is_loopback or address.is_private or address.is_link_local


@dataclass(frozen=True, kw_only=True)
class HubSource:
    """One repository at one revision on one hub.

    `allow_plain_http` is for a hub that the user named explicitly; without it, `http` is accepted for this
    machine and private networks only. `token` is sent to the hub's own origin and nowhere else.

    Raises:
        SettingsError: `settings.bad_value` for an address that is not one, carries credentials, or is
            unencrypted without leave; for a repository or revision that is not one.
    """

    base_url: str
    repo: str = DEFAULT_REPO
    revision: str = DEFAULT_REVISION
    token: str | None = field(default=None, repr=False)
    allow_plain_http: bool = False

    def __post_init__(self) -> None:
        fault = _base_fault(self.base_url, self.allow_plain_http)
        if fault is None and not _REPO.fullmatch(self.repo):
            fault = "the repository is not `owner/name`"
        if fault is None and (not _REVISION.fullmatch(self.revision) or ".." in self.revision):
            fault = "the revision is not a branch, tag or commit"
        if fault is not None:
            raise SettingsError(
                "bad_value",
                f"The hub cannot be used: {fault}.",
                details={"hub": without_credentials(self.base_url), "repo": self.repo, "revision": self.revision},
            )

    @cached_property
    def origin(self) -> Origin:
        """The only origin that may see the token."""
        return Origin.of(self.base_url)

    def address(self, path: BundlePath) -> str:
        """Return `<base>/<repo>/resolve/<revision>/<path>`, each segment percent-encoded."""
        segments = "/".join(quote(segment, safe="") for segment in path.segments)
        return f"{self.base_url.rstrip('/')}/{self.repo}/resolve/{quote(self.revision, safe='')}/{segments}"

    def pinned(self, revision: str | None) -> HubSource:
        """Return this source at another revision; unchanged for None (a hub that names no commits)."""
        return self if revision is None else replace(self, revision=revision)

    def headers_for(self, url: str) -> dict[str, str]:
        """Return the Authorization header when `url` lies on the hub's own origin, else nothing."""
        if self.token is None or Origin.of(url) != self.origin:
            return {}
        return {"Authorization": f"Bearer {self.token}"}


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchedManifest:
    """A manifest as it came: its very bytes, their digest, and its folder in the repository.

    `source` is pinned to the commit that the hub named in the same reply; everything after comes from there.
    """

    data: bytes = field(repr=False)
    sha256: Sha256
    folder: BundlePath
    source: HubSource

    @classmethod
    def of(cls, data: bytes, folder: BundlePath, source: HubSource) -> FetchedManifest:
        """Return `data` with its own digest, from `source` (already pinned)."""
        return cls(data=data, sha256=Sha256(hashlib.sha256(data).hexdigest()), folder=folder, source=source)


def without_credentials(url: str) -> str:
    """Return an address that may be shown: no user, no password, no query (a CDN's signature), no fragment.

    What cannot be read as an address cannot be cleaned either, and is not shown at all.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return "(not an address)"
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))


def _base_fault(base_url: str, allow_plain_http: bool) -> str | None:
    try:
        parts = urlsplit(base_url)
        origin = Origin.of(base_url)
    except ValueError:
        return "this is not an address"
    if origin.scheme not in _PORTS or not origin.host:
        return "this is not an http or https address"
    if parts.username is not None or parts.password is not None:
        return "the address carries a user name or password"
    if parts.query or parts.fragment:
        return "the address carries a query"
    if origin.scheme == "http" and not (allow_plain_http or origin.is_nearby):
        return "plain http is accepted for this device and its private network only"
    return None
