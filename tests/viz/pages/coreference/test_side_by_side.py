"""Pairs side by side: what is marked, guessed and drawn is what the model says, and a wrong choice gets a sentence."""

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model import Translator
from tests.paths import ROOT
from tests.viz.sent import charts
from viz.core.numbers import signed
from viz.figures.heads import head_labels
from viz.pages.coreference.data import curated_pairs
from viz.pages.coreference.marked_sentence import marked_sentence
from viz.pages.coreference.marks import Marks, guessed, last_word, word_spans
from viz.pages.coreference.side_by_side import tables
from viz.pages.coreference.side_by_side.data import Row, marked_case
from viz.pages.coreference.side_by_side.figures import form_bars, mark_columns, movement_map
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.examples import EXAMPLES

FIRST, SECOND = EXAMPLES[0].text, EXAMPLES[0].twin
#: Of FIRST: it, animal, street.
IT, ANIMAL, STREET = 7, 1, 5


@pytest.fixture
def tiny(tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model of random weights."""
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))


def comparing(**params: bool | int | str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    for name, value in params.items():
        app.query_params[name] = str(value)
    app.run()
    return healthy(app.switch_page("viz/pages/coreference/page.py").run())


def healthy(app: AppTest) -> AppTest:
    assert not app.exception, app.exception[0].value
    assert not app.error, app.error[0].value
    return app


def maps(app: AppTest) -> list[list[list[Any]]]:
    """The cells of the map: [layer, head, name, movement, weights …] of each, in the order of reading."""
    traces = [trace for chart in charts(app) for trace in chart["data"]]
    return [trace["customdata"] for trace in traces if trace["type"] == "scatter" and "customdata" in trace]


def html(app: AppTest) -> str:
    return " ".join(element.value for element in app.html)


def marked(app: AppTest, role: str) -> list[str]:
    return [part.split(">")[1].split("<")[0] for part in html(app).split(f'title="{role}"')[1:]]


# ---- the page ----


def test_the_animal_pair_works_at_once_and_the_map_is_the_models() -> None:
    app = comparing(site="decoder.cross")
    assert marked(app, "pronoun")[:4] == ["it", "es", "it", "sie"]
    assert marked(app, "antecedent")[:2] == ["animal", "street"]
    assert marked(app, "distractor")[:2] == ["street", "animal"]
    shipped = Translator.load(ROOT / "checkpoints" / "en-de", device="cpu")
    moved = np.zeros(())
    for text, pronoun, sign in ((FIRST, "▁es", 1), (SECOND, "▁sie", -1)):
        trace = shipped.trace(text)
        row = [step.token for step in trace.steps].index(pronoun)
        animal, street = (trace.source_tokens.index(piece) for piece in ("▁animal", "▁street"))
        layers = range(trace.layers_of("decoder.cross"))
        weights = np.stack([trace.weights("decoder.cross", layer).numpy()[:, row] for layer in layers])
        moved = moved + sign * (weights[..., animal] - weights[..., street])
    (cells,) = maps(app)
    shown = {(layer, head): float(value.replace("−", "-")) for layer, head, _, value, *_ in cells}
    assert shown == {place: pytest.approx(moved[place], abs=6e-5) for place in np.ndindex(moved.shape)}
    for text, pronoun, chart in zip((FIRST, SECOND), ("▁es", "▁sie"), charts(app)[:2], strict=True):
        step = next(step for step in shipped.trace(text).steps if step.token == pronoun)
        assert f"{np.exp(step.log_prob):.3f} written" in chart["data"][0]["text"]


def test_a_pair_of_the_set_is_marked_and_can_be_made_ones_own(tiny: None) -> None:
    app = comparing(pair="it-04")
    assert marked(app, "antecedent")[:2] == ["the armchair", "the door"]
    assert FIRST not in html(app)
    assert app.text_area(key="text").value == FIRST
    before = maps(app)
    mine = next(button for button in app.button if button.label == "Make it mine")
    healthy(mine.click().run())
    assert app.query_params["text"] == "The workers pushed the armchair through the door although it was so heavy."
    assert "pair" not in app.query_params
    assert marked(app, "antecedent")[:2] == ["armchair", "door"]
    assert maps(app) != before


def test_a_group_opens_its_first_pair_and_whoever_types_sees_their_own(tiny: None) -> None:
    app = comparing()
    healthy(app.segmented_control(key="pair-group").set_value("reflexive").run())
    assert app.query_params["pair"] == "reflexive-01"
    assert marked(app, "pronoun")[0] == "herself"
    healthy(app.text_area(key="text").set_value("Tom was late.").run())
    assert "pair" not in app.query_params
    assert app.segmented_control(key="pair-group").value == ""
    assert "distractor in the first sentence" in app.info[0].value


def test_a_pair_or_a_word_that_does_not_exist_gets_a_sentence_and_nothing_is_lost(tiny: None) -> None:
    app = comparing(pair="<b>", pronoun=99)
    assert "no pair “\\<b\\>”" in app.info[0].value
    assert "no word 100, the sentence has 11" in app.info[1].value
    assert dict(app.query_params) == {}
    assert len(maps(app)) == 1


def test_one_word_in_two_roles_gets_a_sentence_and_the_rows_stay(tiny: None) -> None:
    app = comparing(distractor=IT)
    assert "one word plays two roles" in app.warning[0].value
    assert not maps(app)
    assert len(charts(app)) == 3
    healthy(app.pills(key="distractor").set_value(STREET).run())
    assert len(maps(app)) == 1
    assert app.query_params["distractor"] == str(STREET)


def test_what_one_attention_or_measure_lacks_is_said_and_not_drawn(tiny: None) -> None:
    app = comparing(site="decoder.self")
    assert "neither candidate is among the tokens" in app.info[0].value
    assert not maps(app)
    app.segmented_control(key="measure").set_value("rollout").run()
    healthy(app.segmented_control(key="site").set_value("encoder.self").run())
    (cells,) = maps(app)
    assert [cell[2] for cell in cells] == ["Layer 1, all heads", "Layer 2, all heads"]
    assert app.selectbox(key="head").disabled


def test_whole_words_are_columns_and_the_pronouns_row_stays(tiny: None) -> None:
    app = comparing(words=True)
    rows = [
        chart for chart in charts(app) if chart["data"][0].get("colorbar", {}).get("title", {}).get("text") == "weight"
    ]
    assert rows[0]["layout"]["xaxis2"]["ticktext"][-5:] == ["it", "was", "too", "tired.", "&lt;/s&gt;"]


# ---- its parts ----


@pytest.mark.parametrize(
    ("text", "swapped", "positions"),
    [
        (FIRST, False, (IT, ANIMAL, STREET)),
        (SECOND, True, (IT, STREET, ANIMAL)),
        ("It's late.", False, (0, None, None)),
        ("Her dog ran.", False, (0, None, None)),
        ("The cat saw a mouse.", False, (None, None, None)),
        ("😀 !", False, (None, None, None)),
    ],
)
def test_marks_are_guessed_from_articles_before_the_pronoun(
    text: str, swapped: bool, positions: tuple[int | None, ...]
) -> None:
    assert guessed(text, swapped=swapped).positions == positions


def test_words_leave_signs_out_and_split_what_is_joined_to_a_pronoun() -> None:
    text = "It's “the dog”, isn't it?"
    assert [text[slice(*span)] for span in word_spans(text)] == ["It", "s", "the", "dog", "isn't", "it"]
    assert last_word(text, (text.index("the"), text.index("dog") + 3)) == 3
    assert last_word(text, (2, 3)) is None


def test_a_case_needs_three_words() -> None:
    assert marked_case(FIRST, Marks(IT, ANIMAL, None)) is None
    assert marked_case(FIRST, Marks(IT, ANIMAL, IT)) is None
    case = marked_case(FIRST, Marks(IT, ANIMAL, STREET))
    assert case is not None
    assert [FIRST[slice(*span)] for span in case.spans] == ["it", "animal", "street"]


def test_every_pair_of_the_set_has_two_sentences_and_a_group_of_its_own() -> None:
    pairs = curated_pairs()
    assert len(pairs) >= 60
    assert len({pair.group for pair in pairs.values()}) >= 6
    assert {pair.is_control for pair in pairs.values() if pair.group == "control"} == {True}
    assert all(not case.overlapping for pair in pairs.values() for case in pair.cases)


def test_marked_text_is_never_read_as_html() -> None:
    text = "<b>it</b> & <img src=x>"
    shown = marked_sentence(text, {"pronoun": (3, 5), "antecedent": (4, 8)}, "<i>es</i>", (3, 5))
    assert "<b>" not in shown
    assert "<img" not in shown
    assert "&lt;b&gt;<mark" in shown
    assert "&lt;i&gt;<mark" in shown
    assert shown.count("<mark") == 2  # marks that overlap: the first one stands


def test_a_long_sentence_is_cut_after_its_last_mark() -> None:
    text = "word " * 200 + "it " + "more " * 50
    shown = marked_sentence(text, {"pronoun": (1000, 1002)}, "es", None)
    assert ">it</mark> …</span>" in shown


def test_the_map_names_every_cell_and_frames_the_open_one() -> None:
    values = np.array([[0.5, -0.25, 0.0], [-1.5, 0.125, 2.0]], np.float32)
    parts = np.arange(24, dtype=np.float32).reshape(2, 3, 2, 2) / 100
    figure = movement_map(values, parts, number="weight", names=head_labels(3), opened=(1, 2))
    assert tuple(figure.data[0].text[1]) == ("−1.50", "+0.12", "+2.00")
    cells = figure.data[2]
    assert list(zip(cells.x, cells.y, strict=True)) == [(h, layer) for layer in range(2) for h in range(3)]
    assert tuple(cells.customdata[3]) == (1, 0, "Layer 2, head 1", "−1.5000", "0.1200", "0.1300", "0.1400", "0.1500")
    frame = figure.layout.shapes[0]
    assert (frame.x0, frame.x1, frame.y0, frame.y1) == (1.5, 2.5, 0.5, 1.5)


def test_bars_say_which_pronoun_is_written() -> None:
    figure = form_bars({"er": 0.25, "<b>": 0.5}, "<b>")
    assert list(figure.data[0].text) == ["0.250", "0.500 written"]
    assert list(figure.layout.yaxis.ticktext) == ["er", "<b>&lt;b&gt;</b>"]


def test_neighbouring_columns_share_a_frame() -> None:
    figure = form_bars({"er": 1.0}, "er")
    mark_columns(figure, (1, 2, 5), rows=4, colour="#000000", dash="dash")
    assert [(shape.x0, shape.x1) for shape in figure.layout.shapes] == [(0.5, 2.5), (4.5, 5.5)]


def test_signs_are_real_and_nothing_has_none() -> None:
    assert [signed(value) for value in (0.004, -0.004, 1.0, -0.5)] == ["0.00", "0.00", "+1.00", "−0.50"]


def test_tables_count_from_zero_and_name_roles() -> None:
    values, parts = np.array([[0.5, 1]], np.float32), np.arange(8, dtype=np.float32).reshape(1, 2, 2, 2)
    lines = list(csv.reader(io.StringIO(tables.movements(values, parts).decode("utf-8-sig"))))
    assert lines[2] == ["0", "1", "4.0", "5.0", "6.0", "7.0", "1.0"]
    row = Row(np.array([[0.25, 0.75]], np.float32), ("=it", "b"), {"pronoun": (0,)})
    lines = list(csv.reader(io.StringIO(tables.pair_rows(3, [row, row]).decode("utf-8-sig"))))
    assert lines[1] == ["0", "3", "", "0", "'=it", "pronoun", "0.25"]
    assert len(lines) == 1 + 2 * 2
