"""Ask a run's residual stream something linear, and see which parts of the stream answer.

With the divisor of every norm held at what it was, weights of attention and gates of feed-forward networks too, all
that a model computes is linear in the stream, and the stream is a sum (Elhage et al. 2021, "A Mathematical Framework
for Transformer Circuits"). A `Functional` is c · x at some rows; `HeldRun` splits its value over the parts of x.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, Final, Literal, NamedTuple, TypeVar, cast

import torch
from jaxtyping import Float
from torch import Tensor

from model.abilities import NO_DOT_PRODUCT
from model.analysis.reasons.turns import Turned, turned
from model.errors import TraceError, said
from model.nn.attention import AttentionInputs
from model.nn.score_functions import DotProduct
from model.parts.parts import Parts
from model.parts.run import Addition, Run
from model.parts.weights import AttentionWeights, FeedForwardWeights, Norm, Stack, Start, Sublayer
from model.trace.row_blocks import row_slices
from model.trace.trace import Trace

Found = TypeVar("Found")

PartKind = Literal[
    "embedding", "position", "token_type", "beginning", "self", "cross", "feed_forward", "bias", "reading", "distance"
]

NOT_FOLLOWED = said(
    "The matrices of this feed-forward network are unknown, or do not reproduce what it added, so it cannot be "
    "followed."
)
NOT_ITS_HEADS = said(
    "What an attention of this model adds is not the sum of its heads' contributions, so it cannot be split."
)
#: Kinds of parts with which a stream begins.
BEGINNINGS: Final = ("embedding", "position", "token_type", "beginning")
#: How far a recomputed output may be from the model's, as a share of its largest number.
TOLERANCE = 1e-4
#: Rows in which it is seen by what an attention multiplies its output.
FEW_ROWS = 8
#: Rows of a model that are computed at once: what its modules put out is held so long.
ROWS_AT_ONCE = 64
#: Numbers of a stack's stream that are kept at most: 256 MiB.
MOST_KEPT = 1 << 26


class Part(NamedTuple):
    """Something that the residual stream of a stack is a sum of; layers and heads count from 0.

    "token_type": what is added to all tokens of a text (BERT). "beginning": embedding, positions and all else that is
    added before the first layer, where they are not told apart. "bias": what is learned and depends on no token: biases
    of projections, of norms, of networks. "reading": between two sentences, how a thing is read, not what stands there.
    "distance": a bias of the distance between query and key.
    """

    kind: PartKind
    stack: Stack | None = None
    layer: int | None = None
    head: int | None = None


@dataclass(frozen=True, eq=False)
class Functional:
    """Σ over rows of c · x, with x the residual stream of a stack before one of its sub-layers, or a norm of it."""

    stack: Stack
    depth: int  #: sub-layers that have been added to x; all of them: what the last layer puts out, before a final norm
    rows: tuple[int, ...]
    vectors: Float[Tensor, "row d_model"]  #: c of each of these rows
    norm: Norm | None = None  #: what x goes through first, its bias left out
    values: Float[Tensor, "row"] | None = None  #: c · x of each of these rows, where a trace tells it

    def at(self, *positions: int) -> "Functional":
        """The same at these rows alone."""
        wanted = set(positions)
        chosen = [number for number, row in enumerate(self.rows) if row in wanted]
        values = None if self.values is None else self.values[chosen]
        rows = tuple(self.rows[number] for number in chosen)
        return replace(self, rows=rows, vectors=self.vectors[chosen], values=values)


@dataclass(frozen=True, eq=False)
class Followed:
    """What a part of a functional is, one step back: a functional of what it read, and what no token can be named of.

    Its value and its constants add up to the share of the part.
    """

    functional: Functional
    constants: Mapping[Part, float]


class _Form(NamedTuple):
    """How a sub-layer reads the stream and adds to it."""

    norm: Norm | None  #: of the stream that it reads, or of the sum (post-norm)
    is_post: bool
    depth: int  #: sub-layers before the stream that it reads: in parallel blocks it is another than it adds to
    output_norm: Norm | None
    has_skip: bool


class _Kept(NamedTuple):
    """What is kept of a run's stream at some rows: a tensor for each sub-layer."""

    before: Float[Tensor, "depth row d_model"]  #: of each sub-layer, and after the last
    added: Float[Tensor, "sublayer row d_model"]
    summed: Float[Tensor, "sublayer row d_model"] | None  #: before the norms of a post-norm model
    put_out: Float[Tensor, "sublayer row d_model"] | None  #: before norms of what sub-layers put out

    def joined(self, other: "_Kept") -> "_Kept":
        """Those rows and these."""

        def both(one: Tensor | None, more: Tensor | None) -> Tensor | None:
            return None if one is None or more is None else torch.cat((one, more), 1)

        before, added = torch.cat((self.before, other.before), 1), torch.cat((self.added, other.added), 1)
        return _Kept(before, added, both(self.summed, other.summed), both(self.put_out, other.put_out))


@dataclass(frozen=True, eq=False)
class HeldRun:
    """One run over the tokens of a trace, with norms, weights and gates as they were.

    Nothing but the rows that are asked about is computed: all that a model does between its attentions it does at each
    position alike (§3.3), and what the heads put out is in the trace.

    `partner`: between two sentences, the other run and, of each stack, its position for each of this one's (−1 for
    none): gates are then held at the mean of both. What is asked of it raises a TraceError, in one sentence, if the
    model has no residual stream or does not tell its parts.
    """

    parts: Parts
    trace: Trace
    partner: "tuple[HeldRun, Mapping[Stack, tuple[int, ...]]] | None" = field(default=None, repr=False)

    _known: dict[Hashable, Any] = field(default_factory=dict, repr=False)  #: what was asked of the model, once each

    def with_partner(self, other: "HeldRun", positions: Mapping[Stack, tuple[int, ...]]) -> "HeldRun":
        """The same run, with gates at the mean of both where a position has a partner."""
        return replace(self, partner=(other, positions))

    def attention(self, site: str, layer: int) -> AttentionInputs:
        """What an attention computed from. Raises a TraceError where its scores are no dot products."""
        inputs = self.trace.attention(site, layer)
        if not isinstance(inputs.score, DotProduct):
            raise TraceError(NO_DOT_PRODUCT)
        return inputs

    def compute(self, stack: Stack, rows: Sequence[int]) -> None:
        """Make the stream of these rows known, all of them at once."""
        self._keep(stack, rows)

    def value(self, asked: Functional) -> float:
        """Σ c · x."""
        return sum(self.by_row(asked).values())

    def by_row(self, asked: Functional) -> dict[int, float]:
        """c · x of each row."""
        values = asked.values
        if values is None:
            asked = self.of_stream(asked)
            values = (asked.vectors * self.stream(asked.stack, asked.depth, asked.rows)).sum(-1)
        return dict(zip(asked.rows, values.tolist(), strict=True))

    def of_stream(self, asked: Functional) -> Functional:
        """The same, asked of the stream itself: taken back through the norm, whose divisor is held."""
        if asked.norm is None:
            return asked
        back = asked.norm.back(asked.vectors, self.stream(asked.stack, asked.depth, asked.rows))
        return replace(asked, vectors=back, norm=None)

    def stream(self, stack: Stack, depth: int, rows: Sequence[int]) -> Float[Tensor, "row d_model"]:
        """The residual stream before a sub-layer, or after the last, at these rows."""
        return self._at(stack, rows, lambda kept: kept.before, depth)

    def split(self, asked: Functional, *, through_networks: bool = False) -> dict[Part, float]:
        """The share of each part of the stream in the value: sub-layers whole, with their own biases apart.

        `through_networks`: a feed-forward network's share goes to what it read, with its gates held, as far as the
        model tells its matrices; what it adds of its own is a bias then.
        """
        shares: dict[Part, float] = {}
        for part, share in self._shares(asked, through_networks):
            shares[part] = shares.get(part, 0.0) + share
        return shares

    def heads(self, asked: Functional, part: Part, *, through_networks: bool = False) -> dict[Part, float]:
        """The share of each head of an attention; with its output bias they add up to that of the sub-layer."""
        sublayer = sublayer_of(part)
        site = sublayer.site
        assert site is not None, "a part with heads is an attention"
        rows, c = self._on_output(asked, sublayer, through_networks)
        output = self.trace.head_output(site, sublayer.layer, rows=rows)
        asked_of = c @ self._output(site, sublayer.layer).mT
        shares = (output * asked_of).sum((1, 2)).tolist()
        return {part._replace(head=head): share for head, share in enumerate(shares)}

    def by_part(self, asked: Functional) -> dict[Part, Float[Tensor, "row"]]:
        """The share of each part in each row, attentions as their heads; what biases give is not among them."""
        stack, rows, every = asked.stack, asked.rows, self.parts.sublayers(asked.stack)
        once = sorted(set(rows))
        places, shares = [once.index(row) for row in rows], dict[Part, Tensor]()
        for number, c, _, _ in self._walk(asked, through_networks=False):
            if number < 0:
                shares |= self._beginning(stack, rows, c)
                continue
            sublayer = every[number]
            site, part = sublayer.site, Part(sublayer.kind, stack, sublayer.layer)
            if site is None:
                added = self._at(stack, rows, lambda kept: kept.added, number)
                shares[part] = (c * added).sum(-1)
                continue
            output = self.trace.head_output(site, sublayer.layer, rows=once)[:, places]
            of_output, _ = self._put_out(sublayer, rows, c)
            of_heads = (output * (of_output @ self._output(site, sublayer.layer).mT)).sum(-1)
            shares |= {part._replace(head=head): of_head for head, of_head in enumerate(of_heads)}
        return shares

    def follow(self, asked: Functional, part: Part, *, through_networks: bool = False) -> Followed:
        """What a part read: a head's or an attention's over all its keys, a network's at its own rows."""
        sublayer = sublayer_of(part)
        rows, c = self._on_output(asked, sublayer, through_networks)
        if sublayer.kind == "feed_forward":
            return self._network_read(sublayer, rows, c)
        return self._attention_read(sublayer, part.head, rows, c)

    @property
    def whole(self) -> Run:
        """A run over the same tokens with every row, made once."""
        return self._once("whole", lambda: self.parts.run(self.trace))

    def additions(self, stack: Stack) -> tuple[Addition, ...]:
        """What each sub-layer of a stack added at every row of the whole run, in order."""
        of_layers = self.whole.additions
        self._check_room(stack, len(self.trace.source_ids if stack == "encoder" else self.trace.target_ids))
        return self._once(("additions", stack), lambda: tuple(part for layer in of_layers(stack) for part in layer))

    def asked_of(
        self, asked: Functional, part: Part, *, through_networks: bool = False
    ) -> Float[Tensor, "row d_model"]:
        """What is asked of what a part puts out, at each row, before a norm of that, or a factor.

        Raises a TraceError if it adds nothing to what is asked.
        """
        if part.kind in BEGINNINGS and part.stack == asked.stack:
            *_, (_, c, _, _) = self._walk(asked, through_networks)
            return c
        return self._on_output(asked, sublayer_of(part), through_networks)[1]

    def factor(self, sublayer: Sublayer, rows: Sequence[int]) -> Float[Tensor, "..."]:
        """By what an attention's output is multiplied before it is added: 1 in most models, else a number, or one for
        each dimension (Touvron et al. 2021, arXiv 2103.17239). Seen in these rows, the latter in more."""
        return self._once(("factor", sublayer), lambda: self._factor(sublayer, rows[:FEW_ROWS]))

    def reads(
        self, sublayer: Sublayer, rows: Sequence[int], c: Float[Tensor, "row d_model"]
    ) -> tuple[Functional, float]:
        """A functional of what a sub-layer reads, and what the bias of its norm gives."""
        form = self._forms(sublayer.stack)[self._number(sublayer)]
        asked = Functional(sublayer.stack, form.depth, tuple(rows), c)
        if form.norm is None or form.is_post:
            return asked, 0.0
        return replace(asked, norm=form.norm), bias_share(form.norm, c)

    def keys_read(
        self, site: str, layer: int, c: Float[Tensor, "row d_model"], rows: Sequence[int]
    ) -> tuple[Functional, float]:
        """The same of what an attention makes keys and values of; in cross-attention that is the encoder's output."""
        sublayer = Sublayer.of_site(site, layer)
        if sublayer.kind == "self":
            return self.reads(sublayer, rows, c)
        depth, norm = len(self.parts.sublayers("encoder")), self._final_norm
        asked = Functional("encoder", depth, tuple(rows), c, norm)
        return asked, 0.0 if norm is None else bias_share(norm, c)

    def weights(self, site: str, layer: int) -> AttentionWeights:
        """W_Q, W_K and W_V of an attention."""
        return self._once(("weights", site, layer), lambda: self.parts.attention(site, layer))

    def turns(self, site: str, layer: int, side: Literal["query", "key"], rows: Sequence[int]) -> Turned:
        """What positions do to the projected queries or keys of an attention at these rows, seen in what it used."""
        sublayer, inputs, weights = (
            Sublayer.of_site(site, layer),
            self.attention(site, layer),
            self.weights(site, layer),
        )
        if side == "key" and sublayer.kind == "cross":
            end = self.stream("encoder", len(self.parts.sublayers("encoder")), rows)
            read = end if self._final_norm is None else self._final_norm(end)
        else:
            read = self._read(sublayer, rows)
        projection, used = (weights.query, inputs.query) if side == "query" else (weights.key, inputs.key)
        projected, used = projection(read), used[:, list(rows)].float()
        try:
            return turned(projected, used)
        except TraceError:
            norms = self._once(("inner norms", site, layer), lambda: self.parts.inner_norms(site, layer))
            norm = norms.query if side == "query" else norms.key
            if norm is None:
                raise
            return turned(projected, used, norm)

    def gates(self, stack: Stack, layer: int, rows: Sequence[int]) -> Float[Tensor, "row d_ff"]:
        """By what a network multiplies each of its inner units: f(x) / x, or what its gate gives (arXiv 2002.05202)."""
        own = self._own_gates(stack, layer, rows)
        if self.partner is None:
            return own
        other, positions = self.partner
        paired = [(number, positions[stack][row]) for number, row in enumerate(rows) if positions[stack][row] >= 0]
        if not paired:
            return own
        known, theirs = (list(each) for each in zip(*paired, strict=True))
        mean = own.clone()
        mean[known] = (own[known] + other._own_gates(stack, layer, theirs)) / 2
        return mean

    def _once(self, key: Hashable, find: Callable[[], Found]) -> Found:
        if key not in self._known:
            self._known[key] = find()
        found: Found = self._known[key]
        return found

    def _number(self, sublayer: Sublayer) -> int:
        return self.parts.sublayers(sublayer.stack).index(sublayer)

    def _forms(self, stack: Stack) -> tuple[_Form, ...]:
        """Of each sub-layer of a stack, as seen at the first rows that were asked about."""
        if ("forms", stack) not in self._known:
            self._keep(stack, [0])
        return self._once(("forms", stack), tuple)

    def _at(
        self, stack: Stack, rows: Sequence[int], of: Callable[[_Kept], Float[Tensor, "depth row d_model"]], depth: int
    ) -> Float[Tensor, "row d_model"]:
        kept, places = self._keep(stack, rows)
        return of(kept)[depth][[places[row] for row in rows]]

    def _keep(self, stack: Stack, rows: Sequence[int]) -> tuple[_Kept, Mapping[int, int]]:
        """What is kept of a stack's stream, with these rows among its own, and where each row is."""
        if self.parts.why:
            raise TraceError(self.parts.why)
        kept, places = self._known.get(("kept", stack), (None, {}))
        missing = [row for row in dict.fromkeys(rows) if row not in places]
        if missing:
            self._check_room(stack, len(places) + len(missing))
        for first in range(0, len(missing), ROWS_AT_ONCE):
            some = missing[first : first + ROWS_AT_ONCE]
            additions = self.parts.additions_at(self.trace, stack, some, self.start(stack).read[some])
            self._once(("forms", stack), lambda additions=additions: _forms(additions))  # type: ignore[misc]
            more = _kept(additions)
            kept = more if kept is None else kept.joined(more)
            places = {**places, **{row: len(places) + number for number, row in enumerate(some)}}
        if missing:
            self._known["kept", stack] = kept, places
        return kept, places

    def _check_room(self, stack: Stack, rows: int) -> None:
        each = 2 * len(self.parts.sublayers(stack)) * self.start(stack).read.size(-1)
        if rows * each > MOST_KEPT:
            message = (
                "The trail ends here: keeping {rows:,} positions in all layers would take {size:,} MiB, and at "
                "most {most:,} MiB are kept."
            )
            raise TraceError(message, rows=rows, size=rows * each >> 18, most=MOST_KEPT >> 18)

    @property
    def _final_norm(self) -> Norm | None:
        return self._once("final norm", lambda: self.parts.final_norm("encoder"))

    def _read(self, sublayer: Sublayer, rows: Sequence[int]) -> Float[Tensor, "row d_model"]:
        form = self._forms(sublayer.stack)[self._number(sublayer)]
        stream = self.stream(sublayer.stack, form.depth, rows)
        return stream if form.norm is None or form.is_post else form.norm(stream)

    def _output(self, site: str, layer: int) -> Float[Tensor, "head d_v d_model"]:
        return self._once(("output", site, layer), lambda: self.parts.output(site, layer).float())

    def _network(self, stack: Stack, layer: int, rows: Sequence[int]) -> "_Network | None":
        """A network whose matrices give what it added at these rows; None if they are not told, or do not."""

        def find() -> _Network | None:
            try:
                weights = self.parts.feed_forward(stack, layer)
            except TraceError:
                return None
            own, few = Sublayer(stack, layer, "feed_forward"), rows[:FEW_ROWS]
            number = self._number(own)
            has_norm = self._forms(stack)[number].output_norm is not None
            wrote = self._at(stack, few, lambda kept: _put_out(kept) if has_norm else kept.added, number)
            # In parallel blocks it may share the norm of the attention.
            for reader in (own, Sublayer(stack, layer, "self")):
                (again,) = weights.outer(weights.hidden(self._read(reader, few)))
                if float((again - wrote).abs().max()) <= TOLERANCE * float(wrote.abs().max()):
                    return _Network(weights, reader)
            return None

        return self._once(("network", stack, layer), find)

    def _own_gates(self, stack: Stack, layer: int, rows: Sequence[int]) -> Float[Tensor, "row d_ff"]:
        weights, reader = self._told(stack, layer, rows)
        read = self._read(reader, rows)
        if weights.gate is not None:
            return weights.activation(weights.gate(read)[0])
        (units,) = weights.inner(read)
        safe = torch.where(units.abs() > 1e-12, units, 1.0)
        return torch.where(units.abs() > 1e-12, weights.activation(units) / safe, 0.0)

    def _told(self, stack: Stack, layer: int, rows: Sequence[int]) -> "_Network":
        network = self._network(stack, layer, rows)
        if network is None:
            raise TraceError(NOT_FOLLOWED)
        return network

    def _walk(
        self, asked: Functional, through_networks: bool
    ) -> Iterator[tuple[int, Float[Tensor, "row d_model"], dict[Part, float], Followed | None]]:
        """Sub-layers from the last to the first: number, what is asked of its output, constants met, and what a network
        read."""
        stack, every, asked = asked.stack, self.parts.sublayers(asked.stack), self.of_stream(asked)
        rows, c = asked.rows, asked.vectors
        later: dict[int, Float[Tensor, "row d_model"]] = {}
        for number in reversed(range(asked.depth)):
            sublayer, form, constants, read = every[number], self._forms(stack)[number], {}, None
            c = c + later.pop(number + 1) if number + 1 in later else c
            if form.is_post and form.norm is not None:
                constants[Part("bias")] = bias_share(form.norm, c)
                c = form.norm.back(c, self._at(stack, rows, _summed, number))
            is_followed = through_networks and sublayer.kind == "feed_forward"
            if is_followed and self._network(stack, sublayer.layer, rows) is not None:
                of_output, of_norm = self._put_out(sublayer, rows, c)
                read = self._network_read(sublayer, rows, of_output)
                before = self.of_stream(read.functional)
                later[before.depth] = later.get(before.depth, torch.zeros_like(c)) + before.vectors
                constants[Part("bias")] = constants.get(Part("bias"), 0.0) + of_norm
            yield number, c, constants, read
            if not form.has_skip:
                c = torch.zeros_like(c)
        c = c + later.pop(0) if 0 in later else c
        start = self.start(stack)
        if start.norm is None:
            yield -1, c, {}, None
        else:
            bias = {Part("bias"): bias_share(start.norm, c)}
            yield -1, start.norm.back(c, start.summed[list(rows)]), bias, None

    def _shares(self, asked: Functional, through_networks: bool) -> Iterator[tuple[Part, float]]:
        stack, rows, every = asked.stack, asked.rows, self.parts.sublayers(asked.stack)
        for number, c, constants, read in self._walk(asked, through_networks):
            yield from constants.items()
            if number < 0:
                yield from ((part, float(of_rows.sum())) for part, of_rows in self._beginning(stack, rows, c).items())
            elif read is not None:
                yield from read.constants.items()
            else:
                sublayer, added = every[number], self._at(stack, rows, lambda kept: kept.added, number)
                constant = self._constant(sublayer, rows, c)
                yield Part(sublayer.kind, stack, sublayer.layer), float((c * added).sum()) - constant
                yield Part("bias"), constant

    def _constant(self, sublayer: Sublayer, rows: Sequence[int], c: Float[Tensor, "row d_model"]) -> float:
        """What an attention adds whatever its heads put out."""
        if sublayer.site is None:
            return 0.0
        bias = self.parts.output_bias(sublayer.site, sublayer.layer)
        c, total = self._put_out(sublayer, rows, c)
        return total if bias is None else total + float((c @ bias.to(c)).sum())

    def _put_out(
        self, sublayer: Sublayer, rows: Sequence[int], c: Float[Tensor, "row d_model"]
    ) -> tuple[Float[Tensor, "row d_model"], float]:
        """What is asked of a sub-layer before a norm of what it puts out, and what that norm's bias gives."""
        stack, number = sublayer.stack, self._number(sublayer)
        norm = self._forms(stack)[number].output_norm
        if norm is not None:
            return norm.back(c, self._at(stack, rows, _put_out, number)), bias_share(norm, c)
        return c * self.factor(sublayer, rows), 0.0

    def _factor(self, sublayer: Sublayer, rows: Sequence[int]) -> Float[Tensor, "..."]:
        if sublayer.site is None:
            return torch.ones(())
        added, written = self._added_and_written(sublayer, rows)
        factor = (added * written).sum() / written.square().sum().clamp_min(1e-30)
        if _is_product(factor, written, added):
            return torch.ones(()) if abs(float(factor) - 1) < TOLERANCE else factor
        known = len(self.start(sublayer.stack).read)
        added, written = self._added_and_written(sublayer, range(min(FEW_ROWS, known)))
        factor = (added * written).sum(0) / written.square().sum(0).clamp_min(1e-30)
        # In one row, any two vectors have such factors.
        if len(added) < 2 or not _is_product(factor, written, added):
            raise TraceError(NOT_ITS_HEADS)
        return factor

    def _added_and_written(
        self, sublayer: Sublayer, rows: Sequence[int]
    ) -> tuple[Float[Tensor, "row d_model"], Float[Tensor, "row d_model"]]:
        """What an attention adds at rows, and what its heads and its bias give."""
        site, layer = cast(str, sublayer.site), sublayer.layer
        added = self._at(sublayer.stack, rows, lambda kept: kept.added, self._number(sublayer))
        output, bias = self.trace.head_output(site, layer, rows=list(rows)), self.parts.output_bias(site, layer)
        written = torch.einsum("hrv,hvd->rd", output, self._output(site, layer))
        return added, written if bias is None else written + bias.to(written)

    def _beginning(
        self, stack: Stack, rows: Sequence[int], c: Float[Tensor, "row d_model"]
    ) -> dict[Part, Float[Tensor, "row"]]:
        """The shares of what a stack's first layer reads, in what is asked of their sum, before a norm of that."""
        start = self.start(stack)
        summed = start.summed[list(rows)]
        if start.embedding is None:
            return {Part("beginning", stack): (c * summed).sum(-1)}
        shares, known = dict[Part, Tensor](), {"embedding": start.embedding, "position": start.positional}
        for kind, every in known.items():
            if every is not None:
                vectors = every[list(rows)]
                shares[Part(cast(PartKind, kind), stack)] = (c * vectors).sum(-1)
                summed = summed - vectors
        if float(summed.abs().max()) > TOLERANCE * float(start.summed.abs().max()):
            shares[Part("token_type", stack)] = (c * summed).sum(-1)
        return shares

    def start(self, stack: Stack) -> Start:
        """What a stack's first layer reads, and the sum that it is."""
        return self._once(("start", stack), lambda: self.parts.start(self.trace, stack))

    def _on_output(
        self, asked: Functional, sublayer: Sublayer, through_networks: bool
    ) -> tuple[list[int], Float[Tensor, "row d_model"]]:
        """What is asked of what a sub-layer puts out, before a norm of that."""
        wanted = self._number(sublayer) if sublayer.stack == asked.stack else asked.depth
        for number, c, _, _ in self._walk(asked, through_networks):
            if number == wanted:
                return list(asked.rows), self._put_out(sublayer, asked.rows, c)[0]
        message = (
            "{part} adds nothing to the quantity asked about: it comes later, or belongs to the other half of "
            "the model (encoder or decoder)."
        )
        raise TraceError(message, part=f"{sublayer.stack} {sublayer.kind} {sublayer.layer + 1}")

    def _attention_read(
        self, sublayer: Sublayer, head: int | None, rows: list[int], c: Float[Tensor, "row d_model"]
    ) -> Followed:
        site, layer = sublayer.site, sublayer.layer
        assert site is not None
        inputs, value = self.attention(site, layer), self.weights(site, layer).value
        heads = list(range(inputs.num_heads)) if head is None else [head]
        asked_of = c @ self._output(site, layer)[heads].mT
        blocks = row_slices(0, len(rows), len(heads) * inputs.shape[2])
        of_blocks = (inputs.weights(heads, rows[block]).transpose(1, 2) @ asked_of[:, block] for block in blocks)
        of_values = reduce(torch.add, of_blocks)
        shared = [each // (inputs.num_heads // len(value.weight)) for each in heads]
        vectors = torch.einsum("hdv,hkv->kd", value.weight[shared], of_values)
        biases = torch.zeros(()) if value.bias is None else value.bias[shared][:, None]
        functional, of_norm = self.keys_read(site, layer, vectors, range(len(vectors)))
        values = (of_values * (inputs.values(heads) - biases)).sum((0, 2))
        if functional.norm is not None and functional.norm.bias is not None:
            values = values - vectors @ functional.norm.bias
        bias = float((of_values * biases).sum()) + of_norm
        return Followed(replace(functional, values=values), {Part("bias"): bias})

    def _network_read(self, sublayer: Sublayer, rows: Sequence[int], c: Float[Tensor, "row d_model"]) -> Followed:
        stack, layer = sublayer.stack, sublayer.layer
        network, reader = self._told(stack, layer, rows)
        gates = self.gates(stack, layer, rows)
        asked_of = c @ network.outer.weight[0].T
        of_units = asked_of * gates
        vectors = of_units @ network.inner.weight[0].T
        biases = 0.0 if network.inner.bias is None else float((of_units @ network.inner.bias[0]).sum())
        biases += 0.0 if network.outer.bias is None else float((c @ network.outer.bias[0]).sum())
        functional, of_norm = self.reads(reader, rows, vectors)
        constants = {Part("bias"): biases + of_norm}
        if self.partner is not None:
            (units,) = network.inner(self._read(reader, rows))
            own = asked_of * (self._own_gates(stack, layer, rows) - gates)
            constants[Part("reading")] = float((own * units).sum())
        return Followed(functional, constants)


class _Network(NamedTuple):
    """A network that can be followed."""

    weights: FeedForwardWeights
    reader: Sublayer  #: whose norm it reads


def _forms(additions: Sequence[Addition]) -> tuple[_Form, ...]:
    forms = []
    for number, addition in enumerate(additions):
        norm, depth = addition.norm, number
        if norm is not None and not addition.is_post:
            # In parallel blocks, a sub-layer does not read what the one before it in its layer has added.
            while depth and not torch.equal(norm.before, additions[depth].before):
                depth -= 1
        output = addition.output_norm
        of_output = None if output is None else output.norm
        forms.append(_Form(None if norm is None else norm.norm, addition.is_post, depth, of_output, addition.has_skip))
    return tuple(forms)


def _kept(additions: Sequence[Addition]) -> _Kept:
    is_post, has_norms = (
        any(each) for each in zip(*((one.is_post, one.output_norm) for one in additions), strict=True)
    )
    return _Kept(
        torch.stack([*(one.before for one in additions), additions[-1].after]),
        torch.stack([one.added for one in additions]),
        torch.stack([one.summed for one in additions]) if is_post else None,
        torch.stack([one.added if one.output_norm is None else one.output_norm.before for one in additions])
        if has_norms
        else None,
    )


def _is_product(factor: Tensor, written: Tensor, added: Tensor) -> bool:
    return float((factor * written - added).abs().max()) <= 10 * TOLERANCE * float(added.abs().max())


def _summed(kept: _Kept) -> Float[Tensor, "sublayer row d_model"]:
    assert kept.summed is not None
    return kept.summed


def _put_out(kept: _Kept) -> Float[Tensor, "sublayer row d_model"]:
    assert kept.put_out is not None
    return kept.put_out


def bias_share(norm: Norm, c: Float[Tensor, "row d_model"]) -> float:
    """What the learned bias of a norm gives to c · norm(x), over all rows."""
    return 0.0 if norm.bias is None else float((c @ norm.bias.to(c)).sum())


def sublayer_of(part: Part) -> Sublayer:
    """The sub-layer that a part is, or is a head of. Raises a TraceError if it is neither."""
    if part.stack is None or part.layer is None or part.kind not in ("self", "cross", "feed_forward"):
        raise TraceError("Only attentions and feed-forward networks read something; {part} does not.", part=part.kind)
    return Sublayer(part.stack, part.layer, part.kind)
