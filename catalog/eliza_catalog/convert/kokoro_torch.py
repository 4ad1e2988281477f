"""Reads the official PyTorch checkpoint of Kokoro-82M (`kokoro-v1_0.pth`) into float weights.

The file is a dict of modules; weight norm comes as (weight_g, weight_v) pairs and is folded here.
torch is a developer's dependency and imported only when a `.pth` is opened; state dicts of arrays need none.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .kokoro_layout import Tensors, fold_weight_norm

_PAIRS = (
    ("weight_g", "weight_v"),
    ("parametrizations.weight.original0", "parametrizations.weight.original1"),
)


def read_checkpoint(path: Path) -> Tensors:
    """Canonical weights of a `.pth` file.

    Raises:
        ImportError: torch is not installed.
    """
    import torch

    return from_state(torch.load(str(path), map_location="cpu", weights_only=True))


def from_state(state: Mapping[str, Any]) -> Tensors:
    """Canonical weights of `{module: {name: tensor}}` or of a flat `{module.name: tensor}`."""
    flat: dict[str, Any] = {}
    for module, value in state.items():
        if isinstance(value, Mapping):
            flat.update({f"{module}.{name.removeprefix('module.')}": one for name, one in value.items()})
        else:
            flat[module] = value
    arrays = {name: np.asarray(value, dtype=np.float32) for name, value in flat.items() if _is_weight(name)}
    for gain, direction in _PAIRS:
        for name in [one for one in arrays if one.endswith(f".{gain}")]:
            stem = name.removesuffix(gain)
            arrays[f"{stem}weight"] = fold_weight_norm(arrays.pop(name), arrays.pop(f"{stem}{direction}"))
    return arrays


def _is_weight(name: str) -> bool:
    """Buffers that torch keeps beside the weights carry nothing learnt."""
    return not name.endswith(("position_ids", "token_type_ids", "window")) and ".stft." not in name
