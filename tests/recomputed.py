"""What words give one another in every head, computed anew: from queries and keys, in float64, by the rule of rows.

As a query a word of a translation is the rows that write it, any other word the rows that read it; as a key it is its
columns. Weights are averaged over rows and summed over columns.
"""

import numpy as np

from model import Trace
from viz.access import texts


def rows_of(trace: Trace, site: str, word: int) -> tuple[int, ...]:
    """The query rows of a word of `texts.words`; none where the site has none for it."""
    known = texts.words(trace)
    if (word < known.num_source) != (site == "encoder.self"):
        return ()
    is_translation = bool(trace.source_tokens) and site != "encoder.self"
    return tuple(position - is_translation for position in known.groups[word] if position >= is_translation)


def linked_words(trace: Trace, site: str) -> list[tuple[int, int]]:
    """Every two words that a site joins."""
    known = texts.words(trace)
    are_keys_source = site != "decoder.self"
    return [
        (looking, looked_at)
        for looking in range(len(known.groups)) if rows_of(trace, site, looking)
        for looked_at in range(len(known.groups)) if (looked_at < known.num_source) == are_keys_source
    ]  # fmt: skip


def head_weights(trace: Trace, site: str, layer: int) -> np.ndarray:
    """[head, query, key], in float64, of a model whose scores are scaled products alone."""
    inputs = trace.attention(site, layer)
    query, key = (part.double().numpy() for part in (inputs.query, inputs.key))
    scores = query @ key.swapaxes(-1, -2) * inputs.scale
    scores = np.where(trace.mask(site, layer).numpy(), scores, -np.inf)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    weights: np.ndarray = powers / powers.sum(-1, keepdims=True)
    return weights


def word_weight(weights: np.ndarray, trace: Trace, site: str, looking: int, looked_at: int) -> np.ndarray:
    """[head] of one word on another, out of `head_weights`."""
    rows, keys = rows_of(trace, site, looking), texts.words(trace).groups[looked_at]
    given: np.ndarray = weights[:, rows][..., keys].sum(-1).mean(-1)
    return given
