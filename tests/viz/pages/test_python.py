"""Each snippet of the Export menu runs alone, and gives the numbers that its view is drawn from."""

import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from model import Trace, Translator
from model.analysis import corpus
from model.analysis.atlas.file import save_atlas
from model.analysis.atlas.measure import Atlas, build_atlas
from model.analysis.coreference import case_files, pronoun_choice
from model.analysis.coreference.case_files import PronounCases
from model.analysis.corpus import CorpusSentence
from model.analysis.interventions.patching import ChoicePair
from tests.paths import ROOT
from tests.patience import PATIENCE
from tests.viz import page_run
from tests.viz.pages.atlas.opening import OWN, forget
from tests.viz.pages.decoding.opening import TEXT
from tests.viz.pages.experiments.through_training import invented
from tests.viz.sent import unlinked
from viz.access import attention, attribution, head_verdict, mechanisms, models, traces
from viz.access.attention import MatrixView
from viz.pages.atlas import data as atlas_data
from viz.pages.atlas import export as of_atlas
from viz.pages.atlas import measuring as of_corpus
from viz.pages.atlas.metric_texts import maps_of
from viz.pages.attention import data as attention_data
from viz.pages.attention import export as of_attention
from viz.pages.attention.why import testing
from viz.pages.attention.why.asked import asked_cell
from viz.pages.coreference import data as coreference_data
from viz.pages.coreference import python as of_coreference
from viz.pages.coreference.data import Side, causes
from viz.pages.decoding import export as of_decoding
from viz.pages.decoding.data import branches, searches
from viz.pages.decoding.film import data as film_data
from viz.pages.experiments import python as of_experiments
from viz.pages.experiments.data import ablations
from viz.pages.experiments.through_training import data as films
from viz.pages.learn import python as of_learn
from viz.pages.learn.explore.data import masks, pooling, positions, scores, table_one, training
from viz.pages.learn.explore.data.cost import step_costs
from viz.pages.learn.explore.forcing import asked_reference
from viz.pages.learn.explore.schedule import SHOWN
from viz.pages.learn.transformer import data as data_of_walk
from viz.pages.learn.transformer import walk
from viz.pages.model_card import data as card
from viz.pages.model_card import sections as of_model_card
from viz.selection import branch_codes, state
from viz.selection.catalogue import ROOT_VARIABLE
from viz.selection.examples import EXAMPLES
from viz.selection.selection import FIELDS, PAGES, Selection
from viz.selection.url import EXPLORED
from viz.text.written import CROSS, DECODER, ENCODER, SITES
from viz.ui import snippets
from viz.ui.downloads import NO_PYTHON
from viz.ui.long_work import in_this_thread
from viz.ui.snippets import Snippet

VIEWS: dict[str, Any] = {
    "learn": of_learn.VIEWS,
    "attention": of_attention.VIEWS,
    "decoding": of_decoding.VIEWS,
    "coreference": of_coreference.VIEWS,
    "atlas": of_atlas.VIEWS,
    "experiments": of_experiments.VIEWS,
    "model_card": of_model_card.VIEWS,
}
#: In pairs: what the names of a snippet hold, and what its view is drawn from.
Pairs = list[tuple[object, object]]
Person = Callable[..., None]
#: Section, tab, what is chosen, and what the names of the snippet are compared with.
Case = tuple[str, str, Mapping[str, object], Callable[..., Pairs]]
HOSTILE = "He said \"it's\" {x} \\ '''\n\u202e __import__('os') \"\"\"."


def page() -> None:
    """What a person does in this run."""
    import streamlit as st

    try:
        st.session_state["do"]()
    except Exception as error:
        st.session_state["error"] = error


def package() -> ModuleType:
    """The package as it is installed, in which `model` is the one of the tests."""
    made = ModuleType("headlight")
    code = (ROOT / ".packaging" / "headlight" / "__init__.py").read_text(encoding="utf-8")
    code = code.replace("from headlight import model as", "import model as").replace("headlight.model", "model")
    made.__dict__["__file__"] = str(ROOT / "headlight.py")
    exec(code.replace('version("headlight")', '"0"'), made.__dict__)
    return made


def run(lines: Snippet) -> dict[str, Any]:
    """The names that a snippet leaves behind."""
    assert isinstance(lines, tuple), lines
    assert lines[0] == f"# headlight=={snippets.version()}"
    assert len(lines) <= snippets.MOST_LINES, lines
    names: dict[str, Any] = {"headlight": sys.modules["headlight"]}
    exec("\n".join(lines).replace("headlight.model", "model"), names)
    return names


def same(found: object, shown: object) -> None:
    """The numbers are the same to 1e-5; what is no number is equal."""
    if isinstance(shown, np.ndarray | float | list) or hasattr(shown, "numpy"):
        np.testing.assert_allclose(np.asarray(found, float), np.asarray(shown, float), atol=1e-5, rtol=1e-5)
    else:
        assert found == shown


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory, recorded_checkpoints: Path, experiment_checkpoints: Path) -> Path:
    """A checkpoint with records of its training, the same with an atlas, and experiments with a film."""
    folder = tmp_path_factory.mktemp("python")
    for name in ("en-de", "with-atlas"):
        shutil.copytree(recorded_checkpoints / "en-de", folder / name)
    read = [CorpusSentence(text) for text in OWN]
    atlas = build_atlas(Translator.load(folder / "with-atlas", device="cpu"), read)
    save_atlas(atlas, folder / "with-atlas" / "atlas.npz")
    shutil.copytree(experiment_checkpoints / "experiments", folder / "experiments")
    invented.saved(folder / "experiments" / "film.npz")
    (folder / "own.txt").write_text("\n".join(OWN), encoding="utf-8")
    return folder


@pytest.fixture
def person(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Person]:
    """Does something in a session of the app, with these checkpoints or with those of another folder."""
    monkeypatch.setitem(sys.modules, "headlight", package())
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    # Few sentences are enough.
    for module in (atlas_data, coreference_data, corpus):
        monkeypatch.setattr(module, "OWN_CORPUS", root / "own.txt")
    for module in (atlas_data, case_files):
        monkeypatch.setattr(module, "cases_for", lambda reader: None)
    few = [case for case in case_files.curated_cases().cases if case.pair in ("it-01", "it-03")]
    monkeypatch.setattr(pronoun_choice, "curated_cases", lambda: PronounCases(tuple(few)))
    forget()

    def does(do: Callable[[], object], checkpoints: str = str(root)) -> None:
        monkeypatch.setenv(ROOT_VARIABLE, checkpoints)
        app = AppTest.from_function(page, default_timeout=PATIENCE)
        app.session_state["do"] = do
        app.run()
        assert not app.exception
        if "error" in app.session_state:
            raise app.session_state["error"]

    yield does
    forget()


def reader() -> Any:
    return models.reader(state.current().model)


def traced() -> Trace:
    return traces.trace(models.text_reader(state.current().model), state.current().common.text)


def written() -> Trace:
    """What the decoding page shows: the branch that is chosen."""
    choices, decoded = branch_codes.read_codes(state.current().decoding.branches).choices, state.current().decoding
    writer, path = models.writer(state.current().model), branch_codes.path_of(choices, decoded.branch)
    return branches.grow(branches.Sessions("test"), writer, state.current().common.text, path)


def at() -> tuple[str, int, int]:
    return state.current().common.site, state.current().common.layer, state.current().common.head


def all_heads(names: dict[str, Any], trace: Trace) -> Pairs:
    site, layer, head = at()
    view = MatrixView.of(state.current().common)
    opened = attention.opened_layer(trace, reader(), site, layer, view).values
    return [(names.get("shown", names.get("weights")), opened[0 if view.measure == "rollout" else head])]


def circuits(names: dict[str, Any], trace: Trace) -> Pairs:
    site, layer, head = at()
    of_head = in_this_thread(attention_data.circuits(reader(), attention_data.OpenHead(site, layer, head, 0)))
    copying = in_this_thread(attention_data.copying(reader(), site))
    return [(names["weights"], of_head.weights(trace, site, layer)), (names["copying"], copying)]


def answered(names: dict[str, Any], trace: Trace) -> Pairs:
    level = attention_data.trail(reader(), trace, asked_cell(trace, reader()), ("c1",)).levels[-1]
    total = attention_data.reason(reader(), trace, asked_cell(trace, reader())).total
    return [(names["reason"].total, total), ([bar.share for bar in names["parts"]], [bar.share for bar in level.parts])]


def without_words(names: dict[str, Any], trace: Trace) -> Pairs:
    test = in_this_thread(attention_data.test(reader(), trace, asked_cell(trace, reader()), ("c1", "s1+s2")))
    return [(names["left"].by_product, test.outcome.by_product), (names["left"].by_run, test.outcome.by_run)]


def every_weight(names: dict[str, Any], trace: Trace) -> Pairs:
    site = at()[0]
    return [(names["weights"][layer], trace.weights(site, layer)) for layer in range(trace.layers_of(site))]


def film(names: dict[str, Any], trace: Trace) -> Pairs:
    step = state.current().common.step
    drawn = film_data.film(trace, models.writer(state.current().model)).steps[step]
    weights = attention.all_weights(trace, CROSS if trace.source_tokens else DECODER)
    return [
        ([log_prob for _, log_prob in names["candidates"]], [each.log_prob for each in drawn.candidates]),
        *zip(names["weights"], weights, strict=True),
    ]


def beam(names: dict[str, Any], trace: Trace) -> Pairs:
    writer = models.writer(state.current().model)
    tree = in_this_thread(searches.searching(writer, trace.text, state.current().decoding))
    return [(names["scores"], [tree.nodes[node].score for node in tree.hypotheses])]


def samples(names: dict[str, Any], trace: Trace) -> Pairs:
    writer = models.writer(state.current().model)
    drawn = in_this_thread(searches.drawing(writer, trace.text, state.current().decoding))
    return [(names["log_probs"], [each.log_prob for each in drawn])]


def lens(names: dict[str, Any], trace: Trace) -> Pairs:
    shown = searches.logit_lens(trace, models.writer(state.current().model))
    return [(names["lens"].probabilities, shown.probabilities), (names["lens"].tokens, shown.tokens)]


def explained(names: dict[str, Any], trace: Trace) -> Pairs:
    task = attribution.explaining_step(reader(), trace, state.current().common.step, None, 0)
    shown, (_, groups) = in_this_thread(task), attribution.hidden_words(names["run"], 0)
    assert names["scores"]
    return [
        ([float(found[list(group)].sum()) for group in groups], shown.scores[method])
        for method, found in names["scores"].items()
    ]


def costs(names: dict[str, Any]) -> Pairs:
    model = state.current().model
    shown = step_costs(traces.written(models.writer(model), state.current().common.text), reader())
    return [([cost.cached.total for cost in names["costs"]], [float(cost.cached.total) for cost in shown])]


def moved(names: dict[str, Any]) -> Pairs:
    pair = coreference_data.curated_pairs()["it-01"]
    both = enumerate(zip(pair.texts, pair.cases, strict=True))
    sides = [Side(n, traces.trace(reader(), text), case) for n, (text, case) in both]
    site, measure = at()[0], state.current().common.measure
    return [(names["moved"], coreference_data.movements(sides, reader(), measure)[site].values)]


def rows_alone(names: dict[str, Any]) -> Pairs:
    shown = []
    for text, rows in names["sides"]:
        asked = (traces.trace(reader(), text), reader(), None, *at()[:2], rows)
        shown.append(coreference_data.opened_row(*asked, measure="weights", whole_words=True, sinks=True))
    return [(found, each.values) for found, each in zip(names["rows"], shown, strict=True)]


def measured(names: dict[str, Any]) -> Pairs:
    cases = coreference_data.curated("en")
    scores = in_this_thread(coreference_data.scores_task(cases, reader(), state.current().common.measure))
    return [(names["accuracies"][site].value, of_site.accuracy.value) for site, of_site in scores.sites.items()]


def caused(names: dict[str, Any]) -> Pairs:
    chosen = state.current().coreference
    is_german = models.is_english_german(state.current().model)
    questions = causes.pronoun_questions(reader()) if is_german else causes.gift_questions(reader())
    asked = next((each for each in questions if each.name == chosen.pair), None)
    if asked is None:
        text, step = state.current().common.text, state.current().common.step
        asked = head_verdict.at_step(reader(), traces.written(reader(), text), step, EXAMPLES[0].twin)
    shown = in_this_thread(head_verdict.every_head(reader(), asked))
    sign = 1 if shown.prefers_right else -1
    assert isinstance(names["pair"], ChoicePair)
    assert shown.swapped is not None
    return [(names["off"] * sign, shown.off), (names["swapped"] * sign, shown.swapped)]


def caused_in_set(names: dict[str, Any]) -> Pairs:
    asked, by = causes.pronoun_questions(reader()), state.current().coreference.cause_by
    if by in ("swapped", "direct"):
        path: Any = "direct" if by == "direct" else "all"
        return [(names["changes"], in_this_thread(causes.patching(reader(), asked, path)).changes)]
    effects = in_this_thread(causes.effects(reader(), asked, asked, "zero"))
    return [(names["changes"], effects[by == "estimate"].changes)]


def distances(names: dict[str, Any]) -> Pairs:
    own = state.current().coreference.texts_of_both == "corpus"
    texts = coreference_data.own_sentences() if own else (state.current().common.text,)
    site = state.current().common.site
    second = state.current().changed(checkpoint="experiments/no-positions").model
    sites = (site, coreference_data.sites_of(reader(), models.reader(second))[site])
    task = coreference_data.distances((state.current().model, second), texts, sites)
    return [(names["distances"], in_this_thread(task).distances)]


def own_atlas() -> Atlas:
    """The atlas that the page has of what is chosen: the one beside the model, else measured."""
    loaded = st.session_state.get(of_corpus.SENTENCES)
    reading = atlas_data.reading(None if loaded is None else loaded.rows, ())
    found = atlas_data.find(reading, state.current().model).atlas
    return found or in_this_thread(atlas_data.measuring(reading, state.current().model)).atlas  # type: ignore[return-value]


def atlas_map(names: dict[str, Any], shown: Atlas) -> Pairs:
    chosen = state.current().atlas
    maps = {each.key: each.values for each in maps_of(shown, at()[0], chosen.read_off)}
    assert ("load_atlas" in names) == (state.current().model.checkpoint == "with-atlas")
    far = atlas_data.distances(shown, at()[0])
    return [(names["values"], maps[chosen.corpus_metric]), (names["distances"], far)]


def atlas_scatter(names: dict[str, Any], shown: Atlas) -> Pairs:
    chosen = state.current().atlas
    maps = {each.key: each.values for each in maps_of(shown, ENCODER, chosen.read_off)}
    axes = {"across": chosen.scatter_x, "up": chosen.scatter_y}
    return [(names[name][SITES.index(ENCODER)], maps[metric]) for name, metric in axes.items()]


def saturation(names: dict[str, Any]) -> Pairs:
    trace, width, row = traced(), state.current().learn.score_width, state.current().common.token or 0
    shown = {name: scores.sample(name, width) for name in scores.NAMES}
    pairs: Pairs = [(names["samples"][name].variance, each.variance) for name, each in shown.items()]
    pairs += [(names["samples"][name].example, each.example) for name, each in shown.items()]
    of_row = scores.row_weights(trace, *at(), row)
    return pairs + [(names["weights"][name], each) for name, each in of_row.items()]


def encodings(names: dict[str, Any]) -> Pairs:
    trace, chosen = traced(), state.current().learn
    shown = positions.encoding(64, chosen.width or 32, chosen.base, "interleaved")
    return [(names["added"], trace.positional[chosen.side]), (names["formula"], shown)]


def masked(names: dict[str, Any]) -> Pairs:
    trace = traced()
    batch = masks.batch_masks(reader(), (trace.text, "No."))
    alone = {site: mechanisms.masks_in_use(trace, site)[0] for site in trace.sites}
    return [
        *((names["single"][site], each.by_position & each.by_padding) for site, each in alone.items()),
        (names["batch"].decoder_cross, batch.decoder_cross),
    ]


def pooled(names: dict[str, Any]) -> Pairs:
    chosen = state.current().learn
    shown = pooling.regression(chosen.pooling_width, chosen.pooling_query)
    return [(names["found"].predicted, shown.predicted), (names["found"].row, shown.row)]


def layers(names: dict[str, Any]) -> Pairs:
    chosen = state.current().learn
    reached = table_one.influences(chosen.kernel_width, chosen.window_size)
    sizes = chosen.layer_length, chosen.layer_width, chosen.kernel_width, chosen.window_size
    pairs: Pairs = [(names["counted"][kind], table_one.counted(kind, *sizes)[0]) for kind in table_one.KINDS]
    return pairs + [(names["reached"][kind][3], reached[kind][3]) for kind in table_one.KINDS]


def ablated(names: dict[str, Any], trace: object) -> Pairs:
    chosen, text = state.current().experiments, state.current().common.text
    runs = {preset: ablations.trace(preset, "auto", text) for preset in chosen.ablations}
    shown = {preset: ablations.open_head(each, chosen.ablation_site, None, None) for preset, each in runs.items()}
    assert names["traces"].keys() == runs.keys()
    return [
        *((names["traces"][preset].translation, each.translation) for preset, each in runs.items()),
        *((names["weights"][preset], each.weights) for preset, each in shown.items() if each is not None),
    ]


def through_training(names: dict[str, Any], trace: object) -> Pairs:
    opened, chosen = films.at(films.listed()[""]), state.current().experiments
    weights = opened.film.sentences[chosen.film_sentence].weights[chosen.film_site]
    metric = films.metrics(opened, chosen.film_site)[chosen.film_metric]
    return [(names["weights"], weights[:, chosen.film_layer, chosen.film_head]), (names["metric"], metric)]


def switched(names: dict[str, Any], trace: Trace) -> Pairs:
    chosen = state.current().experiments
    offs = ablations.parts_off(chosen.off_layer - 1 if chosen.off_layer else None, chosen.kept_head)
    shown = in_this_thread(ablations.sentence_task(reader(), trace.text, offs)).without
    return [(names["written"], {each.off.part: each.translation for each in shown if not each.lacking})]


def every_head(names: dict[str, Any]) -> Pairs:
    trace = traced()
    shown = data_of_walk.weights_between(trace, data_of_walk.windows(trace, ENCODER, 0, 0))
    return [(np.stack(names["weights"][site]), shown[site]) for site in trace.sites]


def changed_heads(names: dict[str, Any]) -> Pairs:
    """As the picture draws it with a head switched off or pointed at a key: weights, and how far streams move."""
    place = walk.place_in(traced(), reader())
    shown = data_of_walk.changes(traced(), reader(), *place.changed)
    assert shown is not None
    assert max(float(moved.max()) for moved in shown.shares.values()) > 0
    pairs = [(names["changed"].shares[stack].numpy(), shown.shares[stack].numpy()) for stack in shown.shares]
    seen = data_of_walk.windows(shown.trace, ENCODER, 0, 0)
    weights = data_of_walk.weights_between(shown.trace, seen)
    return pairs + [(np.stack(names["weights"][site]), weights[site]) for site in traced().sites]


def one_token(names: dict[str, Any]) -> Pairs:
    path = data_of_walk.token_path(traced(), reader(), "encoder", 2)
    return [
        ([share for _, share in found], [part.share for part in layer])
        for found, layer in zip(names["parts"], path.layers, strict=True)
    ]


def row_of_head(names: dict[str, Any]) -> Pairs:
    common = state.current().common
    derived = attention.derived_row(traced(), *at(), common.token or 0, scaled=common.scaled, masked=common.masked)
    key = common.key_token or 0
    return [
        (names["row"].weights, derived.weights),
        (names["row"].scaled, derived.scaled),
        (names["products"], derived.products[key]),
    ]


def smoothed(names: dict[str, Any]) -> Pairs:
    chosen = state.current().learn
    shown = training.smoothed_step(reader(), traced(), chosen.smoothed_step or 0, chosen.smoothing)
    return [(names["loss"].smoothed, shown.loss.smoothed), (names["log_probs"].exp().max(), shown.probabilities.max())]


def schedule(names: dict[str, Any]) -> Pairs:
    chosen = state.current().learn
    steps, rates = training.paper_schedule(chosen.schedule_width, chosen.schedule_warmup, SHOWN)
    return [(np.array(names["rates"])[steps.astype(int) - 1] * 1e3, rates * 1e3)]


def forced(names: dict[str, Any]) -> Pairs:
    asked = asked_reference(reader(), traced())
    runs = training.two_runs(reader(), traced(), asked)
    return [(np.exp(names["log_probs"]), [step.probability for step in runs.forced])]


def sizes(names: dict[str, Any]) -> Pairs:
    return [((names["own"], *names["papers"]), tuple(of for _, of in card.shapes(state.current().model)))]


def masks_and_positions(names: dict[str, Any]) -> Pairs:
    trace = traced()
    shown = mechanisms.position_schemes(trace, reader())
    return [
        *((names["masks"][site], trace.mask(site, 0)) for site in trace.sites),
        *((found.values, each.values) for found, each in zip(names["schemes"], shown, strict=True)),
        (names["cost"], mechanisms.attention_cost(trace, 512)),
    ]


def records(names: dict[str, Any]) -> Pairs:
    model = state.current().model
    shown = {"log": card.training_log(model), "training": card.training(model), "metrics": card.metrics(model)}
    pairs: Pairs = [(names[name], each) for name, each in (shown | {"card": card.card(model)}).items() if name in names]
    assert pairs
    return pairs


def exploring(topic: str) -> dict[str, object]:
    """What is chosen where Explore of a topic is unfolded."""
    lesson, step = EXPLORED[topic]
    return {"lesson": lesson, "lesson_step": step, "explore": True}


ASKED: dict[str, object] = {"site": CROSS, "trail": ("c1",)}
CASES: list[Case] = [
    *(
        ("attention", "All heads", {"measure": measure, "whole_words": words, "sinks": special}, all_heads)
        for measure in ("weights", "norms", "rollout")
        for words in (False, True)
        for special in (False, True)
    ),
    ("attention", "All heads", {"site": CROSS}, all_heads),
    ("attention", "Why", ASKED, answered),
    ("attention", "All heads", {"drawn_as": "bertviz"}, every_weight),
    ("decoding", "Film", {"step": 2}, film),
    ("decoding", "Film", {"step": 1, "branches": ("0-1-t30-t31",), "branch": 1}, film),
    ("decoding", "Film", {"step": 2, "branches": ("0-1-off-c-1-2", "1-3-point-e-0-1-2"), "branch": 2}, film),
    ("decoding", "Film", {"search": "Beam search", "beam_size": 3, "length_penalty": 80}, beam),
    ("decoding", "Film", {"search": "Sampling", "num_samples": 3, "temperature": 130, "top_k": 7}, samples),
    ("decoding", "Inside", {}, lens),
    ("decoding", "Inside", {"inside": "Attribution", "step": 2}, explained),
    *(("coreference", "Side by side", {"pair": "it-01", "measure": each}, moved) for each in ("weights", "rollout")),
    ("coreference", "Side by side", {"text": "No.", "other_text": "He was late."}, rows_alone),
    ("coreference", "Measured", {}, measured),
    ("coreference", "Cause", {"pair": "it-03"}, caused),
    ("coreference", "Cause", {"text": EXAMPLES[0].text, "other_text": EXAMPLES[0].twin, "step": 1}, caused),
    *(
        ("coreference", "Cause", {"cause_scope": "set", "cause_by": by}, caused_in_set)
        for by in ("off", "estimate", "swapped", "direct")
    ),
    *(("coreference", "Two models", {"texts_of_both": of}, distances) for of in ("text", "corpus")),
    *(("atlas", "Heads", {"corpus_metric": "entropy", "read_off": of}, atlas_map) for of in ("weights", "norms")),
    ("atlas", "Heads", {"checkpoint": "with-atlas", "site": CROSS, "corpus_metric": "first"}, atlas_map),
    ("atlas", "Scatter", {"scatter_x": "first", "scatter_y": "entropy", "read_off": "norms"}, atlas_scatter),
    ("learn", "Lessons", exploring("scores") | {"token": 2, "score_width": 16}, saturation),
    ("learn", "Lessons", exploring("positions") | {"side": "target"}, encodings),
    ("learn", "Lessons", exploring("positions") | {"width": 16, "base": 100}, encodings),
    ("learn", "Lessons", exploring("masks") | {"batch_sentences": "No.\n"}, masked),
    ("learn", "Lessons", exploring("pooling") | {"pooling_width": 35, "pooling_query": 120}, pooled),
    ("learn", "Lessons", exploring("table_one") | {"kernel_width": 5, "window_size": 3, "layer_length": 128}, layers),
    ("experiments", "Ablations", {"ablations": ("full", "no-positions", "gru")}, ablated),
    (
        "experiments",
        "Through training",
        {"film_site": ENCODER, "film_head": 1, "film_metric": "previous"},
        through_training,
    ),
    ("experiments", "Ablations", {"live_switches": True, "off_layer": 2, "kept_head": 1}, switched),
    ("learn", "The Transformer", {}, every_head),
    ("learn", "The Transformer", {"depth": "layer", "site": ENCODER, "token": 2}, one_token),
    ("learn", "The Transformer", {"walk_edit": "off", "site": CROSS}, changed_heads),
    ("learn", "The Transformer", {"walk_edit": "point", "site": DECODER, "token": 3, "key_token": 1}, changed_heads),
    ("learn", "The Transformer", {"depth": "head", "token": 3, "key_token": 1}, row_of_head),
    ("learn", "The Transformer", {"depth": "number", "token": 2, "key_token": 0, "scaled": False}, row_of_head),
    ("learn", "Lessons", exploring("smoothing") | {"smoothed_step": 1, "smoothing": 20}, smoothed),
    ("learn", "Lessons", exploring("schedule") | {"schedule_width": 128, "schedule_warmup": 500}, schedule),
    ("learn", "Lessons", exploring("forcing") | {"forced_reference": "Tom kam."}, forced),
    ("learn", "Lessons", exploring("forcing"), forced),
    ("learn", "Lessons", exploring("cost"), costs),
    ("model_card", "Overview", {}, sizes),
    ("model_card", "Masks, positions and cost", {"text": EXAMPLES[0].text}, masks_and_positions),
    ("model_card", "Data and training", {}, records),
    ("model_card", "Scores", {}, records),
    ("model_card", "Card", {}, records),
]
GIVEN: dict[str, Callable[[], tuple[object, ...]]] = {
    "attention": lambda: (traced(),), "experiments": lambda: (traced(),), "decoding": lambda: (written(),),
    "atlas": lambda: (own_atlas(),),
}  # fmt: skip


def test_every_view_of_every_page_has_a_snippet_or_says_why_it_has_none() -> None:
    tried = {(section, tab) for section, tab, *_ in CASES}
    for section, known in PAGES.items():
        for tab in FIELDS[known.tab].options:
            view = VIEWS[section].get(tab, NO_PYTHON)
            assert (isinstance(view, str) and view.endswith(".")) or (section, tab) in tried, (section, tab)


def test_a_tab_without_an_entry_of_its_own_says_that_it_has_no_python(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(root))
    monkeypatch.delitem(of_attention.VIEWS, "All heads")
    app = page_run.app_of(text=TEXT)
    app.session_state["export"] = True
    assert any(caption.value == NO_PYTHON for caption in page_run.opened(app).caption)


def compare(section: str, tab: str, chosen: Mapping[str, object], compared: Callable[..., Pairs]) -> None:
    """Run a snippet in a session of the app, and compare."""
    usual: dict[str, object] = {"checkpoint": "en-de", "text": TEXT, "layer": 1, "head": 2}
    usual["second_model"] = "experiments/no-positions"
    state.put(Selection().changed(**{**usual, **chosen}))
    given = GIVEN.get(section, tuple)()
    if given and isinstance(given[0], Trace):
        state.put(state.current().for_model(given[0].shapes))
    names = run(VIEWS[section][tab](*given))
    pairs = compared(names, *given)
    assert pairs
    for found, shown in pairs:
        same(found, shown)


@pytest.mark.parametrize(
    "case",
    # A whole set of pairs is measured twice.
    [pytest.param(case, marks=[pytest.mark.long] if case[1] == "Measured" else []) for case in CASES],
    ids=lambda case: f"{case[0]}-{case[1]}",
)
def test_a_snippet_gives_the_numbers_of_its_view(person: Person, case: Case) -> None:
    person(partial(compare, *case))


def test_the_tab_why_gives_a_test_and_where_they_are_unfolded_the_tables_of_tokens(person: Person) -> None:
    def do() -> None:
        st.session_state["by-tokens"] = True
        compare("attention", "Why", ASKED, circuits)
        st.session_state["by-tokens"] = False
        testing.of_session(reader(), traced(), asked_cell(traced(), reader())).ask("c1.s1+s2")
        compare("attention", "Why", ASKED, without_words)
        # The first row sees one key: nothing can be asked, and the tables of tokens are what is left.
        compare("attention", "Why", {"site": DECODER, "token": 0}, circuits)

    person(do)


@pytest.mark.long
def test_snippets_of_models_of_other_people_give_what_their_views_show(person: Person, folders: Path) -> None:
    def do() -> None:
        for name in ("gpt2", "t5", "chat", "vit"):
            compare("attention", "All heads", {"checkpoint": name}, all_heads)
        for name in ("gpt2", "t5", "chat"):
            compare("decoding", "Film", {"checkpoint": name}, film)
            compare("learn", "Lessons", exploring("cost") | {"checkpoint": name}, costs)
        compare("coreference", "Cause", {"checkpoint": "gpt2", "pair": "gift-02"}, caused)

    person(do, str(folders))


def test_a_hostile_text_is_a_text_and_no_code(person: Person) -> None:
    def do() -> None:
        compare("attention", "All heads", {"text": HOSTILE}, all_heads)
        assert run(VIEWS["attention"]["All heads"](traced()))["trace"].text == HOSTILE

    person(do)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_export_menu_shows_the_lines_or_why_there_are_none(
    root: Path, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    monkeypatch.setenv(ROOT_VARIABLE, str(root))
    app = page_run.app_of(text=TEXT, site=CROSS, layer=1, head=2, lang=language, words=0)
    assert not page_run.opened(app).code
    app.session_state["export"] = True
    (shown,) = page_run.opened(app).code
    assert shown.value.splitlines()[-1] == "weights = trace.weights('decoder.cross', 1, heads=[2])[0]  # [query, key]"
    assert shown.language == "python"
    app = page_run.app_of(learn="Lessons", lang=language)
    app.session_state["export"] = True
    page_run.opened(app, "learn")
    assert any("Python" in unlinked(caption.value) for caption in app.caption)
    assert not app.code


@pytest.mark.usefixtures("shared")
def test_a_shared_server_names_no_folder_of_its_own(person: Person, root: Path) -> None:
    def do() -> None:
        state.put(Selection().changed(checkpoint="en-de", text=TEXT))
        assert "reader = headlight.open('en-de')" in VIEWS["attention"]["All heads"](traced())

    person(do)
