"""Write sites, heads, tokens and numbers as people read them: in sentences, tables, addresses and names of files.

A head that a text names, such as “L5 H2”, is a link that opens it on the Attention page: `#head-SITE-L5H2`, plain
Markdown, so nothing of a text becomes HTML. `viz/pictures/head_tools/pointed_heads.js` opens the head, and marks it
wherever else the page shows it. Of a token every character is visible, and none reorders the text around it.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, inf, log
from typing import Final, Literal, Self

from viz.text.messages import Message, _, power_of_ten, said

Site = Literal["encoder.self", "decoder.self", "decoder.cross"]
ENCODER: Final = "encoder.self"
DECODER: Final = "decoder.self"
CROSS: Final = "decoder.cross"


@dataclass(frozen=True, slots=True)
class SiteNames:
    """The names of a site."""

    label: str  #: in full, as a heading begins
    phrase: str  #: within a sentence
    short: str  #: in a narrow column
    tag: str  #: one letter, in codes of addresses


NAMES: Final[Mapping[str, SiteNames]] = {
    ENCODER: SiteNames(said("Encoder self-attention"), said("encoder self-attention"), said("encoder"), "e"),
    DECODER: SiteNames(said("Decoder self-attention"), said("decoder self-attention"), said("decoder self"), "d"),
    CROSS: SiteNames(said("Decoder cross-attention"), said("cross-attention"), said("cross"), "c"),
}
#: All sites, in the order in which pages and tables have them.
SITES: Final[tuple[Site, ...]] = (ENCODER, DECODER, CROSS)


def label(site: str) -> str:
    """A site in full, as a heading begins."""
    return _(NAMES[site].label)


def head_label(layer: int, head: int | None, site: str | None = None) -> str:
    """A head as people read it, counted from 1: "L4 H2"; with its site where several stand together: "cross L4 H2".

    Given from 0; None for a measure that makes the heads of a layer one: "L4, all heads".
    """
    name = _("L{layer}, all heads", layer=layer + 1) if head is None else f"L{layer + 1} H{head + 1}"
    return name if site is None else _("{site} {head}", site=NAMES[site].short, head=name)


def layer_labels(count: int) -> list[str]:
    """The layers of a site as rows of a map: "L1", "L2", …"""
    return [f"L{layer + 1}" for layer in range(count)]


def head_numbers(count: int) -> list[str]:
    """The heads of a layer as columns of a map: "H1", "H2", …"""
    return [f"H{head + 1}" for head in range(count)]


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
    """A head as file names and addresses have it: "decoder.cross L1H3"."""
    return f"{site} L{layer + 1}H{head + 1}"


def _ascii(text: str) -> str:
    """Without accents: "Straße, für" becomes "strasse, fur"."""
    plain = unicodedata.normalize("NFKD", text.replace("ß", "ss").replace("'", ""))
    return "".join(c for c in plain if not unicodedata.combining(c)).lower()


#: Where a link begins that names a head.
HREF: Final = "#head-"
#: The same of one that asks why it looks where it looks.
WHY_HREF: Final = "#why-"


class NamedHead(Message):
    """The name of a head that knows which head it is: a text wherever texts are shown, a link where one can be."""

    site: str  #: of which attention
    #: layer, head: counted from 0.
    layer: int
    head: int

    def __new__(cls, site: str, layer: int, head: int, with_site: bool = False) -> Self:
        """The name is "L5 H2", or "cross L5 H2" where those of several attentions stand together."""
        name = head_label(layer, head)
        values = {"site": NAMES[site].short, "head": name} if with_site else {"head": name}
        made = super().__new__(cls, "{site} {head}" if with_site else "{head}", values)
        made.site, made.layer, made.head = site, layer, head
        return made

    def __getnewargs__(self) -> tuple[str, int, int, bool]:  # type: ignore[override]
        """What a copy is made of."""
        return self.site, self.layer, self.head, "site" in self.values

    @property
    def address(self) -> str:
        """Where its link leads."""
        return f"{HREF}{self.site}-L{self.layer + 1}H{self.head + 1}"

    @property
    def link(self) -> str:
        """The name as a link, Markdown in the language of this page run."""
        return f"[{_(self)}]({self.address})"

    def link_to_why(self, row: int, key: int) -> str:
        """The name as a link that asks why the head gives a row's weight to a key, both from 0."""
        return f"[{_(self)}]({self.address.replace(HREF, WHY_HREF)}-R{row + 1}K{key + 1})"


#: The largest difference between two float32 computations of the same thing.
TOLERANCE: Final = 1e-5

_MAGNITUDES: Final = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))


def decimal(value: float, digits: int = 2) -> str:
    """A number with so many decimals; one that rounds to zero has no sign."""
    return with_minus(f"{value:z.{digits}f}")


def signed(value: float, digits: int = 2) -> str:
    """A difference: + or − before it, unless it rounds to zero."""
    text = f"{value:+.{digits}f}"
    return with_minus(text) if text.strip("+-0.") else f"{0:.{digits}f}"


def total_shown(values: Iterable[float], digits: int = 2) -> float:
    """The sum of numbers as they are shown, each rounded: whoever adds them up, or takes one from another, gets it."""
    return round(sum(round(float(value), digits) for value in values), digits)


def percent(share: float) -> str:
    """A share from 0 to 1 in percent, with one decimal."""
    return f"{100 * share:.1f}%"


def times_less(log_prob: float, other: float) -> str:
    """How many times less, or more, likely a token is than another, "230 × less"; "" where it is by 5 % at most.

    Both are natural log-probabilities; "" also where one is −∞. The scripts have the same, `timesLess`.
    """
    gap = abs(log_prob - other)
    if not 0.05 < gap < inf:
        return ""
    times = exp(min(gap, log(1e6)))
    shown = _("> 1 million") if gap > log(1e6) else f"{float(f'{times:.2g}'):,.10g}"
    return _("{times} × less", times=shown) if log_prob < other else _("{times} × more", times=shown)


def byte_count(count: int) -> str:
    """How large a file is: "12 kB", "5.1 MB", "1,340 MB"."""
    if count < 950_000:
        return f"{max(1, round(count / 1_000))} kB"
    return f"{count / 1_000_000:.1f} MB" if count < 10_000_000 else f"{round(count / 1_000_000):,} MB"


def scientific(value: float) -> str:
    """A small number as a power of ten, 3·10⁻⁷."""
    return power_of_ten(f"{value:.0e}") if value else "0"


def with_minus(text: str) -> str:
    """A number as it was formatted, with a real minus sign."""
    return text.replace("-", "−")


def written_number(value: float, form: str) -> str:
    """A number in a format of Python's, as people write it: −1.53, 3·10⁻⁷."""
    text = format(value, form)
    return scientific(value) if "e" in text else with_minus(text)


def amount(count: float) -> str:
    """A count with three digits: 940, 10.2 k, 5.77 M, 1.2 G."""
    for step, sign in _MAGNITUDES:
        if count >= step:
            return f"{three_digits(count / step)} {sign}"
    return f"{count:.0f}"


def three_digits(value: float) -> str:
    """A number below 1,000 with three digits: 940, 10.2, 5.77."""
    return f"{value:.0f}" if value >= 99.95 else f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


#: Letters and symbols by their Unicode category, but without any ink (fillers, blank pattern, joiner).
_BLANK: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
#: Control, format (bidi marks, zero-width), surrogate, private, unassigned; line, paragraph and exotic spaces.
_UNSEEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"})


def _display_character(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if character == " ":
        return "\u2423"
    if unicodedata.category(character) in _UNSEEN or character in _BLANK:
        return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
    return character


#: Between what a row of a decoder reads and what it writes (`model.trace.axes.row_name`).
_WRITES: Final = " → "


_MOMENT: Final = re.compile("[0-9]+[.][0-9]+\N{NARROW NO-BREAK SPACE}s…?")


def has_right_to_left(text: str) -> bool:
    """Whether a text holds letters that are written from right to left, as of Arabic or Hebrew."""
    return not text.isascii() and any(unicodedata.bidirectional(character) in ("R", "AL") for character in text)


# A page shows the same tokens again and again.
@lru_cache(maxsize=8_192)
def display_token(token: str) -> str:
    """A token as it can be shown: every character visible, and none that reorders the text around it.

    SentencePiece's "▁" stays. Control characters become their control pictures (␀ ␉ ␊), a plain space ␣; invisible and
    bidirectional controls, private and unassigned characters become `\\u` escapes. A combining mark that begins a token
    gets a dotted circle to stand on, a variation selector there is escaped. The empty token is shown as ∅. Of a row's
    name, "weil → es", the two tokens are shown so. The narrow space of a moment of a sound, "3.68 s", stays.
    """
    if not token:
        return "∅"
    if _MOMENT.fullmatch(token):
        return token
    read, _arrow, written = token.partition(_WRITES)
    if read and written:
        return "".join(row_parts(token, writes=True))
    first = token[0]
    if "\ufe00" <= first <= "\ufe0f":
        return f"\\u{ord(first):04x}" + "".join(map(_display_character, token[1:]))
    shown = "".join(map(_display_character, token))
    return f"◌{shown}" if unicodedata.category(first).startswith("M") and shown.startswith(first) else shown


def row_parts(name: str, *, writes: bool) -> tuple[str, str, str]:
    """A row's name as it can be shown, in three: what is before what its row stands for, that, and what is after it.

    A row of a decoder, "die → Straße", stands for what it writes, or else for what it reads (`Trace.rows_write`).
    """
    read, arrow, written = name.partition(_WRITES)
    if not (read and written):
        return "", display_token(name), ""
    # Beside words that run from right to left, the arrow would too.
    mark = "\u200e" if has_right_to_left(name) else ""
    before, arrow, after = display_token(read), f"{mark}{arrow}{mark}", display_token(written)
    return (before + arrow, after, "") if writes else ("", before, arrow + after)


def spoken(token: str) -> str:
    """A token as a sentence names it, without the sign of the space before it."""
    shown = display_token(token)
    return shown.lstrip("▁Ġ") or shown


def display_word(word: str) -> str:
    """A word of a sentence as typed, control characters as pictures; as a token where nothing of it would be seen."""
    if all(unicodedata.category(character) in _UNSEEN or character in _BLANK for character in word):
        return display_token(word)
    # Half of a surrogate pair cannot be sent to a browser.
    return "".join(_display_character(c) if unicodedata.category(c) in ("Cc", "Cs") else c for c in word)


def display_tokens(tokens: Sequence[str]) -> list[str]:
    """`display_token` of each."""
    return [*map(display_token, tokens)]
