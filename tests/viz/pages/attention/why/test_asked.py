"""What the tab Why asks: the cell that a person chose, else the pronoun's, else the most telling one."""

from pathlib import Path
from typing import Any

import pytest

from model import Trace
from model.analysis.reasons.cell import telling_cell
from model.analysis.reasons.twins import trace_twin
from tests.model.adapters import zoo
from tests.viz.page_run import app_of, healthy, traced
from tests.viz.sent import sent_to
from viz.access import models
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.selection import Selection
from viz.text.written import display_token

TEXT, TWIN = "Tom was late because of the rain.", "Tom was early because of the rain."


@pytest.fixture
def trace(chosen: Selection, tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> Trace:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    return traced(TEXT, chosen)


def asked_of(**choices: Any) -> tuple[str, int, int, int, str]:
    """Site, layer, head and row that an address asks about, and the name of the key."""
    app = healthy(app_of(view="Why", text=TEXT, **choices).run())
    ((header, _),) = sent_to(app, "why")
    common = app.session_state["selection"].common
    # A row that writes is the last of its line.
    asked = next(line for line in header["lines"] if line["writes"] or line["query"] is not None)
    row = len(asked["tokens"]) - 1 if asked["writes"] else asked["query"]
    return common.site, common.layer, common.head, row, header["key"]


@pytest.mark.parametrize("other", ["", TWIN])
def test_a_text_without_a_known_pronoun_opens_on_its_most_telling_cell(
    trace: Trace, chosen: Selection, other: str
) -> None:
    twin = trace_twin(models.chooser(chosen.model), trace, other) if other else None
    told = telling_cell(trace, twin)
    assert told is not None
    key = display_token(trace.source_tokens[told.key])
    assert asked_of(other=other) == (told.site, told.layer, told.head, told.row, key)
    # A head that a person chose is asked about instead, in a row of its own.
    other_head = (told.head + 1) % trace.heads_of(told.site)
    named = {"site": told.site, "head": f"L{told.layer + 1}H{other_head + 1}", "token": told.row - 1}
    site, layer, head, row, _key = asked_of(**named)
    assert (site, layer, head, row) == (told.site, told.layer, other_head, told.row - 1)


def test_of_words_of_several_tokens_those_with_the_largest_weight_are_asked_about(trace: Trace) -> None:
    site, layer, head = "encoder.self", 1, 1
    words = [group for group in trace.axes(site, whole_words=True)[1].groups if len(group) > 1]
    (looking, looked_at), weights = (words[0], words[-1]), trace.weights(site, layer, [head])[0]
    assert looking != looked_at
    row, key = max(((row, key) for row in looking for key in looked_at), key=lambda cell: float(weights[cell]))
    cell = {"site": site, "head": f"L{layer + 1}H{head + 1}", "token": looking[0], "key_token": looked_at[0]}
    assert asked_of(**cell) == (site, layer, head, row, display_token(trace.source_tokens[key]))
    # Where tokens are shown, it is the token that was chosen.
    first = display_token(trace.source_tokens[looked_at[0]])
    assert asked_of(**cell, words="False") == (site, layer, head, looking[0], first)


def test_a_decoder_alone_is_asked_without_our_twin_where_it_has_not_read_the_other_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    zoo.save_model(tmp_path / "decoder", "gpt2", "bytes")
    app = app_of(view="Why", text="The animal was too tired.", other="The animal was too wide.")
    ((own, _),) = sent_to(healthy(app.run()), "why")
    assert own["twin"] == "The animal was too wide."
    text = "The animal didn't cross the street because it was too tired."
    ((header, _),) = sent_to(healthy(app_of(view="Why", text=text).run()), "why")
    assert header["twin"] == ""
