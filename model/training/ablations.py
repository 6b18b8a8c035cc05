"""Name small models that differ from one another in one part each, and what all of them have in common.

`python -m model train --preset NAME --seed S --data FOLDER` trains one. All see the same sentences in the same batches,
take as many steps, and begin with the same seed.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final

from model.config import ConvolutionalConfig, FixedVectorConfig, ModelConfig, RecurrentConfig, TransformerConfig
from model.errors import DataError, Message, said
from model.training.loop import TrainSettings

#: Files below the folder with the data: short sentences, so that a minute of one core reads many.
TRAINING_SETS: Final = ("train/tatoeba.tsv.xz", "train/multi30k.tsv.xz")
DEV_SETS: Final = ("dev/tatoeba_dev.tsv.xz", "dev/multi30k_val.tsv.xz")
#: What their vocabulary makes alike: a letter with two dots, written as one character or two, and kinds of blanks.
LETTERS: Final = Path(__file__).parent / "letters.tsv"
#: Where runs go unless a folder is named: RUNS/NAME-SEED, beside the vocabulary that they share.
RUNS: Final = Path("runs") / "ablations"
#: Beside the models that ship, and in the folder of the runs: the scores of all; in the folder of one run: its film.
RESULTS, FILM = "ablations.json", "film.npz"

# 829,440 parameters: 1.66 MB in 16 bit, so that fifteen models with a vocabulary of 21 kB each stay below 26 MB. Wide
# enough that 16 heads have 8 numbers each; the vocabulary is small because its matrix would be half of the model.
FULL: Final = TransformerConfig(
    vocab_size=1_300, d_model=128, num_layers=2, num_heads=4, d_ff=256,
    dropout=0.1, attention_dropout=0.0, norm="pre", max_length=128,
)  # fmt: skip

# 2,000 batches of at most 1,500 padded tokens a side: about 5 million tokens, three to four minutes of a core of its
# own, where the core multiplies bfloat16 (a half more in float32, `--no-bf16`).
SETTINGS: Final = TrainSettings(
    steps=2_000, tokens_per_batch=1_500, warmup=200, peak=4e-3, bf16=True,
    dev_every=500, save_every=50, average=5, seed=0,
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Preset:
    """A model to train."""

    what: Message  #: how it differs from the full model, in a few words
    config: ModelConfig = FULL  #: its shape
    settings: TrainSettings = SETTINGS  #: how it is trained


ABLATIONS: Final[Mapping[str, Preset]] = MappingProxyType(
    {
        "full": Preset(what=said("4 heads, sinusoidal positions, pre-norm, dropout 0.1, label smoothing 0.1")),
        "single-head": Preset(what=said("1 head with the same total width"), config=replace(FULL, num_heads=1)),
        "two-heads": Preset(what=said("2 heads"), config=replace(FULL, num_heads=2)),
        "sixteen-heads": Preset(what=said("16 heads"), config=replace(FULL, num_heads=16)),
        "no-positions": Preset(what=said("no positional encoding"), config=replace(FULL, positions="none")),
        "learned-positions": Preset(what=said("learned positions"), config=replace(FULL, positions="learned")),
        "no-residual": Preset(what=said("no residual connections"), config=replace(FULL, residual=False)),
        # With 4 heads a dot product of 32 numbers spreads by no more than 5.7; with 1 head of 128, by 11.3.
        "unscaled": Preset(
            what=said("1 head, dot products not divided by √d_k (d_k = 128; compare it with 1 head)"),
            config=replace(FULL, num_heads=1, score="dot"),
        ),
        "additive": Preset(what=said("additive attention"), config=replace(FULL, score="additive")),
        "post-norm": Preset(what=said("post-norm, as in the paper"), config=replace(FULL, norm="post")),
        "no-smoothing": Preset(what=said("no label smoothing"), settings=replace(SETTINGS, smoothing=0.0)),
        "no-dropout": Preset(what=said("no dropout"), config=replace(FULL, dropout=0.0)),
        # 839,800, 838,160 and 841,524 parameters.
        "gru": Preset(
            what=said(
                "not a Transformer: a bidirectional GRU encoder and a GRU decoder with additive attention (Bahdanau "
                "et al. 2015)"
            ),
            config=RecurrentConfig(vocab_size=1_300, d_model=128, hidden_size=140, alignment_size=128),
        ),
        "gru-without-attention": Preset(
            what=said(
                "the GRU without attention, 148 instead of 140 numbers wide: its decoder reads one vector, the "
                "encoder's last states (Cho et al. 2014)"
            ),
            config=FixedVectorConfig(vocab_size=1_300, d_model=128, hidden_size=148),
        ),
        "convolutional": Preset(
            what=said(
                "not a Transformer: convolutions of 3 tokens, with attention in each layer (ConvS2S, Gehring et al. "
                "2017)"
            ),
            config=ConvolutionalConfig(vocab_size=1_300, d_model=112, num_layers=4, decoder_layers=4, kernel_size=3),
        ),
    }
)


def files_in(folder: Path, names: tuple[str, ...]) -> list[Path]:
    """These files of a folder with data. Raises a DataError if it lacks one."""
    files = [folder / name for name in names]
    if missing := [name for name, file in zip(names, files, strict=True) if not file.is_file()]:
        message = "{folder} lacks {missing}; the data folder of a preset contains {names}."
        raise DataError(message, folder=folder, missing=", ".join(missing), names=", ".join(names))
    return files
