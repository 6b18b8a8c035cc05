"""Reading and writing addresses, old ones too, and the codes in them of branches and pinned views."""

import base64
import json
import zlib

import pytest

from model.errors import SessionError
from viz.access.given_files import FILES
from viz.selection import url
from viz.selection.branch_codes import (
    MAX_BRANCHES,
    MAX_PIECES,
    Choice,
    Draw,
    EditHead,
    Write,
    deed,
    origin_of,
    read_code,
    read_codes,
    summary,
    write_code,
)
from viz.selection.fields import MAX_TEXT_IN_URL
from viz.selection.selection import FIELDS, PAGES, Section, Selection
from viz.selection.url import (
    MAX_CAPTION,
    MAX_DIGITS,
    MAX_PINS,
    Pin,
    choices,
    decode,
    encode,
    fits,
    parse,
    pin_of,
    renamed,
    to_params,
)

DEFAULT = Selection().changed(checkpoint="en-de")
SHARED = ("model", "common")


def other_than_default(name: str) -> object:
    """A value that a choice can have and that it has not by itself."""
    field = FIELDS[name]
    if field.options:
        return field.options[-1] if field.options[-1] != field.default else field.options[0]
    if isinstance(field.default, bool):
        return not field.default
    if field.shape:
        return (8, 8, 16, 16) if field.default == () else "line/8/8/16/16/grey"
    kinds: dict[object, object] = {int: 3, int | None: 3, tuple[int, ...]: (4, 2), tuple[str, ...]: ("0-2-t40",)}
    return kinds.get(field.kind, "Grüße & <b>?=#</b> 😀"[: field.max_length])


#: Whatever can be chosen, chosen: on every page something else than the default.
CHANGED = Selection().changed(**{name: other_than_default(name) for name in FIELDS})


def test_an_address_holds_the_example_of_a_picture_but_never_a_file_of_a_person() -> None:
    for name in [*FILES["picture"].examples][1:]:
        params = to_params(Selection().changed(given_file=name), "attention")
        assert parse(params, Selection()).model.given_file == name
    for given in ("0f3a5b", "0f3a5b/0/100", "0f3a5b/8/8/16/16/grey", "/8/8/16/16/red", "line/8/8/16/grey"):
        assert to_params(Selection().changed(given_file=given), "attention") == {}
        assert choices({"example": given}) == {}


def test_parameters_that_addresses_had_are_known_and_those_of_other_software_foreign() -> None:
    old = ("plus", "minus", "equals", "with", "pairs", "attention", "follow_token", "training", "transformer", "asked")
    foreign = ("utm_source", "fbclid", "gclid", "msclkid", "isappinstalled", "__theme", "__sign", "embed_options")
    unknown = url.unknown(dict.fromkeys((*old, "text", "colour", *foreign), "1"))
    assert unknown == ["colour", *foreign]
    assert [param for param in unknown if not url.is_foreign(param)] == ["colour"]


@pytest.mark.parametrize("page", PAGES)
def test_the_address_of_a_page_brings_back_its_view_and_says_nothing_of_other_pages(page: Section) -> None:
    tab = FIELDS[PAGES[page].tab]
    for label in tab.options:
        chosen = CHANGED.changed(**{tab.name: label})
        params = to_params(chosen, page)
        named = {name for name, field in FIELDS.items() if field.param in renamed(params)}
        assert {FIELDS[name].section for name in named} <= {page, *SHARED}
        opened = parse(params, Selection())
        assert to_params(opened, page) == params
        assert named
        assert all(opened.value(name) == chosen.value(name) for name in named)
        # What was chosen elsewhere stays in the session when the browser goes back to this address.
        assert parse(params, chosen, page) == chosen
        others = [name for name in FIELDS.keys() - named if FIELDS[name].section not in (page, *SHARED)]
        assert all(parse(params, CHANGED, page).value(name) == CHANGED.value(name) for name in others)


def test_defaults_are_left_out_of_the_link() -> None:
    assert to_params(Selection(), "attention") == {}
    assert to_params(Selection().changed(threshold=2), "attention") == {"threshold": "2"}
    assert url.with_head({"layer": "3", "head": "1"}) == {"head": "L4H2"}
    # What a page proposes is left out of the link, and what a person chose is not.
    proposed = Selection().proposed(site="decoder.cross", layer=3, head=1, step=9)
    assert to_params(proposed, "attention") == {}
    assert to_params(proposed.changed(head=0), "attention") == {"site": "decoder.cross", "head": "L4H1"}
    assert to_params(proposed.changed(step=0), "attention") == {"step": "0"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("site", "encoder"), ("site", ""), ("layer", "-1"), ("layer", "two"), ("layer", "1.5"), ("layer", "٣"),
        ("layer", "9" * 5000), ("head", "0x1"), ("token", "None"), ("step", " 1"), ("device", "tpu"), ("view", "x"),
        ("part", "x"), ("side", "both"), ("lab", "x"), ("pair", "x" * 61), ("pronoun", "-1"), ("about", "x"),
        ("seed", "-3"), ("words", "2"), ("figure", "x"), ("measure", "x"), ("also", "-1"), ("also", "1.a"),
        ("member", "-1"),
    ],
)  # fmt: skip
def test_a_wrong_value_becomes_the_default(name: str, value: str) -> None:
    assert parse({name: value}, Selection()) == Selection()


def test_unknown_parameters_are_ignored_and_repeated_heads_kept_once() -> None:
    assert parse({"utm_source": "x", "layer": "2"}, Selection()) == Selection().changed(layer=2)
    assert parse({"also": "4.4.2"}, Selection()).common.further_heads == (4, 2)
    assert parse({"text": ""}, DEFAULT).common.text == ""
    assert parse({"seed": "9" * MAX_DIGITS}, Selection()).model_card.example_seed == 10**MAX_DIGITS - 1
    assert parse({"seed": "1" + "0" * MAX_DIGITS}, Selection()) == Selection()
    assert parse({"pair": "x" * 60}, Selection()).coreference.pair == "x" * 60


def test_a_text_too_long_for_an_address_stays_in_the_session() -> None:
    long = DEFAULT.changed(text="x" * (MAX_TEXT_IN_URL + 1), layer=2)
    params = to_params(long, "attention")
    assert "text" not in params
    assert parse(params, long) == long
    # A text that just fits is written, so an address without it means the usual one.
    fitting = DEFAULT.changed(text="x" * MAX_TEXT_IN_URL)
    assert parse(to_params(fitting, "attention"), Selection()).common.text == fitting.common.text
    assert parse({}, fitting).common.text == Selection().common.text


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
    kept = (VIEW, Pin("decoding", (("step", "3"), ("text", "Grüße 😀")), "<b>Look</b> here & there", "Ask first"))
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


def test_parameters_that_are_none_of_the_page_are_left_out_and_captions_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    hostile = {"layer": "2", "head": 3, "pins": "x", "present": "1", "beam": "9", "__class__": "x", "text": ["x"]}
    (pin,) = decode(coded([["attention", hostile, "c" * 999]]))
    assert pin.params == (("layer", "2"),)
    assert len(pin.caption) == MAX_CAPTION
    assert len(decode(coded([["attention", {}, ""]] * 99))) == MAX_PINS
    # No more views fit than an address can carry.
    assert fits([VIEW] * MAX_PINS)
    assert not fits([VIEW] * (MAX_PINS + 1))
    texts = ["".join(chr(200 + (i * 7919 + n) % 3_000) for i in range(900)) for n in range(5)]
    long = [Pin("attention", (("text", text),)) for text in texts]
    assert len(encode(long)) > MAX_TEXT_IN_URL
    assert not fits(long)
    for room in (0, -1):
        monkeypatch.setattr(url, "MAX_TEXT_IN_URL", len(encode([VIEW])) + room)
        assert fits([VIEW]) == (room == 0)


def test_a_head_is_in_the_addresses_of_those_pages_alone_that_show_it() -> None:
    chosen = Selection().changed(site="decoder.self", head=2, explore=True)
    assert to_params(chosen, "experiments") == to_params(chosen, "model_card") == {}
    assert to_params(chosen, "learn")["head"] == "L1H3"
    # A lesson has its own; what was chosen elsewhere stays in the session.
    lesson = chosen.changed(explore=False)
    assert to_params(lesson, "learn") == {}
    assert parse({}, lesson, "learn") == lesson
    assert to_params(lesson.changed(learn_tab="The Transformer"), "learn")["site"] == "decoder.self"


def test_only_while_its_list_is_open_an_address_carries_the_collection() -> None:
    kept = Selection().changed(pins=encode([VIEW]), text="It is late.")
    assert "pins" not in to_params(kept, "learn")
    # An address without it says nothing of it.
    assert parse(to_params(kept, "learn"), kept) == kept
    shown = kept.changed(collection=True)
    assert parse(to_params(shown, "learn"), Selection()) == shown


CODES = {
    "0-5-t812": Choice(0, 5, Write((812,))),
    "0-5-t812-t90": Choice(0, 5, Write((812, 90))),
    "1-3-off-c-3-1": Choice(1, 3, EditHead("off", "decoder.cross", 3, 1)),
    "1-3-uniform-d-0-7-once": Choice(1, 3, EditHead("uniform", "decoder.self", 0, 7, once=True)),
    "0-0-point-c-2-7-4": Choice(0, 0, EditHead("point", "decoder.cross", 2, 7, 4)),
    "0-2-point-e-2-7-4": Choice(0, 2, EditHead("point", "encoder.self", 2, 7, 4)),
    "0-5-draw-80-40-95-7": Choice(0, 5, Draw(80, 40, 95, 7)),
    "0-5-draw-1-0-1-0": Choice(0, 5, Draw(1, 0, 1, 0)),
    "0-5-draw-10000-0-100-0": Choice(0, 5, Draw(10_000, 0, 100, 0)),
    "-".join(["0-5", *["t1"] * MAX_PIECES]): Choice(0, 5, Write((1,) * MAX_PIECES)),
}
HOSTILE = [
    "", "-", "0", "0-5", "0-5-", "0-5-t", "0-5-t٣", "0-5-t1-", "0-5-t1-x", "0-05-t1", "0--5-t1", "-1-5-t1",
    "0-5-t1234567", "2-5-t1", "9-5-t1", "0-5-t1\n", "0-5-off-x-0-0", "0-5-off-c-0", "0-5-off-c-0-0-0",
    "0-5-off-e-0-0-once", "0-5-point-c-0-0", "0-5-uniform-c-0-0-1", "0-5-draw-0-0-100-1", "0-5-draw-99999-0-100-1",
    "0-5-draw-80-40-101-7", "0-5-draw-80-40-0-7", "0-5-draw-80-40-95", "0-5-<script>alert(1)</script>",
    "0-5-" + "t1-" * 100_000 + "t1", "0-5-" + "-".join(["t1"] * (MAX_PIECES + 1)),
]  # fmt: skip


@pytest.mark.parametrize(("code", "choice"), CODES.items())
def test_a_code_says_what_was_done_and_where(code: str, choice: Choice) -> None:
    assert read_code(code, 2) == choice
    assert write_code(choice) == code


@pytest.mark.parametrize("code", HOSTILE, ids=range(len(HOSTILE)))
def test_anything_else_is_refused_with_a_short_sentence(code: str) -> None:
    with pytest.raises(SessionError) as refused:
        read_code(code, 2)
    assert "URL" in str(refused.value)
    assert len(str(refused.value)) < 200 or "starts from branch" in str(refused.value)


def test_a_code_that_means_nothing_takes_along_only_the_branches_that_leave_it() -> None:
    reading = read_codes(["0-1-t5", "nonsense", "2-4-t6", "1-3-t7", "3-5-t8"])
    assert reading.choices == (Choice(0, 1, Write((5,))), Choice(1, 3, Write((7,))))
    assert reading.number_of == {0: 0, 1: 1, 4: 2}
    assert len(reading.problems) == 1
    assert "nonsense" in reading.problems[0]
    # Parents are renumbered when one before them falls away.
    reading = read_codes(["x", "0-1-t5", "2-3-t7"])
    assert reading.choices == (Choice(0, 1, Write((5,))), Choice(1, 3, Write((7,))))
    # Of too many codes the first are kept.
    reading = read_codes(["0-1-t5"] * (MAX_BRANCHES + 3))
    assert len(reading.choices) == MAX_BRANCHES
    assert str(MAX_BRANCHES) in reading.problems[0]
    assert read_codes(["0-1-t5"] * MAX_BRANCHES).problems == ()


@pytest.mark.parametrize(
    ("action", "said"),
    [
        (Write((1, 2, 3)), "wrote “b c token 3”"),
        (Draw(80, 0, 100, 7), "sampled at temperature 0.8, seed 7"),
        (Draw(80, 40, 99, 7), "sampled at temperature 0.8, top-k 40, top-p 0.99, seed 7"),
        (EditHead("off", "decoder.cross", 0, 2), "cross L1 H3 switched off"),
        (EditHead("uniform", "decoder.self", 1, 0, once=True), "decoder self L2 H1 made uniform, this step only"),
        (EditHead("point", "decoder.cross", 0, 0, 1), "cross L1 H1 pointed at token 2 “y”"),
        (EditHead("point", "decoder.cross", 0, 0, 2), "cross L1 H1 pointed at token 3"),
        (EditHead("point", "decoder.self", 0, 0, 1), "decoder self L1 H1 pointed at token 2"),
    ],
)
def test_what_was_done_is_said_with_tokens_that_exist_and_numbers_from_one(
    action: Draw | EditHead | Write, said: str
) -> None:
    assert deed(action, ("a", "b", "c"), ("x", "y")) == said
    assert summary(3, Choice(0, 4, action), ("a", "b", "c"), ("x", "y")) == f"Branch 3 · step 5: {said}"


OFF = EditHead("off", "decoder.cross", 0, 0)
OF_ENCODER = EditHead("off", "encoder.self", 0, 0)


@pytest.mark.parametrize(
    ("own", "step", "action", "origin"),
    [
        (Choice(0, 5, Write((1,))), 6, Write((2,)), 1),
        (Choice(0, 5, Write((1,))), 5, Write((2,)), 0),
        (Choice(0, 5, Write((1,))), 4, Write((2,)), 0),
        (Choice(0, 5, Draw(80, 0, 100, 1)), 5, Draw(80, 0, 100, 2), 0),
        (Choice(0, 5, Write((1,))), 5, OFF, 1),
        (Choice(0, 5, OFF), 5, Write((2,)), 1),
        (Choice(0, 5, OFF), 4, Write((2,)), 0),
        (Choice(0, 5, OF_ENCODER), 4, Write((2,)), 1),
    ],
)
def test_an_action_before_a_branch_begins_is_one_on_the_branch_that_it_left(
    own: Choice, step: int, action: Draw | EditHead | Write, origin: int
) -> None:
    assert origin_of((own,), 1, step, action) == origin
    # Of a branch of a branch it is looked for from the last one back.
    two = (own, Choice(1, 9, Write((3,))))
    assert [origin_of(two, 2, at, Write((4,))) for at in (10, 8)] == [2, 1]
