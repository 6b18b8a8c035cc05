"""The Transformer as one picture: every number of every depth is the trace's, and every place has its address."""

import base64
import zlib
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from streamlit.testing.v1 import AppTest

from model import Trace, Transformer, TransformerConfig, Translator
from model.checkpoint import save_checkpoint
from model.nn.edits import SwitchOff
from model.sources.source import Grid
from model.tokenizer import Tokenizer
from tests.model.adapters import picture_zoo
from tests.often import often
from tests.paths import ROOT
from tests.viz.page_run import app_of, healthy, opened, run_page
from tests.viz.pages.any_model import MODELS
from tests.viz.pages.any_model import opened as opened_with
from tests.viz.sent import sent_to, unlinked
from viz.access import models, traces
from viz.pages.learn.transformer import data, walk_file
from viz.pages.learn.transformer.walk_payload import WalkState
from viz.selection.catalogue import ROOT_VARIABLE
from viz.text.written import DECODER, display_tokens

TAB = {"learn": "The Transformer"}
DEPTHS = ("model", "layer", "head", "cell", "number")


@pytest.fixture
def app(tiny_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv(ROOT_VARIABLE, str(tiny_checkpoints))
    return app_of(**TAB)


def header_of(app: AppTest) -> dict[str, Any]:
    ((header, _),) = sent_to(app, "walk")
    return header


def numbers_of(app: AppTest) -> np.ndarray:
    ((_, (packed,)),) = sent_to(app, "walk")
    return np.frombuffer(zlib.decompress(packed.tobytes()), "<f4")


def row_of(app: AppTest) -> dict[str, Any]:
    row: dict[str, Any] = header_of(app)["row"]
    return row


def trace_of(app: AppTest) -> Trace:
    selection = app.session_state["selection"]
    trace: Trace = traces.trace(models.reader(selection.model), selection.common.text)
    return trace


def trace_of_picture(app: AppTest) -> Grid:
    selection = app.session_state["selection"]
    seen = traces.trace(models.text_reader(selection.model), "").source.grid
    assert seen is not None
    return seen


def badges(app: AppTest) -> str:
    return " ".join(unlinked(one.value) for one in app.markdown if "badge" in one.value)


# ---- the model ----


def axes_of(site: str) -> tuple[str, str]:
    """Whose tokens ask in a site, and whose are asked."""
    rows, kind = site.split(".")
    return rows, "encoder" if kind == "cross" else rows


def tokens_of(header: Any, stack: str) -> int:
    (tokens,) = (each["tokens"] for each in header["stacks"] if each["name"] == stack)
    return len(tokens)


def norms_of(numbers: Any, header: Any) -> dict[str, tuple[Any, Any]]:
    """By stack the norms at its begin, and of its sub-layers: what is added, summed, after [sub-layer, 3, token]."""
    found, start = {}, 0
    for stack in header["stacks"]:
        columns, count = len(stack["tokens"]), sum(map(len, stack["kinds"]))
        begin = numbers[start : start + columns]
        start += columns
        found[stack["name"]] = begin, numbers[start : start + 3 * count * columns].reshape(count, 3, columns)
        start += (3 * count + stack["shown"] + stack["waves"]) * columns
    return found


def test_the_picture_holds_the_traces_weights_lengths_and_candidates_and_a_way_of_fifteen_stops(app: AppTest) -> None:
    opened(app, "learn")
    trace, numbers, header = trace_of(app), numbers_of(app), header_of(app)
    assert [(one["site"], one["layers"], one["heads"]) for one in header["sites"]] == [
        (site, *trace.shapes[site]) for site in trace.sites
    ]
    weights = [trace.weights(site, layer).numpy() for site in trace.sites for layer in range(trace.shapes[site][0])]
    count = sum(each.size for each in weights)
    np.testing.assert_allclose(numbers[:count], np.concatenate([each.ravel() for each in weights]), atol=1e-6)
    for stack, (_begin, sublayers) in norms_of(numbers[count:], header).items():
        end = trace.recorded[f"{stack}.layers.1.hook_output"].norm(dim=-1).numpy()
        np.testing.assert_allclose(sublayers[-1, 2], end, rtol=1e-5)
    # The norms of what heads add stand at the end; those of the last site are as of its output matrix.
    *_others, site = trace.sites
    output = models.text_reader(app.session_state["selection"].model).output_projection(site, 1)
    added = (trace.head_output(site, 1) @ output).norm(dim=-1).numpy()
    np.testing.assert_allclose(numbers[-added.size :], added.ravel(), rtol=1e-4)
    # What each layer would say ends with what is said.
    assert [column[-1]["token"] for column in header["lens"]] == [step.candidates[0].token for step in trace.steps]
    # Each column of the decoder has the candidates of its step.
    assert [column[0]["token"] for column in header["written"]] == [step.token for step in trace.steps]
    for column in header["written"]:
        shown = [candidate["probability"] for candidate in column]
        assert shown == sorted(shown, reverse=True)
    # The way has fifteen stops from the model to a number and back.
    stops = header_of(app)["stops"]
    assert len(stops) == 15
    depths = [DEPTHS.index(stop["depth"]) for stop in stops]
    assert (depths[0], max(depths), depths[-1]) == (0, 4, 0)
    assert sorted(depths[: depths.index(4) + 1]) == depths[: depths.index(4) + 1]
    assert all(stop["title"] and stop["text"] for stop in stops)
    # The six steps of a head's row are ringed one after the other; nothing is where a stop is about no step.
    assert [stop["at"] for stop in stops if stop["at"] != -1] == [1, 2, 3, 4, 5, 6]
    assert {stop["depth"] for stop in stops if stop["at"] != -1} == {"head"}
    assert len(set(header["colours"].values())) == len(header["colours"])
    row = row_of(app)
    (number,) = (stop for stop in stops if stop["depth"] == "number")
    largest = int(np.argmax(np.abs(row["products"][row["followed"]])))
    assert number["dimension"] == largest
    assert f"component {largest + 1} of" in number["text"]
    assert f"is divided by {8**0.5:.2f}" in next(stop["text"] for stop in stops if stop["at"] == 2)


@pytest.mark.parametrize("name", often(["gpt2", "t5", "bert"], ("t5",)))
def test_a_column_is_as_wide_after_the_last_layer_as_the_stream_that_its_last_part_makes(
    any_model: AppTest, name: str
) -> None:
    place = {"depth": "layer", "head": "L1H1", "token": "2", "site": "encoder.self" if name != "gpt2" else DECODER}
    any_model.query_params.update(**TAB, **place)
    header = header_of(opened_with(any_model, name, "learn"))
    parts, stack = header["path"]["parts"], header["stacks"][0]["name"]
    weights = sum(
        site["layers"] * site["heads"] * tokens_of(header, rows) * tokens_of(header, keys)
        for site in header["sites"]
        for rows, keys in [axes_of(site["site"])]
    )
    begin, sublayers = norms_of(numbers_of(any_model)[weights:], header)[stack]
    lengths = [begin[2], *sublayers[:, 2, 2]]
    streams = [parts[0]["stream"], *(part["stream"] for part in parts if part["stage"])]
    np.testing.assert_allclose(lengths, streams, rtol=1e-3)


@pytest.mark.parametrize(("limit", "value"), [("COLUMNS", 8), ("MOST_NUMBERS", 1)])
def test_of_a_long_text_the_columns_around_what_is_looked_at_are_shown(
    app: AppTest, monkeypatch: pytest.MonkeyPatch, limit: str, value: int
) -> None:
    monkeypatch.setattr(data, limit, value)
    opened(app, "learn", site="encoder.self", token=20)
    encoder = next(stack for stack in header_of(app)["stacks"] if stack["name"] == "encoder")
    assert encoder["total"] > len(encoder["tokens"]) == 8
    assert encoder["first"] <= 20 < encoder["first"] + 8
    assert {stack["name"]: stack["prompt"] for stack in header_of(app)["stacks"]} == {
        "encoder": encoder["total"], "decoder": 0,
    }  # fmt: skip
    weights = trace_of(app).weights("encoder.self", 0)[0]
    shown = slice(encoder["first"], encoder["first"] + 8)
    np.testing.assert_allclose(numbers_of(app)[:64].reshape(8, 8), weights[shown, shown].numpy(), atol=1e-6)


def test_a_step_of_a_link_is_not_said_to_be_wrong_where_a_later_picture_has_fewer(
    app: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data, "COLUMNS", 8)
    header = header_of(opened(app, "learn", site="decoder.self", token=0, map=20))
    assert header["at"]["step"] == 20
    monkeypatch.setattr(data, "COLUMNS", 4)
    header = header_of(healthy(app.run()))
    # The sentence is there at once; of the translation each level of each token, and then the token that it writes.
    assert sum((stack["layers"] + 1) * (1 if stack["prompt"] else 4) for stack in header["stacks"]) + 4 < 20
    assert not [one.value for one in app.info if "URL" in one.value]


def test_another_token_of_a_large_vocabulary_has_its_lens_in_the_same_picture(
    app: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data, "LENS_PRODUCTS", 1)
    digests = set()
    for row in (1, 2):
        header = header_of(opened(app_of(**TAB), "learn", site="decoder.self", token=row))
        assert [column for column, levels in enumerate(header["lens"]) if levels] == [row]
        digests.add(header["digest"])
    assert len(digests) == 1


# ---- a layer ----


def test_it_opens_on_the_parts_of_the_pronoun_which_add_up(app: AppTest) -> None:
    path = header_of(opened(app, "learn", depth="layer", site="encoder.self", head="L2H1"))["path"]
    assert path["stages"] == ["Input", "Layer 1", "Layer 2", "Output"]
    assert path["stage"] == 2
    assert [(part["stage"], part["kind"]) for part in path["parts"]] == [
        (0, "embedding"), (0, "position"), (1, "self"), (1, "feed_forward"), (2, "self"), (2, "feed_forward"),
    ]  # fmt: skip
    query, key, value, output = (
        row for row in path["rows"] if row["title"] in ("Query", "Key", "Value", "Each head's output")
    )
    assert {(row["group"], len(row["values"])) for row in (query, key, value, output)} == {(8, 32)}
    assert key["text"] == "Other tokens match their queries with this."
    assert "from the values of the tokens that it attends to" in output["text"]
    # Each of the two norms comes before its sub-layer; the sum comes last.
    kinds = [row["kind"] for row in path["rows"]]
    assert (kinds.count("norm"), kinds[0], kinds[-1]) == (2, "norm", "stream")
    (through,) = (row for row in path["rows"] if row["title"].startswith("Through W_O"))
    strongest = max(through["bars"], key=lambda bar: bar["value"])
    assert [bar["label"] for bar in through["bars"]] == ["H1", "H2", "H3", "H4"]
    assert through["text"].startswith(f"{strongest['label']} adds most")
    vectors = {(row["title"], number): np.array(row["values"]) for number, row in enumerate(path["rows"])}
    added = next(vector for (title, _), vector in vectors.items() if title == "What feed-forward adds")
    first, second = (vector for (title, _), vector in vectors.items() if title == "Residual connection: the sum")
    np.testing.assert_allclose(first + added, second, atol=1e-4)
    assert [
        (row["kind"], row["formula"]) for row in path["rows"] if "+ b_" in row["formula"] and " · " in row["formula"]
    ] == [("self", "Concat(heads) · W_O + b_O"), ("feed_forward", "hidden · W_2 + b_2")]
    assert "green" in badges(app)
    assert "the contributions add up" in badges(app)
    assert "Table (CSV)" in [getattr(button, "label", "") for button in app.get("download_button")]
    # The hidden units say how many fire, and which are strongest.
    (row,) = (row for row in path["rows"] if row["title"].startswith("Hidden units"))
    hidden = np.array(row["values"])
    assert row["title"] == f"Hidden units: {int((hidden > 0).sum())} of {len(hidden)} are active"
    assert row["formula"] == "max(0, x W_1 + b_1)"
    assert min(bar["value"] for bar in row["bars"]) > 0
    assert [bar["label"] for bar in row["bars"]] == [f"#{unit}" for unit in np.argsort(-hidden)[: len(row["bars"])]]


def test_the_input_is_embedding_plus_position(app: AppTest) -> None:
    path = header_of(opened(app, "learn", depth="layer", end="input", site="encoder.self", token=3))["path"]
    assert path["stage"] == 0
    assert [row["formula"].partition("[")[0] for row in path["rows"][:2]] == ["E", "PE"]
    assert path["rows"][0]["formula"].endswith(" · √d_model = 5.7")
    embedding, position, begin = (np.array(row["values"]) for row in path["rows"])
    np.testing.assert_allclose(embedding + position, begin, atol=1e-4)
    assert "Position 4" in [row["title"] for row in path["rows"]]


def test_the_output_of_the_decoder_ends_in_logits(app: AppTest) -> None:
    path = header_of(opened(app, "learn", depth="layer", end="output", site="decoder.cross", token=2))["path"]
    assert path["stage"] == 3
    assert [part["kind"] for part in path["parts"] if part["stage"] == 1] == ["self", "cross", "feed_forward"]
    best = path["rows"][-1]["bars"][0]["label"]
    assert f"the softmax gives “{best}”" in path["rows"][-1]["text"]
    assert not [row for row in path["rows"] if "encoder's output" in row["title"]]
    logits = [bar["value"] for bar in path["rows"][-1]["bars"]]
    assert len(logits) == 8
    assert logits == sorted(logits, reverse=True)


@pytest.mark.parametrize("name", ["no-positions", "no-residual"])
def test_experiments_say_what_they_lack(
    experiment_checkpoints: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(experiment_checkpoints))
    end = "input" if name == "no-positions" else ""
    app = opened(app_of(**TAB, checkpoint=f"experiments/{name}", depth="layer", end=end), "learn")
    titles = [row["title"] for row in header_of(app)["path"]["rows"]]
    assert {"no-positions": "No positional encoding", "no-residual": "No residual connection"}[name] in titles
    said = " ".join(unlinked(caption.value) for caption in app.caption)
    assert {"no-residual": "without residual", "no-positions": "adds no positional encodings"}[name] in said
    assert "green" in badges(app)


def test_neighbours_are_computed_where_they_are_unfolded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(ROOT / "checkpoints"))
    app = opened(app_of(**TAB, site="encoder.self"), "learn")
    assert not [one for one in app.subheader if one.value.startswith("Neighbours of")]
    app.session_state["walk-embeddings"] = True
    healthy(app.run())
    trace, at = trace_of(app), header_of(app)["at"]
    (neighbours,) = (one.value for one in app.subheader if one.value.startswith("Neighbours of"))
    assert trace.source_tokens[at["row"]].removeprefix("▁") in neighbours
    assert "English" in " ".join(one.value for one in app.html)


# ---- a head, a weight, a product ----


@pytest.mark.parametrize("site", ["encoder.self", "decoder.self", "decoder.cross"])
def test_the_row_of_a_head_is_the_traces_and_proved(app: AppTest, site: str) -> None:
    opened(app, "learn", depth="head", site=site, head="L2H3", token=2)
    row, weights = row_of(app), trace_of(app).weights(site, 1, [2], slice(2, 3))[0, 0]
    shown = [column["key"] for column in row["columns"]]
    np.testing.assert_allclose(row["real"]["weights"], weights.numpy()[shown], atol=1e-5)
    np.testing.assert_allclose(np.sum(row["products"], axis=-1), row["dots"], atol=1e-4)
    np.testing.assert_allclose(np.array(row["q"]) * np.array(row["k"]), row["products"], atol=1e-4)
    rest = 0 if row["restWeighted"] is None else np.array(row["restWeighted"])
    np.testing.assert_allclose(np.sum(row["weighted"], axis=0) + rest, row["output"], atol=1e-4)
    assert "= the model's own head output" in badges(app)
    assert "green" in badges(app)


def test_without_scaling_or_mask_both_rows_are_told_and_the_link_says_so(app: AppTest) -> None:
    opened(app, "learn", depth="head", site="decoder.self", head="L1H1", token=1)
    assert row_of(app)["other"] is None
    assert row_of(app)["real"]["weights"][2:] == [0.0] * (len(row_of(app)["columns"]) - 2)
    healthy(app.toggle(key="scaled").set_value(False).run())
    assert row_of(app)["changed"] == "Without √dₖ"
    assert row_of(app)["other"]["scaled"] == row_of(app)["dots"]
    assert app.query_params["scaled"] == "False"
    healthy(app.toggle(key="masked").set_value(False).run())
    assert min(row_of(app)["other"]["weights"]) > 0


def test_without_the_division_it_opens_on_the_row_that_changes_most_unless_a_row_was_chosen(app: AppTest) -> None:
    place = {"depth": "head", "scaled": "False", "site": "encoder.self", "head": "L2H3"}
    at = header_of(opened(app, "learn", **place))["at"]
    inputs = trace_of(app).attention("encoder.self", 1)
    divided = inputs.scores_and_weights([2]).scores[0]
    moved = (divided.softmax(-1) - (divided * len(inputs.query[2, 0]) ** 0.5).softmax(-1)).abs().sum(-1)
    assert len(set(moved.tolist())) > 1
    assert at["row"] == int(moved.argmax())
    other = (at["row"] + 1) % len(moved)
    chosen = header_of(opened(app_of(**TAB), "learn", **place, token=other))["at"]
    assert chosen["row"] == other
    assert chosen["key"] == int(inputs.weights([2])[0, other].argmax())


def test_additive_scores_are_told_by_their_own_formula(
    app: AppTest, tmp_path: Path, config: TransformerConfig, tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.manual_seed(1)
    save_checkpoint(tmp_path / "en-de", Transformer(replace(config, score="additive")), tokenizer, card="Random.\n")
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    told = row_of(opened(app, "learn", depth="head"))
    assert told["steps"][0]["formula"].startswith("vᵀ tanh(q + k)")
    assert sum(told["products"][told["followed"]]) == pytest.approx(told["dots"][told["followed"]], abs=1e-4)


# ---- a change ----


def test_a_head_that_is_switched_off_moves_what_is_computed_after_it_and_nothing_before(app: AppTest) -> None:
    header = header_of(opened(app, "learn", change="off", site="decoder.cross", head="L2H1"))
    streams = {stack: np.array(moved) for stack, moved in header["changed"]["streams"].items()}
    assert not streams["encoder"].any()
    assert not streams["decoder"][:2].any()
    assert (streams["decoder"][2] > 0).all()
    trace = trace_of(app)
    translator = models.translator(app.session_state["selection"].model)
    written = [step.token_id for step in trace.steps]
    again = translator.trace_tokens(trace.text, written, edits=(SwitchOff("decoder.cross", 1, 0),))
    assert header["changed"]["written"] == display_tokens([step.candidates[0].token for step in again.steps])
    for site, parts in header["changed"]["weights"].items():
        layers = [again.weights(site, layer).numpy().ravel() for layer in range(again.layers_of(site))]
        np.testing.assert_allclose(np.array(parts) / 10_000, np.concatenate(layers), atol=6e-5)


@pytest.mark.parametrize("reference", ["Das", "Das Tier ging nicht über die Straße, weil es müde war."])
def test_teacher_forcing_is_the_run_over_the_reference_beside_the_models_own(app: AppTest, reference: str) -> None:
    header = header_of(opened(app, "learn", change="forced", reference=reference))
    trace, changed = trace_of(app), header["changed"]
    translator = models.translator(app.session_state["selection"].model)
    forced = translator.trace(trace.text, reference)
    assert changed["text"] == forced.translation
    assert changed["read"] == display_tokens(forced.target_tokens)
    assert changed["written"] == display_tokens([step.candidates[0].token for step in forced.steps])
    both = min(len(forced.target_ids), len(trace.target_ids))
    assert both < max(len(forced.target_ids), len(trace.target_ids))
    streams = {stack: np.array(moved) for stack, moved in changed["streams"].items()}
    assert not streams["encoder"].any()
    assert streams["decoder"].shape[1] == both
    pairs = zip(forced.target_ids, trace.target_ids, strict=False)
    parting = next((at for at, (one, other) in enumerate(pairs) if one != other), both)
    assert not streams["decoder"][:, :parting].any()
    assert (streams["decoder"][:, parting : parting + 1] > 0).all()
    layers = trace.layers_of("decoder.self")
    weights = np.stack([trace.weights("decoder.self", layer).numpy() for layer in range(layers)])
    weights[:, :, :both, :both] = [
        forced.weights("decoder.self", layer)[:, :both, :both].numpy() for layer in range(layers)
    ]
    np.testing.assert_allclose(np.array(changed["weights"]["decoder.self"]) / 10_000, weights.ravel(), atol=6e-5)


def test_a_reference_that_is_too_long_is_said_above_the_picture_of_the_models_own_run(app: AppTest) -> None:
    app.query_params["change"], app.query_params["reference"] = "forced", "Das " * 300
    header = header_of(run_page(app, "learn"))
    assert not app.exception
    assert ["too long" in error.value for error in app.error] == [True]
    assert (header["at"]["edit"], header["changed"], header["canForce"]) == ("", None, True)


# ---- the way, and what is sent back ----


PLACE: dict[str, object] = {
    "step": 3, "depth": "cell", "end": "", "site": "decoder.cross", "layer": 1, "head": 2, "row": 2, "key": 1,
    "dimension": 4, "stop": 0, "lines": "mean", "edit": "",
}  # fmt: skip


OLD: list[tuple[dict[str, object], dict[str, object]]] = [
    (
        {"learn": "Follow one token", "follow": "decoder", "follow_token": 2, "stage": 2},
        {"depth": "layer", "site": "decoder.self", "row": 2, "layer": 1},
    ),
    ({"transformer": "One token", "follow": "encoder", "stage": 0}, {"depth": "layer", "end": "input"}),
    ({"transformer": "Whole model"}, {"depth": "model"}),
]


@pytest.mark.parametrize(("old", "place"), OLD)
def test_old_addresses_open_the_depth_that_they_meant(
    app: AppTest, old: dict[str, object], place: dict[str, object]
) -> None:
    at = header_of(opened(app, "learn", **old))["at"]
    assert {name: at[name] for name in place} == place


# ---- any model ----


#: What a cell and a number show is what a head shows.
@pytest.mark.parametrize("depth", DEPTHS[:3])
@pytest.mark.parametrize("name", [*MODELS, "vit"])
def test_every_depth_opens_for_every_kind_of_model(any_model: AppTest, name: str, depth: str) -> None:
    any_model.query_params.update(**TAB, depth=depth)
    app = opened_with(any_model, name, "learn")
    assert not app.error, app.error[0].value
    header = header_of(app)
    assert header["path"] or header["noPath"]
    assert header["row"] or header["noRow"]


def test_the_picture_opens_where_the_encoder_is_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(tmp_path))
    picture_zoo.SAVED["donut"](tmp_path / "donut")
    header = header_of(opened(app_of(**TAB, checkpoint="donut"), "learn"))
    assert {stack["name"]: bool(stack["kinds"]) for stack in header["stacks"]} == {"encoder": False, "decoder": True}


@pytest.mark.parametrize("name", often(["bert", "gpt2", "t5"], ("gpt2",)))
def test_a_token_of_a_library_model_is_followed_with_its_proof(any_model: AppTest, name: str) -> None:
    any_model.query_params.update(**TAB, depth="layer")
    app = opened_with(any_model, name, "learn")
    assert {part["kind"] for part in header_of(app)["path"]["parts"]} >= {"embedding", "self", "feed_forward"}
    assert "the contributions add up" in badges(app)
    assert "green" in badges(app)


@pytest.mark.parametrize(("name", "why"), [("mpnet", "exposes only its attention weights"), ("vit", "reads no tokens")])
def test_what_gives_no_parts_says_why(any_model: AppTest, name: str, why: str) -> None:
    any_model.query_params.update(**TAB, depth="layer")
    header = header_of(opened_with(any_model, name, "learn"))
    assert header["path"] is None
    assert why in header["noPath"]


def test_a_model_of_pictures_is_given_the_picture_that_it_saw_in_its_patches(any_model: AppTest) -> None:
    any_model.query_params.update(**TAB)
    app = opened_with(any_model, "vit", "learn")
    patches, (stack,) = header_of(app)["patches"], header_of(app)["stacks"]
    seen = trace_of_picture(app)
    content = base64.b64decode(patches["address"].removeprefix("data:image/png;base64,"))
    np.testing.assert_array_equal(np.asarray(Image.open(BytesIO(content))), seen.pixels.numpy())
    assert patches["first"] + patches["rows"] * patches["columns"] == stack["total"]


# ---- the file of a whole walk ----


@pytest.mark.long
def test_the_file_of_sixteen_tokens_has_at_most_3_mb_and_longer_texts_have_none() -> None:
    reader = Translator.load(ROOT / "checkpoints" / "en-de")
    trace = reader.trace("The animal didn't cross the street because it was too tired.")
    assert len(trace.source_tokens) == 16
    assert walk_file.why_not(trace, reader) == ""
    place: dict[str, Any] = PLACE
    assert len(walk_file.page(trace, reader, WalkState(**place), "walk")) <= 3_000_000
    for source, target, is_refused in ((24, 24, False), (25, 3, True), (3, 25, True)):
        long = replace(trace, source=replace(trace.source, tokens=("a",) * source), target_tokens=("b",) * target)
        assert ("up to 24 tokens" in walk_file.why_not(long, reader)) == is_refused
