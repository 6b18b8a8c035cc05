"""Languages that a translator lets one choose, by the codes of its own tokenizer, and how HTML names them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from model.errors import InputTextError

_CODE: Final = re.compile(r"([a-z]{2,3})(?:[-_]([A-Z][a-z]{3}))?(?:[-_][A-Z]{2})?")
#: Languages of which a person probably means one; a message names no more.
_NAMED: Final = 12
#: Characters of a code that a message repeats.
_LONGEST: Final = 12


@dataclass(frozen=True)
class Offered:
    """What may be chosen, in the tokenizer's order."""

    #: reads, writes: codes of languages; none where nothing is to be chosen.
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    #: what is read and written until somebody chooses; "" for what the text itself says, or nobody knows.
    chosen: tuple[str, str] = ("", "")
    note: str = ""  #: a sentence about what is read; "" for none

    def with_choice(self, reads: str, writes: str) -> tuple[str, str]:
        """Both languages, where "" leaves what is chosen. Raises an InputTextError if a code is none of the list."""
        for code, known in ((reads, self.reads), (writes, self.writes)):
            if code:
                check_code(code, known)
        return reads or self.chosen[0], writes or self.chosen[1]


NOTHING_OFFERED: Final = Offered()


def check_code(code: str, known: Sequence[str]) -> None:
    """Make sure that a model knows a language. Raises an InputTextError if its code is none of these."""
    if code in known:
        return
    code = code if len(code) <= _LONGEST else f"{code[:_LONGEST]} …"
    if not known:
        raise InputTextError("The language of this model cannot be chosen; got {code!r}.", code=code)
    message = "This model does not know the language {code!r}. Choose one of its {count:,}: {names}."
    raise InputTextError(
        message, code=code, count=len(known), names=", ".join(known[:_NAMED]) + (" …" if len(known) > _NAMED else "")
    )


def html_language(code: str) -> str:
    """How HTML names the language of a code: "eng_Latn" and "en_XX" are "en", "zho_Hant" is "zh-Hant"; "" of no code.

    By the aliases and usual scripts of Unicode's CLDR.
    """
    parts = _CODE.fullmatch(code)
    if parts is None:
        return ""
    # Takes up to a tenth of a second, which our own checkpoints do without.
    from babel.core import get_global

    language, script = parts[1], parts[2]
    language = str(get_global("language_aliases").get(language, language))
    usual = str(get_global("likely_subtags").get(language, "")).split("_")
    return language if script is None or script in usual else f"{language}-{script}"
