"""The voice's own phoneme alphabet: IPA with single letters for diphthongs and marks for stress and pauses.

Holds no rule about words; says which characters may leave this package and what kind each one is.
Keeps the input side of the IPA entry of the native seam (facts of the contract, speech family).
"""

from __future__ import annotations

# Order and content as in the voice's published vocabulary; capitals are diphthongs (A = eɪ, I = aɪ, O = oʊ,
# Q = əʊ, W = aʊ, Y = ɔɪ), T is the flap of American "water".
_ALPHABET = frozenset(
    ';:,.!?—…"()“” \u0303ʣʥʦʨᵝꭧAIOQSTWYᵊabcdefhijklmnopqrstuvwxyzɑɐɒæβɔɕçɖðʤəɚɛɜɟɡɥɨɪʝɯɰŋɳɲɴøɸθœɹɾɻʁɽʂʃʈʧʊʋʌɣɤχʎʒʔ'
    "ˈˌːʰʲ↓→↗↘ᵻ"
)

PRIMARY = "ˈ"
SECONDARY = "ˌ"
VOWELS = frozenset("AIOQWYaiuæɐɑɒɔəɛɜɪʊʌᵻ")
CONSONANTS = frozenset("bdfhjklmnpstvwzðŋɡɹɾʃʒʤʧθTʔ")

# Marks after which the voice pauses, and marks that cling to the word behind or before them.
PAUSES = frozenset(";:,.!?—…")
OPENING = frozenset("(“")
CLOSING = frozenset(")”")


def alphabet() -> frozenset[str]:
    """Return every character that `phonemise` may return."""
    return _ALPHABET


def with_stress(phonemes: str, mark: str) -> str:
    """Return `phonemes` with `mark` before its first vowel; unchanged when it has no vowel."""
    for at, sound in enumerate(phonemes):
        if sound in VOWELS:
            return phonemes[:at] + mark + phonemes[at:]
    return phonemes


def weaken(phonemes: str) -> str:
    """Return `phonemes` with its primary stress made secondary."""
    if PRIMARY not in phonemes:
        return phonemes
    return phonemes.replace(SECONDARY, "").replace(PRIMARY, SECONDARY)


def emphasise(phonemes: str, *, strongly: bool) -> str:
    """Return an unstressed word with a stress: secondary, or primary when `strongly` (which also raises one)."""
    if PRIMARY in phonemes:
        return phonemes
    if SECONDARY in phonemes:
        return phonemes.replace(SECONDARY, PRIMARY) if strongly else phonemes
    return with_stress(phonemes, PRIMARY if strongly else SECONDARY)
