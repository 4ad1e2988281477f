"""Story: what a user can read speaks of Eliza-1 and never of what is inside it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from tests.support.manifests import decoded, document, standin

from eliza_catalog import rules_evals, rules_files, rules_identity
from eliza_catalog.errors import FAMILIES, ElizaError
from eliza_catalog.terms import Tier
from eliza_catalog.words import display_name, display_name_of, upstream_names_in

ROOT = Path(__file__).parents[2]
PACKAGES = ("agent/eliza_agent", "capabilities/eliza_capabilities", "native/eliza_native", "catalog/eliza_catalog")
FAMILY_NAMES = {family.__name__ for family in FAMILIES} | {"ElizaError"}


def texts_in(node: ast.AST) -> str:
    return " ".join(
        part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)
    )


def user_texts(file: Path) -> list[tuple[int, str]]:
    """Return the message and remedy literals of every error that a source file raises, with their lines."""
    found: list[tuple[int, str]] = []
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FAMILY_NAMES:
            shown = node.args[1:2] + [word.value for word in node.keywords if word.arg in ("message", "remedy")]
            found += [(node.lineno, texts_in(part)) for part in shown]
    return found


@pytest.mark.parametrize("family", FAMILIES)
def test_no_remedy_names_an_upstream_part(family: type[ElizaError]) -> None:
    for reason in family.reasons.values():
        assert upstream_names_in(reason.remedy) == []


@pytest.mark.parametrize("package", PACKAGES)
def test_no_raised_message_names_an_upstream_part(package: str) -> None:
    bad = [
        f"{file.relative_to(ROOT)}:{line}: {text}"
        for file in sorted((ROOT / package).rglob("*.py"))
        for line, text in user_texts(file)
        if upstream_names_in(text)
    ]
    assert bad == []


def test_the_search_for_messages_finds_some() -> None:
    assert any(user_texts(file) for file in (ROOT / PACKAGES[-1]).glob("decode.py"))


@pytest.mark.parametrize("rules", [rules_evals, rules_files, rules_identity])
def test_no_broken_rule_is_told_in_upstream_names(rules: object) -> None:
    source = Path(str(rules.__file__))  # type: ignore[attr-defined]
    calls = [
        node
        for node in ast.walk(ast.parse(source.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "violation"
    ]
    assert calls
    assert [text for call in calls if upstream_names_in(text := texts_in(call.args[2]))] == []


@pytest.mark.parametrize("text", ["Gemma4", "libllama", "QWEN3", "an MTP drafter", "tts/kokoro/x", "turbo3_tcq"])
def test_upstream_names_are_found_in_any_dress(text: str) -> None:
    assert upstream_names_in(text)


@pytest.mark.parametrize("text", ["Eliza-1 2B", "smtp", "drafter", "stand-in", "turbo"])
def test_harmless_words_pass(text: str) -> None:
    assert upstream_names_in(text) == []


@pytest.mark.parametrize("tier", Tier)
def test_display_names_are_ours(tier: Tier) -> None:
    assert display_name(tier).startswith("Eliza-1 ")
    assert "stand-in" in display_name(tier, standin=True)


def test_a_standin_is_called_one() -> None:
    assert display_name_of(decoded(standin())) == "Eliza-1 2B (stand-in for demonstrations)"
    assert display_name_of(decoded(document())) == "Eliza-1 2B"
