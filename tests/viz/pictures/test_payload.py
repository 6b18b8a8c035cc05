"""What travels between Python and the browser: packed by its types, read back with its bounds."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
import pytest

from tests.viz.sent import unpack
from viz.pictures.component import Command, Exchange, next_command
from viz.pictures.matrix_picture.component import ColourScale, MatrixData
from viz.pictures.payload import (
    ANYTHING,
    CHOSEN,
    FLAT,
    FULL,
    LOCAL,
    LogProb,
    Token,
    Tokens,
    pack,
    read,
    rounded,
    sqrt_uint16,
)
from viz.pictures.payload import fingerprint as digest


@dataclass(frozen=True)
class Text:
    tokens: tuple[str, ...]


@dataclass(frozen=True)
class Inner:
    both_ends: tuple[Token, Annotated[float, rounded(2)]]
    log_prob: LogProb | None = None


@dataclass(frozen=True)
class Content:
    key_tokens: Tokens
    inner: Inner
    flat: Annotated[Inner, FLAT]
    many: Sequence[Inner]
    by_name: Mapping[str, Inner]
    chosen: Annotated[int, CHOSEN]
    secret: Annotated[object, LOCAL] = None

    def derived(self) -> dict[str, object]:
        return {"num_many": len(self.many)}


@dataclass(frozen=True)
class Opened:
    opened: Annotated[tuple[Inner, ...], CHOSEN]


@dataclass(frozen=True)
class Sized:
    values: np.ndarray


@dataclass(frozen=True)
class Entropy:
    entropy: float


def content(chosen: int = 0, name: str = "a") -> Content:
    inner = Inner(("\u202e", 1 / 3), -math.inf)
    return Content(["x", ""], inner, inner, (inner, Inner(("b", 0))), {name: inner}, chosen)


def test_a_dataclass_travels_under_the_names_of_the_browser_as_its_types_say() -> None:
    inner = {"bothEnds": ["\\u202e", 0.33], "logProb": None}
    header, arrays = unpack(pack(content()))
    assert arrays == []
    assert header.pop("digest")
    assert header == {
        "keyTokens": ["x", "∅"],
        "inner": inner,
        **inner,
        "many": [inner, {"bothEnds": ["b", 0], "logProb": None}],
        "byName": {"a": inner},
        "numMany": 2,
        "chosen": 0,
        "arrays": [],
    }


def test_the_digest_follows_all_but_what_is_chosen() -> None:
    first, chosen, other = (unpack(pack(of))[0]["digest"] for of in (content(), content(5), content(name="b")))
    assert first == chosen
    assert first != other
    # What is chosen is packed as everything else.
    header, _ = unpack(pack(Opened((Inner(("\u202e", 0.5)),))))
    assert header["opened"] == [{"bothEnds": ["\\u202e", 0.5], "logProb": None}]


def test_a_payload_is_header_length_header_and_arrays_row_by_row() -> None:
    header, arrays = unpack(pack(Text(("▁müde", "😀")), np.arange(3, dtype=np.uint8), np.arange(5, dtype=np.uint16)))
    assert header == {"tokens": ["▁müde", "😀"], "arrays": [["uint8", 3], ["uint16", 5]]}
    assert [array.tolist() for array in arrays] == [[0, 1, 2], [0, 1, 2, 3, 4]]
    array = np.asfortranarray(np.arange(6, dtype=">u2").reshape(2, 3))
    _, (sent,) = unpack(pack(Sized(array)))
    assert sent.tolist() == [0, 1, 2, 3, 4, 5]
    with pytest.raises(ValueError, match="JSON"):
        pack(Entropy(float("nan")))
    with pytest.raises(AssertionError, match="with_language"):
        pack(Text(()), language="de")


def test_three_decimals_of_every_weight_survive() -> None:
    weights = np.linspace(0, 1, 100_001)
    stored = sqrt_uint16(weights)
    assert stored.dtype == np.uint16
    assert np.abs((stored / FULL) ** 2 - weights).max() < 2e-5
    assert sqrt_uint16(np.array([-1e-7, 0.0, 1.0, 1.0 + 1e-4])).tolist() == [0, 0, FULL, FULL]


@dataclass(frozen=True)
class Answer:
    step_number: int
    kind: Literal["show", "drop"]
    heads: tuple[int, ...]
    share: Annotated[int, range(101)]
    name: Annotated[str, ANYTHING]
    pair: tuple[Annotated[tuple[int, int], range(3)], ...] = ()
    key: int | None = None
    is_on: bool = False


RIGHT: dict[str, object] = {
    "stepNumber": 2, "kind": "show", "heads": [0, 1], "share": 100, "name": "any", "pair": [[0, 2]], "key": None,
    "isOn": True,
}  # fmt: skip


def answer(value: object) -> Answer | None:
    return read(Answer, value, step_number=range(3), heads=range(2), key={4})


def test_an_answer_of_which_all_exists_is_read() -> None:
    assert answer(RIGHT) == Answer(2, "show", (0, 1), 100, "any", ((0, 2),), None, True)
    assert answer(RIGHT | {"key": 4, "more": 1}) == Answer(2, "show", (0, 1), 100, "any", ((0, 2),), 4, True)


@pytest.mark.parametrize(
    "wrong",
    [
        {"stepNumber": 3}, {"stepNumber": -1}, {"stepNumber": True}, {"stepNumber": 1.0}, {"stepNumber": "1"},
        {"stepNumber": None}, {"stepNumber": [1]}, {"kind": "hide"}, {"kind": ["show"]}, {"kind": None}, {"heads": 0},
        {"heads": [0, 2]}, {"heads": [False]}, {"heads": {"0": 1}}, {"share": 101}, {"name": 3}, {"pair": [[0]]},
        {"pair": [[0, 1, 2]]}, {"pair": [[0, 3]]}, {"pair": [0]}, {"key": 5}, {"isOn": 1},
    ],
)  # fmt: skip
def test_an_answer_with_anything_that_does_not_exist_is_not_read(wrong: dict[str, object]) -> None:
    assert answer(RIGHT | wrong) is None


@pytest.mark.parametrize("missing", RIGHT)
def test_an_answer_must_have_every_field(missing: str) -> None:
    assert answer({name: value for name, value in RIGHT.items() if name != missing}) is None


def test_an_answer_about_another_picture_is_not_read() -> None:
    assert read(int, {"step": 1, "digest": "abc"}, {"digest": "abc"}, step=range(3)) == 1
    assert read(int, {"step": 1, "digest": "abd"}, {"digest": "abc"}, step=range(3)) is None
    with pytest.raises(AssertionError, match="values that a field"):
        read(Answer, RIGHT)


def test_a_digest_tells_other_contents_and_other_boundaries_apart() -> None:
    a, b = np.arange(4, dtype=np.uint16), np.arange(1, 5, dtype=np.uint16)
    assert digest("ab", a) == digest("ab", a.copy())
    assert len({digest("ab", a), digest("ab", b), digest("a", "b", a), digest("b", "a", a)}) == 4


@dataclass(frozen=True)
class At:
    step: int


AT_0, AT_3, AT_5, AT_7 = (At(step) for step in (0, 3, 5, 7))
FIRST = Command(1, AT_0, "abc")


def test_a_page_that_follows_its_player_never_sends_it_back_and_one_that_asks_is_obeyed() -> None:
    assert next_command(None, AT_5, None, "abc") == Command(1, AT_5, "abc")
    assert next_command(Exchange(FIRST, AT_0, None), AT_0, AT_5, "abc") == FIRST
    assert next_command(Exchange(FIRST, AT_0, AT_5), AT_5, AT_7, "abc") == FIRST
    assert next_command(Exchange(FIRST, AT_5, AT_7), AT_7, AT_7, "abc") == FIRST
    assert next_command(Exchange(FIRST, AT_5, AT_7), AT_3, AT_7, "abc") == Command(2, AT_3, "abc")
    assert next_command(Exchange(FIRST, AT_5, AT_7), AT_7, None, "xyz") == Command(2, AT_7, "xyz")
    assert next_command(Exchange(FIRST, None, None), AT_5, None, "abc") == Command(2, AT_5, "abc")


def test_a_colour_bar_is_labelled_from_end_to_end_and_a_pooled_matrix_has_a_number_for_each_block() -> None:
    scale = ColourScale.signed("difference", 0.5)
    assert (scale.low, scale.high) == (-0.5, 0.5)
    assert scale.marks == ((0, "−0.5"), (0.25, "−0.25"), (0.5, "0"), (0.75, "+0.25"), (1, "+0.5"))
    # A label stands where its number has its colour.
    for shown in (scale, ColourScale.root("weight", 1.0)):
        for place, label in shown.marks:
            share = (float(label.replace("−", "-")) - shown.low) / (shown.high - shown.low)
            assert share**shown.exponent == pytest.approx(place, abs=1e-3)
    given: dict[str, Any] = {
        "row_tokens": "abcde",
        "column_tokens": "xyz",
        "scale": ColourScale.root("weight", 1.0),
        "title": "",
        "label": "",
        "file_name": "",
    }
    pooled = MatrixData(values=np.zeros((3, 2)), block=(2, 2), **given)
    assert pooled.is_pooled
    assert not MatrixData(values=np.zeros((5, 3)), **given).is_pooled
    for shape in ((2, 2), (3, 1), (5, 3)):
        with pytest.raises(AssertionError, match="values have shape"):
            MatrixData(values=np.zeros(shape), block=(2, 2), **given)


def test_only_what_was_reported_after_a_command_answers_it() -> None:
    assert FIRST.packed() == {"number": 1, "step": 0}
    assert FIRST.is_answered_by({"digest": "abc", "command": 1, "step": 2})
    wrong: tuple[object, ...] = ({"digest": "abc", "command": 2}, {"digest": "abd", "command": 1}, {}, None, [])
    assert not any(map(FIRST.is_answered_by, wrong))
