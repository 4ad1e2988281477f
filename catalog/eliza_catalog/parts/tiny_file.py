"""Writes one tiny GGUF file: seeded weights, the shared vocabulary, whole or not at all.

The only place where tiny models meet the `gguf` library. Branch outputs are damped so that the answer is decided by
embedding and head alone; `damp=1.0` undoes that and lets every layer speak (its text is then noise).
"""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Self

import gguf
import numpy as np
import numpy.typing as npt

from eliza_catalog.parts.tiny_vocabulary import BOS, CHAT_TEMPLATE, EOS, PAD, UNK, tiny_vocabulary

F32 = npt.NDArray[np.float32]
DAMP = 0.05


class TinyFile:
    """A GGUF file in the making; a context manager that puts it in place only when all of it was written."""

    def __init__(self, path: Path, architecture: str, *, seed: int, damp: float = DAMP) -> None:
        self._path = path
        self._partial = path.with_name(f".{path.name}.part")
        self._random = np.random.default_rng(seed)
        self.damp = damp
        path.parent.mkdir(parents=True, exist_ok=True)
        self.header = gguf.GGUFWriter(self._partial, architecture)
        self.header.add_name("Eliza-1 stand-in")
        self.header.add_license("Apache-2.0")
        self.header.add_file_type(0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None) -> None:
        if kind is None:
            self.header.write_header_to_file()
            self.header.write_kv_data_to_file()
            self.header.write_tensors_to_file()
        self.header.close()
        if kind is None:
            self._partial.replace(self._path)
        self._partial.unlink(missing_ok=True)

    def noise(self, *shape: int) -> F32:
        """Return seeded weights of unit gain."""
        drawn = self._random.standard_normal(shape) / np.sqrt(shape[-1])
        return np.asarray(drawn, dtype=np.float32)

    def put(self, name: str, values: F32) -> None:
        """Add a tensor."""
        self.header.add_tensor(name, np.ascontiguousarray(values, dtype=np.float32))

    def put_noise(self, name: str, *shape: int) -> None:
        """Add a tensor of seeded weights."""
        self.put(name, self.noise(*shape))

    def put_flat(self, name: str, size: int, value: float = 1.0) -> None:
        """Add a vector of one value."""
        self.put(name, np.full(size, value, np.float32))

    def put_vocabulary(self) -> None:
        """Add the shared vocabulary and chat template."""
        words, header, kinds = tiny_vocabulary(), self.header, gguf.TokenType
        types = [kinds.CONTROL] * len(words.control) + [kinds.BYTE] * len(words.byte)
        header.add_tokenizer_model("gemma4")
        header.add_token_list(list(words.tokens))
        header.add_token_scores([-1000.0] * len(words.tokens))
        header.add_token_types(types + [kinds.NORMAL] * len(words.normal))
        header.add_token_merges(list(words.merges))
        header.add_bos_token_id(BOS)
        header.add_eos_token_id(EOS)
        header.add_unk_token_id(UNK)
        header.add_pad_token_id(PAD)
        header.add_add_space_prefix(False)
        header.add_add_bos_token(True)
        header.add_chat_template(CHAT_TEMPLATE)
