"""Conversion of the voice activity weights: refusals first, then nothing lost on the way."""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from tests.support.silero_package import silero_data

from eliza_catalog.convert.silero import convert_silero, read_weights
from eliza_catalog.errors import IntegrityError


@pytest.fixture(scope="module")
def published() -> Path:
    return silero_data() / "silero_vad_16k_op15.onnx"


def test_an_absent_source_is_named(tmp_path: Path) -> None:
    with pytest.raises(IntegrityError) as caught:
        convert_silero(tmp_path / "nothing.onnx", tmp_path / "out.gguf")
    assert caught.value.code == "integrity.missing"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"GGUF", bytes(range(256)) * 40], ids=["empty", "gguf", "noise"])
def test_something_else_is_refused(tmp_path: Path, content: bytes) -> None:
    source = tmp_path / "source.onnx"
    source.write_bytes(content)
    with pytest.raises(IntegrityError) as caught:
        convert_silero(source, tmp_path / "out.gguf")
    assert caught.value.code == "integrity.wrong_architecture"
    assert not (tmp_path / "out.gguf").exists()


def test_the_model_for_both_rates_is_refused(tmp_path: Path) -> None:
    with pytest.raises(IntegrityError, match="weights that were expected"):
        convert_silero(silero_data() / "silero_vad.onnx", tmp_path / "out.gguf")


@pytest.mark.parametrize("fault", ["shape", "type", "bytes", "elsewhere"])
def test_a_bent_tensor_is_refused_by_name(tmp_path: Path, published: Path, fault: str) -> None:
    model = onnx.load(published)
    tensor = next(t for t in model.graph.initializer if t.name == "model.encoder.1.reparam_conv.bias")
    if fault == "shape":
        tensor.dims[0] = 65
    elif fault == "type":
        tensor.CopyFrom(numpy_helper.from_array(np.zeros(64, dtype=np.float16), tensor.name))
    elif fault == "bytes":
        tensor.raw_data = tensor.raw_data[:-4]
    else:
        tensor.ClearField("raw_data")
        tensor.data_location = onnx.TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="../elsewhere")
    source = tmp_path / "bent.onnx"
    source.write_bytes(model.SerializeToString())
    with pytest.raises(IntegrityError) as caught:
        read_weights(source)
    assert caught.value.details["at"] == "model.encoder.1.reparam_conv.bias"


def test_every_tensor_arrives_unchanged(tmp_path: Path, published: Path) -> None:
    out = tmp_path / "vad" / "silero-vad-v5.gguf"
    convert_silero(published, out)
    reader = gguf.GGUFReader(out)
    arrived = {tensor.name: np.array(tensor.data).reshape(tensor.shape[::-1]) for tensor in reader.tensors}
    wanted = read_weights(published)
    assert arrived.keys() == wanted.keys()
    for name, values in wanted.items():
        assert np.array_equal(arrived[name].reshape(values.shape), values), name
    architecture = reader.get_field("general.architecture")
    assert architecture is not None
    assert architecture.contents() == "silero-vad"
    assert [path.name for path in out.parent.iterdir()] == ["silero-vad-v5.gguf"]
