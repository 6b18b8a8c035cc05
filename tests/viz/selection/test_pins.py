"""Views kept side by side, and their code in an address."""

import base64
import json
import zlib

import pytest

from viz.selection.fields import MAX_TEXT_IN_URL
from viz.selection.pages import PAGES, Section
from viz.selection.pins import MAX_CAPTION, MAX_PINS, Pin, decode, encode, fits, pin_of
from viz.selection.selection import Selection
from viz.selection.url import parse, to_params

HEAD = Selection().changed(text="She read.", site="decoder.cross", layer=3, head=1, beam_size=7, presented="1")
VIEW = pin_of(HEAD, "attention", {"checkpoint": "en-de"})


def coded(value: object) -> str:
    return base64.urlsafe_b64encode(zlib.compress(json.dumps(value).encode())).decode().rstrip("=")


def test_a_view_has_what_is_seen_on_its_page_and_nothing_of_others() -> None:
    assert dict(VIEW.params) == {
        "checkpoint": "en-de", "text": "She read.", "site": "decoder.cross", "head": "L4H2",
    }  # fmt: skip
    assert VIEW.selection.common == HEAD.changed(presented="").common


def test_a_collection_comes_back_from_its_code() -> None:
    kept = (VIEW, Pin("decoding", (("step", "3"), ("text", "Grüße 😀")), "<b>Look</b> here & there"))
    assert decode(encode(kept)) == kept
    assert encode(()) == ""
    assert decode("") == ()


@pytest.mark.parametrize(
    "code",
    [
        "x", "é", "AAAA", "====", "a" * 2_000, coded({}), coded(3), coded([3]), coded([["attention"]]),
        coded([["nowhere", {}, ""]]), coded([["attention", [], ""]]), coded([["attention", {}, 3]]),
        coded([[["attention"], {}, ""]]), coded([[{}, {}, ""]]),
        coded([["attention", {"text": "\ud800x"}, ""]]), coded([["attention", {"\udfff": "x"}, ""]]),
        base64.urlsafe_b64encode(zlib.compress(b"[" * 30_000)).decode(),
        base64.urlsafe_b64encode(zlib.compress(b"\xff\xfe")).decode(),
        base64.urlsafe_b64encode(zlib.compress(b"[" + b" " * 50_000_000 + b"]")).decode(),
    ],
    ids=range(19),
)  # fmt: skip
def test_what_is_no_collection_is_an_empty_one(code: str) -> None:
    assert decode(code) == ()


def test_parameters_that_are_none_of_the_page_are_left_out_and_captions_cut() -> None:
    hostile = {"layer": "2", "head": 3, "pins": "x", "present": "1", "beam": "9", "__class__": "x", "text": ["x"]}
    (pin,) = decode(coded([["attention", hostile, "c" * 999]]))
    assert pin.params == (("layer", "2"),)
    assert len(pin.caption) == MAX_CAPTION
    assert len(decode(coded([["attention", {}, ""]] * 99))) == MAX_PINS


def test_no_more_views_fit_than_an_address_can_carry() -> None:
    assert fits([VIEW] * MAX_PINS)
    assert not fits([VIEW] * (MAX_PINS + 1))
    texts = ["".join(chr(200 + (i * 7919 + n) % 3_000) for i in range(900)) for n in range(5)]
    long = [Pin("attention", (("text", text),)) for text in texts]
    assert len(encode(long)) > MAX_TEXT_IN_URL
    assert not fits(long)


def test_only_the_tab_of_the_collection_carries_it_in_its_address() -> None:
    kept = Selection().changed(pins=encode([VIEW]), layer=1)
    assert "pins" not in to_params(kept)
    # An address without it says nothing of it.
    assert parse(to_params(kept), kept) == kept
    shown = kept.changed(learn_tab="Collection")
    assert parse(to_params(shown), Selection()) == shown


@pytest.mark.parametrize("page", PAGES)
def test_a_view_of_every_page_can_be_kept(page: Section) -> None:
    pin = pin_of(Selection(), page, {"text": "Yes."})
    assert decode(encode([pin])) == (pin,)
