"""A MarianMT (OPUS-MT) folder: tokens, languages, texts, weights, and what is said where files are missing."""

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers.models.marian.tokenization_marian import MarianTokenizer

from model.adapters.inspect_folder import folder_with_model
from model.adapters.text_writer import TextWriter
from model.analysis.embedding_space import embedding_space, seen_in
from model.analysis.positions import layout_of
from model.errors import CheckpointError, EditError, InputTextError
from model.opening import as_writer, open_reader
from model.parts.removal import Part, PartOff
from model.parts.weights import Stack
from tests.model.adapters.marian_folders import TEXTS, changed, write_marian, write_separate
from tests.model.adapters.zoo import save_model

pytestmark = pytest.mark.filterwarnings("ignore:Recommended. pip install sacremoses")
TARGET = "Das Tier war zu müde."


class Opened:
    """A folder as it is opened here, and transformers' model and tokenizer of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.theirs: Any = write_marian(folder)
        self.tokenizer = MarianTokenizer.from_pretrained(folder)
        opened = open_reader(folder, "cpu")
        assert isinstance(opened, TextWriter)
        self.reader = opened

    def logits(self, source: list[int], target: list[int]) -> torch.Tensor:
        """What transformers says of each row, −∞ for the padding, which generation_config.json forbids."""
        with torch.inference_mode():
            given = {"input_ids": torch.tensor([source]), "decoder_input_ids": torch.tensor([target])}
            logits: torch.Tensor = self.theirs(**given).logits[0]
            logits[:, self.theirs.config.pad_token_id] = -torch.inf
        return logits.clone()


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Opened:
    return Opened(tmp_path_factory.mktemp("marian") / "opus-mt")


@pytest.mark.parametrize("text", [*TEXTS, ">>deu<< The  dog 中", "  two   spaces ", "Tom 😀 עברית"])
@pytest.mark.parametrize("writes", ["", "nld"])
def test_tokens_are_those_of_transformers_and_their_characters_are_known(
    opened: Opened, text: str, writes: str
) -> None:
    reader = opened.reader.speaking(writes=writes)
    has_language = text.startswith(">>") or not writes
    ids = reader.source_ids(text)
    assert list(ids) == opened.tokenizer(text if has_language else f">>{writes}<<{text}").input_ids
    offsets = reader.source_offsets(text)
    assert offsets is not None
    spans = [text[begin:end] for begin, end in offsets]
    assert all(
        token.strip("▁") in (span, "", "<unk>", "</s>", f">>{writes}<<")
        for token, span in zip(reader.pieces.tokens(ids), spans, strict=True)
    )
    assert (reader.languages, reader.offered.writes) == (("en", "nl" if writes else "de"), ("deu", "nld"))


def test_characters_of_a_translation_are_known_and_an_unknown_language_is_refused(opened: Opened) -> None:
    reader = opened.reader
    tokens, offsets = reader.pieces.tokens(reader.target_ids(TARGET)), reader.target_offsets(TARGET)
    assert offsets is not None
    assert all(
        token.strip("▁") in (TARGET[slice(*span)], "", "</s>") for token, span in zip(tokens, offsets, strict=True)
    )
    with pytest.raises(InputTextError, match=r"does not know the language 'xyz'. Choose one of its 2: deu, nld\."):
        reader.translate(">>xyz<< The dog.")


def test_of_many_texts_each_is_written_and_read_as_alone(opened: Opened) -> None:
    reader = opened.reader
    sentences = [*((text, None) for text in TEXTS), (" ", None), ("The dog.", TARGET), ("A dog.", None)]
    found = dict(reader.trace_batch(sentences))
    assert isinstance(found.pop(len(TEXTS)), InputTextError)
    assert len(found) == len(sentences) - 1
    for number, trace in found.items():
        alone = reader.trace(*sentences[number])
        assert not isinstance(trace, InputTextError)
        assert (trace.text, trace.translation, trace.target_ids) == (alone.text, alone.translation, alone.target_ids)
        for site in reader.abilities.heads:
            torch.testing.assert_close(trace.weights(site, 0), alone.weights(site, 0))


@pytest.mark.parametrize("text", TEXTS)
def test_nothing_that_may_not_be_written_is_written(opened: Opened, text: str) -> None:
    reader, source = opened.reader, list(opened.reader.source_ids(text))
    padding = reader.vocab_size - 1
    session = reader.decode(text)
    session.run()
    expected = opened.theirs.generate(torch.tensor([source]), max_new_tokens=session.max_steps, max_length=None)[0]
    assert list(session.target_ids) == expected.tolist()
    assert not any(padding in one.token_ids for one in reader.sample(text, n=8, seed=2))
    assert padding not in {node.token_id for node in reader.beam_tree(text, 4).nodes[1:]}
    # Also where a translation is read along, and where a choice is asked for.
    forced = reader.trace(text, TARGET)
    log_probs = opened.logits(source, list(forced.target_ids)).log_softmax(-1)
    expected_steps = [log_probs[row, step.token_id].item() for row, step in enumerate(forced.steps)]
    assert [step.log_prob for step in forced.steps] == pytest.approx(expected_steps, abs=1e-4)
    first = opened.logits(source, list(forced.target_ids[:1]))
    torch.testing.assert_close(reader.place_logits(reader.place(text)), first, atol=1e-4, rtol=0)


def test_what_its_stacks_begin_with_is_the_sum_of_embeddings_and_its_sinusoids(opened: Opened) -> None:
    trace, theirs = opened.reader.trace(TEXTS[1], TARGET), opened.theirs.model
    read: dict[Stack, tuple[int, ...]] = {"encoder": trace.source_ids, "decoder": trace.target_ids}
    for stack, ids in read.items():
        found, of_stack = opened.reader.parts.beginning(trace, stack), getattr(theirs, stack)
        expected = of_stack.embed_tokens(torch.tensor(ids)).detach() * theirs.config.d_model**0.5
        torch.testing.assert_close(found.embedding, expected)
        assert torch.equal(found.positional, of_stack.embed_positions.weight[: len(ids)].detach())
        assert layout_of(found.positional) == "halves"
        assert layout_of(found.positional + 0.01) is None


def test_a_corpus_is_translated_and_scored_by_the_beam_too(opened: Opened) -> None:
    done: list[int] = []
    for beam in (1, 3):
        written = opened.reader.translate_all(TEXTS[:2], beam=beam, progress=done.append)
        most = [opened.reader.decode(text).max_steps for text in TEXTS[:2]]
        for text, translation, steps in zip(TEXTS[:2], written, most, strict=True):
            given = opened.tokenizer(text, return_tensors="pt")
            ids = opened.theirs.generate(**given, num_beams=beam, max_new_tokens=steps, max_length=None)[0]
            assert translation == opened.tokenizer.decode(ids, skip_special_tokens=True)
    assert done == [1, 1, 1, 1]


def test_whole_translations_are_compared_without_what_is_never_written(opened: Opened) -> None:
    reader, texts = opened.reader, (TARGET, "Das Tier las ihren alten Hund.")
    choice = reader.text_choice(TEXTS[0], *texts)
    assert choice.differs_at > 0
    sums = []
    for emitted in (reader.target_ids(text) for text in texts):
        log_probs = opened.logits(list(choice.source), [*choice.begin, *emitted[:-1]]).log_softmax(-1)
        sums.append(sum(float(log_probs[row, token]) for row, token in enumerate(emitted)))
    assert reader.log_odds([choice]).item() == pytest.approx(sums[0] - sums[1], abs=1e-4)


def test_masks_of_a_batch_hide_padding_and_what_comes_later(opened: Opened) -> None:
    masks = opened.reader.masks(TEXTS)
    lengths = [len(opened.reader.source_ids(text)) for text in TEXTS]
    assert len(set(lengths)) == len(TEXTS)
    for number, length in enumerate(lengths):
        assert np.asarray(masks.source_tokens[number])[length:].tolist() == ["<pad>"] * (max(lengths) - length)
    with pytest.raises(InputTextError, match="Sentence 2"):
        opened.reader.masks([TEXTS[0], " "])


@pytest.mark.long
def test_each_token_is_seen_in_the_language_of_the_sentences_that_hold_it(opened: Opened, tmp_path: Path) -> None:
    seen = dict(zip(opened.reader.all_tokens(), seen_in(opened.reader), strict=True))
    assert (seen["▁the"], seen["ü"], seen["</s>"]) == ("English", "German", "")
    write_separate(tmp_path / "two")
    assert seen_in(as_writer(open_reader(tmp_path / "two", "cpu"))) == ()


@pytest.mark.parametrize("gone", [["source.spm"], ["source.spm", "target.spm"]])
def test_a_folder_without_its_pieces_says_which_files_are_missing(
    opened: Opened, tmp_path: Path, gone: list[str]
) -> None:
    folder = changed(opened.folder, tmp_path / "m", "config.json")
    for name in gone:
        (folder / name).unlink()
    for use in (open_reader, lambda path: folder_with_model(str(path))):
        with pytest.raises(CheckpointError, match=f"m lacks {', '.join(gone)}: MarianMT.*Copy these files"):
            use(folder)


def test_a_model_with_two_vocabularies_is_proven_and_writes_what_the_library_writes(tmp_path: Path) -> None:
    theirs: Any = write_separate(tmp_path / "two")
    assert theirs.config.vocab_size != theirs.config.decoder_vocab_size
    reader = as_writer(open_reader(tmp_path / "two", device="cpu"))
    assert reader.abilities.proof is not None
    assert reader.abilities.proof.is_exact
    tokenizer = MarianTokenizer.from_pretrained(tmp_path / "two")
    given = tokenizer(TEXTS[0], return_tensors="pt")
    with torch.inference_mode():
        # The last one is the end that its settings force where the limit is.
        expected = theirs.generate(**given, max_new_tokens=8, do_sample=False, num_beams=1)[0].tolist()[:-1]
    assert len(set(expected)) > 3
    session = reader.decode(TEXTS[0])
    while len(session.target_ids) < len(expected):
        session.step()
    trace = session.trace()
    assert [*trace.target_ids, session.target_ids[-1]] == expected
    # The source is named by its vocabulary, what is written by the other.
    assert "".join(trace.source_tokens[:-1]).replace("▁", " ").strip() == TEXTS[0]
    assert list(trace.target_tokens[1:]) == tokenizer.convert_ids_to_tokens(expected)[1:-1]
    assert reader.vocab_size == theirs.config.decoder_vocab_size
    for is_target, ids, tokens, num_rows in (
        (False, trace.source_ids, trace.source_tokens, theirs.config.vocab_size),
        (True, trace.target_ids, trace.target_tokens, theirs.config.decoder_vocab_size),
    ):
        space = embedding_space(reader, is_target=is_target)
        assert tuple(space.tokens[one] for one in ids) == tokens
        assert len(space.tokens) == len(space.directions) == num_rows
        assert {space.tokens[one] for one in space.left_out} == {"</s>", "<unk>", "<pad>"}


@torch.inference_mode()
def test_parts_are_taken_out_while_it_writes_and_leave_nothing_behind(opened: Opened) -> None:
    reader, text = opened.reader, TEXTS[2]
    source = torch.tensor([reader.source_ids(text)])

    def memory() -> torch.Tensor:
        read: torch.Tensor = reader.model.base_model.encoder(source).last_hidden_state  # type: ignore[union-attr, operator]
        return read

    whole = memory()
    taken: list[Part] = ["positions", "scaling", "heads", "norms", "residuals"]
    for part in taken:
        with reader.parts.without(PartOff(part)):
            assert not torch.allclose(memory(), whole, atol=1e-2), part
        assert torch.equal(memory(), whole), part
    for off, why in {
        PartOff("norms", layer=9): "no layer 9: layers are numbered from 0 to 1",
        PartOff("heads", kept_head=4): "head 5 cannot be kept alone",
    }.items():
        with pytest.raises(EditError, match=why), reader.parts.without(off):
            pass


def test_residual_connections_that_no_norm_reads_stay_with_a_sentence(tmp_path: Path) -> None:
    reader = open_reader(save_model(tmp_path / "m", "mbart"), device="cpu")
    with pytest.raises(EditError, match="norms of this model come before"), reader.parts.without(PartOff("residuals")):
        pass


@torch.inference_mode()
def test_without_a_part_it_computes_what_follows_from_the_rest(opened: Opened) -> None:
    reader = opened.reader
    encoder: Any = reader.model.base_model.encoder  # type: ignore[union-attr]
    words = reader.source_ids("A man walks.")
    forwards, backwards = (torch.tensor([list(ids)]) for ids in (words, words[::-1]))
    with reader.parts.without(PartOff("positions")):
        one, other = (encoder(ids).last_hidden_state for ids in (forwards, backwards))
    torch.testing.assert_close(one, other.flip(1), atol=1e-4, rtol=1e-4)
    theirs = opened.theirs.model.encoder
    for layers in (None, 1):
        read = theirs.embed_tokens(forwards) * theirs.embed_scale + theirs.embed_positions(forwards.shape)
        for number, layer in enumerate(theirs.layers):
            skip = float(number != layers) if layers is not None else 0.0
            read = layer.self_attn_layer_norm(skip * read + layer.self_attn(read, attention_mask=None)[0])
            inner = layer.fc2(layer.activation_fn(layer.fc1(read)))
            read = layer.final_layer_norm(skip * read + inner)
        with reader.parts.without(PartOff("residuals", layer=layers)):
            torch.testing.assert_close(encoder(forwards).last_hidden_state, read, atol=1e-5, rtol=1e-5)
    unscaled = copy.deepcopy(opened.theirs.model.encoder)
    for layer in unscaled.layers:
        layer.self_attn.scaling = 1.0
    with reader.parts.without(PartOff("scaling")):
        found = encoder(forwards).last_hidden_state
    torch.testing.assert_close(found, unscaled(forwards).last_hidden_state, atol=1e-4, rtol=1e-4)
    with reader.parts.without(PartOff("norms", layer=1)):
        written = encoder(forwards, output_hidden_states=True)
    *_, before, after = written.hidden_states
    layer = encoder.layers[1]
    attended = before + layer.self_attn(before)[0]
    expected = attended + layer.fc2(layer.activation_fn(layer.fc1(attended)))
    torch.testing.assert_close(after, expected, atol=1e-4, rtol=1e-4)
