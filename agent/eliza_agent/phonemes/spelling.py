"""How an unknown English word probably sounds, from its letters alone.

A last resort after the lexicon and its word forms: ordered letter rules, then one stress. Not a dictionary, never right
for every name, but always an answer; written for American English and turned into British by `as_british`.
"""

from __future__ import annotations

import re
from functools import lru_cache

from eliza_agent.phonemes.alphabet import PRIMARY, VOWELS

# (letters, phonemes) in order, the first match wins. The letters are a regular expression read from the current place;
# lookaround may see the whole word. "#" stands for a vowel letter, "&" for a consonant letter.
_RULES = r"""
eau O
augh(?=t) ɔ
aught ɔt
au|aw ɔ
air|are$ ɛɹ
ai|ay A
ae i
(?<=w)ar(?!#) ɔɹ
ar(?=#|r) æɹ
ar(?=d$)(?<=..ar) əɹ
ar ɑɹ
a(?=tion|sion|ti#|ci#) A
age$(?<=#&age) ɪʤ
age$(?<=#&&age) ɪʤ
able$(?<=..able) əbᵊl
ally$ əli
al$(?<=..al) ᵊl
al(?=k) ɔ
all ɔl
an$(?<=...an) ən
a(?=&e$|&es$|&ed$|&ing$|sted$|ste$|nge$|&er$) A
(?<=w|u)a(?!#) ɑ
a$ ə
a æ
bb|b b
tch|ch(?=#|$|e) ʧ
ch k
ck|cc(?!e|i|y) k
ci(?=ou|al|an|ent) ʃ
sc(?=e|i|y) s
c(?=e|i|y) s
c k
dge ʤ
dd|d d
eigh A
ear(?=n|l|th) ɜɹ
ear|eer ɪɹ
ea(?=d$|lth|ther|sant) ɛ
ea|ee i
ei(?=n$|r|l) A
ei i
ey$ i
ey A
(?<=[rlj])ew|(?<=ch)ew|(?<=[rl])eu u
ew|eu ju
er(?=#) ɛɹ
er(?=$|s$|ed$|ing$|&) əɹ
(?<=#t|#d|&t|&d)ed$ ᵻd
(?<=p|k|f|s|x|h)ed$ t
(?<=#[^aeiouytd])ed$|(?<=#&[^aeiouytd])ed$ d
(?<=s|z|x)es$|(?<=sh|ch)es$|(?<=ge|ce)s$ ᵻz
el$ ᵊl
en$(?<=#&en)|en$(?<=#&&en) ᵊn
ence$ əns
e(?=rr) ɛ
ement$(?<=&ement) mᵊnt
ely$(?<=&ely) li
eless$(?<=&eless) ləs
eness$(?<=&eness) nəs
ent$(?<=#&ent)|ent$(?<=#&&ent) ᵊnt
e(?=&e$|&es$|o|u) i
^e(?=&#) i
(?<!^)e$(?<=#&e)|(?<!^)e$(?<=#&&e)|(?<!^)e$(?<=##e)|(?<=&)e(?=s$)
(?<=^.)e$|(?<=^..)e$ i
e ɛ
ff|f f
^gh g
gh
^gn|gn$ n
gg g
ge$ ʤ
gue$ g
gu(?=e|i) g
g(?=e|i|y) ʤ
g g
h(?=#|y) h
h
igh I
ique$ ik
ive$(?<=..ive) ɪv
ives$(?<=..ives) ɪvz
ify$ əfI
ign$ In
(?<=s)ion$|(?<=s)ions$ ᵊn
ie$ i
ie(?=d$|s$)(?<=^.ie)|ie(?=d$|s$)(?<=^..ie) I
ie i
ire Iəɹ
ir(?!#) ɜɹ
ization əzAʃᵊn
ism$ ɪzᵊm
i(?=st$|ng) ɪ
i(?=&e$|&es$|&ed$|&er$|&ing$|nd$|ld$) I
ia iə
io iO
i$ i
i ɪ
j ʤ
^kn n
k k
(?<=&)le$|(?<=&)les$ ᵊl
less$ ləs
ll|l l
mb$ m
ment$ mᵊnt
ments$ mᵊnts
mm|m m
ng(?=l|r) ŋɡ
ng(?=$|s$|&|ed|er|ing) ŋ
n(?=k|x|g#) ŋ
ness$ nəs
nn|n n
oo(?=k|d$) ʊ
oo u
ough(?=t) ɔ
ough O
our ɔɹ
ous$ əs
oul(?=d) ʊ
ou W
ow$|ow(?=s$|n$|ed$) O
ow W
oi|oy Y
oa|oe$ O
or$(?<=#&or)|ors$(?<=#&ors)|or$(?<=#&&or) əɹ
ore|or ɔɹ
on$(?<=#&on)|on$(?<=#&&on)|om$(?<=#&om) ən
o(?=&e$|&es$|&ed$|&er$|&ing$|ld|lt|st$|ll$|$|s$) O
o(?=&#)(?<!&&o) O
o ɑ
ph f
^pn n
^ps s
pp|p p
qu kw
q k
rh|rr|r ɹ
ssion ʃᵊn
(?<=#)sion ʒᵊn
sion ʃᵊn
sh ʃ
sch(?=oo|ol|em) sk
sch ʃ
ss s
sure$ ʒəɹ
(?<=#)s(?=#) z
(?<=[ptkf]e)s$ s
(?<=#|b|d|g|l|m|n|r|v|w)s$(?<!us)(?<!is)(?<!as) z
s s
th θ
tion ʃᵊn
ti(?=ou|al|an|ent) ʃ
ture$ ʧəɹ
tures$ ʧəɹz
tt|t t
ue$ u
ui u
ur(?!#) ɜɹ
(?<=[rljs])u(?=&#|$)|(?<=ch)u(?=&#|$) u
^u(?=&#) ju
u(?=&e$|&#|$) ju
us$ əs
um$(?<=..um) əm
u(?=ll$|sh$) ʊ
u ʌ
vv|v v
wh(?=o) h
wr ɹ
wh|w w
^x z
x ks
^y j
y(?=#) j
y$(?<=^.y)|y$(?<=^..y)|y(?=&e$|ing$) I
y$ i
y ɪ
zz|z z
"""


@lru_cache(maxsize=1)
def _rules() -> dict[str, list[tuple[re.Pattern[str], str]]]:
    """Group the rules by each letter they may begin with."""
    table: dict[str, list[tuple[re.Pattern[str], str]]] = {chr(code): [] for code in range(ord("a"), ord("z") + 1)}
    for line in _RULES.strip().splitlines():
        letters, _, phonemes = line.partition(" ")
        pattern = re.compile(letters.replace("##", "[aeiou][aeiou]").replace("#", "[aeiouy]").replace("&", "[^aeiouy]"))
        bare = re.sub(r"\(\?<?[!=][^)]*\)|\^|\$", "", letters)
        for first in {choice[0] for choice in bare.split("|") if choice}:
            table[first].append((pattern, phonemes.replace("g", "ɡ")))
    return table


_BEFORE_SUFFIX = re.compile(r"(?:[^aeiou]?ion|ions|ics?|ical|ity|ities|ian|ious|ial|ify|ogy|aphy)$")
_SHORT_SUFFIXES = ("ion", "ions", "ic", "ics", "ious")
_WEAK_PREFIX = re.compile(
    r"^(?:a(?=[bcdfglmnprstv]{1,2}[aeiou])|be|com|con|de|dis|en|ex|per|pre|pro|re|un)(?=[^aeiou])"
)


def sound_out(word: str) -> str:
    """Return phonemes with stress for a word of the letters a-z in lower case."""
    sounds: list[str] = []
    rules = _rules()
    at = 0
    while at < len(word):
        for pattern, phonemes in rules.get(word[at], ()):
            match = pattern.match(word, at)
            if match and match.end() > at:
                sounds.append(phonemes)
                at = match.end()
                break
        else:
            at += 1
    return _stressed("".join(sounds), word)


def _stressed(phonemes: str, word: str) -> str:
    """Put the one stress where such words usually have it: before certain suffixes, else early in the word."""
    nuclei = [at for at, sound in enumerate(phonemes) if sound in VOWELS]
    full = [at for at in nuclei if phonemes[at] not in "əᵻ"] or nuclei
    if not full:
        return phonemes
    place = full[_stress_index(len(nuclei), full, phonemes, word)]
    weakened = ["ə" if sound == "æ" and at != place and at > full[0] else sound for at, sound in enumerate(phonemes)]
    return "".join([*weakened[:place], PRIMARY, *weakened[place:]])


def _stress_index(syllables: int, full: list[int], phonemes: str, word: str) -> int:
    if len(full) == 1:
        return 0
    if _BEFORE_SUFFIX.search(word):
        # -ion and -ic are one sounding vowel behind the stress, -ity and its like are two
        behind = 1 if word.endswith(_SHORT_SUFFIXES) else 2
        return max(0, len(full) - behind - (1 if word.endswith(("ic", "ics")) else 0))
    if syllables == 2:
        return 1 if _WEAK_PREFIX.match(word) else 0
    if phonemes[-1] in "Oəi" and not word.endswith("y"):
        return max(0, len(full) - (1 if phonemes[-1] == "ə" else 2))
    return max(0, len(full) - 3)


_BRITISH = (
    (re.compile("O"), "Q"),
    (re.compile("ɑɹ(?![AIOQWYaiuæɑɔəɛɜɪʊʌ])"), "ɑː"),
    (re.compile("ɑ(?!ː|ɹ)"), "ɒ"),
    (re.compile("æ"), "a"),
    (re.compile("ɔɹ?(?!ː)"), "ɔː"),
    (re.compile("ɜɹ?"), "ɜː"),
    (re.compile("(?<=[əɛɪʊ])ɹ(?![ˈˌ]?[AIQWYaiuɑɒɔəɛɜɪʊʌ])"), ""),
    (re.compile("i(?!$|ə)"), "iː"),
    (re.compile("u"), "uː"),
    (re.compile("ɾ"), "t"),
    (re.compile("ᵻ"), "ɪ"),
    (re.compile("ʔ"), "t"),
)


def as_british(phonemes: str) -> str:
    """Return American phonemes as a southern British speaker would say them."""
    for pattern, replacement in _BRITISH:
        phonemes = pattern.sub(replacement, phonemes)
    return phonemes
