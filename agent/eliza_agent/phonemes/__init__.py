"""English text to the phonemes that the voice speaks.

Pure but for its own lexicon data, read once; no thread, no network, no compiled part, so that it runs on phones.
The result feeds the native library's IPA entry, whose text entry is never used (seam contract, speech).
"""

from eliza_agent.phonemes.alphabet import alphabet
from eliza_agent.phonemes.lexicon import Variant
from eliza_agent.phonemes.sentence import phonemise

__all__ = ["Variant", "alphabet", "phonemise"]
