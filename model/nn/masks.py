"""Attention masks that compute their rows on demand from key padding, causality, a window or chunks.

True means "may attend", everywhere. No n × n array is stored.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import torch
from jaxtyping import Bool, Int
from torch import Tensor

Rows = slice | list[int]


@dataclass(frozen=True, eq=False, kw_only=True)
class AttentionMask:
    """The mask of one attention site."""

    num_queries: int
    num_keys: int
    #: bool [batch, key], True where the key is a real token; None if all are.
    key_padding: Bool[Tensor, "batch key"] | None = None
    #: whether query row i, at key position `first_query + i`, sees only keys up to itself (§3.2.3).
    causal: bool = False
    first_query: int = 0  #: position of row 0 among the keys; above 0 when earlier rows were computed before and cached
    #: a query sees no key this many positions away, or more; None if distance forbids nothing.
    window: int | None = None
    #: positions are cut into chunks of this many, and a query sees only keys of its own; None if they are not.
    chunk: int | None = None
    #: a mask that follows no rule; the only case in which query × key booleans are stored.
    explicit: Bool[Tensor, "batch query key"] | None = None
    device: torch.device | None = None  #: of the rows; that of the key padding if there is one

    def rows(self, rows: Rows = slice(None), columns: slice = slice(None)) -> Bool[Tensor, "batch row column"]:
        """These rows of these keys as booleans; batch is 1 where no key is padding."""
        device = self.device if self.key_padding is None else self.key_padding.device
        positions = (torch.arange(self.num_queries, device=device)[rows] + self.first_query)[:, None]
        keys = torch.arange(self.num_keys, device=device)[None, columns]
        allowed = torch.ones(len(positions), keys.size(1), dtype=torch.bool, device=device)
        if self.causal:
            allowed &= keys <= positions
        if self.window is not None:
            allowed &= (positions - keys).abs() < self.window
        if self.chunk is not None:
            allowed &= positions // self.chunk == keys // self.chunk
        allowed = allowed[None]
        if self.explicit is not None:
            allowed = allowed & self.explicit[:, rows, columns].to(allowed.device)
        return allowed if self.key_padding is None else allowed & self.key_padding[:, None, columns]

    def dense(self) -> Bool[Tensor, "batch query key"] | None:
        """All rows, for a kernel that wants them at once; None if every query sees every key."""
        return self.rows() if self.forbids_any else None

    @property
    def forbids_any(self) -> bool:
        """Whether it has a rule that can forbid a query a key."""
        is_causal = self.causal and self.first_query < self.num_keys - 1
        parts = (self.key_padding, self.window, self.chunk, self.explicit)
        return is_causal or any(part is not None for part in parts)

    def reach(self, rows: slice) -> slice:
        """Keys beyond these are forbidden to each of these rows by its position: those that come too late or too early.

        `rows`: without a step, at least one.
        """
        start, stop, _ = rows.indices(self.num_queries)
        first, last = start + self.first_query, stop - 1 + self.first_query
        lowest, highest = [0], [self.num_keys]
        if self.causal:
            highest.append(last + 1)
        if self.window is not None:
            lowest.append(first - self.window + 1)
            highest.append(last + self.window)
        if self.chunk is not None:
            lowest.append(first // self.chunk * self.chunk)
            highest.append((last // self.chunk + 1) * self.chunk)
        return slice(max(lowest), min(highest))

    def parts(self) -> tuple["AttentionMask", "AttentionMask"]:
        """The mask by positions (causality, window, chunk) and the mask by key padding; both must allow a key."""
        return replace(self, key_padding=None), replace(self, causal=False, window=None, chunk=None, explicit=None)

    def of_sentence(self, index: int) -> "AttentionMask":
        """The mask of a sentence of the batch; without key padding if it has none."""
        padding, explicit = (
            part if part is None or part.size(0) == 1 else part[index : index + 1]
            for part in (self.key_padding, self.explicit)
        )
        padding = None if padding is None or bool(padding.all()) else padding
        return replace(self, key_padding=padding, explicit=explicit)

    def to(self, device: torch.device) -> "AttentionMask":
        """The same mask on another device."""
        if self.key_padding is None and self.explicit is None and (self.device or torch.device("cpu")) == device:
            return self
        padding, explicit = (part if part is None else part.to(device) for part in (self.key_padding, self.explicit))
        return replace(self, key_padding=padding, explicit=explicit, device=device)

    @classmethod
    def joined(cls, masks: Sequence["AttentionMask"]) -> "AttentionMask":
        """A mask of the rows of several, as decoding computed them one after the other."""
        first, last = masks[0], masks[-1]
        assert all(mask.explicit is None for mask in masks)
        for before, after in pairwise(masks):
            assert (after.causal, after.window, after.chunk) == (before.causal, before.window, before.chunk)
            assert not after.causal or after.first_query == before.first_query + before.num_queries
        return replace(last, num_queries=sum(mask.num_queries for mask in masks), first_query=first.first_query)


def pad(rows: Sequence[Sequence[int]], pad_id: int) -> Int[Tensor, "row position"]:
    """Rows of different lengths in a tensor, padded at the end."""
    width = max(map(len, rows))
    return torch.tensor([[*row, *[pad_id] * (width - len(row))] for row in rows])


def key_padding(token_ids: Int[Tensor, "batch key"], pad_id: int) -> Bool[Tensor, "batch key"]:
    """True where a token is not padding."""
    return token_ids != pad_id
