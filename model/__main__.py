"""The command line: python -m model translate | evaluate | pronouns | align | coreference | atlas | trace | train.

Exit code 0, or 2 with one line on standard error that says what was wrong. Results go to standard output (with
--json, one JSON object and nothing else), progress to standard error.
"""

import argparse
import json
import sys
from pathlib import Path

from model.errors import ConfigError, HeadlightError

DEFAULT_CHECKPOINT = Path(__file__).parent.parent / "checkpoints" / "en-de"


class Parser(argparse.ArgumentParser):
    """Reports a wrong option as one line."""

    def error(self, message: str) -> None:  # type: ignore[override]
        """Print the line and leave with exit code 2."""
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def build_parser() -> argparse.ArgumentParser:
    """All commands and their options."""
    from model.training import command

    parser = Parser(prog="python -m model", description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True, parser_class=Parser)

    translate = commands.add_parser("translate", help="print the translation of a sentence")
    translate.add_argument("text")
    translate.add_argument("--beam", type=_positive, default=1, metavar="N", help="beam width (default 1: greedy)")
    translate.set_defaults(execute=run_translate)

    evaluate = commands.add_parser("evaluate", help="score a TSV file with sacrebleu")
    evaluate.add_argument("--data", type=Path, required=True, metavar="FILE", help="TSV file (.tsv, .xz, .gz)")
    evaluate.add_argument("--limit", type=_positive, metavar="N", help="only the first N pairs")
    evaluate.add_argument("--beam", type=_positive, default=1, metavar="N", help="beam width (default 1: greedy)")
    evaluate.add_argument("--json", action="store_true", help="print one JSON object")
    evaluate.set_defaults(execute=run_evaluate)

    trace = commands.add_parser("trace", help="write every attention weight of a sentence to an .npz file")
    trace.add_argument("text")
    trace.add_argument("--target", metavar="TEXT", help="a translation to read along, instead of the model's own")
    trace.add_argument("--out", type=Path, required=True, metavar="FILE.npz")
    trace.add_argument(
        "--model", type=Path, metavar="FOLDER", help="a model that transformers saved, instead of a checkpoint of ours"
    )
    trace.set_defaults(execute=run_trace)

    align = commands.add_parser("align", help="score cross-attention heads against alignments made by hand")
    align.add_argument("--data", type=Path, required=True, metavar="FILE.jsonl", help="rows with en, de and sure")
    align.add_argument("--json", action="store_true", help="print one JSON object")
    align.set_defaults(execute=run_align)

    coreference = commands.add_parser("coreference", help="score heads on what pronouns stand for")
    coreference.add_argument(
        "--data",
        required=True,
        metavar="FILE",
        help="Winograd or own rows (.jsonl), columns (.tsv), WinoBias lines (.txt); “curated”: the built-in set",
    )
    coreference.add_argument("--site", choices=("encoder.self", "decoder.cross"), help="one site only (default: both)")
    coreference.add_argument(
        "--measure", choices=("raw", "norm", "rollout"), default="raw", help="kind of weight (default raw)"
    )
    coreference.add_argument("--json", action="store_true", help="print one JSON object")
    coreference.set_defaults(execute=run_coreference)

    pronouns = commands.add_parser("pronouns", help="score the pronouns of translations on held-out minimal pairs")
    pronouns.add_argument("--part", choices=("dev", "test"), default="test", help="which held-out part (default test)")
    pronouns.add_argument("--pairs", type=_positive, default=500, metavar="N", help="minimal pairs of each kind (500)")
    pronouns.add_argument("--json", action="store_true", help="print one JSON object")
    pronouns.set_defaults(execute=run_pronouns)

    atlas = commands.add_parser("atlas", help="measure every head over a corpus")
    atlas.add_argument(
        "--text", type=Path, metavar="FILE", help="a sentence a line, or English TAB German (200 of ours)"
    )
    atlas.add_argument("--align", type=Path, metavar="FILE.jsonl", help="alignments made by hand, for error rates")
    atlas.add_argument("--limit", type=_positive, metavar="N", help="only the first N sentences")
    atlas.add_argument("--out", type=Path, required=True, metavar="FILE.npz")
    atlas.add_argument("--json", action="store_true", help="print one JSON object")
    atlas.set_defaults(execute=run_atlas)

    for command_parser in (translate, evaluate, trace, align, coreference, pronouns, atlas):
        command_parser.add_argument("--checkpoint", type=Path, default=DEFAULT_CHECKPOINT, metavar="DIR")
        command_parser.add_argument("--device", help="cpu, cuda or cuda:N (default: CUDA if present)")
        command_parser.add_argument("--dtype", default="float32", help="float32 (default), or bfloat16 on CUDA")

    train = commands.add_parser("train", help="train a checkpoint, or resume")
    command.add_arguments(train)
    train.set_defaults(execute=command.train)
    return parser


def run_translate(arguments: argparse.Namespace) -> None:
    """Print one translation."""
    from model.translator import Translator

    translator = Translator.load(arguments.checkpoint, device=arguments.device, dtype=arguments.dtype)
    print(translator.translate(arguments.text, beam=arguments.beam))


def run_evaluate(arguments: argparse.Namespace) -> None:
    """Print the scores of a file."""
    from tqdm import tqdm

    from model.evaluation import evaluate
    from model.pairs import data_set_name, read_pairs
    from model.translator import Translator

    pairs = read_pairs(arguments.data, arguments.limit)
    translator = Translator.load(arguments.checkpoint, device=arguments.device, dtype=arguments.dtype)
    with tqdm(total=len(pairs), unit="sentence") as bar:
        scores = evaluate(translator.model, translator.tokenizer, pairs, beam=arguments.beam, progress=bar.update)
    if arguments.json:
        print(json.dumps({"set": data_set_name(arguments.data), **scores.to_dict()}))
    else:
        print(f"BLEU {scores.bleu}  chrF {scores.chrf}")
        print(f"{scores.sentences} sentences, {scores.seconds} s on {scores.device}", file=sys.stderr)


def run_trace(arguments: argparse.Namespace) -> None:
    """Write one trace with all weights."""
    from model.opening import open_reader
    from model.trace.file import save_trace, weight_arrays

    if not arguments.out.parent.is_dir():
        raise ConfigError(f"There is no folder {arguments.out.parent} to write {arguments.out.name} into.")
    reader = open_reader(arguments.model or arguments.checkpoint, arguments.device, arguments.dtype)
    trace = reader.trace(arguments.text, arguments.target)
    save_trace(trace, arguments.out, weight_arrays(trace))
    print(f"{trace.translation}\n{arguments.out}".lstrip("\n"), file=sys.stderr)


def run_align(arguments: argparse.Namespace) -> None:
    """Print the alignment error rate of every cross-attention head."""
    from tqdm import tqdm

    from model.analysis.metrics.alignment import read_alignments, score_alignment
    from model.analysis.report_json import alignment_json
    from model.analysis.report_text import alignment_report
    from model.translator import Translator

    pairs = read_alignments(arguments.data)
    translator = Translator.load(arguments.checkpoint, device=arguments.device, dtype=arguments.dtype)
    with tqdm(total=len(pairs), unit="sentence") as bar:
        scores = score_alignment(translator, pairs, bar.update)
    name = arguments.data.stem
    print(json.dumps({"set": name, **alignment_json(scores)}) if arguments.json else alignment_report(name, scores))


def run_coreference(arguments: argparse.Namespace) -> None:
    """Print how often each head looks from a pronoun to what it stands for."""
    from tqdm import tqdm

    from model.analysis.coreference.case_files import CURATED, read_pronoun_cases
    from model.analysis.coreference.measure_translator import SCORED_SITES, measure_coreference
    from model.analysis.report_json import coreference_json
    from model.analysis.report_text import coreference_report
    from model.translator import Translator

    path = CURATED if arguments.data == "curated" else Path(arguments.data)
    read = read_pronoun_cases(path)
    for line in read.rejected:
        print(f"{path.name}, line {line.number}: {line.reason}", file=sys.stderr)
    translator = Translator.load(arguments.checkpoint, device=arguments.device, dtype=arguments.dtype)
    sites = SCORED_SITES if arguments.site is None else (arguments.site,)
    with tqdm(total=len(read.cases), unit="sentence") as bar:
        scores = measure_coreference(translator, read, sites=sites, measure=arguments.measure, progress=bar.update)
    if arguments.json:
        print(json.dumps({"set": path.stem, **coreference_json(scores)}))
    else:
        print(coreference_report(path.stem, scores))


def run_atlas(arguments: argparse.Namespace) -> None:
    """Write the atlas of a model's heads over a corpus."""
    from tqdm import tqdm

    from model.analysis.atlas.file import save_atlas
    from model.analysis.atlas.measure import build_atlas
    from model.analysis.corpus import OWN_CORPUS, read_text
    from model.analysis.metrics.alignment import read_alignments
    from model.analysis.report_json import atlas_json
    from model.analysis.report_text import atlas_report
    from model.translator import Translator

    if not arguments.out.parent.is_dir():
        raise ConfigError(f"There is no folder {arguments.out.parent} to write {arguments.out.name} into.")
    sentences = read_text(arguments.text or OWN_CORPUS, arguments.limit)
    aligned = read_alignments(arguments.align) if arguments.align else []
    translator = Translator.load(arguments.checkpoint, device=arguments.device, dtype=arguments.dtype)
    with tqdm(total=len(sentences) + 2 * len(aligned), unit="sentence") as bar:
        atlas = build_atlas(translator, sentences, aligned, bar.update)
    save_atlas(atlas, arguments.out)
    print(json.dumps(atlas_json(atlas)) if arguments.json else atlas_report(atlas))
    print(arguments.out, file=sys.stderr)


def run_pronouns(arguments: argparse.Namespace) -> None:
    """Print how often “it” becomes the right pronoun in German."""
    from tqdm import tqdm

    from model.analysis.coreference.held_out_pronouns import score_held_out
    from model.analysis.report_json import pronoun_json
    from model.analysis.report_text import pronoun_report
    from model.evaluation import translate_all
    from model.translator import Translator

    translator = Translator.load(arguments.checkpoint, device=arguments.device, dtype=arguments.dtype)
    with tqdm(unit="sentence") as bar:
        scores = score_held_out(
            lambda texts: translate_all(translator.model, translator.tokenizer, texts, progress=bar.update),
            arguments.part,
            arguments.pairs,
        )
    print(json.dumps({"part": arguments.part, **pronoun_json(scores)}) if arguments.json else pronoun_report(scores))


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = build_parser().parse_args(argv)
    try:
        arguments.execute(arguments)
    except (HeadlightError, OSError) as error:
        print(f"python -m model: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    return 0


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected at least 1, got {value}")
    return value


if __name__ == "__main__":
    sys.exit(main())
