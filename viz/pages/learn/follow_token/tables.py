"""What the tab that follows a token shows, as tables: CSV as `viz.ui.trace_tables` writes it; layers count from 0."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from viz.ui.trace_tables import cell, table

if TYPE_CHECKING:
    from model.analysis.embedding_space import Neighbour
    from model.analysis.residual_stream.additions import TokenPath


def parts(path: "TokenPath") -> bytes:
    """A row for each sub-layer: how long its addition is, its share of the sum, and how long the stream is then."""
    titles = (
        "stack",
        "position",
        "token",
        "layer",
        "part",
        "length",
        "share_of_sum",
        "cosine_with_sum",
        "stream_after",
    )
    rows = (
        (
            path.stack,
            path.position,
            cell(path.token),
            layer,
            addition.kind,
            _length(addition.added),
            addition.share,
            addition.cosine,
            _length(addition.after),
        )
        for layer, additions in enumerate(path.layers)
        for addition in additions
    )
    return table(titles, rows)


def neighbours(found: "Sequence[Neighbour]", languages: Sequence[str]) -> bytes:
    """A row for each neighbour, the nearest first; without languages where none are known."""
    seen = [languages[one.token_id] if languages else "" for one in found]
    rows = ((one.token_id, cell(one.token), one.cosine, language) for one, language in zip(found, seen, strict=True))
    return table(("token_id", "token", "cosine", "seen_in"), rows)


def _length(vector: object) -> float:
    return float(np.linalg.norm(np.asarray(vector)))
