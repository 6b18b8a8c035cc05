"""The commands `pronouns` and `copying`: they score what a translator writes of sentences held out from training."""

import argparse
import json

from tqdm import tqdm

from model.arguments import WholeNumber
from model.evaluation import translate_all
from model.opening import open_translator

SENTENCES = 200


def add_pronoun_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `pronouns`, but for those that all commands have."""
    parser.add_argument("--part", choices=("dev", "test"), default="test", help="which held-out part (default test)")
    parser.add_argument(
        "--pairs", type=WholeNumber(1, 10_000), default=500, metavar="N", help="minimal pairs of each kind (500)"
    )


def pronouns(arguments: argparse.Namespace) -> None:
    """Print how often “it” becomes the right pronoun in German."""
    from model.analysis.coreference.held_out_pronouns import score_held_out
    from model.analysis.report import pronoun_json, pronoun_report

    translator = open_translator(arguments.checkpoint, arguments.device, arguments.dtype)
    with tqdm(unit="sentence") as bar:
        scores = score_held_out(
            lambda texts: translate_all(translator.model, translator.tokenizer, texts, progress=bar.update),
            arguments.part,
            arguments.pairs,
        )
    print(json.dumps({"part": arguments.part, **pronoun_json(scores)}) if arguments.json else pronoun_report(scores))


def add_copying_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of `copying`, but for those that all commands have."""
    text = f"sentences with made-up words, names and numbers (default {SENTENCES})"
    parser.add_argument("--sentences", type=WholeNumber(1, 100_000), default=SENTENCES, metavar="N", help=text)


def copying(arguments: argparse.Namespace) -> None:
    """Print how often made-up words, names and numbers are copied, and how many translations babble."""
    from model.analysis.copied_words import score_copying
    from model.analysis.report import copying_json, copying_report
    from model.training.copying import held_out_copying

    translator = open_translator(arguments.checkpoint, arguments.device, arguments.dtype)
    with tqdm(total=arguments.sentences, unit="sentence") as bar:
        scores = score_copying(
            held_out_copying(arguments.sentences, seed=1),
            lambda texts: translate_all(translator.model, translator.tokenizer, texts, progress=bar.update),
        )
    print(json.dumps(copying_json(scores)) if arguments.json else copying_report(scores))
