"""Follow the metrics of every head through a film of its training, and how often it looks at the right source word."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import numpy as np
import torch
from jaxtyping import Float

from model.analysis.metrics.head_metrics import SENTENCE_METRICS, AttentionRows, RowMetric, row_metrics
from model.nn.masks import AttentionMask
from model.training.film import Film, FilmSentence

#: At decoder.cross only: the share of a row's weight on the source words that a word renders, by links made by hand.
#: The row is the one that reads the word, or the one before, that predicts it (`model.analysis.metrics.alignment`).
WORD_IN: Final = "word_in"
WORD_OUT: Final = "word_out"
CROSS: Final = "decoder.cross"


def film_metrics(film: Film, site: str) -> Mapping[str, Float[np.ndarray, "frame layer head"]]:
    """Every metric of every head of a site at each frame: the mean over the rows of all sentences that count.

    Means as in `model.analysis.metrics.head_metrics`; NaN where no row counts. At decoder.cross also `WORD_IN` and
    `WORD_OUT`.
    """
    parts = [_of_sentence(sentence, site) for sentence in film.sentences]
    frames, layers, heads = film.sentences[0].weights[site].shape[:3]
    return MappingProxyType(
        {name: _mean([part[name] for part in parts]).reshape(frames, layers, heads) for name in parts[0]}
    )


def _of_sentence(sentence: FilmSentence, site: str) -> dict[str, RowMetric]:
    """Values for frame · layer · head side by side."""
    of_frames = sentence.weights[site]
    queries, keys = of_frames.shape[3:]
    weights = torch.tensor(of_frames.reshape(-1, queries, keys), dtype=torch.float32) / 255
    mask = AttentionMask(num_queries=queries, num_keys=keys, causal=site == "decoder.self").rows()[0]
    key_tokens = sentence.target_tokens if site == "decoder.self" else sentence.source_tokens
    metrics = row_metrics(AttentionRows(weights, mask, site, key_tokens), SENTENCE_METRICS)
    if site == CROSS:
        metrics |= {name: _alignment(weights, sentence, before) for name, before in ((WORD_IN, 0), (WORD_OUT, 1))}
    return metrics


def _alignment(weights: Float[torch.Tensor, "head row key"], sentence: FilmSentence, before: int) -> RowMetric:
    linked = torch.zeros(weights.shape[1:], dtype=torch.bool)
    for row, keys in sentence.links:
        # No row predicts what the first one reads.
        if row >= before:
            linked[row - before, list(keys)] = True
    return RowMetric((weights * linked).sum(-1), linked.any(-1))


def _mean(parts: list[RowMetric]) -> Float[np.ndarray, "head"]:
    values = torch.cat([part.values[:, part.counts] for part in parts], dim=-1)
    result: Float[np.ndarray, " head"] = values.mean(-1).numpy()
    return result
