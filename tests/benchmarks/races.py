"""Race recipes of training from a checkpoint's weights: python -m tests.benchmarks.races --data DIR [RECIPE ...].

Each recipe trains for about as much computing as 182 steps of 3,000 tokens a side take (some eight minutes of one
quiet core): one with longer texts or two passes takes fewer steps. Then it is scored on development sets alone. DIR has
`train`, `dev`, `dictionary` and `monolingual`; a set's weight is that of the checkpoint's training.json.

`reverse` trains the German → English model, 550 steps from the same weights. `back` adds its translations of German
sentences that have no English, `twice` adds what the checkpoint makes of English sides of the training pairs.
"""

from model import stopping

if __name__ == "__main__":
    # Before what takes seconds to import.
    stopping.end_at_once()

import argparse
import json
import lzma
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import sentencepiece as spm
import torch

from model import checkpoint as checkpoints
from model.checkpoint import Checkpoint
from model.decoding.search import translate_all
from model.evaluation import evaluate
from model.nn.encoder_decoder import EncoderDecoder
from model.pairs import Pair, read_pairs
from model.training import batches, made_sets
from model.training.batches import Example
from model.training.loop import TrainingRun, TrainSettings
from model.training.made_sets import MadeSets
from model.training.pronouns import held_out_twins, pronouns_in
from model.training.typed_variants import MAX_TRAINING_TOKENS, encode_with_variants

SEED: Final = 61
SHARES: Final = {"pronouns": 0.19, "nouns": 0.17, "copying": 0.04}
#: How many sentences of each made set are drawn.
DRAWN: Final = {"PRONOUN_PAIRS": 100_000, "NOUN_PAIRS": 100_000, "COPYING_PAIRS": 10_000}
TYPED: Final = 0.12
DEV: Final = {"multi30k_val": 1014, "tatoeba_dev": 2000, "newstest2013": 600}
TAUGHT: Final[Mapping[str, Any]] = {"taught": 10.0, "taught_layer": 4, "taught_head": 7, "emphasis": 4.0}
MUON: Final[Mapping[str, Any]] = {"tokens_per_batch": 3000, "decay": "linear", "optimizer": "muon", "dev_every": 10**6}


@dataclass(frozen=True)
class Recipe:
    """What one run does."""

    steps: int = 182
    dropout: float = 0.2
    sampled: tuple[str, ...] = ()  #: sides of real pairs that are cut anew every time (Kudo 2018, α 0.1)
    added: tuple[str, ...] = ()  #: further sets, `back` or `twice`
    settings: Mapping[str, Any] = field(default_factory=dict)
    averaged: int = 5  #: how many of the last states, a 25th of the run apart


RECIPES: Final = {
    "none": Recipe(steps=0),
    "base": Recipe(),
    "dropout 0.1": Recipe(dropout=0.1),
    "dropout 0.3": Recipe(dropout=0.3),
    "sampled source": Recipe(steps=148, sampled=("source",)),
    "sampled both": Recipe(steps=121, sampled=("source", "target")),
    "R-Drop": Recipe(steps=83, settings={"consistency": 2.0}),
    "20 states": Recipe(averaged=20),
    "batches of 15,000": Recipe(steps=36, settings={"tokens_per_batch": 15_000}),
    "back": Recipe(added=("back",)),
    "back and twice": Recipe(added=("back", "twice")),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("recipes", nargs="*", help=f"{', '.join(RECIPES)}; default: all")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--checkpoint", type=Path, default=Path("checkpoints/en-de"))
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--runs", type=Path, default=Path("runs/races"))
    arguments = parser.parse_args()
    if unknown := set(arguments.recipes) - set(RECIPES):
        parser.error(f"there is no recipe {', '.join(sorted(unknown))}; there are {', '.join(RECIPES)}")
    torch.set_num_threads(1)
    arguments.runs.mkdir(parents=True, exist_ok=True)
    for name, amount in DRAWN.items():
        setattr(made_sets, name, amount)
    origin = checkpoints.load_checkpoint(arguments.checkpoint, torch.device("cpu"))
    pairs = real_pairs(arguments.data, arguments.checkpoint)
    sets = encoded(pairs, origin, TYPED, arguments.seed)
    made = MadeSets(SHARES, arguments.data / "dictionary", TYPED, arguments.seed, frozenset(), linked=True)
    sets |= made.examples(list(sets.values()), origin.tokenizer)
    for name in arguments.recipes or RECIPES:
        recipe = RECIPES[name]
        more = {each: (added_pairs(each, arguments, pairs), 1.0) for each in recipe.added}
        examples = [example for of_set in (sets | encoded(more, origin, 0.0, SEED)).values() for example in of_set]
        folder = arguments.runs / f"{name.replace(' ', '-')}-{arguments.seed}"
        model = trained(folder, recipe, examples, origin, arguments.seed)
        found = scores(model, origin, arguments.data)
        print(json.dumps({"recipe": name, "seed": arguments.seed, "steps": recipe.steps, **found}), flush=True)


def real_pairs(data: Path, checkpoint: Path) -> dict[str, tuple[list[Pair], float]]:
    """The sets that the checkpoint was trained on and that are below the folder, with their weights."""
    record = json.loads((checkpoint / "training.json").read_text(encoding="utf-8"))["data"]
    files = {one["name"]: (data / "train" / f"{one['name']}.tsv.xz", one["weight"]) for one in record}
    return {name: (read_pairs(file), weight) for name, (file, weight) in files.items() if file.exists()}


def encoded(
    pairs: Mapping[str, tuple[Sequence[Pair], float]], origin: Checkpoint, typed: float, seed: int
) -> dict[str, list[Example]]:
    return {
        name: encode_with_variants(of_set, origin.tokenizer, typed, seed, weight)
        for name, (of_set, weight) in pairs.items()
    }


def trained(folder: Path, recipe: Recipe, examples: Sequence[Example], origin: Checkpoint, seed: int) -> EncoderDecoder:
    """The model after a recipe, its last states averaged; a run that was stopped goes on."""
    if not recipe.steps:
        return origin.model
    settings = TrainSettings(
        **{**MUON, **TAUGHT, "peak": 5e-4, "warmup": 20, **recipe.settings},
        steps=recipe.steps, save_every=max(1, recipe.steps // 25), average=recipe.averaged, seed=seed,
    )  # fmt: skip
    config = replace(origin.model.config, dropout=recipe.dropout)
    run = TrainingRun(folder, config, origin.tokenizer, settings, torch.device("cpu"))
    run.start_from(origin.model)
    with cut_anew(recipe.sampled, origin, seed):
        return run.train(examples, {})


@contextmanager
def cut_anew(sides: Sequence[str], origin: Checkpoint, seed: int) -> Iterator[None]:
    """Cut these sides of every pair into random pieces whenever it is shown, but not where a head is taught."""
    processor, collate = spm.SentencePieceProcessor(model_proto=origin.tokenizer.serialized), batches.collate
    spm.set_random_generator_seed(seed)

    def cut(ids: list[int]) -> list[int]:
        text = origin.tokenizer.decode(ids)
        others = processor.encode(text, enable_sampling=True, alpha=0.1, nbest_size=-1)
        return others if 0 < len(others) <= MAX_TRAINING_TOKENS else ids

    def sampled(examples: Sequence[Example], *others: Any) -> batches.Batch:
        changed = [
            example
            if example.link
            else example._replace(
                source=cut(example.source) if "source" in sides else example.source,
                target=cut(example.target) if "target" in sides else example.target,
            )
            for example in examples
        ]
        return collate(changed, *others)

    with patch.object(batches, "collate", sampled):
        yield


def added_pairs(
    name: str, arguments: argparse.Namespace, real: Mapping[str, tuple[Sequence[Pair], float]]
) -> list[Pair]:
    """The pairs of a made translation, kept in a file; those whose lengths differ much are left out."""
    file, rng = arguments.runs / f"{name}.tsv", random.Random(SEED)
    if not file.exists():
        origin = checkpoints.load_checkpoint(arguments.checkpoint, torch.device("cpu"))
        if name == "back":
            with lzma.open(arguments.data / "monolingual" / "german_only.txt.xz", "rt", encoding="utf-8") as lines:
                texts = [text for line in lines if 3 <= len((text := line.strip()).split()) <= 30 and "\t" not in text]
            rng.shuffle(texts)
            del texts[20_000:]
            model = reverse(arguments.runs / "reverse", origin, real)
            turned = {
                name: [Pair(*pair[::-1]) for pair in read_pairs(arguments.data / "dev" / f"{name}.tsv.xz", 500)]
                for name in DEV
            }
            found = {name: evaluate(model, origin.tokenizer, pairs).bleu for name, pairs in turned.items()}
            print(json.dumps({"recipe": "reverse", **found}), flush=True)
        else:
            texts, model = [], origin.model
            for of_set, count in (("tatoeba", 8), ("multi30k", 6), ("wmt_news_2017_2018", 3), ("deb_games", 3)):
                short = [pair.source for pair in real[of_set][0] if 2 <= len(pair.source.split()) <= 30]
                texts += rng.sample(short, 1000 * count)
        texts.sort(key=len)
        with torch.inference_mode():
            made = translate_all(model.eval(), origin.tokenizer, texts)
        told = [(made, text) if name == "back" else (text, made) for text, made in zip(texts, made, strict=True)]
        lines = [f"{a.strip()}\t{b.strip()}\n" for a, b in told if 0.4 < (len(a) + 5) / (len(b) + 5) < 2.5]
        file.write_text("".join(lines), encoding="utf-8")
    return read_pairs(file)


def reverse(folder: Path, origin: Checkpoint, real: Mapping[str, tuple[Sequence[Pair], float]]) -> EncoderDecoder:
    """A model from German to English, trained on the real pairs from the same weights."""
    turned = {name: ([Pair(*pair[::-1]) for pair in pairs], weight) for name, (pairs, weight) in real.items()}
    examples = [example for of_set in encoded(turned, origin, 0.0, SEED).values() for example in of_set]
    settings = TrainSettings(**MUON, steps=550, peak=2e-3, warmup=60, save_every=25, average=5, seed=SEED)
    config = replace(origin.model.config, dropout=0.1)
    run = TrainingRun(folder, config, origin.tokenizer, settings, torch.device("cpu"))
    run.start_from(origin.model)
    return run.train(examples, {})


def scores(model: EncoderDecoder, origin: Checkpoint, data: Path) -> dict[str, float]:
    """BLEU, greedy, on the first pairs of the dev sets, and pairs of which both pronouns are right, in percent."""
    found = {
        name: evaluate(model, origin.tokenizer, read_pairs(data / "dev" / f"{name}.tsv.xz", limit)).bleu
        for name, limit in DEV.items()
    }
    for kind in ("frames", "nouns"):
        twins = held_out_twins(kind, "dev", 300, seed=1)
        sentences = [sentence for twin in twins for sentence in twin]
        with torch.inference_mode():
            written = translate_all(model, origin.tokenizer, [sentence.source for sentence in sentences])
        right = [pronouns_in(a) == pronouns_in(b.target) for a, b in zip(written, sentences, strict=True)]
        found[kind] = 100 * sum(map(all, zip(right[::2], right[1::2], strict=True))) / len(twins)
    return found


if __name__ == "__main__":
    stopping.leave(main)
