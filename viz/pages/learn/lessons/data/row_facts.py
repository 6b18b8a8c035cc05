"""What one row of weights says: its largest weights by tokens and by words, and over how many keys it spreads."""

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from viz.access import word_links
from viz.text.token_text import spoken

if TYPE_CHECKING:
    from model import Trace


def of_weights(weights: Float[np.ndarray, "key"], trace: "Trace", site: str) -> dict[str, float | str]:
    """What a row of weights says: its largest, by tokens and by words, its sum, and over how many keys it spreads."""
    tokens = trace.axis_tokens(site)[1]
    order = np.argsort(-weights)
    entropy = float(-(weights * np.log2(np.maximum(weights, 1e-12))).sum())
    return {
        "top": spoken(tokens[order[0]]),
        "top_word": word_of_key(trace, site, int(order[0])),
        "weight": float(weights[order[0]]),
        "second": spoken(tokens[order[1]]),
        "second_weight": float(weights[order[1]]),
        "sum": float(weights.sum()),
        "entropy": entropy,
        "keys_used": 2**entropy,
        "keys": len(tokens),
    }


def word_of_key(trace: "Trace", site: str, key: int) -> str:
    """The word that a key is part of; a token that is part of none, as it is."""
    words = word_links.words(trace)
    at = words.at(key, is_source=not site.endswith("self") or site.startswith("encoder"))
    return spoken(trace.axis_tokens(site)[1][key]) if at is None else words.labels[at].strip(".,!?")
