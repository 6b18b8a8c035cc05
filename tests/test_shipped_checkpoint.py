"""The checkpoint that ships: whole, of the promised shape, exact under capture, and able to translate."""

import numpy as np
import pytest
import torch

from model import Translator
from model.__main__ import SENTENCES
from model.analysis.head_circuits import head_circuits
from model.analysis.held_out import BEST_KNOWN, score_copying
from model.analysis.residual_stream.additions import Stack
from model.analysis.residual_stream.capture import capture
from model.analysis.residual_stream.token_path import follow
from model.evaluation import translate_all
from model.training.copying import held_out_copying
from model.training.pronouns import pronouns_in
from model.training_record import read_log, read_metrics, read_training
from tests.benchmarks.card import anew, results_of
from tests.shipped import FOLDER, TIRED, WIDE, link_of

PAIR = (TIRED, WIDE)


@pytest.fixture(scope="module")
def shipped() -> Translator:
    return Translator.load(FOLDER, device="cpu")


def test_it_has_six_layers_of_eight_heads_and_stays_below_40_megabytes(shipped: Translator) -> None:
    assert shipped.config.num_layers == 6
    assert shipped.config.num_heads == 8
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < 40e6


def test_its_card_names_every_file_of_data_and_how_it_was_scored() -> None:
    card = (FOLDER / "README.md").read_text(encoding="utf-8")
    for phrase in ("Tatoeba", "Multi30k", "BConTrasT", "Ding", "CC-BY", "GPL", "sacrebleu", "python -m model evaluate"):
        assert phrase in card


def test_the_parts_of_every_token_add_up_to_what_the_model_computed(shipped: Translator) -> None:
    run = capture(shipped, shipped.trace(PAIR[0]))
    sides: tuple[tuple[Stack, int], ...] = (
        ("encoder", len(run.trace.source_tokens)),
        ("decoder", len(run.trace.target_tokens)),
    )
    largest = max(follow(run, stack, position).deviation for stack, count in sides for position in range(count))
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
    assert link.weight > 0.85


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
    circuits = head_circuits(shipped.model, link.site, link.layer, link.head)
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
