"""What a person has chosen, as one frozen value that lives in the session and in the URL.

    URL ──parse──▶ Selection ──▶ widgets (seeded before they are drawn)
     ▲                 │ ▲
     └────publish──────┘ └────take──── a widget was changed

The `Selection` is the truth; a widget only shows one of its fields and hands back a change through `take`. So a
choice survives a change of page, a link reopens the view, and a wrong value in a link becomes the default. Numbers
count from 0 here. Knows nothing of models: whether a layer exists is for the page to say (`Selection.within`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final, Self

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from viz.examples import COMPANIONS, EXAMPLES

SITES: Final = ("encoder.self", "decoder.self", "decoder.cross")
DEVICES: Final = ("auto", "cpu", "cuda")
SIDES: Final = ("source", "target")
#: The tabs of the attention page, of the masks page and of the model page, by their labels.
VIEWS: Final = ("All heads", "Where a weight comes from", "bertviz", "Take it with you")
PARTS: Final = ("Masks", "Positional encodings")
ABOUT: Final = ("Vocabulary", "Training data", "Curves", "Scores", "Translations", "Card")
#: A longer text stays in the session but not in the link: servers refuse very long addresses.
MAX_TEXT_IN_URL: Final = 2_000

#: Figures of a head that its tile can carry ("" for none), and the orders in which heads can stand.
FIGURES: Final = (
    "", "entropy", "distance", "previous", "same", "next", "first", "last", "diagonal", "punctuation"
)  # fmt: skip
ORDERS: Final = ("layers", "highest", "lowest")
#: How the open head is drawn, what its numbers are, and bertviz's two views.
DRAWN: Final = ("Heatmap", "Lines")
MEASURES: Final = ("weights", "norms", "rollout")
BERTVIZ: Final = ("Head view", "Model view")
#: What the camera of a chart saves.
PICTURES: Final = ("PNG", "SVG")

_SELECTION: Final = "selection"
_TEXTS: Final = ("text", "other", "companion")


@dataclass(frozen=True, slots=True)
class Selection:
    """Everything that defines a view.

    No checkpoint (`""`) means the first of the list, no token: the page chooses. On the attention page, `figure` is the
    one that tiles carry, by which `order` sorts and of which `keep` (0: all) heads stay; `also` are further heads drawn
    as lines, those above `threshold` percent; `words` joins pieces, `special` shows special tokens; `scaled` and
    `masked` are the two switches of where a weight comes from, `key_token` the key that is followed there. On the masks
    page, `companion` holds the sentences that share a batch, one a line, and `member` says which of the batch is looked
    at; `position`, `dimension` and `shift` choose curves, `width` (0: the model's own) and `base` other encodings.
    """

    checkpoint: str = ""
    device: str = DEVICES[0]
    text: str = EXAMPLES[0].text
    other: str = EXAMPLES[0].twin
    site: str = SITES[0]
    layer: int = 0
    head: int = 0
    token: int | None = None
    other_token: int | None = None
    key_token: int | None = None
    step: int = 0
    side: str = SIDES[0]
    view: str = VIEWS[0]
    part: str = PARTS[0]
    companion: str = COMPANIONS
    member: int | None = None
    about: str = ABOUT[0]
    seed: int = 1
    figure: str = FIGURES[0]
    order: str = ORDERS[0]
    keep: int = 0
    drawn: str = DRAWN[0]
    measure: str = MEASURES[0]
    also: tuple[int, ...] = ()
    threshold: int = 0
    words: bool = False
    special: bool = True
    scaled: bool = True
    masked: bool = True
    bertviz: str = BERTVIZ[0]
    position: int = 10
    dimension: int = 20
    shift: int = 3
    width: int = 0
    base: int = 10_000
    pictures: str = PICTURES[0]

    def within(self, num_layers: int, num_heads: int) -> Self:
        """The same selection, with a layer or head that this model lacks set back to the first."""
        return replace(
            self,
            layer=self.layer if self.layer < num_layers else 0,
            head=self.head if self.head < num_heads else 0,
        )


def _one_of(options: Sequence[str]) -> Callable[[str], str]:
    def read(value: str) -> str:
        if value not in options:
            raise ValueError(value)
        return value

    return read


def _count(value: str) -> int:
    if not (value.isascii() and value.isdigit() and len(value) <= 6):
        raise ValueError(value)
    return int(value)


def _counts(value: str) -> tuple[int, ...]:
    return tuple(dict.fromkeys(_count(part) for part in value.split(".") if part))


def _yes_or_no(value: str) -> bool:
    return _one_of(("True", "False"))(value) == "True"


_READERS: Final[Mapping[str, Callable[[str], object]]] = {
    "checkpoint": str,
    "device": _one_of(DEVICES),
    "text": str,
    "other": str,
    "site": _one_of(SITES),
    "layer": _count,
    "head": _count,
    "token": _count,
    "other_token": _count,
    "key_token": _count,
    "step": _count,
    "side": _one_of(SIDES),
    "view": _one_of(VIEWS),
    "part": _one_of(PARTS),
    "companion": str,
    "member": _count,
    "about": _one_of(ABOUT),
    "seed": _count,
    "figure": _one_of(FIGURES),
    "order": _one_of(ORDERS),
    "keep": _count,
    "drawn": _one_of(DRAWN),
    "measure": _one_of(MEASURES),
    "also": _counts,
    "threshold": _count,
    "words": _yes_or_no,
    "special": _yes_or_no,
    "scaled": _yes_or_no,
    "masked": _yes_or_no,
    "bertviz": _one_of(BERTVIZ),
    "position": _count,
    "dimension": _count,
    "shift": _count,
    "width": _count,
    "base": _count,
    "pictures": _one_of(PICTURES),
}


def parse(params: Mapping[str, str], base: Selection) -> Selection:
    """Read a URL's parameters; what is missing or wrong becomes the default.

    A text of `base` that is too long for any URL stays, for its absence there says nothing.
    """
    chosen: dict[str, Any] = {
        name: getattr(base, name)
        for name in _TEXTS
        if len(getattr(base, name)) > MAX_TEXT_IN_URL and name not in params
    }
    for name, read in _READERS.items():
        if name in params:
            try:
                chosen[name] = read(params[name])
            except ValueError:
                continue
    return Selection(**chosen)


def to_params(selection: Selection) -> dict[str, str]:
    """The URL's parameters: every choice that differs from the default."""
    params = {}
    for field in fields(selection):
        value = getattr(selection, field.name)
        if value != field.default:
            params[field.name] = ".".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return {name: value for name, value in params.items() if len(value) <= MAX_TEXT_IN_URL}


def begin(checkpoints: Sequence[str]) -> None:
    """Take the selection from the URL if it is news, at the start of a run; a checkpoint not listed becomes the first.

    The URL is news when a session begins and when the browser goes back or forward. In every other run it is what
    `publish` wrote, or lags behind it: clicks that follow fast bring the URL of the run before with them.
    """
    stored: Selection | None = st.session_state.get(_SELECTION)
    context = get_script_run_ctx()
    if stored is None or (context is not None and context.is_history_navigation):
        stored = parse(st.query_params.to_dict(), stored or Selection())
    put(stored if stored.checkpoint in checkpoints else replace(stored, checkpoint=""))


def current() -> Selection:
    """The selection of this session."""
    selection: Selection = st.session_state[_SELECTION]
    return selection


def put(selection: Selection) -> None:
    """Make this the selection, before the widgets that show it are drawn."""
    st.session_state[_SELECTION] = selection


def change(**fields: object) -> None:
    """Change these fields of the selection, and leave the others."""
    changes: dict[str, Any] = dict(fields)
    put(replace(current(), **changes))


def bind(field: str, shown: object = None) -> str:
    """The key of the widget that shows a field, once its value is set; to be passed with `on_change=take`.

    Args:
        field: the field of the selection.
        shown: what to show instead of the field's value, where that leaves the choice to the page.
    """
    value = getattr(current(), field) if shown is None else shown
    st.session_state[field] = list(value) if isinstance(value, tuple) else value
    return field


def position(field: str, count: int, default: int) -> int:
    """A chosen position among `count`, or the default; one that is out of range is forgotten."""
    chosen: int | None = getattr(current(), field)
    if chosen is not None and chosen < count:
        return chosen
    nothing: dict[str, Any] = {field: None}
    put(replace(current(), **nothing))
    return default


def take(field: str) -> None:
    """A person changed a widget: its value becomes the selection's. With a text go the tokens chosen in it."""
    value = st.session_state[field]
    changes: dict[str, Any] = {field: tuple(value) if isinstance(value, list) else value}
    if field in ("text", "site", "checkpoint"):
        changes |= {"token": None, "key_token": None, "step": 0}
    if field in ("other", "site", "checkpoint"):
        changes |= {"other_token": None}
    put(replace(current(), **changes))


def take_example(text: str, twin: str) -> None:
    """An example was picked: both sentences change."""
    put(replace(current(), text=text, other=twin, token=None, other_token=None, key_token=None, step=0))


def publish() -> None:
    """Write the selection into the URL, at the end of a run."""
    params = to_params(current())
    if st.query_params.to_dict() != params:
        st.query_params.from_dict(params)
