"""What the tab Why sends to its script, and what it hears from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated

from viz import theme
from viz.pictures.payload import ANYTHING, Text, Token


@dataclass(frozen=True, slots=True)
class Line:
    """Tokens of a text that can be tinted."""

    mark: Text
    tokens: Sequence[Text]  #: as sentences name them
    begins: Sequence[bool]  #: whether a token begins a word
    swapped: Sequence[int] = ()  #: those that are unlike the other text's
    query: int | None = None  #: the one whose row is asked about
    writes: Text = ""  #: what that row writes


@dataclass(frozen=True, slots=True)
class Tint:
    """What was read at a token: which line and token, its share, the trail that asks why of it, and its test.

    "" for no trail, or no test.
    """

    line: int
    token: int
    share: float
    trail: str
    test: str


@dataclass(frozen=True, slots=True)
class Run:
    """What a run of the model gives."""

    score: float
    key: float  #: the weight of the key, and of the rival
    rival: float
    odds: float | None  #: of the pair of words, in nats; None if none is said
    text: str  #: what is written from the row on


@dataclass(frozen=True, slots=True)
class Test:
    """What is left without a bar or a word."""

    refused: Text  #: why it cannot be tested
    predicted: float | None = None  #: the score as its share has it; None until it is computed
    product: float | None = None  #: by one product
    run: Run | None = None  #: by a run; None until somebody asks for it


@dataclass(frozen=True, slots=True)
class Row:
    """A bar."""

    name: Text
    share: float
    trail: str  #: that asks why of it; "" for none
    test: str  #: names its test; "" if it cannot be tested
    refused: Text = ""  #: why not
    tints: Sequence[Tint] = ()
    heads: "Sequence[Row]" = ()
    is_chosen: bool = False
    stays: Text = ""  #: of bars together, which of them a test leaves as they are


@dataclass(frozen=True, slots=True)
class Group:
    """Bars that add up to a number."""

    title: Text
    rows: Sequence[Row]
    shown: int  #: so many at first
    is_main: bool  #: whether its first bar is chosen at first
    rest: Row | None = None  #: the others together


@dataclass(frozen=True, slots=True)
class Crumb:
    """A step of the trail."""

    name: Text
    total: float
    trail: str
    is_ahead: bool  #: not asked yet: what gives most from here on


@dataclass(frozen=True, slots=True)
class Gauge:
    """What key and rival get in a text."""

    key: float
    rival: float


@dataclass(frozen=True, slots=True)
class Rival:
    """A key that the one asked about can be compared with."""

    position: int
    name: Token
    weight: float


@dataclass(frozen=True, slots=True)
class Page:
    """All that the tab shows of a step."""

    key: Token
    rival: Token
    rival_key: int
    rivals: Sequence[Rival]
    asked: Text  #: whose number is asked about; "" for the question itself
    total: float
    where: Text
    because: Text
    crumbs: Sequence[Crumb]
    exact: Text
    is_exact: bool
    lines: Sequence[Line]
    gauges: Sequence[Gauge]
    twin: str  #: the text of the twin; "" for none
    text: str  #: that a twin would differ from; "" where there can be none
    groups: Sequence[Group]
    note: Text
    scores: Sequence[float]  #: in the text, and in the twin
    how: Text  #: how to read a test
    #: by the codes of a bar or of a word; several words together are joined by +.
    tests: Mapping[str, Test] = field(default_factory=dict)
    #: of the text, and of the twin, with nothing taken out; None until something of it is tested.
    intact: Sequence[Run | None] = (None, None)
    runs: bool = False  #: whether a test can be asked for; not on a page without a server
    pair: Sequence[Token] = ()  #: the words that are compared; none if none is said
    warm: str = theme.ORANGE
    cold: str = theme.SKY


@dataclass(frozen=True, slots=True)
class Codes:
    """A trail that a person asked for."""

    codes: Annotated[str, ANYTHING]

    @property
    def trail(self) -> tuple[str, ...]:
        """Its codes, without what can be none."""
        return tuple(code for code in self.codes.split(".") if code.isascii() and code.isalnum())


@dataclass(frozen=True, slots=True)
class Twin:
    """The text of a twin."""

    text: Annotated[str, ANYTHING]

    def of(self, text: str) -> str:
        """The twin of a text; "" for none."""
        return "" if self.text.strip() == text else self.text.strip()
