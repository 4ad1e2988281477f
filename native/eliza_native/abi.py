"""The C ABI as Python sees it: types, struct layouts, constants, version rules.

Says what a library may look like, and opens none. Declarations follow `include/eliza/inference.h`; a
test compares the two. Keeps section 1 of the interop facts (ABI 14, 88-byte stream config, 40-byte event).
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from cffi import FFI

from eliza_native.families import FAMILIES as FAMILIES

ABI_VERSION: Final = 14

OK: Final = 0
ERR_NOT_IMPLEMENTED: Final = -1
ERR_INVALID_ARG: Final = -2
ERR_BUNDLE_INVALID: Final = -3
ERR_FFI_FAULT: Final = -4
ERR_OOM: Final = -5
ERR_ABI_MISMATCH: Final = -6
ERR_CANCELLED: Final = -7


TYPES: Final = """
typedef struct EliInferenceContext EliInferenceContext;
typedef struct EliLlmStream EliLlmStream;
typedef struct EliVad EliVad;
typedef struct EliAsrStream EliAsrStream;

typedef struct {
    int32_t max_tokens; float temperature; float top_p; int32_t top_k; float repeat_penalty; int32_t slot_id;
    const char *prompt_cache_key; int32_t draft_min; int32_t draft_max; const char *mtp_drafter_path;
    const char *gbnf_grammar; int32_t disable_thinking; int32_t n_gpu_layers; const char *cache_type_k;
    const char *cache_type_v; int32_t context_size; int32_t reserved;
} eliza_llm_stream_config_t;

typedef struct {
    const int *accepted_token_ids; size_t n_accepted; int rejected_from; int rejected_to;
    const int *corrected_token_ids; size_t n_corrected;
} EliVerifierEvent;

typedef void (*eliza_verifier_callback)(const EliVerifierEvent *event, void *user_data);
typedef int (*eliza_tts_chunk_callback)(const float *pcm, size_t num_samples, int is_final, void *user_data);
"""

LAYOUTS: Final = MappingProxyType(
    {
        "eliza_llm_stream_config_t": (
            88,
            MappingProxyType(
                {
                    "max_tokens": 0,
                    "temperature": 4,
                    "top_p": 8,
                    "top_k": 12,
                    "repeat_penalty": 16,
                    "slot_id": 20,
                    "prompt_cache_key": 24,
                    "draft_min": 32,
                    "draft_max": 36,
                    "mtp_drafter_path": 40,
                    "gbnf_grammar": 48,
                    "disable_thinking": 56,
                    "n_gpu_layers": 60,
                    "cache_type_k": 64,
                    "cache_type_v": 72,
                    "context_size": 80,
                    "reserved": 84,
                }
            ),
        ),
        "EliVerifierEvent": (
            40,
            MappingProxyType(
                {
                    "accepted_token_ids": 0,
                    "n_accepted": 8,
                    "rejected_from": 16,
                    "rejected_to": 20,
                    "corrected_token_ids": 24,
                    "n_corrected": 32,
                }
            ),
        ),
    }
)
"""Struct name to (size, field offsets), in bytes, on every platform that Eliza-1 runs on."""

REQUIRED: Final = ("lifecycle",)
"""Without these a file is no Eliza-1 library at all."""

_V14: Final = "eliza_inference_kokoro_synthesize_ipa"
_V13: Final = "eliza_inference_vision_stream_supported"
_TIMED: Final = "eliza_inference_asr_timestamps_supported"
_EOT: Final = "eliza_inference_llm_eot_supported"
_KOKORO: Final = "eliza_inference_kokoro_supported"
_V9: Final = "eliza_inference_tokenize_supported"
_SPEAKER: Final = "eliza_inference_speaker_supported"
_DIARIZ: Final = "eliza_inference_diariz_supported"
_WAKE: Final = "eliza_inference_wakeword_supported"
_REFERENCE: Final = "eliza_inference_encode_reference"

ACCEPTED: Final = MappingProxyType(
    {
        15: (),
        14: (),
        13: (_V14,),
        12: (_V14, _V13),
        11: (_TIMED,),
        10: (_EOT, _TIMED),
        9: (_KOKORO, _EOT),
        8: (_KOKORO, _V9),
        7: (),
        6: (),
        5: (_SPEAKER, _DIARIZ),
        4: (_SPEAKER, _DIARIZ, _WAKE),
        3: (_SPEAKER, _DIARIZ, _WAKE, _REFERENCE),
    }
)
"""Library version to the symbols that must be absent for it to be believed (facts, section 1.2)."""


def make_ffi() -> FFI:
    """Return an FFI that knows every type and symbol above; opens nothing."""
    ffi = FFI()
    ffi.cdef(TYPES + "".join(family.declarations for family in FAMILIES.values()))
    return ffi
