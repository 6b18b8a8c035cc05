"""Addresses as they were written before the selection was split by page open the view that they opened then."""

from pathlib import Path
from urllib.parse import parse_qsl

import pytest

from tests.viz.page_run import app_of, run_address
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.selection import FIELDS, PAGES, Selection
from viz.selection.url import parse, renamed, to_params, with_head
from viz.ui import sidebar

PAIR = (
    "text=The+trophy+doesn%27t+fit+into+the+suitcase+because+it+is+too+big."
    "&other=The+trophy+doesn%27t+fit+into+the+suitcase+because+it+is+too+small."
)

#: Address → what differs from the defaults; all of it is written into the address again, in whatever order.
KEPT: dict[str, dict[str, object]] = {
    "": {},
    "checkpoint=en-de&text=It+is+late.&site=decoder.cross&layer=1&head=3": {
        "checkpoint": "en-de", "text": "It is late.", "site": "decoder.cross", "layer": 1, "head": 3,
    },
    "site=decoder.self&head=7&figure=entropy&order=lowest&keep=8": {
        "site": "decoder.self", "head": 7, "metric": "entropy", "order": "lowest", "max_heads": 8,
    },
    "text=&token=0&drawn=Lines&measure=norms&also=2.5&threshold=20&window=64&words=False&special=False": {
        "text": "", "token": 0, "drawn_as": "Lines", "measure": "norms", "further_heads": (2, 5), "threshold": 20,
        "window_start": 64, "whole_words": False, "sinks": False,
    },
    "layer=3&token=4&key_token=2&scaled=False&masked=False": {
        "layer": 3, "token": 4, "key_token": 2, "scaled": False, "masked": False,
    },
    "site=decoder.cross&view=bertviz&bertviz=Model+view&drawn=Lines": {
        "site": "decoder.cross", "drawn_as": "bertviz", "bertviz_view": "Model view",
    },
    "view=QK+and+OV&distance=3": {"attention_tab": "Why", "distance": 3},
    "device=cpu&view=Take+it+with+you&measure=rollout&pictures=SVG": {
        "device": "cpu", "measure": "rollout", "picture_format": "SVG",
    },
    "text=Gr%C3%BC%C3%9Fe+%26+%3Cb%3E%3F%3D%23%3C%2Fb%3E+%F0%9F%98%80&layer=2&step=5&also=1&candidates=5": {
        "text": "Grüße & <b>?=#</b> 😀", "layer": 2, "step": 5, "further_heads": (1,),
        "num_candidates": 5,
    },
    "text=It+is+late.&step=6&studio=Branches&branches=0-2-t40.0-4-t41-t90.1-3-point-c-0-0-2&branch=3&against=0": {
        "text": "It is late.", "step": 6,
        "branches": ("0-2-t40", "0-4-t41-t90", "1-3-point-c-0-0-2"), "branch": 3, "compared_branch": 0,
    },
    "key_token=1&step=3&lab=Cause&edit=point&once=True": {
        "key_token": 1, "step": 3, "coreference_tab": "Cause", "edit": "point", "edit_once": True,
    },
    "studio=Logit+lens&step=2": {"decoding_tab": "Inside", "step": 2},
    "studio=Beam+search&beam=6&penalty=130&node=11": {
        "search": "Beam search", "beam_size": 6, "length_penalty": 130, "beam_node": 11,
    },
    "studio=Sampling&temperature=150&top_k=20&top_p=90&samples=12&draw=7": {
        "search": "Sampling", "temperature": 150, "top_k": 20, "top_p": 90, "num_samples": 12,
        "sampling_seed": 7,
    },
    f"{PAIR}&token=9&other_token=10": {
        "text": "The trophy doesn't fit into the suitcase because it is too big.",
        "other_text": "The trophy doesn't fit into the suitcase because it is too small.", "token": 9,
        "other_token": 10,
    },
    "pronoun=7&antecedent=1&distractor=5&other_pronoun=7&other_antecedent=5&other_distractor=1": {
        "pronoun": 7, "antecedent": 1, "distractor": 5, "other_pronoun": 7, "other_antecedent": 5,
        "other_distractor": 1,
    },
    "lab=Measured&given=file&measure=rollout": {
        "coreference_tab": "Measured", "pair_set": "file", "measure": "rollout",
    },
    "lab=Measured&over=corpus": {"coreference_tab": "Measured", "texts_of_both": "corpus"},
    "lab=Cause&pair=it-03&off=c-3-1.e-0-2&spare=True&instead=mean&scope=set": {
        "coreference_tab": "Cause", "pair": "it-03", "heads_off": ("c-3-1", "e-0-2"), "others_off": True,
        "replacement": "mean", "cause_scope": "set",
    },
    "site=decoder.cross&layer=2&head=5&atlas=Map+of+heads&corpus=file&corpus_figure=aer_word_out&read_off=norms": {
        "site": "decoder.cross", "layer": 2, "head": 5, "atlas_tab": "Scatter", "corpus": "file",
        "corpus_metric": "aer_word_out", "read_off": "norms",
    },
    "atlas=Maps&corpus_figure=first": {"atlas_tab": "Heads", "corpus_metric": "first"},
    "atlas=Table&corpus_figure=induction&site=decoder.self": {
        "atlas_tab": "Heads", "atlas_table": True, "corpus_metric": "induction", "site": "decoder.self",
    },
    "companion=Yes.%0ANo.&member=1&side=target": {
        "batch_sentences": "Yes.\nNo.", "batch_member": 1, "side": "target",
    },
    "position=3&dimension=4&shift=5&width=64&base=100": {
        "position": 3, "dimension": 4, "shift": 5, "width": 64, "base": 100,
    },
    "about=Training+data&seed=7": {"model_section": "Data and training", "example_seed": 7},
}  # fmt: skip


def exploring(lesson: str, number: int, **choices: object) -> tuple[str, dict[str, object]]:
    """Explore of a topic, unfolded below the step at which it is at home."""
    return "Learn", {"learn_tab": "Lessons", "lesson": lesson, "lesson_step": number, "explore": True, **choices}


#: Old address → the page where it leads, and what is chosen there.
MOVED: dict[str, tuple[str, dict[str, object]]] = {
    "masks?text=It+is+late.": exploring("three-attentions", 1, text="It is late."),
    "masks?part=Masks&member=2": exploring("three-attentions", 1, batch_member=2),
    "masks?part=Positional+encodings&position=3": exploring("positions", 3, position=3),
    "masks?part=Positional+encodings&claim=Pooling": exploring("positions", 3),
    "why?part=Positional+encodings&claim=Pooling&sigma=30": exploring("look-up", 6, pooling_width=30),
    "why": exploring("scaled-dot-product", 7),
    "paper?dk=128&lesson=heads&step_of_lesson=2&learn=Training": exploring("scaled-dot-product", 7, score_width=128),
    "paper?claim=Scores&checkpoint=en-de": exploring("scaled-dot-product", 7, checkpoint="en-de"),
    "paper?claim=Positions&side=target": exploring("positions", 3, side="target"),
    "paper?claim=Masks&companion=Hi.": exploring("three-attentions", 1, batch_sentences="Hi."),
    "paper?claim=Pooling&sigma=30&at=100": exploring("look-up", 6, pooling_width=30, pooling_query=100),
    "paper?claim=Table+1&n=64&k=5": exploring("why-attention", 2, layer_length=64, kernel_width=5),
    "experiments?claim=Table+1&r=17": exploring("why-attention", 2, window_size=17),
    "learn?learn=Training&target_of=3&epsilon=20": exploring("loss", 3, smoothed_step=3, smoothing=20),
    "learn?learn=Training&training=Warm-up&schedule_width=256": exploring("training", 4, schedule_width=256),
    "learn?learn=Training&training=Teacher+forcing&reference=Ja.": exploring("loss", 1, forced_reference="Ja."),
    "learn?lesson=loss&training=Warm-up": ("Learn", {"lesson": "loss", "lesson_step": 1, "explore": False}),
    "learn?learn=Collection": ("Learn", {"learn_tab": "Lessons", "collection": True}),
    "decode?studio=Cost&step=4&text=It+is+late.": exploring("decoding", 1, step=4, text="It is late."),
    "experiments?claim=Live+switches&without=2": (
        "Experiments",
        {"experiments_tab": "Ablations", "live_switches": True, "off_layer": 2},
    ),
    "paper?claim=Ablations&models=gru": ("Experiments", {"experiments_tab": "Ablations", "ablations": ("gru",)}),
    "paper?claim=Through+training": ("Experiments", {"experiments_tab": "Through training"}),
}


def params_of(address: str) -> dict[str, str]:
    return dict(parse_qsl(address, keep_blank_values=True))


def written(selection: Selection) -> dict[str, str]:
    """What the addresses of all pages say of a selection, with Explore unfolded in a lesson or not, in every tab."""
    ways = [selection.changed(learn_tab=tab, explore=True) for tab in FIELDS["learn_tab"].options]
    said = {name: value for way in ways for page in PAGES for name, value in to_params(way, page).items()}
    shown = {name: value for page in PAGES for name, value in to_params(selection, page).items()}
    return {name: value for name, value in said.items() if name not in ("learn", "explore")} | shown


@pytest.mark.parametrize("address", KEPT)
def test_an_old_address_opens_the_same_view(address: str) -> None:
    assert parse(params_of(address), Selection()) == Selection().changed(**KEPT[address])


@pytest.mark.parametrize(
    ("address", "pair"),
    [
        ("lab=Cause&asked=gift-01", "gift-01"), ("lab=Cause&asked=own", ""), ("asked=gift-01", ""),
        ("lab=Cause&checkpoint=gpt2&asked=gift-01&pair=it-03", "gift-01"),
        ("lab=Cause&checkpoint=gpt2&asked=own&pair=it-03", ""), ("lab=Cause&asked=gift-01&pair=it-03", "it-03"),
    ],
)  # fmt: skip
def test_the_pair_whose_cause_was_asked_for_is_the_one_that_is_compared(address: str, pair: str) -> None:
    assert parse(params_of(address), Selection()).coreference.pair == pair


@pytest.mark.parametrize("address", KEPT)
def test_an_old_address_is_written_again_with_the_whole_name_of_its_head(address: str) -> None:
    params = renamed(params_of(address))
    head = {"site": "encoder.self", "layer": "0", "head": "0"} if {"site", "layer", "head"} & params.keys() else {}
    assert written(parse(params, Selection())) == with_head(head | params)


def test_an_address_without_a_head_leaves_it_to_the_page_and_a_branch_without_a_step_means_the_first() -> None:
    selection = parse(params_of("text=It+is+late.&token=3&studio=Inside"), Selection().changed(head=2, step=4))
    assert not selection.common.head_chosen
    assert not selection.common.step_chosen
    selection = parse(params_of("branches=0-2-t40&branch=1"), Selection())
    assert (selection.common.step, selection.common.step_chosen) == (0, True)


@pytest.mark.parametrize("address", ["site=encoder.self", "layer=0", "head=0"])
def test_an_old_address_with_a_part_of_a_head_means_the_first_of_the_others(address: str) -> None:
    assert parse(params_of(address), Selection()).common == Selection().changed(layer=0).common


@pytest.mark.parametrize("address", MOVED)
def test_an_old_page_leads_to_the_one_that_has_what_it_showed(
    tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    page, _, query = address.partition("?")
    app = run_address(app_of(**params_of(query)), page)
    title, choices = MOVED[address]
    assert not app.exception
    assert app.title[0].value == title
    assert not [told.value for told in app.info if "The URL has" in told.value]
    assert app.session_state["selection"] == app.session_state["selection"].changed(**choices)


#: Names of tabs that links for a class had, now gone → the tabs that have what they showed.
TABS_SHOWN = {
    "attention-qk-and-ov": "attention-why", "attention-bertviz": "attention-all-heads", "decode-cost": "learn-lessons",
    "atlas-maps": "atlas-heads", "atlas-map-of-heads": "atlas-scatter", "atlas-table": "atlas-heads",
    "learn-training": "learn-lessons", "learn-collection": "learn-lessons", "paper-scores": "learn-lessons",
    "paper-positions": "learn-lessons", "paper-masks": "learn-lessons", "paper-pooling": "learn-lessons",
    "paper-table-1": "learn-lessons", "paper-ablations": "experiments-ablations",
    "paper-through-training": "experiments-through-training", "paper-live-switches": "experiments-ablations",
}  # fmt: skip


@pytest.mark.parametrize("old", TABS_SHOWN)
def test_a_link_for_a_class_shows_what_a_tab_that_is_gone_showed(old: str) -> None:
    (shown,) = parse({"only": old}, Selection()).common.shown_tabs
    assert shown == TABS_SHOWN[old]
    assert shown in sidebar.codes()
