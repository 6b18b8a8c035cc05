"""All numbers of the heads of a site, beside one another: over all texts, in short and in long ones, and by text."""

from dataclasses import dataclass
from typing import Final, Literal, get_args

import numpy as np
import numpy.typing as npt
import torch
from jaxtyping import Bool, Float

from model.analysis.head_description.cells import CELLS_OF_KINDS, FUNCTION_KINDS, words_of
from model.analysis.head_description.measure import OTHERS, Numbers, SiteSums, cells_of, parts_of
from model.analysis.metrics.estimates import bootstrap_ratio
from model.analysis.metrics.head_metrics import DECODER

#: Draws over texts: a head has some fifty numbers, and the ends of their intervals are said in two digits.
SAMPLES: Final = 200
#: Rows that a rule needs, by how much its lower end is above an even look, and in what part of the texts it is above.
ROWS: Final = 40
ABOVE: Final = 1.3
SOMEWHAT: Final = 1.1
STEADY: Final = 0.65
#: From this share on a head "looks", below it "leans".
MOST: Final = 0.5
#: A share that some head must give to the source of what is written, and some head to that of what was read.
TOLD: Final = 0.25
#: Short and long texts that differ by more are told apart.
BY_LENGTH: Final = 0.1
#: From text to text a number varies if the middle half of the texts is wider.
BY_TEXT: Final = 0.18
#: What stands beside an even look is above it in this part of the texts.
SURE: Final = 0.8
#: Of fewer heads nothing is said of most or many.
FEW_HEADS: Final = 8
#: A token is a second sink of a model if this part of its heads, and so many, give it so many times an even look; a
#: head is said to rest there from this share of its free weight on, and where no rule holds this is the answer from
#: the other on.
SINK_HEADS: Final = 0.1
LEAST_SINK_HEADS: Final = 3
SINK: Final = 4.0
SINK_SHARE: Final = 0.2
SINK_ANSWER: Final = 0.4
RestPlace = Literal["first", "last", "none"]
PLACES: Final[tuple[RestPlace, ...]] = get_args(RestPlace)
#: Cells that depend on what a text repeats.
COPIES: Final = ("same", "after same", "copied", "copied before")
#: Parts of a picture, which no text has alone.
OF_PICTURE: Final = ("by distance", "same keys")


@dataclass(frozen=True, slots=True)
class Number:
    """A metric of a head, among all heads of its site."""

    metric: str
    value: float
    low: float
    high: float
    even: float | None  #: what an even look would give; None where there is no such number
    middle: float  #: the median of all heads
    rank: int  #: 1 for the highest
    heads: int
    runner_up: float  #: the highest of the other heads
    texts: float | None  #: share of texts in which it is above an even look
    everywhere: bool  #: whether nearly all free weight is of rows that have such a key
    by_length: tuple[float, float] | None  #: in the shortest and in the longest third of the texts, where these differ
    even_by_length: tuple[float, float] | None  #: of an even look
    #: between which half of the texts have it; None where no text has it alone, or `value` is not among these
    middle_half: tuple[float, float] | None

    @property
    def lengths(self) -> tuple[float, float] | None:
        """`by_length`, of what does not depend on what a text repeats."""
        return None if self.metric in COPIES else self.by_length

    @property
    def ends(self) -> tuple[float, float] | None:
        """Between what it is in most texts, where one number would say too much; never down to an even look."""
        if (self.middle_half is None and self.lengths is None) or not self.is_above_throughout:
            return None
        low, high = sorted(self.lengths) if self.lengths is not None else self.middle_half or (0.0, 0.0)
        return (low, high) if self.lengths or high - low > BY_TEXT or self.metric in COPIES else None

    @property
    def is_above_throughout(self) -> bool:
        """Whether it is above an even look in short and in long texts, or in the middle half of all."""
        if self.lengths is not None and self.even_by_length is not None:
            return all(share > even for share, even in zip(self.lengths, self.even_by_length, strict=True))
        return self.even is None or self.middle_half is None or self.middle_half[0] > self.even

    @property
    def is_sure(self) -> bool:
        """Whether it can be said beside an even look: in most texts, short and long, it is above that one."""
        if self.even is None or self.texts is None:
            return True
        low = self.value if self.ends is None else self.ends[0]
        return self.texts >= SURE and self.is_above_throughout and low > self.even


def gain(share: Numbers, even: Numbers) -> Numbers:
    """Nats by which shares differ from even ones; 0 where they are smaller."""
    p, q = (np.clip(each, 1e-6, 1 - 1e-6) for each in (share, even))
    nats: Numbers = (p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))) * (p > q)
    return nats


def _quantile(ordered: Numbers, part: float) -> Numbers:
    """A quantile over the first axis, which is sorted, NaN last; of numbers alone."""
    place = part * np.maximum(np.isfinite(ordered).sum(0, keepdims=True) - 1, 0)
    below = np.take_along_axis(ordered, np.floor(place).astype(int), 0)
    found: Numbers = (below + (place % 1) * (np.take_along_axis(ordered, np.ceil(place).astype(int), 0) - below))[0]
    return found


class HeadTable:
    """All numbers of the heads of a site, [metric, head] or [cell, head]."""

    def __init__(self, sums: SiteSums, site: str, *, writes: bool) -> None:
        self.sums, self.cells = sums, cells_of(site)
        self.metrics, self.is_decoder = (*self.cells, *OTHERS), site == DECODER
        of, by = (
            np.stack(each, 1) for each in zip(*(parts_of(sums, site, name) for name in self.metrics), strict=True)
        )
        ratio = bootstrap_ratio(torch.from_numpy(of), torch.from_numpy(by), SAMPLES)
        self.value, self.low, self.high = (each.numpy() for each in (ratio.value, ratio.low, ratio.high))
        for table in (self.value, self.low, self.high):
            self._correct(table)
        total = {
            name: getattr(sums, name).sum(0)
            for name in ("weight", "even", "weighed", "free", "divergence", "rows_with")
        }
        self.even = (total["even"] / np.maximum(total["weighed"], 1e-9)).T
        self.part = (total["weighed"] / np.maximum(total["free"], 1e-9)[:, None]).T
        self.divergence = total["divergence"] / np.maximum(total["free"], 1e-9)
        has = sums.rows_with > 0
        counted = (total["rows_with"] >= ROWS) & (has.sum(0) >= ROWS / 2)
        above = ((sums.weight > sums.even) & has[:, None]).sum(0)
        self.above = (above / np.maximum(has.sum(0), 1)).T
        of_cells = slice(0, len(self.cells))
        self.heads = self.value.shape[1]
        self._find_sinks(sums)
        self.only_sinks = self._only_sinks()
        #: Whether a share is above an even look, and not for sinks alone.
        self.is_above = counted[:, None] & (self.above > STEADY) & ~self.only_sinks
        self.is_above &= self.low[of_cells] > SOMEWHAT * self.even
        clear = (self.low[of_cells] > ABOVE * self.even) & self.is_above
        self.middle = np.median(self.value, axis=1)
        #: [metric, head], the lowest first
        self.ordered = np.sort(self.value, axis=1)
        low_end, high_end = np.quantile(self.value, [0.16, 0.84], axis=1)
        self.spread = (high_end - low_end) / 2 + 0.02
        # A head that merely leans where most heads of its model lean more is not told apart by it.
        leans_less = (self.value < self.middle[:, None])[of_cells] & (self.value[of_cells] < MOST)
        above_even = gain(self.value[of_cells], self.even) * clear
        #: Of what is clearly above an even look, whether other heads have more of it or not; and of rules.
        self.parts_of_gain = above_even * self.part
        self.nats = above_even * ~leans_less
        self.gains = self.nats * self.part
        self.counted = counted
        # Where all heads have the same, nothing is alike.
        self.alike = np.nan_to_num(np.corrcoef(self.value + 1e-9 * np.arange(self.heads)))
        held = (sums.resting.sum((0, 1)) > 1e-3 * sums.rows.sum() * self.heads).tolist()
        self.tells_sources = self._tells_sources()
        self.writes = writes
        self.rest_on = tuple(place for place, is_held in zip(PLACES, held, strict=True) if is_held)
        self.texts, self.rows = len(sums.rows), int(sums.rows.sum())
        self._measure_texts(of, by)

    def _measure_texts(self, of: Numbers, by: Numbers) -> None:
        """Metrics in short and in long texts, and the quartiles of those that a text has alone."""
        lengths = self._lengths()
        low, high = np.quantile(lengths, [1 / 3, 2 / 3])
        of_length = (lengths <= low, lengths > high)
        self.short, self.long = int(low), int(lengths[of_length[1]].min(initial=high + 1))
        thirds = [np.stack([part[which].sum(0) for part in (of, by)]) for which in of_length]
        #: [length, metric, head]
        self.by_length = np.stack([part / np.maximum(whole, 1e-9) for part, whole in thirds])
        for which, table in zip(of_length, self.by_length, strict=True):
            self._correct(table, which)
        evens = [[part[which].sum(0).T for part in (self.sums.even, self.sums.weighed)] for which in of_length]
        #: [length, cell, head]
        self.even_by_length = np.stack([even / np.maximum(whole, 1e-9) for even, whole in evens])
        has = np.ones((len(lengths), len(self.metrics)), bool)
        has[:, : len(self.cells)] = self.sums.rows_with > 0
        alone = np.where(has[..., None] & (by > 1e-3), of / np.maximum(by, 1e-3), np.nan)
        self.enough = [has[which].sum(0) for which in of_length]
        alone.sort(axis=0)
        self.quartiles = [_quantile(alone, part) for part in (0.25, 0.75)]

    def _lengths(self) -> Float[Numbers, "text"]:
        """How many tokens each text has; of a cross-attention, of what is written."""
        if "diagonal" in self.cells:
            return self.sums.rows
        # The rows of a decoder that have hardly a choice do not count, nor does its first key.
        return self.sums.columns + self.is_decoder

    def _correct(self, table: Numbers, texts: Bool[npt.NDArray[np.bool_], "text"] | slice = slice(None)) -> None:
        """Of parts of a picture that means explain, what as many means of anything would explain is taken off."""
        sums = self.sums
        weights = sums.weights[texts].sum() - 1
        for name, of_texts in (("by distance", sums.distances), ("same keys", sums.columns)):
            row, means = table[self.metrics.index(name)], of_texts[texts].sum()
            row[:] = np.maximum(0, 1 - (1 - row) * weights / max(1, weights - means))

    def _tells_sources(self) -> bool:
        """Whether some heads look for the source of what is written, and others for that of what was read: then the
        votes of `sources_of` tell the two apart.
        """
        if "source written" not in self.cells:
            return False
        cells = [self.cells.index(name) for name in ("source written", "source read")]
        clear = (self.low[cells] > ABOVE * self.even[cells]) & (self.value[cells] >= TOLD)
        return bool(self.counted[cells].all() and clear.any(1).all())

    def _find_sinks(self, sums: SiteSums) -> None:
        """Tokens on which many heads rest as on the first one, and what each head gives them."""
        got, even = sums.of_tokens[:, 0], sums.of_tokens[:, 1]
        heads = (got >= SINK * np.maximum(even, 1e-9)).sum(1)
        least = max(LEAST_SINK_HEADS, SINK_HEADS * self.heads) if self.heads >= FEW_HEADS else self.heads + 1
        is_sink = heads >= least
        self.sinks = tuple(token for token, is_one in zip(sums.tokens, is_sink.tolist(), strict=True) if is_one)
        #: [sink, look, head], shares of free weight
        self.on_sinks = sums.of_tokens[is_sink] / np.maximum(sums.free.sum(0), 1e-9)

    def _only_sinks(self) -> Bool[npt.NDArray[np.bool_], "cell head"]:
        """Where a kind of word, a place or the row's own token elsewhere is above an even look for sinks alone."""
        found = np.zeros(self.even.shape, bool)
        if "same" in self.cells:
            # Sinks are frequent: many a row whose token comes again is one of them.
            same = self.cells.index("same")
            found[same] = (self.on_sinks[:, 0].sum(0) >= SINK_ANSWER) & (self.value[same] < MOST)
        for token, (got, even) in zip(self.sinks, self.on_sinks, strict=True):
            # A lone blank is of what follows it, in most texts a number.
            kind = words_of((token, "0"), frozenset()).kinds[0]
            of_kind = {kind, "function"} if kind in FUNCTION_KINDS else {kind}
            # The full stop is in the second half.
            named = of_kind & set(CELLS_OF_KINDS) | {"second half"} & set(self.cells)
            for cell in (self.cells.index(name) for name in named):
                left = self.value[cell] * self.part[cell] - got
                found[cell] |= left <= ABOVE * (self.even[cell] * self.part[cell] - even)
        return found

    def number(self, metric: int, head: int) -> Number:
        """A metric of a head."""
        values = self.value[metric]
        is_cell = metric < len(self.cells)
        ordered = self.ordered[metric]
        lengths, (low, high) = (
            self.by_length[:, metric, head].tolist(),
            (float(of[metric, head]) for of in self.quartiles),
        )
        is_by_text = self.metrics[metric] not in OF_PICTURE and low <= values[head] <= high
        evens = self.even_by_length[:, metric, head].tolist() if is_cell else []
        differs = abs(lengths[0] - lengths[1]) > BY_LENGTH and min(each[metric] for each in self.enough) >= ROWS / 4
        return Number(
            metric=self.metrics[metric],
            value=float(values[head]),
            low=float(self.low[metric, head]),
            high=float(self.high[metric, head]),
            even=float(self.even[metric, head]) if is_cell else None,
            middle=float(self.middle[metric]),
            rank=1 + self.heads - int(np.searchsorted(ordered, values[head], "right")),
            heads=self.heads,
            runner_up=max(0.0, float(ordered[-1 - (values[head] == ordered[-1])])) if self.heads > 1 else 0.0,
            texts=float(self.above[metric, head]) if is_cell else None,
            everywhere=not is_cell or bool(self.part[metric, head] > 0.8),
            by_length=(lengths[0], lengths[1]) if differs else None,
            even_by_length=(evens[0], evens[1]) if differs and is_cell else None,
            middle_half=(low, high) if is_by_text else None,
        )
