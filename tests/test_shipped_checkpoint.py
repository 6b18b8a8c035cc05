"""The checkpoints that ship: whole, exact under capture, able to translate, and their known heads are there."""

import random
import string

import numpy as np
import pytest
import torch

from model import Translator
from model.__main__ import SENTENCES
from model.adapters.text_writer import TextWriter
from model.analysis.atlas.file import load_atlas
from model.analysis.head_circuits import head_circuits
from model.analysis.held_out import BEST_KNOWN, score_copying
from model.analysis.interventions.head_effects import measure_effects
from model.analysis.interventions.patching import ChoicePair, patch_heads, patch_paths
from model.analysis.metrics.head_jobs import jobs_of_heads
from model.analysis.metrics.repeated_tokens import SITE, repeated_tokens
from model.analysis.residual_stream.token_path import follow
from model.decoding.search import translate_all
from model.opening import open_reader
from model.parts.weights import Stack
from model.training.copying import held_out_copying
from model.training.pronouns import pronouns_in
from model.training_record import read_log, read_metrics, read_training
from tests.benchmarks.card import anew, results_of
from tests.paths import ROOT
from tests.shipped import FOLDER, TIRED, WIDE, link_of

PAIR = (TIRED, WIDE)


@pytest.fixture(scope="module")
def shipped() -> Translator:
    return Translator.load(FOLDER, device="cpu")


def test_the_parts_of_every_token_add_up_to_what_the_model_computed(shipped: Translator) -> None:
    trace = shipped.trace(PAIR[0])
    sides: tuple[tuple[Stack, int], ...] = (("encoder", len(trace.source_ids)), ("decoder", len(trace.target_ids)))
    paths = [follow(shipped, trace, stack, position) for stack, count in sides for position in range(count)]
    largest = max(path.deviation for path in paths)
    assert all(path.logits for path in paths if path.candidates)
    assert largest < 1e-5


@pytest.mark.parametrize("text", PAIR)
def test_the_weights_shown_reproduce_the_real_output_of_every_head(shipped: Translator, text: str) -> None:
    trace = shipped.trace(text, extras={"hook_head_output"})
    deviations = {
        (site, layer): trace.head_output_deviation(site, layer)
        for site in trace.sites
        for layer in range(trace.layers_of(site))
    }
    assert max(deviations.values()) <= 1e-5, deviations


@pytest.mark.parametrize(("text", "noun", "german"), [(PAIR[0], "animal", "es"), (PAIR[1], "street", "sie")])
def test_of_all_heads_one_of_cross_attention_links_the_pronoun_to_its_noun(
    shipped: Translator, text: str, noun: str, german: str
) -> None:
    trace, link = shipped.trace(text), link_of(text)
    assert link.site == "decoder.cross"
    assert (link.pronoun, link.antecedent, link.written) == ("it", noun, german)
    assert trace.steps[link.row].token == f"▁{german}"
    assert trace.source_tokens[link.key] == f"▁{noun}"
    weights = np.stack([trace.weights(link.site, layer)[:, link.row, link.key] for layer in range(6)])
    assert divmod(int(weights.argmax()), weights.shape[1]) == (link.layer, link.head)
    assert link.weight == pytest.approx(float(weights.max()))
    assert link.weight > 0.8


@pytest.mark.parametrize(
    ("english", "german"),
    [
        ("I'm hungry.", {"Hunger", "hungrig"}),
        ("Where is the train station?", {"Bahnhof"}),
        ("She is reading a book.", {"Buch"}),
        ("Tom doesn't speak French.", {"Französisch"}),
        ("A man is riding a bicycle down the street.", {"Fahrrad"}),
        (PAIR[0], {"Tier"}),
        (PAIR[1], {"Tier"}),
    ],
)
def test_everyday_sentences_come_out_as_sensible_german(shipped: Translator, english: str, german: set[str]) -> None:
    words = shipped.translate(english).replace(".", "").replace(",", "").replace("?", "").split()
    assert german & set(words), words
    assert len(words) <= 2 * len(english.split())


@pytest.mark.parametrize(("english", "pronoun"), BEST_KNOWN.items())
def test_the_best_known_sentences_get_the_right_pronoun(shipped: Translator, english: str, pronoun: str) -> None:
    assert pronouns_in(shipped.translate(english)) == [pronoun]
    assert pronouns_in(shipped.translate(english.lower().removesuffix("."))) == [pronoun]


@pytest.mark.long
def test_figures_of_metrics_json_come_out_again(shipped: Translator) -> None:
    stored = results_of(FOLDER)
    scores = score_copying(
        held_out_copying(SENTENCES, seed=1), lambda texts: translate_all(shipped.model, shipped.tokenizer, texts)
    )
    copied = stored["copying --json"]
    # Another processor may round a tie the other way.
    assert copied["copied"] == pytest.approx(scores.copied, abs=0.01)
    assert copied["kinds"] == pytest.approx(scores.kinds, abs=0.02)
    best_known = stored["pronouns --part test --json"]["best_known"]
    assert best_known == {text: shipped.translate(text) for text in best_known}


def test_the_tables_of_card_and_readme_have_the_figures_that_were_measured() -> None:
    for path, text in anew(FOLDER).items():
        assert path.read_text(encoding="utf-8") == text


def test_the_record_of_its_training_is_whole() -> None:
    metrics, training, log = read_metrics(FOLDER), read_training(FOLDER), read_log(FOLDER)
    assert metrics is not None
    assert training is not None
    assert log is not None
    assert all(data.licence for data in training.data)
    assert {curve.name for curve in log.bleu} <= {score.set for score in metrics.scores}


def test_the_head_that_finds_the_antecedent_writes_its_gender(shipped: Translator) -> None:
    link, tokens = link_of(), shipped.all_tokens()
    circuits = head_circuits(shipped, link.site, link.layer, link.head)
    words = {"es": ("es", "das", "dieses"), "sie": ("sie", "die", "diese"), "er": ("er", "der", "dieser")}
    for noun, pronoun in (("animal", "es"), ("street", "sie")):
        written = circuits.writes(torch.tensor([tokens.index(f"▁{noun}")]))[0]
        for alike in zip(*words.values(), strict=True):
            by_gender = {word: float(written[tokens.index(f"▁{word}")]) for word in alike}
            assert max(by_gender, key=lambda word: by_gender[word]) in words[pronoun]


@pytest.mark.parametrize(("text", "noun"), [(TIRED, "animal"), (WIDE, "street")])
def test_the_head_that_was_taught_looks_from_it_to_its_antecedent(shipped: Translator, text: str, noun: str) -> None:
    """The head is the one that the record names; the card says what it gives these nouns."""
    record = read_training(FOLDER)
    assert record is not None
    settings = dict(record.settings)
    layer, head = settings["taught_layer"], settings["taught_head"]
    assert isinstance(layer, int)
    assert isinstance(head, int)
    trace = shipped.trace(text)
    row = trace.weights("encoder.self", layer, [head])[0, trace.source_tokens.index("▁it")]
    assert float(row[trace.source_tokens.index(f"▁{noun}")]) > 0.99


INDUCTION = ROOT / "checkpoints" / "induction"
#: Of the list of all heads: the one that looks at the token before, and the four of the second layer.
PREVIOUS, SECOND_LAYER = 0, slice(4, 8)


@pytest.fixture(scope="module")
def reader() -> TextWriter:
    reader = open_reader(INDUCTION, device="cpu")
    assert isinstance(reader, TextWriter)
    return reader


@pytest.fixture(scope="module")
def found(reader: TextWriter) -> dict[str, torch.Tensor]:
    return repeated_tokens(reader, draws=2, seed=7)


def test_one_head_looks_at_the_token_before_and_the_second_layer_at_what_followed(
    found: dict[str, torch.Tensor],
) -> None:
    assert float(found["repeat_previous"][PREVIOUS]) > 0.95
    assert float(found["repeat_previous"][1:].max()) < 0.2
    assert float(found["prefix_matching"][SECOND_LAYER].min()) > 0.9
    assert float(found["prefix_matching"][:4].max()) < 0.1
    assert float(found["copying"][SECOND_LAYER].min()) > 0.95


def test_it_goes_on_with_whatever_came_before(reader: TextWriter) -> None:
    draw = random.Random(3)
    right = 0
    for _ in range(20):
        text = "".join(draw.sample(string.ascii_letters, 16))
        session = reader.decode(f"{text} {text[:5]}")
        for _ in range(8):
            session.step()
        right += session.translation.startswith(text[5:13])
    assert right >= 19


def test_the_head_that_looks_back_is_the_cause_and_works_through_the_second_layer_only(reader: TextWriter) -> None:
    a = reader.word_choice("qsxk wnvb. qsx", "k", "b")
    b = reader.word_choice("qsxb wnvk. qsx", "k", "b")
    effects = measure_effects(reader, [a])
    assert float(effects.intact[0]) > 5
    assert float(effects.changes[0, PREVIOUS]) < -5
    pair = ChoicePair(a, b)
    direct, whole = patch_paths(reader, [pair]).overall, patch_heads(reader, [pair]).overall
    assert float(direct[:4].abs().max()) < 0.05
    assert float(direct[SECOND_LAYER].sum()) > 0.7
    torch.testing.assert_close(direct[SECOND_LAYER], whole[SECOND_LAYER], atol=1e-3, rtol=0)
    assert float(whole[:4].max()) > 0.5


def test_the_atlas_beside_it_is_of_this_model_and_names_its_heads(
    reader: TextWriter, found: dict[str, torch.Tensor]
) -> None:
    atlas = load_atlas(INDUCTION / "atlas.npz")
    assert atlas.model == reader.weights_digest
    assert len(atlas.texts) == 200
    np.testing.assert_allclose(atlas.metrics["prefix_matching"][1].ravel(), found["prefix_matching"].numpy(), atol=0.05)
    metrics, intervals = ({name: table[1] for name, table in of.items()} for of in (atlas.metrics, atlas.intervals))
    jobs = jobs_of_heads(SITE, metrics, intervals)
    assert jobs[0, 0][0].metric == "previous"
    assert {job.metric for job in jobs[1, 1]} >= {"induction", "prefix_matching"}
