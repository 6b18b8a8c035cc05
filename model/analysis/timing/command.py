"""The command `python -m model timing`: score the heads of a speech model on a folder of sounds with word times."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import torch
from tqdm import tqdm

from model.analysis.metrics.head_metrics import LayerHead
from model.analysis.timing.report import timing_json, timing_report
from model.analysis.timing.scores import Heard, WrittenWord, score_timing
from model.analysis.timing.warping import smoothed
from model.analysis.timing.word_times import READERS, WordTime, read_word_times
from model.arguments import path
from model.errors import DataError, TraceError
from model.file_writing import json_text
from model.folder_files import entries, read_as_data
from model.opening import open_reader
from model.sources.source import SoundSource
from model.trace.axes import whole_words
from model.trace.trace import Trace

SITE: Final = "decoder.cross"
SOUNDS: Final = (".wav", ".flac", ".ogg", ".mp3")
#: What is held of all heads over all sounds, in numbers of four bytes: 4 GiB.
MOST_NUMBERS: Final = 1 << 30


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What `run` reads."""
    text = "a speech model that writes, such as Whisper"
    parser.add_argument("--model", type=path, required=True, metavar="FOLDER", help=text)
    text = f"sounds ({', '.join(SOUNDS)}), and beside each its word times ({', '.join(READERS)})"
    parser.add_argument("--data", type=path, required=True, metavar="DIR", help=text)
    parser.add_argument("--device", help="cpu, cuda or cuda:N (default: CUDA if present)")
    parser.add_argument("--dtype", default="float32", help="float32 (default), or bfloat16 on CUDA")
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def run(arguments: argparse.Namespace) -> None:
    """Print how well each head keeps time, and which set does."""
    # It brings transformers along, which no other command needs to start.
    from model.adapters.speech_reader import SpeechReader

    files = sounds_in(arguments.data)
    reader = open_reader(arguments.model, arguments.device, arguments.dtype)
    if not isinstance(reader, SpeechReader):
        message = "{name} writes nothing about sounds; give the folder of a speech model such as Whisper."
        raise DataError(message, name=arguments.model.name)
    heard: list[Heard] = []
    numbers = 0
    for sound, times in tqdm(files, unit="sound"):
        heard.append(heard_in(reader.of_file(str(sound)).trace(""), read_word_times(times)))
        numbers += heard[-1].matrices.numel()
        if numbers > MOST_NUMBERS:
            message = "The heads of these sounds take more than {most} GiB; give fewer or shorter sounds."
            raise DataError(message, most=4 * MOST_NUMBERS >> 30)
    heads = [LayerHead(i, j) for i, count in enumerate(reader.abilities.heads[SITE]) for j in range(count)]
    scores = score_timing(heard, heads, [LayerHead(*head) for head in reader.alignment_heads])
    name = arguments.data.name
    print(json_text({"set": name, **timing_json(scores)}) if arguments.json else timing_report(name, scores))


def sounds_in(folder: Path) -> list[tuple[Path, Path]]:
    """The sounds of a folder, each with its word times. Raises a DataError if one has none, or there is no sound."""
    with read_as_data(folder):
        files = entries(folder)
    times = {file.stem: file for file in files if file.suffix.lower() in READERS}
    sounds = [file for file in files if file.suffix.lower() in SOUNDS]
    if not sounds:
        raise DataError("{name} contains no sound ({endings}).", name=folder, endings=", ".join(SOUNDS))
    for sound in sounds:
        if sound.stem not in times:
            message = "{name} has no file of word times; expected {stem} with one of {endings}."
            raise DataError(message, name=sound, stem=sound.stem, endings=", ".join(READERS))
    return [(sound, times[sound.stem]) for sound in sounds]


def heard_in(trace: Trace, given: Sequence[WordTime] = (), begin: float = 0.0) -> Heard:
    """What cross-attention did while a trace's words were written.

    Raises a TraceError if it is of no sound, or nothing was written. The frames of the silence that was filled in after
    the sound are left out. `given` and `begin` are as in `Heard`.
    """
    source = trace.source
    if not isinstance(source, SoundSource) or SITE not in trace.sites or not trace.steps:
        raise TraceError("Word times need a sound, and words that a model with cross-attention wrote about it.")
    of_layers = (trace.weights(SITE, layer)[:, trace.rows_before :] for layer in range(trace.layers_of(SITE)))
    written = whole_words(trace.written_tokens(SITE), trace.special_tokens)
    words = written.without_special_tokens(trace.special_tokens)
    return Heard(
        name=trace.text,
        words=tuple(
            WrittenWord(label, group[0], group[-1] + 1) for label, group in zip(words.labels, words.groups, strict=True)
        ),
        matrices=torch.cat([smoothed(weights, source.sounding) for weights in of_layers]),
        frame_seconds=source.waveform.seconds_per_frame,
        begin=begin,
        given=tuple(given),
    )
