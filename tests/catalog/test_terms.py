"""Story: a bundle path cannot leave its folder on any operating system, however it is spelled."""

from __future__ import annotations

from pathlib import Path, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eliza_catalog.errors import ManifestError
from eliza_catalog.terms import BundlePath, Sha256


@given(st.text(alphabet=st.sampled_from("aA./\\: \0\u00e9*nulc"), max_size=12))
def test_an_accepted_path_stays_below_its_root(text: str) -> None:
    try:
        path = BundlePath(text)
    except ManifestError:
        return
    root = Path("/bundle")
    assert path.below(root).resolve().is_relative_to(root)
    assert "/".join(path.segments) == text
    foreign = PureWindowsPath(text)
    assert not foreign.drive
    assert not foreign.is_absolute()
    assert ".." not in foreign.parts


@pytest.mark.parametrize("text", ["aux", "a/COM1.gguf", "nul.tar.gz", "lpt9/x"])
def test_windows_device_names_are_refused(text: str) -> None:
    with pytest.raises(ManifestError):
        BundlePath(text)


@pytest.mark.parametrize("text", ["", "0" * 63, "0" * 65, "A" * 64, "0" * 64 + "\n"])
def test_a_digest_is_a_digest(text: str) -> None:
    with pytest.raises(ManifestError):
        Sha256(text)
