"""The commands that measure heads over a person's sentences."""

import argparse
import sys
from pathlib import Path

from tqdm import tqdm

from model import cluster
from model.analysis.atlas.file import save_atlas
from model.analysis.atlas.measure import build_atlas
from model.analysis.coreference.case_files import cases_for
from model.analysis.corpus import OWN_CORPUS, Corpus, read_text
from model.analysis.data_files import Columns
from model.analysis.metrics.alignment import read_alignments
from model.analysis.moved_heads import moved_heads
from model.analysis.moved_report import moved_csv, moved_json, moved_report
from model.analysis.report import atlas_csv, atlas_json, atlas_report
from model.arguments import COUNT, MOST, WholeNumber, path
from model.file_writing import STANDARD_OUTPUT, check_writable, json_text, write_text
from model.opening import open_reader
from model.temporary_folders import cached_folder


def add_atlas(parser: argparse.ArgumentParser) -> None:
    """The options; those that commands share are added where all are."""
    add_corpus(parser)
    parser.add_argument("--align", type=path, metavar="FILE.jsonl", help="alignments made by hand, for error rates")
    text = "leave out as keys what heads rest on: special tokens, punctuation, a decoder's first token"
    parser.add_argument("--without-sinks", dest="sinks", action="store_false", help=text)
    text = "the file to write, or - for standard output; what is printed then goes to standard error"
    parser.add_argument("--out", type=path, required=True, metavar="FILE.npz", help=text)
    text = "also write every metric of every head with its interval, a row for each head"
    parser.add_argument("--csv", type=path, metavar="FILE.csv", help=text)


def add_corpus(parser: argparse.ArgumentParser) -> None:
    """The options of a command that reads sentences."""
    text = (
        "a sentence a line, or English TAB German; .csv, .tsv, .jsonl, packed too (.gz, .xz, .bz2), .parquet, or a "
        "folder that the library datasets saved (200 sentences of ours)"
    )
    parser.add_argument("--text", type=path, metavar="FILE", help=text)
    parser.add_argument("--column", default="", metavar="NAME", help="column of the sentences (default “text”)")
    text = "column of translations to read along (default “translation”, if there is one)"
    parser.add_argument("--translation-column", default="", metavar="NAME", help=text)
    parser.add_argument("--limit", type=COUNT, metavar="N", help="only the first N sentences")
    parser.add_argument(
        "--sample", type=COUNT, metavar="N", help="N sentences drawn from all, on every machine the same"
    )
    parser.add_argument("--seed", type=WholeNumber(0, MOST), default=0, metavar="S", help="of the sample (default 0)")


def given_corpus(arguments: argparse.Namespace) -> Corpus:
    """What these options name. Raises as `read_text`."""
    columns = Columns(arguments.column, arguments.translation_column)
    file, sample, seed = arguments.text or OWN_CORPUS, arguments.sample, arguments.seed
    return read_text(file, arguments.limit, columns=columns, sample=sample, seed=seed)


def unfinished_beside(out: Path) -> Path | None:
    """Where a command that writes this file keeps its chunks: after a kill it goes on where it was."""
    is_file = out != STANDARD_OUTPUT and (out.is_file() or not out.exists())
    return out.with_name(f"{out.name}.unfinished") if is_file else None


def run_atlas(arguments: argparse.Namespace) -> None:
    """Write the atlas of a model's heads over a corpus."""
    check_writable(arguments.out)
    if arguments.csv:
        check_writable(arguments.csv)
    sentences = given_corpus(arguments)
    aligned = read_alignments(arguments.align) if arguments.align else []
    reader = open_reader(arguments.checkpoint, arguments.device, arguments.dtype)
    unfinished = unfinished_beside(arguments.out)
    where, total = cluster.computing(arguments, (arguments.checkpoint, reader)), len(sentences) + len(aligned)
    with where, tqdm(total=total, unit="sentence") as bar:
        atlas = build_atlas(
            reader, sentences, aligned, bar.update, cases_for(reader), unfinished, sinks=arguments.sinks
        )
    save_atlas(atlas, arguments.out)
    if arguments.csv:
        write_text(arguments.csv, atlas_csv(atlas))
    report = json_text(atlas_json(atlas)) if arguments.json else atlas_report(atlas)
    print(report, file=sys.stderr if arguments.out == STANDARD_OUTPUT else sys.stdout)
    print(arguments.out, file=sys.stderr)


def add_compare(parser: argparse.ArgumentParser) -> None:
    """The options; those that commands share are added where all are."""
    parser.add_argument("first", type=path, metavar="FIRST", help="a folder with a model")
    text = "a folder with a model that has the same heads, such as the first one fine-tuned or quantised"
    parser.add_argument("second", type=path, metavar="SECOND", help=text)
    add_corpus(parser)
    text = "also write how far each head moved, and its metrics in both models"
    parser.add_argument("--csv", type=path, metavar="FILE.csv", help=text)


def run_compare(arguments: argparse.Namespace) -> None:
    """Print which heads differ most between two models over a corpus."""
    if arguments.csv:
        check_writable(arguments.csv)
    texts = given_corpus(arguments)
    folders = arguments.first, arguments.second
    first, second = (open_reader(folder, arguments.device, arguments.dtype) for folder in folders)
    where = cluster.computing(arguments, (folders[0], first), (folders[1], second))
    with where, tqdm(total=len(texts), unit="sentence") as bar:
        found = moved_heads(first, second, texts, bar.update, cached_folder("unfinished"))
    if arguments.csv:
        write_text(arguments.csv, moved_csv(found))
    print(json_text(moved_json(found)) if arguments.json else moved_report(found))
