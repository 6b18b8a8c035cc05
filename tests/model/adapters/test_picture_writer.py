"""Models that write about a picture open whole: their attention is the eager model's, and what they write is what
`generate` writes.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from PIL import Image

from model.adapters.image_reader import PictureWriter
from model.adapters.inspect_folder import folder_with_model, reads_in
from model.adapters.model_class import class_of
from model.analysis.attribution.choice import choice_at
from model.analysis.attribution.methods import choice_run
from model.analysis.reasons.held_run import Part
from model.analysis.reasons.score import Question, explain
from model.errors import CheckpointError, DataError, InputTextError, TraceError
from model.opening import open_reader
from model.sources.picture_file import PartlyHidden
from model.sources.source import PictureSource
from tests.model.adapters import picture_zoo
from tests.model.adapters.writing import EAGER, check_parts_add_up, check_steps_and_edits
from tests.often import often

#: One of each way to reach a model's two halves; that the others write alike takes their openings and beams again.
#: Two models joined, and one that is made of its own classes.
KINDS = often(picture_zoo.SAVED, ("vit-bert", "blip"))
Folder = Callable[[str], Path]
Looking = Callable[[str], PictureWriter]


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """Kind → a folder with such a model; not to be changed."""
    root = tmp_path_factory.mktemp("pictures")
    return cache(lambda kind: picture_zoo.SAVED[kind](root / kind))


@pytest.fixture(scope="module")
def looking(pictures: Folder) -> Looking:
    """Kind → a reader of such a model that has been given a picture."""

    @cache
    def read(kind: str) -> PictureWriter:
        reader = open_reader(pictures(kind), "cpu")
        assert isinstance(reader, PictureWriter)
        return reader.reading("noise.png", picture_zoo.picture())

    return read


def eager(folder: Path) -> tuple[Any, dict[str, torch.Tensor]]:
    """The library's own model, and the numbers that it is given of the same picture."""
    model = transformers.AutoModelForImageTextToText.from_pretrained(folder, attn_implementation="eager").eval()
    processor = transformers.AutoImageProcessor.from_pretrained(folder)
    return model, dict(processor(picture_zoo.picture(), return_tensors="pt"))


@torch.inference_mode()
def eager_attentions(model: Any, given: dict[str, torch.Tensor], ids: torch.Tensor) -> tuple[dict[str, Any], int]:
    """Site → the weights that the library's own model returns, and how many positions its encoder puts out."""
    if isinstance(model, transformers.BlipForConditionalGeneration):
        eye = model.vision_model(**given, output_attentions=True)
        hand = model.text_decoder(
            ids, encoder_hidden_states=eye.last_hidden_state, output_attentions=True, use_cache=False
        )
        torch.testing.assert_close(model(**given, input_ids=ids).logits, hand.logits)
        found = (eye.attentions, hand.attentions, hand.cross_attentions)
        return dict(zip(EAGER, found, strict=True)), eye.last_hidden_state.size(1)
    whole = model(**given, decoder_input_ids=ids, output_attentions=True)
    return {site: whole[name] for site, name in EAGER.items()}, whole.encoder_last_hidden_state.size(1)


@pytest.mark.parametrize("kind", KINDS)
def test_attentions_are_those_of_the_eager_model(pictures: Folder, looking: Looking, kind: str) -> None:
    trace = looking(kind).trace("", extras={"hook_head_output"})
    model, given = eager(pictures(kind))
    attentions, rows = eager_attentions(model, given, torch.tensor([trace.target_ids]))
    proof = looking(kind).abilities.proof
    assert proof is not None
    assert proof.is_exact
    assert {site: layers for site, (layers, _) in trace.shapes.items()} == picture_zoo.LAYERS[kind]
    for site in trace.sites:
        for layer, weights in enumerate(attentions[site]):
            torch.testing.assert_close(trace.weights(site, layer), weights[0], atol=1e-5, rtol=0)
            assert trace.head_output_deviation(site, layer) <= trace.head_output_tolerance(site, layer)
    assert isinstance(trace.source, PictureSource)
    assert len(trace.source_tokens) == rows
    assert trace.special_tokens >= trace.source.special


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_is_what_generate_writes(pictures: Folder, looking: Looking, kind: str) -> None:
    reader = looking(kind)
    session = reader.decode("")
    session.run()
    model, given = eager(pictures(kind))
    options = {"max_new_tokens": session.max_steps, "max_length": None, "do_sample": False}
    found = model.generate(**given, **options, num_beams=1)
    assert list(session.target_ids) == found[0].tolist()
    assert list(reader.trace("").target_ids) == found[0].tolist()[:-1]
    tree, beams = reader.beam_tree("", beam=3), model.generate(**given, **options, num_beams=3)
    written = [*session.prompt_ids, *tree.token_ids(tree.winner.index)]
    assert written == beams[0].tolist()[: len(written)]
    assert len(reader.sample("", n=2, seed=3)) == 2


@pytest.mark.parametrize("kind", KINDS)
def test_steps_back_branches_targets_and_edits_are_as_of_any_writer(looking: Looking, kind: str) -> None:
    check_steps_and_edits(looking(kind))


def test_a_picture_is_the_same_however_it_is_given(looking: Looking, pictures: Folder, tmp_path: Path) -> None:
    reader = looking("vit-gpt2")
    picture_zoo.picture().save(tmp_path / "noise.png")
    blind = open_reader(pictures("vit-gpt2"), "cpu")
    assert isinstance(blind, PictureWriter)
    of_file, of_picture = blind.trace(str(tmp_path / "noise.png"), "it"), reader.trace("", "it")
    assert torch.equal(of_file.weights("decoder.cross", 0), of_picture.weights("decoder.cross", 0))
    assert of_file.text == "noise.png"
    other = reader.reading("noise.png", picture_zoo.picture(seed=1))
    assert len({blind.key, reader.key, other.key}) == 3
    with pytest.raises(TraceError, match="different picture"):
        other.run_again(of_picture)
    with pytest.raises(InputTextError, match="none was given"):
        blind.decode("")


@pytest.mark.parametrize("kind", KINDS)
def test_a_folder_says_that_it_reads_pictures_and_opens_whole(pictures: Folder, looking: Looking, kind: str) -> None:
    assert reads_in(pictures(kind)) == "picture"
    assert folder_with_model(str(pictures(kind))) == pictures(kind)
    whole = looking(kind).abilities.whole
    assert whole is not None
    assert not whole.unused
    assert not whole.unread
    assert not whole.not_run


@pytest.mark.parametrize("kind", KINDS)
def test_the_parts_of_both_stacks_add_up_to_scores(looking: Looking, kind: str) -> None:
    reader = looking(kind)
    if kind in picture_zoo.UNSPLIT:
        assert "reasons" in reader.abilities.lacks
        return
    check_parts_add_up(reader)


def test_a_memory_that_is_brought_to_another_width_is_split_as_in_float64(pictures: Folder, looking: Looking) -> None:
    row, head, key, rival = 2, 1, 4, 0
    reader = looking("vit-bert")
    trace, (model, given) = reader.trace("", "it was tired"), eager(pictures("vit-bert"))
    model, put_out = model.double(), dict[Part | str, torch.Tensor]()

    def note(what: Part | str) -> Callable[[Any, Any, Any], None]:
        return lambda _module, _given, output: put_out.update({what: (output[0] if len(output) == 2 else output)[0]})

    for number, layer in enumerate(model.encoder.layers):
        layer.attention.o_proj.register_forward_hook(note(Part("self", "encoder", number)))
        layer.mlp.register_forward_hook(note(Part("feed_forward", "encoder", number)))
        layer.register_forward_hook(note("last"))
    cross = model.decoder.bert.encoder.layer[1].crossattention.self
    cross.query.register_forward_hook(note("query"))
    with torch.inference_mode():
        numbers = {name: values.double() for name, values in given.items()}
        model(**numbers, decoder_input_ids=torch.tensor([trace.target_ids]), use_cache=False)
        # c · norm(x), of each head's 16 rows of W_K behind the projection of 24 numbers to 32.
        query, of_head = put_out["query"][row].view(2, 16)[head] / 4, cross.key.weight.view(2, 16, 32)[head]
        c = query @ of_head @ model.enc_to_dec_proj.weight * model.encoder.layernorm.weight
        divisors = put_out["last"].var(-1, correction=0).sqrt()
    asked = Question(site="decoder.cross", layer=1, head=head, row=row, key=key, rival=rival)
    shares = explain(reader.parts, trace, asked).keys.shares()
    for part in [each for each in put_out if isinstance(each, Part)]:
        own = put_out[part] if part.kind == "feed_forward" else put_out[part] - model_bias(model, part)
        each = (own - own.mean(-1, keepdim=True)) @ c / divisors
        assert shares[part] == pytest.approx(float(each[key] - each[rival]), abs=1e-5), part


def model_bias(model: Any, part: Part) -> torch.Tensor:
    """What an attention of the encoder adds whatever its heads put out."""
    bias: torch.Tensor = model.encoder.layers[part.layer].attention.o_proj.bias.detach()
    return bias


def test_a_task_is_chosen_by_its_token_where_a_model_has_some(pictures: Folder, looking: Looking) -> None:
    donut = looking("donut")
    assert donut.offered.writes == ("receipt-v2", "letter")
    assert "Headlight gives it none" in donut.offered.note
    plain = looking("beit-trocr").offered
    assert not plain.writes
    assert not plain.note
    assert "the mean of its colours" in looking("pix2struct").offered.note
    model, given = eager(pictures("donut"))
    names: Any = transformers.AutoTokenizer.from_pretrained(pictures("donut"))
    written: dict[str, Any] = {}
    for task in donut.offered.writes:
        told = donut.speaking(writes=task)
        begin = names.convert_tokens_to_ids([f"<s_{task}>"])
        with torch.inference_mode():
            found = model.generate(
                **given, decoder_input_ids=torch.tensor([begin]), max_new_tokens=6, max_length=None, do_sample=False
            )
        assert list(told.trace("").target_ids[:6]) == found[0, :6].tolist()
        assert told.decode("").prompt_ids == told.trace("", "it was").target_ids[:1] == tuple(begin)
        written[told.key] = found
    assert len({donut.key, *written}) == 3
    with pytest.raises(InputTextError, match="menu"):
        donut.speaking(writes="menu")


def test_a_picture_of_too_many_patches_is_refused_by_attribution_before_anything_runs(tmp_path: Path) -> None:
    eye = transformers.ViTConfig(**picture_zoo.NARROW | {"image_size": 68, "patch_size": 4})
    size = {"height": 68, "width": 68}
    hand = transformers.BertConfig(**picture_zoo.HAND)
    picture_zoo.save_joined(tmp_path, eye, hand, transformers.ViTImageProcessorPil(size=size))
    reader = open_reader(tmp_path, "cpu")
    assert isinstance(reader, PictureWriter)
    reader = reader.reading("noise.png", picture_zoo.picture())
    choice, ran = choice_at(reader.trace("", "it"), 1), []
    reader.model.register_forward_pre_hook(lambda *_: ran.append(1))
    with pytest.raises(DataError, match="up to 256 patches, one at a time, but this model reads 290 patches"):
        choice_run(reader, choice)
    assert not ran


def test_a_margin_that_is_cut_off_is_not_shown_and_a_hidden_rectangle_lies_in_what_is_left(looking: Looking) -> None:
    page = Image.new("RGB", (200, 160), "white")
    page.paste(picture_zoo.picture(size=(40, 64)), (70, 30))
    seen, left = (_seen(looking("nougat"), each) for each in (page, PartlyHidden(page, (8, 16, 16, 32), "grey")))
    assert int((seen > 250).all(-1).sum()) == 0
    changed = (seen - left).abs().sum(-1) > 0
    assert not changed[:16].any()
    assert not changed[32:].any()
    assert (left[16:32, 8:16] - 128).abs().max() <= 2


def _seen(reader: PictureWriter, picture: Any) -> torch.Tensor:
    """Red, green and blue [height, width, 3] of a picture as a model sees it."""
    grid = reader.reading("page", picture).trace("", "it").source.grid
    assert grid is not None
    return grid.pixels.int()


@pytest.mark.parametrize(
    ("made", "why"),
    [
        ("BlipForQuestionAnswering", "reads text and pictures together"),
        ("Blip2ForConditionalGeneration", "reads text and pictures together"),
        ("GitForCausalLM", "a decoder that reads the tokens of a picture within its text .git.*has no cross-attention"),
        ("PerceiverForMaskedLM", "no class for it that reads only text"),
        ("LlavaForConditionalGeneration", "a decoder that reads the tokens of a picture within its text .llava."),
    ],
)
def test_one_that_reads_something_beside_the_picture_is_refused_in_a_sentence(made: str, why: str) -> None:
    config = getattr(transformers, made).config_class(architectures=[made])
    with pytest.raises(CheckpointError, match=why):
        class_of(config)
