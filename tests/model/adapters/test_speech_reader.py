"""Speech models open whole: their attention is the eager model's, and what they write is what `generate` writes."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file

from model import SwitchOff
from model.adapters.inspect_folder import folder_with_model, reads_in
from model.adapters.speech_reader import SoundReader, SpeechReader
from model.analysis.reasons.held_run import Part
from model.analysis.reasons.score import Question, default_rival, explain
from model.analysis.reasons.trail import asked_at, follow_trail
from model.analysis.reasons.without import Product, products
from model.decoding.cost import attention_cost
from model.description import describe
from model.errors import InputTextError, TraceError
from model.nn.layers import sinusoidal_encoding
from model.opening import open_reader
from tests.model.adapters import speech_zoo
from tests.model.adapters.writing import EAGER, check_parts_add_up, check_steps_and_edits
from tests.model.adapters.zoo import refused, set_config
from tests.often import often

Folder = Callable[[str], Path]


@pytest.fixture(scope="module")
def speech(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """Kind → a folder with such a model; not to be changed."""
    root = tmp_path_factory.mktemp("speech")
    return cache(lambda kind: speech_zoo.SAVED[kind](root / kind))


@pytest.fixture(scope="module")
def heard(speech: Folder) -> Callable[[str], SpeechReader]:
    """Kind → a reader of such a model that has been given a sound."""

    @cache
    def read(kind: str) -> SpeechReader:
        reader = open_reader(speech(kind), "cpu")
        assert isinstance(reader, SpeechReader)
        return reader.reading("tone.wav", speech_zoo.sound())

    return read


def eager(folder: Path) -> tuple[Any, dict[str, torch.Tensor]]:
    """The library's own model, and the numbers that it is given of the same sound."""
    model = transformers.AutoModelForSpeechSeq2Seq.from_pretrained(folder, attn_implementation="eager").eval()
    extractor = transformers.AutoFeatureExtractor.from_pretrained(folder)
    made = extractor(speech_zoo.sound().samples, sampling_rate=speech_zoo.RATE, return_tensors="pt")
    return model, {model.main_input_name: made[model.main_input_name]}


@pytest.mark.parametrize("kind", often(speech_zoo.WRITERS, ("whisper", "moonshine")))
def test_the_three_attentions_are_those_of_the_eager_model(
    speech: Folder, heard: Callable[[str], SpeechReader], kind: str
) -> None:
    trace = heard(kind).trace("", extras={"hook_head_output"})
    model, given = eager(speech(kind))
    with torch.inference_mode():
        expected = model(**given, decoder_input_ids=torch.tensor([trace.target_ids]), output_attentions=True)
    assert {site: layers for site, (layers, _) in trace.shapes.items()} == {
        "encoder.self": 3,
        "decoder.self": 2,
        "decoder.cross": 2,
    }
    for site, name in EAGER.items():
        for layer, weights in enumerate(expected[name]):
            torch.testing.assert_close(trace.weights(site, layer), weights[0], atol=1e-5, rtol=0)
            assert trace.head_output_deviation(site, layer) <= trace.head_output_tolerance(site, layer)
    # Of a memory that is longer than it is wide, the keys of all layers are made when they are asked for.
    inputs = trace.attention("decoder.cross", 0)
    first, again = inputs.key, inputs.key
    assert (first is again) == (len(trace.source_tokens) <= speech_zoo.STACKS["d_model"])
    assert torch.equal(first, again)
    assert trace.source.kind == "sound"
    assert len(trace.source_tokens) == expected.encoder_last_hidden_state.size(1)


@pytest.mark.parametrize("change", [lambda matrix: matrix.half(), lambda matrix: matrix.weight.data.mul_(1.01)])
def test_a_trace_of_a_long_sound_says_that_its_model_has_changed_since(
    speech: Folder, change: Callable[[Any], object]
) -> None:
    reader = open_reader(speech("whisper"), "cpu")
    assert isinstance(reader, SpeechReader)
    trace = reader.reading("tone.wav", speech_zoo.sound()).trace("")
    model: Any = reader.model
    change(model.model.decoder.layers[0].encoder_attn.k_proj)
    with pytest.raises(TraceError, match="trace the input again"):
        trace.weights("decoder.cross", 0)
    assert trace.weights("encoder.self", 0).isfinite().all()


@pytest.mark.parametrize("kind", ["whisper", "speech_to_text", "moonshine"])
def test_attention_costs_what_is_read_times_what_is_written(
    speech: Folder, heard: Callable[[str], SpeechReader], kind: str
) -> None:
    reader = heard(kind)
    trace, written = reader.trace(""), reader.abilities.max_target_length or 9
    model, given = eager(speech(kind))
    with torch.inference_mode():
        expected = model(**given, decoder_input_ids=torch.ones(1, written, dtype=torch.long), output_attentions=True)
    cost = attention_cost(trace, len(trace.source_ids), written)
    assert cost.weights == sum(weights.numel() for name in EAGER.values() for weights in expected[name])
    caches = expected.past_key_values.self_attention_cache, expected.past_key_values.cross_attention_cache
    assert cost.cached == sum(
        part.numel() for each in caches for layer in each.layers for part in (layer.keys, layer.values)
    )


CHOSEN = [("", "transcribe"), ("de", "translate"), ("fr", "transcribe-timestamps")]


@pytest.mark.parametrize(("reads", "writes"), CHOSEN)
def test_whisper_writes_what_generate_writes(
    speech: Folder, heard: Callable[[str], SpeechReader], reads: str, writes: str
) -> None:
    reader = heard("whisper").speaking(reads, writes)
    session = reader.decode("")
    session.run()
    model, given = eager(speech("whisper"))
    options = {"task": writes.split("-")[0], "return_timestamps": writes.endswith("timestamps")}
    options |= {"language": reads} if reads else {}
    found = model.generate(**given, max_new_tokens=session.max_steps, force_unique_generate_call=True, **options)
    assert list(session.target_ids) == found[0].tolist()
    assert list(reader.trace("").target_ids) == found[0].tolist()[:-1]
    told = reader.pieces.tokens(session.prompt_ids)
    assert told[2:] == (f"<|{options['task']}|>", *([] if options["return_timestamps"] else ["<|notimestamps|>"]))
    assert reads in ("", told[1].strip("<|>"))
    if options["return_timestamps"]:
        times = [float(token[2:-2]) for token in reader.pieces.tokens(session.written_ids) if token[2:3].isdigit()]
        assert times == sorted(times)
        assert times[0] <= 1


def test_an_edit_of_heads_does_not_change_which_language_is_heard(heard: Callable[[str], SpeechReader]) -> None:
    heads = heard("whisper").abilities.heads["decoder.cross"]
    off = [SwitchOff("decoder.cross", layer, head) for layer, count in enumerate(heads) for head in range(count)]
    for seed in range(4):
        reader = heard("whisper").reading("tone", speech_zoo.sound(seed=seed)).speaking("", "transcribe")
        told = reader.decode("").prompt_ids
        again = reader.reading("tone", speech_zoo.sound(seed=seed))
        assert again.trace("", edits=off).target_ids[: len(told)] == told


def test_beams_with_timestamps_are_those_of_generate(speech: Folder, heard: Callable[[str], SpeechReader]) -> None:
    reader = heard("whisper").speaking("de", "transcribe-timestamps")
    tree = reader.beam_tree("", beam=3)
    model, given = eager(speech("whisper"))
    found = model.generate(
        **given, language="de", task="transcribe", return_timestamps=True, num_beams=3,
        max_new_tokens=reader.decode("").max_steps, force_unique_generate_call=True,
    )  # fmt: skip
    written = [*reader.decode("").prompt_ids, *tree.token_ids(tree.winner.index)]
    assert written == found[0].tolist()[: len(written)]


def test_one_that_hears_english_alone_is_told_less(tmp_path: Path) -> None:
    folder = speech_zoo.save_whisper(tmp_path, hears_many=False)
    reader = open_reader(folder, "cpu")
    assert isinstance(reader, SpeechReader)
    assert reader.offered.reads == ()
    assert reader.languages == ("en", "en")
    session = reader.reading("tone", speech_zoo.sound()).decode("")
    assert reader.pieces.tokens(session.prompt_ids) == ("<|startoftranscript|>", "<|notimestamps|>")
    session.run()
    model, given = eager(folder)
    found = model.generate(**given, max_new_tokens=session.max_steps, force_unique_generate_call=True)
    assert list(session.target_ids) == found[0].tolist()


@pytest.mark.parametrize("kind", often(speech_zoo.WRITERS, ("whisper", "moonshine")))
def test_steps_back_branches_targets_and_edits_are_as_of_any_writer(
    heard: Callable[[str], SpeechReader], kind: str
) -> None:
    branch = check_steps_and_edits(heard(kind))
    trace = branch.trace()
    assert [step.token_id for step in trace.steps] == list(branch.written_ids)
    assert trace.rows_before == len(branch.prompt_ids) - 1
    assert trace.row_tokens("decoder.cross")[trace.rows_before :] == tuple(step.token for step in trace.steps)


def test_a_sound_is_the_same_however_it_is_given(heard: Callable[[str], SpeechReader], tmp_path: Path) -> None:
    reader, sound = heard("whisper"), speech_zoo.sound()
    (tmp_path / "tone.wav").write_bytes(sound.wav())
    silent = reader.without({})
    silent.content = None
    of_file, of_sound = silent.trace(str(tmp_path / "tone.wav"), "it"), reader.trace("", "it")
    # A file has 16 bits.
    torch.testing.assert_close(
        of_file.weights("decoder.cross", 0), of_sound.weights("decoder.cross", 0), atol=1e-3, rtol=0
    )
    assert of_file.text == "tone.wav"
    other = reader.reading("tone.wav", speech_zoo.sound(seed=1))
    assert (
        len({silent.key, reader.key, other.key, reader.speaking("de").key, reader.speaking("", "translate").key}) == 5
    )
    with pytest.raises(TraceError, match="different sound"):
        other.run_again(of_sound)
    with pytest.raises(InputTextError, match="none was given"):
        silent.decode("")
    with pytest.raises(InputTextError, match=r"1\.0 s.*at most 1 s"):
        reader.reading("long", speech_zoo.sound(1.01)).decode("")
    assert len(reader.trace_sound(speech_zoo.sound(1.0)).source_tokens) == 50


@pytest.mark.parametrize("kind", ["moonshine", "speech_to_text"])
def test_models_that_are_told_nothing_write_what_generate_writes(
    speech: Folder, heard: Callable[[str], SpeechReader], kind: str
) -> None:
    session = heard(kind).decode("")
    session.run()
    model, given = eager(speech(kind))
    found = model.generate(**given, max_new_tokens=session.max_steps, max_length=None, do_sample=False, num_beams=1)
    assert list(session.target_ids) == found[0].tolist()
    assert heard(kind).offered.writes == ()


@pytest.mark.parametrize("kind", often(speech_zoo.ENCODERS, ("wav2vec2",)))
def test_encoders_alone_show_the_attention_of_the_eager_model(speech: Folder, kind: str) -> None:
    reader = open_reader(speech(kind), "cpu")
    assert isinstance(reader, SoundReader)
    trace = reader.trace_sound(speech_zoo.sound(), extras={"hook_head_output"})
    model = transformers.AutoModel.from_pretrained(speech(kind), attn_implementation="eager").eval()
    extractor = transformers.AutoFeatureExtractor.from_pretrained(speech(kind))
    given = extractor(speech_zoo.sound().samples, sampling_rate=speech_zoo.RATE, return_tensors="pt")
    with torch.inference_mode():
        expected = model(given["input_values"], output_attentions=True).attentions
    assert trace.shapes == {"encoder.self": (3, 4)}
    for layer, weights in enumerate(expected):
        torch.testing.assert_close(trace.weights("encoder.self", layer), weights[0], atol=1e-5, rtol=0)
        assert trace.head_output_deviation("encoder.self", layer) <= trace.head_output_tolerance("encoder.self", layer)
    assert reads_in(speech(kind)) == "sound"
    assert folder_with_model(str(speech(kind))) == speech(kind)
    whole = reader.abilities.whole
    assert whole is not None
    assert set(whole.unused.values()) == ({"head"} if kind == "wav2vec2" else set())
    assert not whole.unread
    assert {"circuits", "embeddings", "positional encodings"} <= reader.abilities.lacks.keys()
    with pytest.raises(InputTextError, match="no decoder"):
        reader.reading("tone", speech_zoo.sound()).trace("", "a target")


def test_frames_are_called_by_their_times(heard: Callable[[str], SpeechReader], speech: Folder) -> None:
    lengths = {"whisper": 0.02, "moonshine": 0.024, "speech_to_text": 0.04}
    for kind, seconds in lengths.items():
        source = heard(kind).source_of("", heard(kind).source(""))
        assert source.waveform is not None
        assert source.waveform.seconds_per_frame == pytest.approx(seconds)
        assert source.waveform.rate == speech_zoo.RATE
    source = open_reader(speech("hubert"), "cpu").reading("", speech_zoo.sound()).trace("").source
    assert source.waveform is not None
    assert source.waveform.seconds_per_frame == pytest.approx(0.02)


@pytest.mark.parametrize("kind", ["whisper", "speech_to_text"])
def test_the_parts_of_both_stacks_add_up_to_scores(heard: Callable[[str], SpeechReader], kind: str) -> None:
    check_parts_add_up(heard(kind))


def test_a_trail_reads_spans_of_time_whose_shares_are_those_of_their_frames(
    heard: Callable[[str], SpeechReader],
) -> None:
    reader = heard("whisper")
    trace = reader.trace("", "it was tired")
    asked = Question(site="decoder.cross", layer=1, head=1, row=5, key=12, rival=30)
    reason = explain(reader.parts, trace, asked)
    read = follow_trail(reason, ("q", "c1")).levels[-1]
    frames = reason.query.follow(Part("cross", "decoder", 0)).words()[0]
    spans = {bar.position: bar for bar in read.words if bar.position is not None}
    # A sound of 0.7 s has 35 frames; the silence after it is one span.
    assert {bar.trail[-1] for bar in spans.values()} == {*(f"s{at}x5" for at in range(0, 35, 5)), "s35x15"}
    for first, bar in spans.items():
        assert bar.share == pytest.approx(sum(frames[at] for at in range(first, first + bar.count)), abs=1e-6)
    assert sum(bar.share for bar in read.words) == pytest.approx(read.total, abs=1e-5)
    trail = follow_trail(reason, ("q", "c1", "s10x5", "e3", "s35x15"))
    assert trail.refused is None
    (_, part, span, layer, silence) = trail.levels[-5:]
    assert span.total == pytest.approx(spans[10].share, abs=1e-6)
    assert sum(bar.share for bar in span.parts) == pytest.approx(span.total, abs=1e-4)
    assert silence.total == pytest.approx(next(bar.share for bar in layer.words if bar.position == 35), abs=1e-6)
    (alone,) = products(reason, [asked_at(follow_trail(reason, part.trail), "s10x5+s35x15")])
    assert isinstance(alone, Product)
    assert alone.share == pytest.approx(spans[10].share + spans[35].share, abs=1e-5)
    assert abs(default_rival(asked, trace) - asked.key) >= 5


@pytest.mark.parametrize("named", [["WhisperForCausalLM"], ["Whisper"], None])
def test_a_folder_opens_as_the_class_that_hears_and_writes_whatever_it_says(
    speech: Folder, tmp_path: Path, named: list[str] | None
) -> None:
    folder = copied(speech("whisper"), tmp_path)
    set_config(folder, architectures=named)
    assert reads_in(folder) == "sound"
    assert folder_with_model(str(folder)) == folder
    whole = open_reader(folder, "cpu").abilities.whole
    assert whole is not None
    assert whole.opened_as.startswith("WhisperForConditionalGeneration; ")
    assert not whole.unused
    assert whole.used == len(load_file(folder / "model.safetensors"))


def copied(folder: Path, to: Path) -> Path:
    for file in folder.iterdir():
        (to / file.name).write_bytes(file.read_bytes())
    return to


def lacking(name: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        tensors = load_file(folder / "model.safetensors")
        del tensors[name]
        save_file(tensors, folder / "model.safetensors")

    return change


def test_a_decoder_says_how_it_knows_positions_where_its_encoder_does_otherwise(
    speech: Folder, tmp_path: Path, heard: Callable[[str], SpeechReader]
) -> None:
    folder = copied(speech("whisper"), tmp_path)
    tensors = load_file(folder / "model.safetensors")
    table = tensors["model.encoder.embed_positions.weight"]
    sines = sinusoidal_encoding(*table.shape, layout="halves").contiguous()
    save_file(tensors | {"model.encoder.embed_positions.weight": sines}, folder / "model.safetensors")
    found = [reader.abilities for reader in (open_reader(folder, "cpu"), heard("speech_to_text"), heard("moonshine"))]
    assert [(each.positions, each.target_positions) for each in found] == [
        ("sinusoidal", "learned"),
        ("sinusoidal", None),
        ("rotary", None),
    ]
    rows = dict(describe(open_reader(folder, "cpu")).rows)
    assert rows["Positions"] == "encoder: sinusoidal; decoder: learned"
    assert rows["Writes at most"] == f"{found[0].max_target_length} tokens"


def one_more(folder: Path) -> None:
    more = {"model.encoder.layers.3.fc1.weight": torch.randn(48, 32)}
    save_file(load_file(folder / "model.safetensors") | more, folder / "model.safetensors")


def extractor(**values: Any) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        file = folder / "preprocessor_config.json"
        file.write_text(json.dumps(json.loads(file.read_text(encoding="utf-8")) | values), encoding="utf-8")

    return change


SPOILED: dict[str, tuple[Callable[[Path], object], str]] = {
    "a layer's tensor less": (lacking("model.encoder.layers.2.fc1.weight"), "lack model.encoder.layers.2.fc1.weight"),
    "no ear": (lacking("model.encoder.conv1.weight"), "lack model.encoder.conv1.weight"),
    "a layer's tensor more": (one_more, "contain model.encoder.layers.3.fc1.weight"),
    "another window": (extractor(chunk_length=2, n_samples=32_000, nb_max_frames=200), "length 100, but found 200"),
    "an endless window": (extractor(chunk_length=10**9), "chunk_length = 1000000000; 1 to 60"),
    "no rate": (extractor(sampling_rate="fast"), "sampling_rate = 'fast'; 1 to"),
    "nothing that hears": (lambda folder: (folder / "preprocessor_config.json").unlink(), "The feature extractor in"),
}


@pytest.mark.parametrize("what", SPOILED)
def test_a_spoiled_folder_is_refused_with_what_is_wrong(speech: Folder, tmp_path: Path, what: str) -> None:
    change, words = SPOILED[what]
    folder = copied(speech("whisper"), tmp_path)
    change(folder)
    refused(folder, words)


def test_an_encoder_of_speech_joined_with_any_decoder_is_refused_in_a_sentence(speech: Folder, tmp_path: Path) -> None:
    encoder = transformers.Wav2Vec2Config.from_pretrained(speech("wav2vec2"))
    decoder = transformers.BertConfig(hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=40)
    config = transformers.SpeechEncoderDecoderConfig.from_encoder_decoder_configs(encoder, decoder)
    transformers.SpeechEncoderDecoderModel(config=config).save_pretrained(tmp_path)
    refused(tmp_path, "an encoder combined with the decoder")
