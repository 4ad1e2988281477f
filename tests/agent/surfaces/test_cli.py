"""The command line teaches, names its exit codes and never shows an upstream name."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from eliza_agent.settings import DEFAULT_HUB, read_settings
from eliza_agent.store.atomic import prepare_folders
from eliza_agent.store.layout import StateLayout
from eliza_agent.surfaces.cli import VERBS, cli, run_words
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


@pytest.mark.parametrize(
    "words",
    [["status", "--frob"], ["ask"], ["frobnicate"], ["hub", "--port", "abc", "."], ["ask", " "], ["ask", "a\udcff"]],
    ids=" ".join,
)
def test_what_the_parser_refuses_is_one_document_too(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        run_words([*words, "--json"], as_json=True)
    assert left.value.code == ExitCode.USAGE
    shown = capsys.readouterr()
    assert json.loads(shown.err)["code"] == "settings.bad_value"
    assert shown.out == ""


@pytest.mark.parametrize(
    "env",
    [
        {"ELIZA_THREADS": "-3"},
        {"ELIZA_THREADS": "99999"},
        {"ELIZA_HF_TOKEN": "\u2603"},
        {"ELIZA_HF_TOKEN": "a\nb"},
        {"ELIZA_STATE_DIR": __file__},
    ],
    ids=str,
)
def test_a_setting_that_cannot_be_used_is_said_at_once(env: dict[str, str]) -> None:
    with pytest.raises(SettingsError):
        read_settings({"ELIZA_STATE_DIR": "unused", **env})


def test_a_log_level_that_is_none_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ELIZA_LOG", "banana")
    assert CliRunner().invoke(cli, ["list", "--state-dir", str(tmp_path)]).exit_code == ExitCode.USAGE


@pytest.mark.parametrize(
    "note",
    [
        "[" * 200_000,
        '{"schema": 1, "active": "a", "previous": null, "since": null}',
        '{"schema": 1, "active": "a", "previous": null, "since": "2026-01-01T00:00:00"}',
        "not JSON",
    ],
    ids=["nested", "no time", "no zone", "garbage"],
)
def test_a_damaged_note_of_what_is_active_is_a_storage_error(note: str, tmp_path: Path) -> None:
    layout = StateLayout(tmp_path)
    prepare_folders(layout)
    layout.active.write_text(note, "utf-8")
    done = CliRunner().invoke(cli, ["status", "--json", "--state-dir", str(tmp_path)])
    assert done.exit_code == ExitCode.STORAGE
    assert json.loads(done.stderr)["code"] == "storage.registry_corrupt"


def test_a_place_for_speech_that_cannot_be_written_is_said_before_anything_is_made(tmp_path: Path) -> None:
    place = tmp_path / "nowhere" / "a.wav"
    done = CliRunner().invoke(cli, ["ask", "x", "--speak", str(place), "--json", "--state-dir", str(tmp_path)])
    assert done.exit_code == ExitCode.STORAGE
