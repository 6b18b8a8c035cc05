"""Tell which language a text is written in, where that is beyond doubt, offline."""

from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

from viz.text.messages import said

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

#: Code → what people call it. Of these languages one is chosen.
NAMES: Final = {
    "ar": said("Arabic"), "cs": said("Czech"), "da": said("Danish"), "de": said("German"), "el": said("Greek"),
    "en": said("English"), "es": said("Spanish"), "fi": said("Finnish"), "fr": said("French"), "he": said("Hebrew"),
    "hi": said("Hindi"), "hu": said("Hungarian"), "it": said("Italian"), "ja": said("Japanese"), "ko": said("Korean"),
    "la": said("Latin"), "nl": said("Dutch"), "no": said("Norwegian"), "pl": said("Polish"), "pt": said("Portuguese"),
    "ro": said("Romanian"), "ru": said("Russian"), "sv": said("Swedish"), "th": said("Thai"), "tr": said("Turkish"),
    "uk": said("Ukrainian"), "vi": said("Vietnamese"), "zh": said("Chinese"),
}  # fmt: skip
#: How likely a language has to be, and how unlikely the expected one at most: names and single words look like any
#: language, and near relatives share the likelihood of what is surely one of them.
_SURE: Final = ((0.9, 0.02), (0.55, 0.0005))
#: Reading more characters does not improve the guess.
_READ_CHARACTERS: Final = 1_000


# A page asks in every run.
@lru_cache(maxsize=256)
def other_language(text: str, expected: str) -> str:
    """The name of a text's language if that is surely not the expected one (a code of `NAMES`); else ""."""
    read = text[:_READ_CHARACTERS].strip()
    # In one word of letters there is too little to tell by; a Chinese sentence is one word.
    if read.isascii() and len(read.split()) < 2:
        return ""
    ranked = dict(_identifier().rank(read))
    code = max(ranked, key=ranked.__getitem__)
    is_sure = any(ranked[code] >= likely and ranked[expected] <= unlikely for likely, unlikely in _SURE)
    return NAMES[code] if is_sure else ""


@cache
def _identifier() -> "LanguageIdentifier":
    # Half a second: only a text that a person typed asks for it.
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(list(NAMES))
    return identifier
