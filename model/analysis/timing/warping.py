"""Find when each row of cross-attention hears what it writes, as Whisper makes its word timestamps.

A head's weights of the frames that hold sound, renormalised over these, become z-scores over the rows, are smoothed by
a median of seven frames, and a path through them that never goes back in time gives each row its frames (dynamic time
warping). Of several heads the mean of what is smoothed is warped. (OpenAI 2022, whisper/timing.py, `find_alignment`;
https://github.com/openai/whisper. The library's own timestamps leave the silence that a window is filled up with out of
the sum, too, but do not renormalise.)

The path begins with the first row in the first frame, so the first row is always heard at 0 s.
"""

from typing import Final

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from model import interruption

#: Frames of the median (`config.median_filter_width` of every Whisper that was published).
MEDIAN_FRAMES: Final = 7
#: How a path comes to a cell: from row and frame before, from the row before, or from the frame before.
_BOTH, _DOWN, _ALONG = range(3)


def smoothed(weights: Float[Tensor, "head row frame"], frames: int) -> Float[Tensor, "head row heard"]:
    """What is warped: renormalised weights of the first `frames` frames as z-scores over rows, median of seven.

    A frame that all rows weigh alike tells nothing and gets zeros.
    """
    heard = weights[..., :frames].float()
    heard = heard / heard.sum(-1, keepdim=True).clamp_min(torch.finfo(heard.dtype).tiny)
    spread = heard.std(-2, keepdim=True, unbiased=False)
    scores = torch.where(spread > 0, (heard - heard.mean(-2, keepdim=True)) / spread, 0)
    half = MEDIAN_FRAMES // 2
    if scores.size(-1) <= half:
        return scores
    padded = torch.nn.functional.pad(scores, (half, half), mode="reflect")
    return padded.unfold(-1, MEDIAN_FRAMES, 1).sort(-1).values[..., half]


def first_frames(matrices: Float[Tensor, "head row frame"]) -> Int[Tensor, "head row"]:
    """The frame in which each row begins on the path of the highest sum through each matrix.

    A path goes from the first row and frame to the last, one row, one frame, or both at a time; of equal ways it stays
    in the row. (Sakoe & Chiba 1978, "Dynamic programming algorithm optimization for spoken word recognition".)
    """
    moves = _moves(-matrices.numpy())
    heads, rows, frames = matrices.shape
    starts = np.zeros((heads, rows), dtype=np.int64)
    head, row, frame = np.arange(heads), np.full(heads, rows - 1), np.full(heads, frames - 1)
    while (row > 0).any():
        move = np.where(row > 0, moves[row + frame, head, row], _ALONG)
        is_first = move != _ALONG
        starts[head[is_first], row[is_first]] = frame[is_first]
        frame = np.where(row > 0, frame - (move != _DOWN), frame)
        row = row - is_first
    return torch.from_numpy(starts)


def _moves(costs: np.ndarray) -> np.ndarray:
    """How the cheapest path comes to each cell, [row + frame, head, row].

    All cells whose row and frame have one sum depend on the two sums before alone, so they are computed at once.
    """
    heads, rows, frames = costs.shape
    moves = np.full((rows + frames - 1, heads, rows), _ALONG, dtype=np.int8)
    # Index 0 is the row before the first; nothing comes from there but the path's beginning.
    before, last = (np.full((heads, rows + 1), np.inf, dtype=np.float32) for _ in range(2))
    before[:, 0] = 0
    for total in range(rows + frames - 1):
        if total % 256 == 0:
            interruption.pause()
        low, high = max(0, total - frames + 1), min(rows, total + 1)
        both, down, along = before[:, low:high], last[:, low:high], last[:, low + 1 : high + 1]
        is_both, is_down = (both < down) & (both < along), (down < both) & (down < along)
        of_rows = np.arange(low, high)
        now = np.full_like(last, np.inf)
        now[:, low + 1 : high + 1] = costs[:, of_rows, total - of_rows] + np.where(
            is_both, both, np.where(is_down, down, along)
        )
        moves[total, :, low:high] = np.where(is_both, _BOTH, np.where(is_down, _DOWN, _ALONG))
        before, last = last, now
    return moves
