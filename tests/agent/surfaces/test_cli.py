"""The command line teaches, names its exit codes and never shows an upstream name."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from eliza_agent.settings import DEFAULT_HUB, read_settings
from eliza_agent.surfaces.cli import VERBS, cli
from eliza_catalog.errors import ExitCode, SettingsError
from eliza_catalog.words import upstream_names_in


@pytest.mark.parametrize("words", [(), *((verb,) for verb in VERBS)], ids=lambda words: " ".join(words) or "top")
def test_every_help_teaches_and_names_no_upstream(words: tuple[str, ...]) -> None:
    shown = CliRunner().invoke(cli, [*words, "--help"])
    assert shown.exit_code == 0
    assert len(shown.output) > 200
    assert upstream_names_in(shown.output) == []


def test_the_readme_and_the_help_document_every_exit_code() -> None:
    readme = (Path(__file__).parents[3] / "README.md").read_text("utf-8")
    shown = CliRunner().invoke(cli, ["--help"]).output
    for code in ExitCode:
        assert re.search(rf"\b{code.value}\b", shown)
        assert re.search(rf"\| {code.value} \|", readme)


def test_a_word_that_is_no_verb_is_usage() -> None:
    assert CliRunner().invoke(cli, ["frobnicate"]).exit_code == ExitCode.USAGE


@pytest.mark.parametrize("verb", [["ask", "x"], ["verify"], ["status"]], ids=lambda words: words[0])
def test_nothing_set_up_is_its_own_exit_code(verb: list[str], tmp_path: Path) -> None:
    assert CliRunner().invoke(cli, [*verb, "--state-dir", str(tmp_path)]).exit_code == ExitCode.NOT_SET_UP


def test_an_error_in_json_is_one_document_on_stderr(tmp_path: Path) -> None:
    done = CliRunner().invoke(cli, ["remove", "nothing", "--json", "--state-dir", str(tmp_path)])
    assert set(json.loads(done.stderr)) == {"code", "message", "remedy", "details"}
    assert done.stdout == ""


def test_a_setting_that_is_half_a_number_is_refused() -> None:
    with pytest.raises(SettingsError) as caught:
        read_settings({"ELIZA_LOCAL_RAM_HEADROOM_MB": "1junk"})
    assert caught.value.code == "settings.bad_value"


def test_a_flag_beats_the_environment_and_the_environment_the_default(tmp_path: Path) -> None:
    env = {"ELIZA_HF_BASE_URLS": "https://one.example/, https://two.example", "ELIZA_STATE_DIR": str(tmp_path)}
    assert read_settings(env).hub == "https://one.example"
    assert read_settings(env, hub="https://flag.example").hub == "https://flag.example"
    named_by_nobody = read_settings({"ELIZA_STATE_DIR": str(tmp_path)})
    assert (named_by_nobody.hub, named_by_nobody.hub_was_named) == (DEFAULT_HUB, False)


def test_the_token_is_in_no_repr(tmp_path: Path) -> None:
    assert "hf_secret" not in repr(read_settings({"ELIZA_HF_TOKEN": "hf_secret", "ELIZA_STATE_DIR": str(tmp_path)}))
