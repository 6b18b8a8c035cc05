"""The command line: python -m model translate | evaluate | … | trace | train | ablations.

Exit code 0, 2 with one line on standard error that says what was wrong, or 130 after Ctrl-C. Results go to standard
output, in UTF-8 where that is not a terminal (with --json, one JSON object and nothing else: .github/docs/json.md lists
its fields), progress to standard error.
"""

from model import stopping

if __name__ == "__main__":
    # Before what takes seconds to import.
    stopping.end_at_once("python -m model")

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from tqdm import tqdm

from model import cluster
from model.analysis import corpus_commands
from model.analysis.ablations.measure import measure_runs, release
from model.analysis.ablations.results import save_results
from model.analysis.ablations.table import ablations_report
from model.analysis.coreference.case_files import CURATED, curated_cases, read_pronoun_cases, set_language
from model.analysis.coreference.measure import measure_coreference
from model.analysis.held_out import score_copying, score_held_out
from model.analysis.layer_kinds import Settings, layer_times
from model.analysis.measured_cost import devices
from model.analysis.metrics.alignment import read_alignments, score_alignment
from model.analysis.reasons.over_set import TwinPair, best_known_pair, reasons_over_set, twin_pairs
from model.analysis.reasons.report import reasons_json, reasons_report
from model.analysis.report import (
    alignment_json,
    alignment_report,
    copying_json,
    copying_report,
    coreference_json,
    coreference_report,
    layers_report,
    pronoun_json,
    pronoun_report,
    scores_report,
    steadiness_report,
)
from model.analysis.scoring import SMALLEST, score_costs
from model.analysis.timing import command as timing
from model.arguments import COUNT, WholeNumber, path, short
from model.checkpoint import MANIFEST, load_checkpoint, save_checkpoint
from model.config import LARGEST
from model.description import describe
from model.errors import ConfigError, DataError, HeadlightError, memory_short
from model.evaluation import evaluate_writer
from model.file_writing import check_folder, check_writable, json_text, plain_reason, print_in_utf_8
from model.nn.architectures import grown
from model.opening import as_attending, as_writer, open_reader
from model.pairs import data_set_name, read_pairs
from model.reader import Writer, choose_device
from model.temporary_folders import cached_folder
from model.trace.file import LARGEST as LARGEST_TRACE
from model.trace.file import expected_bytes, save_trace, weight_arrays, weight_bytes
from model.training import command
from model.training.ablations import DEV_SETS, RESULTS, RUNS, files_in
from model.training.copying import held_out_copying
from model.training_record import LANGUAGES

DEFAULT_CHECKPOINT = Path(__file__).parent.parent / "checkpoints" / "en-de"
#: Wider beams find hardly anything else, and take memory for each hypothesis.
BEAM = WholeNumber(1, 100)
#: Sentences with words to be copied.
SENTENCES = 200


class Parser(argparse.ArgumentParser):
    """Reports a wrong option as one line."""

    def error(self, message: str) -> None:  # type: ignore[override]
        """Print the line and leave with exit code 2."""
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


def build_parser() -> argparse.ArgumentParser:
    """All commands and their options."""
    parser = Parser(prog="python -m model", description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True, parser_class=Parser)

    def add(name: str, execute: Callable[[argparse.Namespace], None], text: str) -> Parser:
        added = commands.add_parser(name, help=text)
        added.set_defaults(execute=execute)
        return added

    translate = add("translate", run_translate, "print the translation of a sentence")
    translate.add_argument("text")
    translate.add_argument("--beam", type=BEAM, default=1, metavar="N", help="beam width (default 1: greedy)")

    evaluation = add("evaluate", run_evaluate, "score a TSV file with sacrebleu")
    evaluation.add_argument("--data", type=path, required=True, metavar="FILE", help="TSV file (.tsv, .xz, .gz)")
    evaluation.add_argument("--limit", type=COUNT, metavar="N", help="only the first N pairs")
    text = "print source, reference and translation of every pair before the scores"
    evaluation.add_argument("--show", action="store_true", help=text)
    evaluation.add_argument("--beam", type=BEAM, default=1, metavar="N", help="beam width (default 1: greedy)")

    trace = add("trace", run_trace, "write every attention weight of a sentence to an .npz file")
    trace.add_argument("text")
    trace.add_argument("--target", metavar="TEXT", help="a translation to read along, instead of the model's own")
    text = "the file to write, or - for standard output"
    trace.add_argument("--out", type=path, required=True, metavar="FILE.npz", help=text)
    # Which of the two was meant cannot be known where both are given.
    of_model = trace.add_mutually_exclusive_group()
    text = "a model that transformers saved, instead of a checkpoint of ours"
    of_model.add_argument("--model", type=path, metavar="FOLDER", help=text)

    verify = add("verify", run_verify, "open a model and print how exactly it is shown")
    verify.add_argument("folder", type=path, metavar="FOLDER", help="a model that transformers saved")
    verify.add_argument("--device", help="cpu, cuda or cuda:N (default: CUDA if present)")
    verify.add_argument("--dtype", default="float32", help="float32 (default), or bfloat16 on CUDA")

    align = add("align", run_align, "score cross-attention heads against alignments made by hand")
    align.add_argument("--data", type=path, required=True, metavar="FILE.jsonl", help="rows with en, de and sure")

    coreference = add("coreference", run_coreference, "score heads on what pronouns stand for")
    text = "Winograd or own rows (.jsonl), columns (.tsv), WinoBias lines (.txt); “curated”: the set that ships"
    coreference.add_argument("--data", type=path, required=True, metavar="FILE", help=text)
    coreference.add_argument("--site", choices=("encoder.self", "decoder.cross"), help="one site only (default: both)")
    measures = ("raw", "norm", "rollout")
    coreference.add_argument("--measure", choices=measures, default="raw", help="kind of weight (default raw)")

    reasons = add("reasons", run_reasons, "explain over pairs of texts why a head looks where it looks")
    text = "`text TAB twin` a line, two texts that differ in a word (.tsv, .xz, .gz); by default the set that ships"
    reasons.add_argument("--data", type=path, default=Path("curated"), metavar="FILE", help=text)
    reasons.add_argument("--limit", type=COUNT, metavar="N", help="only the first N pairs")

    timing.add_arguments(add("timing", timing.run, "score the cross-attention heads of a speech model on word times"))

    text = "score the pronouns of translations on held-out minimal pairs"
    pronouns = add("pronouns", run_pronouns, text)
    pronouns.add_argument("--part", choices=("dev", "test"), default="test", help="which held-out part (default test)")
    pronouns.add_argument(
        "--pairs", type=WholeNumber(1, 10_000), default=500, metavar="N", help="minimal pairs of each kind (500)"
    )

    text = "score how translations copy made-up words, names and numbers, and find those that babble"
    copying = add("copying", run_copying, text)
    text = f"sentences with made-up words, names and numbers (default {SENTENCES})"
    copying.add_argument("--sentences", type=WholeNumber(1, 100_000), default=SENTENCES, metavar="N", help=text)

    atlas = add("atlas", corpus_commands.run_atlas, "measure every head over a corpus")
    corpus_commands.add_atlas(atlas)
    compare = add("compare", corpus_commands.run_compare, "say which heads differ most between two models on a corpus")
    corpus_commands.add_compare(compare)

    ablations = add("ablations", run_ablations, "print what each part is worth: the table of all trained ablations")
    text = "folder that holds " + ", ".join(DEV_SETS)
    ablations.add_argument("--data", type=path, required=True, metavar="DIR", help=text)
    text = f"folder of the runs (default {RUNS}); ablations.json is written into it"
    ablations.add_argument("--runs", type=path, default=RUNS, metavar="DIR", help=text)
    ablations.add_argument("--limit", type=COUNT, metavar="N", help="only the first N pairs of each set")
    text = "lay seed 0 of each, with cards and the table, into this folder (the app looks in checkpoints/experiments)"
    ablations.add_argument("--out", type=path, metavar="DIR", help=text)
    ablations.add_argument("--device", help="cpu, cuda or cuda:N (default: CUDA if present)")

    claims = add("claims", run_claims, "measure what score functions and the layers of the paper's Table 1 cost here")
    claims.add_argument(
        "--size",
        type=WholeNumber(SMALLEST, 1 << 20),
        default=2_048,
        metavar="N",
        help="queries and keys (default 2,048)",
    )
    claims.add_argument(
        "--width", type=WholeNumber(1, 1 << 16), default=64, metavar="D", help="d_k, and d of a layer (default 64)"
    )
    claims.add_argument(
        "--kernel", type=WholeNumber(3, 9), choices=(3, 5, 7, 9), default=3, help="k of convolutions (default 3)"
    )
    text = "r of restricted self-attention (default 9)"
    claims.add_argument("--window", type=WholeNumber(3, 33), choices=(3, 5, 9, 17, 33), default=9, help=text)

    growing = add("grow", run_grow, "give a trained pre-norm Transformer more layers that change nothing at first")
    growing.add_argument(
        "--layers",
        type=WholeNumber(1, LARGEST["num_layers"]),
        required=True,
        metavar="N",
        help="of the encoder and the decoder",
    )
    growing.add_argument("--out", type=path, required=True, metavar="DIR", help="checkpoint folder to write")

    over_corpus = (evaluation, align, coreference, reasons, atlas)
    of_one_model = (translate, *over_corpus, pronouns, copying)
    for reporting in (*of_one_model, compare, verify, ablations, claims):
        reporting.add_argument("--json", action="store_true", help="print one JSON object")
    for added in (*of_one_model, of_model, growing):
        added.add_argument("--checkpoint", type=path, default=DEFAULT_CHECKPOINT, metavar="DIR")
    for added in (*of_one_model, compare, trace, growing):
        added.add_argument("--device", help="cpu, cuda or cuda:N (default: CUDA if present)")
    for added in (*of_one_model, compare, trace):
        added.add_argument("--dtype", default="float32", help="float32 (default), or bfloat16 on CUDA")
    for added in (*over_corpus, compare):
        cluster.add_arguments(added)
    command.add_arguments(add("train", command.train, "train a checkpoint, or resume"))
    return parser


def _unfinished() -> Path | None:
    """Where a command that writes no file keeps the results of chunks, so that after a kill it goes on where it was."""
    return cached_folder("unfinished")


def run_translate(arguments: argparse.Namespace) -> None:
    """Print one translation."""
    translation = _writer(arguments).translate(arguments.text, beam=arguments.beam)
    told = {"text": arguments.text, "translation": translation, "beam": arguments.beam}
    print(json_text(told) if arguments.json else translation)


def run_evaluate(arguments: argparse.Namespace) -> None:
    """Print the scores of a file."""
    pairs = read_pairs(arguments.data, arguments.limit)
    writer = _writer(arguments)
    outputs: list[str] = []
    with cluster.computing(arguments, (arguments.checkpoint, writer)), tqdm(total=len(pairs), unit="sentence") as bar:
        scores = evaluate_writer(
            writer, pairs, beam=arguments.beam, progress=bar.update, collect=outputs.append, unfinished=_unfinished()
        )
    shown = [(*pair, output) for pair, output in zip(pairs, outputs, strict=True)] if arguments.show else []
    if arguments.json:
        rows = [dict(zip(("source", "reference", "translation"), row, strict=True)) for row in shown]
        translations = {"translations": rows} if arguments.show else {}
        print(json_text({"set": data_set_name(arguments.data), **asdict(scores), **translations}))
    else:
        for source, reference, output in shown:
            print(f"{source}\n  reference    {reference}\n  translation  {output}\n")
        print(f"BLEU {scores.bleu}  chrF {scores.chrf}")
        print(f"{scores.sentences} sentences, {scores.seconds} s on {scores.device}", file=sys.stderr)
    if scores.cut:
        most = (writer.abilities.max_length or 0) - 1
        print(f"{scores.cut} of them are longer than {most:,} tokens, and were cut to as many.", file=sys.stderr)


def run_trace(arguments: argparse.Namespace) -> None:
    """Write one trace with all weights."""
    check_writable(arguments.out)
    reader = as_attending(open_reader(arguments.model or arguments.checkpoint, arguments.device, arguments.dtype))
    trace = reader.trace(arguments.text, arguments.target)
    if (size := expected_bytes(trace) + weight_bytes(trace)) > LARGEST_TRACE:
        message = (
            "The attention weights for this text take {size:.1f} GB, more than the {largest:.1f} GB that a trace file "
            "may hold: shorten the text."
        )
        raise ConfigError(message, size=size / 1e9, largest=LARGEST_TRACE / 1e9)
    save_trace(trace, arguments.out, weight_arrays(trace))
    print(f"{trace.translation}\n{arguments.out}".lstrip("\n"), file=sys.stderr)


def run_verify(arguments: argparse.Namespace) -> None:
    """Print the verdict on a model, and what is known of it."""
    reader = open_reader(arguments.folder, arguments.device, arguments.dtype)
    rows = describe(reader).rows
    if arguments.json:
        facts = {str(name): str(value) for name, value in rows}
        print(json_text({"own": reader.abilities.proof is None, "facts": facts}))
        return
    if not reader.abilities.heads:
        print(reader.abilities.lacks["self-attention"])
    elif reader.abilities.proof is None:
        print("one of Headlight's own: its attention is computed once, and what is shown is what it used")
    for name, value in rows:
        print(f"{name}: {value}")


def run_align(arguments: argparse.Namespace) -> None:
    """Print the alignment error rate of every cross-attention head."""
    pairs = read_alignments(arguments.data)
    translator = _writer(arguments)
    as_attending(translator)
    with (
        cluster.computing(arguments, (arguments.checkpoint, translator)),
        tqdm(total=len(pairs), unit="sentence") as bar,
    ):
        scores = score_alignment(translator, pairs, bar.update, unfinished=_unfinished())
    name = arguments.data.stem
    print(json_text({"set": name, **alignment_json(scores)}) if arguments.json else alignment_report(name, scores))


def run_coreference(arguments: argparse.Namespace) -> None:
    """Print how often each head looks from a pronoun to what it stands for."""
    translator = as_attending(open_reader(arguments.checkpoint, arguments.device, arguments.dtype))
    is_curated = arguments.data == Path("curated")
    file = CURATED[set_language(translator.languages[0])] if is_curated else arguments.data
    read = read_pronoun_cases(file)
    for line in read.rejected:
        print(f"{file.name}, line {line.number}: {line.reason}", file=sys.stderr)
    sites = None if arguments.site is None else (arguments.site,)
    with (
        cluster.computing(arguments, (arguments.checkpoint, translator)),
        tqdm(total=len(read.cases), unit="sentence") as bar,
    ):
        scores = measure_coreference(
            translator, read, sites=sites, measure=arguments.measure, progress=bar.update, unfinished=_unfinished()
        )
    name = file.stem
    print(json_text({"set": name, **coreference_json(scores)}) if arguments.json else coreference_report(name, scores))


def run_reasons(arguments: argparse.Namespace) -> None:
    """Print which sub-layers and words carry the change from a text to its twin."""
    reader = as_attending(open_reader(arguments.checkpoint, arguments.device, arguments.dtype))
    if arguments.data == Path("curated"):
        pairs = twin_pairs(curated_cases(set_language(reader.languages[0])))[: arguments.limit]
    else:
        texts = read_pairs(arguments.data, arguments.limit)
        pairs = tuple(TwinPair(f"pair {number}", text, twin) for number, (text, twin) in enumerate(texts, 1))
    with cluster.computing(arguments, (arguments.checkpoint, reader)), tqdm(unit="pair") as bar:
        found, known, example = reasons_over_set(reader, pairs, bar.update), best_known_pair(), None
        if found.head is not None and reader.languages == LANGUAGES:
            try:
                example = known, reasons_over_set(reader, [known], bar.update, head=found.head)
            except DataError as error:
                print(f"{known.text} {error}", file=sys.stderr)
    name = data_set_name(arguments.data)
    if arguments.json:
        print(json_text({"set": name, **reasons_json(found, example)}))
    else:
        print(reasons_report(name, found, example))


def run_pronouns(arguments: argparse.Namespace) -> None:
    """Print how often “it” becomes the right pronoun in German."""
    writer = _writer(arguments)
    with tqdm(unit="sentence") as bar:
        scores = score_held_out(
            lambda texts: writer.translate_all(texts, progress=bar.update), arguments.part, arguments.pairs
        )
    print(json_text({"part": arguments.part, **pronoun_json(scores)}) if arguments.json else pronoun_report(scores))


def run_copying(arguments: argparse.Namespace) -> None:
    """Print how often made-up words, names and numbers are copied, and how many translations babble."""
    writer = _writer(arguments)
    with tqdm(total=arguments.sentences, unit="sentence") as bar:
        scores = score_copying(
            held_out_copying(arguments.sentences, seed=1),
            lambda texts: writer.translate_all(texts, progress=bar.update),
        )
    print(json_text(copying_json(scores)) if arguments.json else copying_report(scores))


def run_ablations(arguments: argparse.Namespace) -> None:
    """Measure what has not been measured yet, and print the table."""
    if arguments.out is not None:
        check_folder(arguments.out)
    files = files_in(arguments.data, DEV_SETS)
    dev = {data_set_name(file): read_pairs(file, arguments.limit) for file in files}
    device = choose_device(arguments.device)
    results = measure_runs(arguments.runs, dev, device, lambda done: print(done, file=sys.stderr))
    table = arguments.runs / RESULTS
    save_results(results, table)
    if arguments.out is not None:
        release(arguments.runs, results, arguments.out)
    print(json_text(json.loads(table.read_text(encoding="utf-8"))) if arguments.json else ablations_report(results))


def run_claims(arguments: argparse.Namespace) -> None:
    """Measure, and print two tables."""
    size, width, settings = arguments.size, arguments.width, Settings(arguments.kernel, arguments.window)
    with tqdm(unit="measurement") as bar:
        costs = score_costs(size, width, devices(), bar.update)
        times = layer_times(size, width, settings, devices(), bar.update)
    if arguments.json:
        print(json_text({"scores": list(map(asdict, costs)), "layers": asdict(times)}))
        return
    reports = (scores_report(costs, width), layers_report(times), steadiness_report(costs, times))
    print("\n\n".join(reports))


def run_grow(arguments: argparse.Namespace) -> None:
    """Write the same model with more layers, to be trained on."""
    check_folder(arguments.out)
    if (arguments.out / MANIFEST).exists():
        # Its card and scores would stay, and be those of another model.
        raise DataError("{folder} already contains a checkpoint; use another folder.", folder=arguments.out)
    checkpoint = load_checkpoint(arguments.checkpoint, choose_device(arguments.device))
    save_checkpoint(arguments.out, grown(checkpoint.model, arguments.layers), checkpoint.tokenizer)
    print(arguments.out, file=sys.stderr)


def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    return executed(build_parser().parse_args(argv), "python -m model")


def executed(arguments: argparse.Namespace, program: str) -> int:
    """Run `arguments.execute` and return the exit code; an error is a line that begins with the program's name.

    Ctrl-C is such a line, too, and ends with the shell's exit code for it.
    """
    try:
        with stopping.raised():
            arguments.execute(arguments)
    except Exception as error:
        told = error if isinstance(error, HeadlightError) else memory_short(error)
        if isinstance(error, OSError):
            # A file that is open already has no name here: what is printed goes to one.
            file = short(str(error.filename)) if error.filename else "The output or a file"
            told = DataError("{file} cannot be used: {reason}.", file=file, reason=plain_reason(error))
        if told is None:
            raise
        print(f"{program}: {' '.join(str(told).split())}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"\n{program}: Stopped.", file=sys.stderr)
        return stopping.INTERRUPTED
    return 0


def _writer(arguments: argparse.Namespace) -> Writer:
    return as_writer(open_reader(arguments.checkpoint, arguments.device, arguments.dtype))


if __name__ == "__main__":
    print_in_utf_8()
    sys.exit(main())
