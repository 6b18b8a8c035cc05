"""Print what each head of a model does over a corpus, in the sentences of the page Attention.

python -m viz.heads FOLDER                           every head, from texts of ours in the model's language
python -m viz.heads FOLDER --head 5.2 --text FILE    layer 5, head 2 (from 1, as in the app), from texts of your own
"""

from model import stopping
from model.thread_settings import sleep_while_waiting

if __name__ == "__main__":
    # Before what takes seconds to import.
    stopping.end_at_once("python -m viz.heads")
    sleep_while_waiting()

import argparse
import sys
from typing import TYPE_CHECKING, Any, Final

from tqdm import tqdm

from model.__main__ import Parser, executed
from model.analysis.corpus_commands import add_corpus, given_corpus
from model.analysis.head_description.corpora import corpus_for
from model.analysis.head_description.describe import HeadDescription, describe_heads
from model.analysis.head_description.file import cached_in_stages
from model.analysis.head_description.measure import measure_in_stages
from model.arguments import path
from model.errors import DataError
from model.file_writing import json_text, print_in_utf_8
from model.opening import open_reader
from model.temporary_folders import cached_folder
from viz.text import written
from viz.text.head_description import corpus_words, lines

if TYPE_CHECKING:
    from model.analysis.head_description.measure import Measured
    from model.analysis.metrics.head_metrics import HeadName

#: The command.
PROGRAM: Final = "python -m viz.heads"
DIGITS: Final = 6


def build_parser() -> Parser:
    """The options."""
    parser = Parser(prog=PROGRAM, description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=path, metavar="FOLDER", help="a folder with a model")
    text = "only this layer and head, from 1, in every attention that has it; may be given several times"
    parser.add_argument("--head", type=_head, action="append", default=[], metavar="LAYER.HEAD", help=text)
    add_corpus(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--device", help="cpu, cuda or cuda:N (default: CUDA if present)")
    parser.add_argument("--dtype", default="float32", help="float32 (default), or bfloat16 on CUDA")
    parser.set_defaults(execute=run)
    return parser


def _head(text: str) -> tuple[int, int]:
    layer, _, head = text.partition(".")
    if not (layer.isdecimal() and head.isdecimal() and int(layer) and int(head)):
        raise argparse.ArgumentTypeError(f"expected a layer and a head from 1, such as 5.2, got {text!r}")
    return int(layer) - 1, int(head) - 1


def run(arguments: argparse.Namespace) -> None:
    """Measure, or read what an earlier run or the app has measured, and print it."""
    reader = open_reader(arguments.folder, arguments.device, arguments.dtype)
    known = {(layer, head) for of in reader.abilities.heads.values() for layer, n in enumerate(of) for head in range(n)}
    for layer, head in set(arguments.head) - known:
        raise DataError("The model has no layer {layer} with a head {head}.", layer=layer + 1, head=head + 1)
    language, file = "", ""
    if arguments.text is None:
        ours = corpus_for(reader)
        if not ours.language:
            raise DataError("{why} Use your own texts, with --text FILE.", why=ours.why)
        language, texts = ours.language, ours.sentences[: arguments.limit]
    else:
        texts, file = tuple(given_corpus(arguments)), arguments.text.name
    folder = cached_folder("heads")
    with tqdm(total=len(texts), unit="text") as bar:
        stages = (
            measure_in_stages(reader, texts, bar.update)
            if folder is None
            else cached_in_stages(reader, texts, folder, bar.update)
        )
        *_, measured = stages
    described = describe_heads(measured)
    chosen = [described[head] for head in described if not arguments.head or head[1:] in arguments.head]
    corpus = corpus_words(language, file, len(measured.texts), len(measured.texts))
    print(json_text(_json(chosen, measured, corpus)) if arguments.json else _report(chosen, corpus))


def _report(chosen: list[HeadDescription], corpus: str) -> str:
    printed = [corpus]
    for description in chosen:
        said = [f"  {line.sentence}{f' ({line.numbers})' if line.numbers else ''}" for line in lines(description)]
        printed += ["", _name(description.head), *said]
    return "\n".join(printed)


def _name(head: "HeadName") -> str:
    return written.head_label(head.layer, head.head, head.site)


def _json(chosen: list[HeadDescription], measured: "Measured", corpus: str) -> dict[str, Any]:
    """Layers and heads from 0."""
    return {
        "model": measured.model,
        "corpus": measured.corpus,
        "texts": len(measured.texts),
        "named": corpus,
        "heads": [
            {
                **description.head._asdict(),
                "kind": description.kind,
                "sentences": [[line.sentence, line.numbers] for line in lines(description)],
                "rest": round(description.rest.value, DIGITS),
                "metric": None if (main := description.main) is None else main.metric,
                "value": None if main is None else round(main.value, DIGITS),
                "interval": None if main is None else [round(main.low, DIGITS), round(main.high, DIGITS)],
                "uniform": None if main is None or main.even is None else round(main.even, DIGITS),
            }
            for description in chosen
        ],
    }


def main(argv: list[str] | None = None) -> int:
    """Run, and return the exit code."""
    return executed(build_parser().parse_args(argv), PROGRAM)


if __name__ == "__main__":
    print_in_utf_8()
    sys.exit(main())
