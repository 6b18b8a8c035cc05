"""Heads switched off, patched and followed in any model that says words: against runs of the library's own model."""

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import torch

from model import Translator
from model.adapters.base_reader import Opened
from model.adapters.library import OURS
from model.adapters.library_tokenizer import LibraryTokenizer
from model.adapters.open_folder import explore
from model.adapters.text_reader import TextReader
from model.adapters.text_writer import TextWriter
from model.analysis.interventions.head_effects import estimate_effects, mean_outputs, measure_effects
from model.analysis.interventions.patching import ChoicePair, patch_heads, patch_paths
from model.analysis.interventions.word_pairs import AskedPair, asked_pair, gift_pairs, indirect_object_pairs, own_pair
from model.analysis.metrics.head_metrics import HeadName, all_heads
from model.errors import InputTextError
from model.opening import as_chooser, open_reader
from model.word_choice import TokenPlace, WordChoice, tokens_read
from tests.conftest import SENTENCES
from tests.model.adapters import zoo

#: Of every kind, with shared keys, sinks, a soft cap, unequal stacks and relative biases among them.
TYPES = ["gpt2", "llama", "gemma2", "gpt_oss", "bert", "albert", "modernbert", "bart", "t5"]
A, B = SENTENCES[0], SENTENCES[4]


@cache
def reader_of(model_type: str) -> TextReader:
    kind = zoo.KINDS[model_type]
    model: Any = zoo.tiny(model_type, head="masked" if kind == "encoder" else None)
    model.set_attn_implementation(OURS)
    layout, abilities = explore(model)
    pieces = LibraryTokenizer(zoo.wordpiece() if kind == "encoder" else zoo.metaspace())
    made = TextReader if kind == "encoder" else TextWriter
    return made(Opened(model, layout, abilities, model_type, model_type), pieces)


@cache
def pair_of(model_type: str) -> ChoicePair[WordChoice]:
    return own_pair(reader_of(model_type), A, B).pair


@contextmanager
def heard(reader: TextReader, act: Callable[[str, int, torch.Tensor], torch.Tensor]) -> Iterator[None]:
    """What each output projection reads goes through `act` as [batch, row, head, d_v] first."""
    places: dict[torch.nn.Module, list[tuple[str, int]]] = {}
    for at, module in reader.layout.projections.items():
        places.setdefault(module, []).append(at)
    done = dict.fromkeys(places, 0)

    def hook(module: torch.nn.Module, given: tuple[torch.Tensor, ...]) -> Any:
        # Models that share a layer run it once for each of its places.
        site, layer = places[module][done[module] % len(places[module])]
        done[module] += 1
        heads = given[0].unflatten(-1, (reader.abilities.heads[site][layer], -1))
        return (act(site, layer, heads).flatten(-2), *given[1:])

    hooks = [module.register_forward_pre_hook(hook) for module in places]
    try:
        yield
    finally:
        for one in hooks:
            one.remove()


@torch.inference_mode()
def odds(reader: TextReader, choice: WordChoice) -> float:
    """The log-odds by the library's own classes alone."""
    place, given = choice.place, {}
    if place.source:
        given["input_ids"] = torch.tensor([place.source])
        if place.target:
            given["decoder_input_ids"] = torch.tensor([place.target])
    else:
        given["input_ids"] = torch.tensor([place.target])
    log_probs = reader.model(**given).logits[0, place.row].float().log_softmax(-1)
    return float(log_probs[choice.right] - log_probs[choice.wrong])


def changed(
    reader: TextReader, choice: WordChoice, head: HeadName, by: Callable[[torch.Tensor], torch.Tensor]
) -> float:
    """The same with one head's output [batch, row, d_v] changed."""

    def act(site: str, layer: int, output: torch.Tensor) -> torch.Tensor:
        if (site, layer) == (head.site, head.layer):
            output = output.clone()
            output[:, :, head.head] = by(output[:, :, head.head])
        return output

    with heard(reader, act):
        return odds(reader, choice)


@pytest.mark.parametrize("model_type", TYPES)
@pytest.mark.parametrize("means", [False, True])
def test_each_change_is_that_of_the_model_run_without_the_head(model_type: str, means: bool) -> None:
    reader, pair = reader_of(model_type), pair_of(model_type)
    choices, done = [pair.a, pair.b], list[int]()
    replacement = mean_outputs(reader, [choice.place for choice in choices]) if means else None
    effects = measure_effects(reader, choices, replacement, done.append)
    heads = all_heads(reader.abilities.heads)
    assert effects.changes.shape == (2, len(heads))
    assert sum(done) == effects.changes.numel()
    for number, head in [(0, heads[0]), (1, heads[-1]), (0, heads[len(heads) // 2])]:
        choice, site = choices[number], (head.site, head.layer)
        instead = 0.0 if replacement is None else replacement[site][head.head]
        intact = odds(reader, choice)
        assert float(effects.intact[number]) == pytest.approx(intact, abs=1e-4)
        change = changed(reader, choice, head, lambda output: 0.0 * output + instead) - intact  # noqa: B023
        assert float(effects.changes[number, heads.index(head)]) == pytest.approx(change, abs=2e-4)


@pytest.mark.parametrize("model_type", ["gpt2", "bert", "bart", "gemma2"])
def test_an_estimate_is_the_derivative_by_a_gate(model_type: str) -> None:
    reader, pair = reader_of(model_type), pair_of(model_type)
    estimated, heads = estimate_effects(reader, [pair.a]), all_heads(reader.abilities.heads)
    step = 2e-2
    for head in (heads[0], heads[-1]):
        more = changed(reader, pair.a, head, lambda output: output * (1 + step))
        less = changed(reader, pair.a, head, lambda output: output * (1 - step))
        derivative = (more - less) / (2 * step)
        assert float(estimated.changes[0, heads.index(head)]) == pytest.approx(-derivative, rel=0.03, abs=2e-3)


def recorded(reader: TextReader, choice: WordChoice) -> dict[tuple[str, int], torch.Tensor]:
    outputs: dict[tuple[str, int], torch.Tensor] = {}

    def keep(site: str, layer: int, output: torch.Tensor) -> torch.Tensor:
        outputs[site, layer] = output
        return output

    with heard(reader, keep):
        odds(reader, choice)
    return outputs


#: Two texts of as many tokens, so that every row has its counterpart in the same row.
SAME_LENGTH = ("Tom told me that he would be late", "Tom told he that me would be late")


@pytest.mark.parametrize("model_type", ["gpt2", "bert", "bart", "llama"])
def test_patching_puts_the_output_of_b_in_its_place(model_type: str) -> None:
    reader = reader_of(model_type)
    pair = own_pair(reader, *SAME_LENGTH).pair
    patching, of_b = patch_heads(reader, [pair]), recorded(reader, pair.b)
    assert len(pair.a.place.source) == len(pair.b.place.source)
    assert len(pair.a.place.target) == len(pair.b.place.target)
    assert float(patching.a[0]) == pytest.approx(odds(reader, pair.a), abs=1e-4)
    assert float(patching.b[0]) == pytest.approx(odds(reader, pair.b), abs=1e-4)
    heads = all_heads(reader.abilities.heads)
    for head in (heads[0], heads[-1], heads[len(heads) // 2]):
        own = of_b[head.site, head.layer][:, :, head.head]
        expected = changed(reader, pair.a, head, lambda output: own)  # noqa: B023
        assert float(patching.patched[0, heads.index(head)]) == pytest.approx(expected, abs=2e-4)


@pytest.mark.parametrize("model_type", ["gpt2", "bert", "bart"])
def test_a_direct_path_leaves_all_other_heads_as_they_were(model_type: str) -> None:
    reader = reader_of(model_type)
    pair = own_pair(reader, *SAME_LENGTH).pair
    of_a, of_b = (recorded(reader, choice) for choice in (pair.a, pair.b))
    heads = all_heads(reader.abilities.heads)
    receivers = [head for head in heads if (head.site, head.layer) == (heads[-1].site, heads[-1].layer)][:2]
    direct = patch_paths(reader, [pair])
    heard_by = patch_paths(reader, [pair], receivers)
    for head in (heads[0], heads[1], heads[len(heads) // 2]):
        given: dict[HeadName, torch.Tensor] = {}

        def frozen(site: str, layer: int, output: torch.Tensor, head: HeadName = head, given: Any = given) -> Any:
            for receiver in receivers:
                if (receiver.site, receiver.layer) == (site, layer):
                    given[receiver] = output[:, :, receiver.head].clone()
            kept = of_a[site, layer].clone()
            if (site, layer) == (head.site, head.layer):
                kept[:, :, head.head] = of_b[site, layer][:, :, head.head]
            return kept

        def received(site: str, layer: int, output: torch.Tensor, given: Any = given) -> torch.Tensor:
            output = output.clone()
            for receiver, value in given.items():
                if (receiver.site, receiver.layer) == (site, layer):
                    output[:, :, receiver.head] = value
            return output

        with heard(reader, frozen):
            expected = odds(reader, pair.a)
        assert float(direct.patched[0, heads.index(head)]) == pytest.approx(expected, abs=2e-4)
        with heard(reader, received):
            expected = odds(reader, pair.a)
        assert float(heard_by.patched[0, heads.index(head)]) == pytest.approx(expected, abs=2e-4)


def test_paths_are_those_of_whole_texts_too_however_many_are_read_at_once(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = (translator.text_choice(text, "Das Tier lief.", "Sie war müde.") for text in (A, B))
    pair, done = ChoicePair(a, b), list[int]()
    whole = patch_paths(translator, [pair], progress=done.append)
    assert sum(done) == whole.patched.numel() == 24
    # Of the last attention there is no path through another head.
    swapped = patch_heads(translator, [pair]).patched
    torch.testing.assert_close(whole.patched[:, -4:], swapped[:, -4:], atol=1e-4, rtol=0)
    assert not torch.allclose(whole.patched[:, :4], swapped[:, :4], atol=1e-4)
    monkeypatch.setattr("model.analysis.interventions.head_effects.TOKENS_AT_ONCE", 7 * tokens_read(a))
    torch.testing.assert_close(patch_paths(translator, [pair]).patched, whole.patched, atol=1e-4, rtol=0)


@pytest.mark.parametrize("model_type", ["gpt2", "bert", "bart"])
def test_of_two_texts_the_words_are_those_that_the_model_would_say(model_type: str) -> None:
    reader = reader_of(model_type)
    found = own_pair(reader, A, B)
    assert found.pair.a.right == int(reader.place_logits(found.pair.a.place)[0].argmax())
    assert found.pair.a.right != found.pair.a.wrong
    assert (found.pair.a.right, found.pair.a.wrong) == (found.pair.b.right, found.pair.b.wrong)
    assert found.words == reader.vocabulary.tokens([found.pair.a.right, found.pair.a.wrong])
    assert found.texts == (reader.asked(A), reader.asked(B))
    same = own_pair(reader, A, A).pair.a
    assert same.wrong in reader.place_logits(same.place)[0].topk(2).indices.tolist()


@pytest.mark.parametrize("model_type", ["gpt2", "bart"])
def test_a_written_word_is_asked_about_after_the_same_words_behind_both_texts(model_type: str) -> None:
    reader = reader_of(model_type)
    pair = own_pair(reader, A, B, [11, 12, 13]).pair
    begun = reader.place(A), reader.place(B)
    for choice, place in zip((pair.a, pair.b), begun, strict=True):
        assert choice.place.source == place.source
        assert choice.place.target == (*place.target, 11, 12)
        assert choice.place.row == len(choice.place.target) - 1
    there = int(reader.place_logits(pair.b.place)[0].argmax())
    assert pair.a.right == 13
    assert pair.a.wrong == there != 13
    alone = own_pair(reader, A, written=[11, there])
    assert alone.texts == (A, "")
    assert alone.pair.a == alone.pair.b
    assert alone.pair.a.wrong != there


def asking(logits: dict[str, list[float]], names: str) -> Any:
    """A model that says these tokens after two texts."""
    reader = Mock(asked=lambda text: text, place=lambda text: TokenPlace((len(text),), (1,), 0))
    reader.place_logits = lambda place: torch.tensor([logits["A" if place.source == (1,) else "BB"]])
    reader.vocabulary.tokens = lambda ids: tuple(names[i] for i in ids)
    return reader


@pytest.mark.parametrize(
    ("scores", "other", "names", "wrong"),
    [
        ([3.0, 2.0, 1.0], [1.0, 4.0, 5.0], "abc", "c"),  # what it says after the other text
        ([3.0, 2.0, 1.0], [5.0, 1.0, 2.0], "abc", "b"),  # its second choice, where it says the same after both
        ([3.0, 1.0, 2.0], [5.0, 1.0, 0.0], "abc", "c"),
        ([3.0, 1.0, 0.0, 2.0], [5.0, 1.0, 0.0, 2.0], "abcA", "b"),  # but not the same word in capitals,
        ([3.0, 1.0], [5.0, 1.0], "aA", "A"),  # unless there is no other
    ],
)
def test_the_wrong_word_is_said_after_the_other_text_or_the_second_choice(
    scores: list[float], other: list[float], names: str, wrong: str
) -> None:
    assert own_pair(asking({"A": scores, "BB": other}, names), "A", "BB").words == ("a", wrong)


def test_a_token_that_only_one_text_has_is_not_asked_about() -> None:
    reader = asking({"A": [1.0, 2.0, 9.0], "BB": [1.0, 3.0]}, "abc")
    assert own_pair(reader, "A", "BB").pair.a.right == 1
    assert own_pair(reader, "A", "BB", [1]).pair.a.right == 1
    with pytest.raises(InputTextError, match="has 2 tokens, but the question is about token 3"):
        own_pair(reader, "A", "BB", [2])


def test_a_masked_word_stands_for_one_token() -> None:
    reader = reader_of("bert")
    asked = AskedPair("x", "Tom gave it to", "She gave it to", " Tom", " tired")
    a = asked_pair(reader, asked).pair.a
    assert reader.vocabulary.tokens([a.right, a.wrong]) == ("▁tom", "▁tired")
    mask = reader.pieces.tokenizer.mask_token_id
    assert a.place.source[a.place.row] == mask
    with pytest.raises(InputTextError, match=r"“street dog” is more than one token"):
        reader.word_choice("Tom saw a [MASK].", "street dog", "tom")
    with pytest.raises(InputTextError, match=r"one \[MASK\] instead of a word, got 0"):
        reader.place("Tom saw a dog.")
    with pytest.raises(InputTextError, match="got 2"):
        reader.place("Tom [MASK] a [MASK].")
    with pytest.raises(InputTextError, match="two different words"):
        reader.word_choice("Tom saw a [MASK].", "tom", "tom")
    with pytest.raises(InputTextError, match="“犬” is not in this model's vocabulary"):
        reader.word_choice("Tom saw a [MASK].", "tom", "犬")


def test_a_model_whose_sign_of_a_mask_is_its_own_is_asked_by_it() -> None:
    reader = reader_of("bert")
    own = copy.copy(reader)
    own.pieces = copy.copy(reader.pieces)
    own.pieces.tokenizer = copy.deepcopy(reader.pieces.tokenizer)
    own.pieces.tokenizer.add_special_tokens({"mask_token": "[tired]"})
    mask = own.pieces.tokenizer.mask_token_id
    texts = ("Tom saw a [tired] dog.", "Tom saw a [MASK] dog.")
    assert [own.asked(text) for text in texts] == list(texts)
    assert {own.place(text).source[own.place(text).row] for text in texts} == {mask}
    assert own.asked("The animal was tired.") == "The animal was [tired]."
    choices = [own.word_choice(text, "street", "tom") for text in texts]
    assert choices[0] == choices[1]


def test_the_words_of_a_decoder_begin_where_its_tokens_differ() -> None:
    reader = reader_of("gpt2")
    choice = reader.word_choice("Tom gave it to", " street", " strong")
    ids = [reader.source(f"Tom gave it to{word}").ids for word in (" street", " strong")]
    length = len(choice.place.target)
    assert ids[0][:length] == ids[1][:length] == choice.place.target
    assert (choice.right, choice.wrong) == (ids[0][length], ids[1][length])
    with pytest.raises(InputTextError, match="two different words"):
        reader.word_choice("Tom gave it to", " street", " street")


def test_an_encoder_keeps_the_layer_that_predicts_words_and_says_so_where_it_has_none(tmp_path: Path) -> None:
    reader = as_chooser(open_reader(zoo.save_model(tmp_path / "masked", "bert", head="masked")))
    assert reader.abilities.has("word choice")
    (plain, masked_one) = (zoo.tiny("bert"), zoo.tiny("bert", head="masked"))
    assert type(plain).__name__ == "BertModel"
    given = torch.tensor([reader.place("Tom saw a [MASK].").source])
    with torch.inference_mode():
        expected = masked_one(given).logits[0, reader.place("Tom saw a [MASK].").row]
    logits = reader.place_logits(reader.place("Tom saw a [MASK]."))[0]
    torch.testing.assert_close(logits.cpu(), expected, atol=1e-4, rtol=1e-4)
    without = open_reader(zoo.save_model(tmp_path / "plain", "bert"))
    assert "AutoModelForMaskedLM" in without.abilities.lacks["word choice"]
    assert reader.trace(A).layers_of("encoder.self") == without.trace(A).layers_of("encoder.self")


def test_gifts_are_asked_of_models_that_go_on_with_a_text_or_fill_in_a_mask() -> None:
    texts = {pair.name: (pair.a, pair.b) for pair in indirect_object_pairs()}
    found = gift_pairs(reader_of("gpt2"))
    assert len(found) > 8
    assert {name: pair.texts for name, pair in found.items()} == {name: texts[name] for name in found}
    assert gift_pairs(reader_of("bart")) == {}
