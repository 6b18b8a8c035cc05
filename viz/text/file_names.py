"""Name the files that people save."""

import re
import unicodedata
from typing import Final

#: So many words of the sentence, and so many characters in all, tell files apart.
_MAX_WORDS: Final = 5
_MAX_LENGTH: Final = 90


def file_name(*parts: str, sentence: str = "") -> str:
    """A name without its ending: the parts, then the sentence's first words; lower-case ASCII letters, digits, hyphens.

    It begins with "headlight", so no system takes it for a device, an option or a hidden file. What is written in
    another script falls away, and with it nothing that the other parts do not say.
    """
    words = re.findall(r"[a-z0-9]+", _ascii(sentence))[:_MAX_WORDS]
    described = [word for part in parts for word in re.findall(r"[a-z0-9]+", _ascii(part))]
    return "-".join(["headlight", *described, *words])[:_MAX_LENGTH].rstrip("-")


def head_name(site: str, layer: int, head: int) -> str:
    """A head as files name it, counted from 0 as in the address and in arrays: "decoder cross layer0 head2"."""
    return f"{site} layer{layer} head{head}"


def _ascii(text: str) -> str:
    """Without accents: "Straße, für" becomes "strasse, fur"."""
    plain = unicodedata.normalize("NFKD", text.replace("ß", "ss").replace("'", ""))
    return "".join(c for c in plain if not unicodedata.combining(c)).lower()
