"""Story: tests install a whole bundle of a few MiB that was generated a second ago."""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np
import pytest

from eliza_catalog.decode import decode_manifest
from eliza_catalog.parts import demo
from eliza_catalog.parts.preset import decode_preset
from eliza_catalog.parts.tiny import tiny_spec
from eliza_catalog.parts.tiny_vocabulary import END_OF_TURN, TINY_TEXT, tiny_vocabulary
from eliza_catalog.publish import check_publishable
from eliza_catalog.stage import stage_bundle
from eliza_catalog.terms import FileGroup, Kernel
from eliza_catalog.words import display_name_of

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("tiny"))


def make(at: Path) -> Path:
    detector = at / "detector.gguf"
    detector.write_bytes(b"GGUF, but only in name: this story never listens")
    return stage_bundle(tiny_spec(at / "parts", detector), at / "hub", link=False)


def test_it_is_a_standin_that_the_gates_accept(hub: Path) -> None:
    manifest = decode_manifest((hub / "eliza-1.manifest.json").read_bytes())
    assert display_name_of(manifest) == "Eliza-1 2B (stand-in for demonstrations)"
    assert manifest.version == "0.0.1-local.demo"
    assert not manifest.default_eligible
    assert manifest.kernels.required == (Kernel.MTP,)
    assert not any(gate.passed for gate in manifest.evals.gates.values())
    for group in (FileGroup.TEXT, FileGroup.VOICE, FileGroup.VISION, FileGroup.MTP, FileGroup.VAD, FileGroup.CACHE):
        assert manifest.first(group) is not None
    assert manifest.ram.min_mib < 200


def test_it_is_small_and_can_never_be_published(hub: Path) -> None:
    assert sum(file.stat().st_size for file in hub.rglob("*") if file.is_file()) < 12 << 20
    assert "publish.standin" in {reason.code for reason in check_publishable(hub).reasons}


def test_the_same_seeds_give_the_same_bundle(hub: Path, tmp_path: Path) -> None:
    sums = "checksums/SHA256SUMS"
    assert (make(tmp_path) / sums).read_text() == (hub / sums).read_text()


def test_the_default_voice_is_the_first_one_listed(hub: Path) -> None:
    preset = decode_preset((hub / "cache/voice-preset-default.bin").read_bytes())
    voices = sorted((hub / "tts/kokoro/voices").iterdir())
    assert [voice.stem for voice in voices] == [preset.metadata["voice"]]
    assert voices[0].stat().st_size == 510 * 256 * 4


def test_the_text_is_speakable_and_each_word_comes_once() -> None:
    words = TINY_TEXT.split()
    assert len(words) == len(set(words))
    assert len(words) >= 12
    assert TINY_TEXT.count(".") >= 2


def test_head_and_embedding_alone_spell_the_text(hub: Path) -> None:
    """The chain holds in the weights themselves; that the whole graph keeps it is the native tests' story."""
    vocabulary = tiny_vocabulary()
    tensors = {each.name: each.data for each in gguf.GGUFReader(hub / "text/eliza-1-e2b-4k.gguf").tensors}
    embeddings, head = tensors["token_embd.weight"], tensors["output.weight"]
    said, token = [], vocabulary.tokens.index("a")
    while vocabulary.tokens[token] != END_OF_TURN:
        token = int(np.argmax(head @ embeddings[token]))
        said.append(vocabulary.tokens[token])
        assert len(said) < 99
    assert "".join(said[:-1]).replace("\u2581", " ") == TINY_TEXT


def test_target_and_drafter_share_vocabulary_and_head_sizes(hub: Path) -> None:
    target = gguf.GGUFReader(hub / "text/eliza-1-e2b-4k.gguf")
    drafter = gguf.GGUFReader(hub / "mtp/drafter-e2b.gguf")
    for key in ("tokenizer.ggml.tokens", "tokenizer.ggml.merges"):
        assert target.fields[key].contents() == drafter.fields[key].contents()
    for key in ("attention.key_length", "attention.key_length_swa", "attention.head_count_kv"):
        of_target = target.fields[f"gemma4.{key}"].contents()
        assert of_target == drafter.fields[f"gemma4-assistant.{key}"].contents()


def test_the_commit_it_was_proven_at_is_the_pinned_one(hub: Path) -> None:
    pin = dict(line.split("=", 1) for line in (ROOT / "native/llama.cpp.pin").read_text().split())
    manifest = decode_manifest((hub / "eliza-1.manifest.json").read_bytes())
    assert {proof.at_commit for proof in manifest.kernels.verified_backends.values()} == {pin["commit"]}
    assert demo.VERSION.endswith("local.demo")
