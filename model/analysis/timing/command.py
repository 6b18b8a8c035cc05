"""The command `python -m model timing`: score the heads of a speech model on a folder of sounds with word times."""

import argparse

from tqdm import tqdm

from model.analysis.timing.report import timing_json, timing_report
from model.analysis.timing.scores import score_timing
from model.analysis.timing.word_times import READERS, SOUNDS, read_word_times, sounds_in
from model.arguments import path
from model.file_writing import json_text
from model.opening import open_reader


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
    from model.analysis.timing.recordings import Transcripts, as_speech_writer, heads_of

    files = sounds_in(arguments.data)
    reader = as_speech_writer(open_reader(arguments.model, arguments.device, arguments.dtype), arguments.model.name)
    transcripts = Transcripts()
    for sound, times in tqdm(files, unit="sound"):
        transcripts.add(reader.trace(str(sound)), read_word_times(times))
    scores = score_timing(transcripts.all, *heads_of(reader))
    name = arguments.data.name
    print(json_text({"set": name, **timing_json(scores)}) if arguments.json else timing_report(name, scores))
