"""What every story shares: the ones that build the library anew run only when they are asked for by name."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out `backends` unless -m speaks of it; `make backends` does."""
    if "backends" in str(config.getoption("markexpr")):
        return
    left_out = [item for item in items if item.get_closest_marker("backends")]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]
