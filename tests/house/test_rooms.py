"""The house keeps its own measure: rooms stay small, and say what they are for."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("agent/eliza_agent", "capabilities/eliza_capabilities", "catalog/eliza_catalog", "native/eliza_native")
FILES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
CPP = sorted(path for path in (ROOT / "native").rglob("*") if path.suffix in {".cpp", ".h", ".c"})
BANNED = {"utils", "helpers", "common", "base", "core", "misc", "manager", "handler"}
MOST_LINES, MOST_FUNCTION_LINES, MOST_ARGUMENTS, MOST_INIT_LINES = 400, 60, 7, 30


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_room_is_small_and_says_what_it_is_for(path: Path) -> None:
    text = path.read_text("utf-8")
    tree = ast.parse(text)
    assert text.count("\n") <= (MOST_INIT_LINES if path.name == "__init__.py" else MOST_LINES)
    assert ast.get_docstring(tree), "a room begins with what it is for"
    assert path.stem not in BANNED
    for function in functions(tree):
        length = (function.end_lineno or 0) - function.lineno + 1
        assert length <= MOST_FUNCTION_LINES, f"{function.name} has {length} lines"
        arguments = function.args.posonlyargs + function.args.args + function.args.kwonlyargs
        assert len(arguments) <= MOST_ARGUMENTS, f"{function.name} takes {len(arguments)} arguments"


@pytest.mark.parametrize("path", CPP, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_native_room_is_small(path: Path) -> None:
    assert path.read_text("utf-8").count("\n") <= MOST_LINES


def test_packaging_is_no_import_package() -> None:
    """With an `__init__.py` there, a Python started at the root would import our folder as the library `packaging`."""
    assert not list((ROOT / "packaging").rglob("__init__.py"))
    for folder in ("agent", "capabilities", "catalog", "native"):
        assert not (ROOT / folder / "__init__.py").exists()


def test_no_todo_is_left_behind() -> None:
    owed = [
        path.name
        for path in [*FILES, *CPP]
        if any(word in path.read_text("utf-8") for word in ("TODO", "FIXME", "XXX:"))
    ]
    assert owed == []


def test_the_two_commands_are_in_the_readme() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for command in ("demo", "test"):
        assert f"make {command}" in readme
        assert f"\n{command}:" in makefile
    assert "make test" in (ROOT / ".ci" / "run").read_text("utf-8")
