"""The formulas of which questions ask, by torch, by counting and by a pencil: right results and usual mistakes."""

import math
from typing import Any

import pytest
import torch
from torch.nn import functional

from viz.pages.learn.lessons.data.formulas import formula
from viz.pages.learn.lessons.data.shipped import Shipped

VECTORS = torch.tensor([[1.0, 2.0, -1.0], [3.0, 0.5, 2.0]])
SCORES = [2.0, 0.5, -1.0]
SHARE = 0.2
#: Of many ones, those that dropout leaves.
LEFT = functional.dropout(torch.ones(1_000), SHARE)
FEED_FORWARD = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.ReLU(), torch.nn.Linear(64, 16))
ATTENTION = torch.nn.MultiheadAttention(16, 4)


def weights(scores: list[float]) -> list[float]:
    return functional.softmax(torch.tensor(scores, dtype=torch.double), 0).tolist()


def numbers_in(module: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in module.parameters())


#: Name and numbers, and what is found.
FOUND: dict[tuple[str, tuple[float, ...]], dict[str, Any]] = {
    ("softmax", tuple(SCORES)): dict(zip(("first", "second", "third"), weights(SCORES), strict=True)) | {"even": 1 / 3},
    ("masked_row", (1.0, 2.0)): {"first": weights([1, 2])[0], "second": weights([1, 2])[1], "third": 0, "even": 1 / 3},
    ("weighted", (0.25, 0.75, 8, 4)): {"output": 5, "mean": 6, "sum": 12, "of_largest": 4, "of_weight": 2},
    ("even_row", (8,)): {"bits": 3, "keys": 8},
    ("score", (*VECTORS.flatten().tolist(),)): {
        "dot": 2, "d_k": 3, "scaled": 2 / math.sqrt(3), "by_d_k": 2 / 3, "root": math.sqrt(3)
    },
    ("spread", (64,)): {"root": 8, "d_k": 64},
    ("shifted_scores", (*SCORES, 3.0)): {"verdict": "They stay the same"},
    ("doubled_scores", (1.0, 2.0)): {"before": weights([1, 2])[1], "after": weights([2, 4])[1], "verdict": "It grows"},
    ("head_width", (512, 8)): {"d_k": 64},
    ("concatenated", (10, 8, 64)): {"rows": 10, "columns": 512, "width": 64, "stacked": 80},
    ("attention_weights_count", (16, 4)): {
        "four": numbers_in(ATTENTION) - 4 * 16, "three": 3 * 16 * 16, "every_head_wide": 4 * 4 * 16 * 16
    },
    ("network_size", (16, 64)): {
        "both": numbers_in(FEED_FORWARD), "one": 16 * 64, "attention": numbers_in(ATTENTION)
    },
    ("causal", (5,)): {"hidden": 10, "seen": 15, "half": 12},
    ("relu", (-2, 3)): {"first": 0, "second": 3},
    ("normalised", (1, 2, 3, 6)): {"mean": 0, "deviation": 1, "old_mean": 3, "old_deviation": math.sqrt(3.5)},
    ("table", (3, 5)): {"product": 15, "twice": 30, "thrice": 45, "sum": 8, "square": 25},
    ("angle", (*VECTORS.flatten().tolist(),)): {
        "cosine": functional.cosine_similarity(VECTORS[:1], VECTORS[1:]).item(), "dot": 2,
        "distance": torch.dist(*VECTORS).item(),
    },
    ("logit_difference", (1.5,)): {"ratio": weights([1.5, 0])[0] / weights([1.5, 0])[1], "doubling": math.log(2)},
    ("encoding", (3,)): {"sine": math.sin(3), "cosine": math.cos(3)},
    ("wave", (0,)): {"wavelength": math.tau},
    ("wave", (128, 512)): {"wavelength": math.tau * 100},
    ("operations_of", (100, 400)): {"ratio": 0.25, "verdict": "Self-attention"},
    ("operations_of", (400, 100)): {"ratio": 4, "verdict": "The recurrent layer"},
    ("longer", (3,)): {"once": 3, "squared": 9, "cubed": 27},
    ("surprise", (0.25,)): {"loss": math.log(4), "bits": 2, "rest": 0.75},
    ("perplexity", (math.log(8),)): {"perplexity": 8, "power": 2 ** math.log(8)},
    # Until the peak the rate grows by equal steps; after it, by the root of the step.
    ("schedule_share", (4000, 1000)): {"share": 0.25, "root": 0.5, "inverse": 4},
    ("schedule_share", (4000, 16000)): {"share": 0.5, "root": 2, "inverse": 0.25},
    ("dropped", (SHARE,)): {"scale": LEFT.max().item(), "kept": 1 - SHARE},
    ("chain", (0.5, 0.4, 0.9)): {"product": 0.18, "mean": 0.6, "least": 0.4},
    ("penalty_of", (7, 0.5)): {"penalty": math.sqrt(2), "linear": 2, "plain": math.sqrt(7)},
    ("tempered", (2, 0.5)): {"ratio": math.exp(4), "untouched": math.exp(2), "inverted": math.exp(1)},
    ("added", (0.5, 4, 0.25, 6)): {"first": 2, "second": 1.5, "verdict": "Key A"},
    ("added", (0.25, 4, 0.5, 6)): {"first": 1, "second": 3, "verdict": "Key B"},
}  # fmt: skip


@pytest.mark.parametrize(("name", "numbers"), FOUND)
def test_a_formula_gives_what_torch_and_a_pencil_give(shipped: Shipped, name: str, numbers: tuple[float, ...]) -> None:
    found = formula(shipped, of=name, numbers=numbers).found
    for each, value in FOUND[name, numbers].items():
        expected = value if isinstance(value, str) else pytest.approx(value, rel=1e-5, abs=1e-6)
        assert found[each] == expected, each
