"""Ask a run's residual stream something linear, and see which parts of the stream answer.

With the divisor of every norm held at what it was, weights of attention and gates of feed-forward networks too, all
that a model computes is linear in the stream, and the stream is a sum (Elhage et al. 2021, "A Mathematical Framework
for Transformer Circuits"). A `Functional` is c · x at some rows; `HeldRun` splits its value over the parts of x.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor

from model.analysis.reasons.turns import Turned, turned
from model.errors import TraceError, said
from model.nn.attention import AttentionInputs
from model.nn.score_functions import DotProduct
from model.parts.parts import Parts
from model.parts.run import Addition
from model.parts.weights import AttentionWeights, Beginning, FeedForwardWeights, Norm, Stack, Sublayer
from model.trace.trace import Trace

Found = TypeVar("Found")

PartKind = Literal["embedding", "position", "beginning", "self", "cross", "feed_forward", "bias", "reading", "distance"]

NO_DOT_PRODUCT = said("The scores of this model are not products of queries and keys, so they are not a sum of parts.")
NOT_FOLLOWED = said(
    "The matrices of this feed-forward network are not told, or do not give what it added, so it cannot be followed."
)
NOT_ITS_HEADS = said(
    "What an attention of this model adds is not the sum of its heads' outputs, so it cannot be split."
)
#: How far a recomputed output may be from the model's, as a share of its largest number.
TOLERANCE = 1e-4
#: Rows in which it is seen by what an attention multiplies its output.
FEW_ROWS = 8


class Part(NamedTuple):
    """Something that the residual stream of a stack is a sum of; layers and heads count from 0.

    "beginning": embedding, positions and all else that is added before the first layer, where they are not told apart.
    "bias": what is learned and depends on no token: biases of projections, of norms, of networks. "reading": between
    two sentences, how a thing is read, not what stands there. "distance": a bias of the distance of query and key.
    """

    kind: PartKind
    stack: Stack | None = None
    layer: int | None = None
    head: int | None = None


@dataclass(frozen=True, eq=False)
class Functional:
    """Σ over rows of c · x, with x the residual stream of a stack before one of its sub-layers."""

    stack: Stack
    depth: int  #: sub-layers that have been added to x; all of them: what the last layer puts out, before a final norm
    rows: tuple[int, ...]
    vectors: Float[Tensor, "row d_model"]  #: c of each of these rows

    def at(self, position: int) -> "Functional":
        """The same at one row alone."""
        chosen = [number for number, row in enumerate(self.rows) if row == position]
        return Functional(self.stack, self.depth, tuple(self.rows[number] for number in chosen), self.vectors[chosen])


@dataclass(frozen=True, eq=False)
class Followed:
    """What a part of a functional is, one step back: a functional of what it read, and what no token can be named of.

    Its value and its constants add up to the share of the part.
    """

    functional: Functional
    constants: Mapping[Part, float]


@dataclass(frozen=True, eq=False)
class HeldRun:
    """One run over the tokens of a trace, with norms, weights and gates as they were.

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

    def additions(self, stack: Stack) -> tuple[Addition, ...]:
        """What each sub-layer of a stack added, in order."""
        if self.parts.why:
            raise TraceError(self.parts.why)
        run = self._once("run", lambda: self.parts.run(self.trace))
        return self._once(("additions", stack), lambda: tuple(part for layer in run.additions(stack) for part in layer))

    def attention(self, site: str, layer: int) -> AttentionInputs:
        """What an attention computed from. Raises a TraceError where its scores are no dot products."""
        inputs = self.trace.attention(site, layer)
        if not isinstance(inputs.score, DotProduct):
            raise TraceError(NO_DOT_PRODUCT)
        return inputs

    def value(self, asked: Functional) -> float:
        """Σ c · x."""
        return float((asked.vectors * self.stream(asked.stack, asked.depth)[list(asked.rows)]).sum())

    def by_row(self, asked: Functional) -> dict[int, float]:
        """c · x of each row."""
        values = (asked.vectors * self.stream(asked.stack, asked.depth)[list(asked.rows)]).sum(-1).tolist()
        return dict(zip(asked.rows, values, strict=True))

    def stream(self, stack: Stack, depth: int) -> Float[Tensor, "row d_model"]:
        """The residual stream before a sub-layer, or after the last."""
        added = self.additions(stack)
        return added[depth].before if depth < len(added) else added[-1].after

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
        asked_of = torch.einsum("hvd,rd->hrv", self._output(site, sublayer.layer), c)
        shares = (output * asked_of).sum((1, 2)).tolist()
        return {part._replace(head=head): share for head, share in enumerate(shares)}

    def follow(self, asked: Functional, part: Part, *, through_networks: bool = False) -> Followed:
        """What a part read: a head's or an attention's over all its keys, a network's at its own rows."""
        sublayer = sublayer_of(part)
        rows, c = self._on_output(asked, sublayer, through_networks)
        if sublayer.kind == "feed_forward":
            return self._network_read(sublayer, rows, c)
        return self._attention_read(sublayer, part.head, rows, c)

    def reads(self, sublayer: Sublayer, rows: list[int], c: Float[Tensor, "row d_model"]) -> tuple[Functional, float]:
        """A functional of what a sub-layer reads, taken back through its norm; and what the norm's bias gives."""
        added = self.additions(sublayer.stack)
        number = self.parts.sublayers(sublayer.stack).index(sublayer)
        norm = added[number].norm
        if norm is None or added[number].is_post:
            return Functional(sublayer.stack, number, tuple(rows), c), 0.0
        # In parallel blocks, a sub-layer does not read what the one before it in its layer has added.
        while number and norm.before is not added[number].before and not torch.equal(norm.before, added[number].before):
            number -= 1
        back = norm.norm.back(c, norm.before[rows])
        return Functional(sublayer.stack, number, tuple(rows), back), bias_share(norm.norm, c)

    def keys_read(
        self, site: str, layer: int, c: Float[Tensor, "row d_model"], rows: list[int]
    ) -> tuple[Functional, float]:
        """The same of what an attention makes keys and values of; in cross-attention that is the encoder's output."""
        sublayer = Sublayer.of_site(site, layer)
        if sublayer.kind == "self":
            return self.reads(sublayer, rows, c)
        depth, norm = len(self.parts.sublayers("encoder")), self._final_norm
        if norm is None:
            return Functional("encoder", depth, tuple(rows), c), 0.0
        back = norm.back(c, self.stream("encoder", depth)[rows])
        return Functional("encoder", depth, tuple(rows), back), bias_share(norm, c)

    def weights(self, site: str, layer: int) -> AttentionWeights:
        """W_Q, W_K and W_V of an attention."""
        return self._once(("weights", site, layer), lambda: self.parts.attention(site, layer))

    def turns(self, site: str, layer: int, side: Literal["query", "key"]) -> Turned:
        """What positions do to the projected queries or keys of an attention, seen in what it used."""
        sublayer, inputs, weights = (
            Sublayer.of_site(site, layer),
            self.attention(site, layer),
            self.weights(site, layer),
        )
        read = self._memory if side == "key" and sublayer.kind == "cross" else self._read(sublayer)
        projection, used = (weights.query, inputs.query) if side == "query" else (weights.key, inputs.key)
        norms = self._once(("inner norms", site, layer), lambda: self.parts.inner_norms(site, layer))
        norm = norms.query if side == "query" else norms.key
        return self._once(("turns", site, layer, side), lambda: turned(projection(read), used.float(), norm))

    def gates(self, stack: Stack, layer: int) -> Float[Tensor, "row d_ff"]:
        """By what a network multiplies each of its inner units: f(x) / x, or what its gate gives (arXiv 2002.05202)."""
        own = self._own_gates(stack, layer)
        if self.partner is None:
            return own
        other, positions = self.partner
        theirs, known = other._own_gates(stack, layer), torch.tensor(positions[stack])
        return torch.where((known >= 0)[:, None], (own + theirs[known.clamp_min(0)]) / 2, own)

    def _once(self, key: Hashable, find: Callable[[], Found]) -> Found:
        if key not in self._known:
            self._known[key] = find()
        found: Found = self._known[key]
        return found

    @property
    def _memory(self) -> Float[Tensor, "row d_model"]:
        end = self.stream("encoder", len(self.parts.sublayers("encoder")))
        norm = self._final_norm
        return end if norm is None else norm(end)

    @property
    def _final_norm(self) -> Norm | None:
        return self._once("final norm", lambda: self.parts.final_norm("encoder"))

    def _read(self, sublayer: Sublayer) -> Float[Tensor, "row d_model"]:
        return self.additions(sublayer.stack)[self.parts.sublayers(sublayer.stack).index(sublayer)].read

    def _output(self, site: str, layer: int) -> Float[Tensor, "head d_v d_model"]:
        return self._once(("output", site, layer), lambda: self.parts.output(site, layer).float())

    def _network(self, stack: Stack, layer: int) -> "_Network | None":
        """A network whose matrices give what it added; None if they are not told, or give something else."""

        def find() -> _Network | None:
            try:
                weights = self.parts.feed_forward(stack, layer)
            except TraceError:
                return None
            own = Sublayer(stack, layer, "feed_forward")
            wrote = self._addition(own)
            put_out = wrote.added if wrote.output_norm is None else wrote.output_norm.before
            # In parallel blocks it may share the norm of the attention.
            for reader in (own, Sublayer(stack, layer, "self")):
                read = self._addition(reader).read
                (again,) = weights.outer(weights.hidden(read))
                if float((again - put_out).abs().max()) <= TOLERANCE * float(put_out.abs().max()):
                    return _Network(weights, reader, read)
            return None

        return self._once(("network", stack, layer), find)

    def _own_gates(self, stack: Stack, layer: int) -> Float[Tensor, "row d_ff"]:
        weights, _, read = self._told(stack, layer)
        if weights.gate is not None:
            return weights.activation(weights.gate(read)[0])
        (units,) = weights.inner(read)
        safe = torch.where(units.abs() > 1e-12, units, 1.0)
        return torch.where(units.abs() > 1e-12, weights.activation(units) / safe, 0.0)

    def _told(self, stack: Stack, layer: int) -> "_Network":
        network = self._network(stack, layer)
        if network is None:
            raise TraceError(NOT_FOLLOWED)
        return network

    def _walk(
        self, asked: Functional, through_networks: bool
    ) -> Iterator[tuple[int, list[int], Float[Tensor, "row d_model"], dict[Part, float], Followed | None]]:
        """Sub-layers from the last to the first: number, rows, what is asked of its output, constants met, and what a
        network read."""
        stack, every = asked.stack, self.parts.sublayers(asked.stack)
        rows, c = list(asked.rows), asked.vectors
        later: dict[int, Float[Tensor, "row d_model"]] = {}
        for number in reversed(range(asked.depth)):
            addition, constants = self.additions(stack)[number], {}
            c = c + later.pop(number + 1) if number + 1 in later else c
            if addition.is_post and addition.norm is not None:
                constants[Part("bias")] = bias_share(addition.norm.norm, c)
                c = addition.norm.norm.back(c, addition.norm.before[rows])
            sublayer, read = every[number], None
            is_followed = through_networks and sublayer.kind == "feed_forward"
            if is_followed and self._network(stack, sublayer.layer) is not None:
                of_output, of_norm = self._put_out(sublayer, rows, c)
                read = self._network_read(sublayer, rows, of_output)
                depth, before = read.functional.depth, read.functional.vectors
                later[depth] = later.get(depth, torch.zeros_like(c)) + before
                constants[Part("bias")] = constants.get(Part("bias"), 0.0) + of_norm
            yield number, rows, c, constants, read
            if not addition.has_skip:
                c = torch.zeros_like(c)
        c = c + later.pop(0) if 0 in later else c
        yield -1, rows, c, {}, None

    def _shares(self, asked: Functional, through_networks: bool) -> Iterator[tuple[Part, float]]:
        stack, every = asked.stack, self.parts.sublayers(asked.stack)
        for number, rows, c, constants, read in self._walk(asked, through_networks):
            yield from constants.items()
            if number < 0:
                yield from self._beginning(stack, rows, c)
                continue
            if read is not None:
                yield from read.constants.items()
                continue
            sublayer, addition = every[number], self.additions(stack)[number]
            constant = self._constant(sublayer, rows, c)
            yield Part(sublayer.kind, stack, sublayer.layer), float((c * addition.added[rows]).sum()) - constant
            yield Part("bias"), constant

    def _constant(self, sublayer: Sublayer, rows: list[int], c: Float[Tensor, "row d_model"]) -> float:
        """What an attention adds whatever its heads put out."""
        if sublayer.site is None:
            return 0.0
        bias = self.parts.output_bias(sublayer.site, sublayer.layer)
        c, total = self._put_out(sublayer, rows, c)
        return total if bias is None else total + float((c @ bias.to(c)).sum())

    def _put_out(
        self, sublayer: Sublayer, rows: list[int], c: Float[Tensor, "row d_model"]
    ) -> tuple[Float[Tensor, "row d_model"], float]:
        """What is asked of a sub-layer before a norm of what it puts out, and what that norm's bias gives."""
        step = self._addition(sublayer).output_norm
        if step is not None:
            return step.norm.back(c, step.before[rows]), bias_share(step.norm, c)
        return c * self._once(("factor", sublayer), lambda: self._factor(sublayer)), 0.0

    def _factor(self, sublayer: Sublayer) -> float:
        """By what an attention's output is multiplied before it is added: 1 in most models. Seen in a few rows."""
        site, layer, added = sublayer.site, sublayer.layer, self._addition(sublayer).added
        if site is None:
            return 1.0
        rows, bias = list(range(len(added)))[-FEW_ROWS:], self.parts.output_bias(site, layer)
        output, added = self.trace.head_output(site, layer, rows=rows), added[rows]
        written = torch.einsum("hrv,hvd->rd", output, self._output(site, layer))
        written = written if bias is None else written + bias.to(written)
        factor = float((added * written).sum() / written.square().sum().clamp_min(1e-30))
        factor = 1.0 if abs(factor - 1) < TOLERANCE else factor
        if float((factor * written - added).abs().max()) > 10 * TOLERANCE * float(added.abs().max()):
            raise TraceError(NOT_ITS_HEADS)
        return factor

    def _addition(self, sublayer: Sublayer) -> Addition:
        return self.additions(sublayer.stack)[self.parts.sublayers(sublayer.stack).index(sublayer)]

    def _beginning(
        self, stack: Stack, rows: list[int], c: Float[Tensor, "row d_model"]
    ) -> Iterator[tuple[Part, float]]:
        start = self.stream(stack, 0)[rows]
        begins = self._once(("beginning", stack), lambda: self._begins(stack))
        if begins is None:
            yield Part("beginning", stack), float((c * start).sum())
            return
        embedding = float((c * begins.embedding[rows]).sum())
        yield Part("embedding", stack), embedding
        yield Part("position", stack), float((c * start).sum()) - embedding

    def _begins(self, stack: Stack) -> Beginning | None:
        try:
            return self.parts.beginning(self.trace, stack)
        except TraceError:
            return None

    def _on_output(
        self, asked: Functional, sublayer: Sublayer, through_networks: bool
    ) -> tuple[list[int], Float[Tensor, "row d_model"]]:
        """What is asked of what a sub-layer puts out, before a norm of that."""
        wanted = self.parts.sublayers(asked.stack).index(sublayer) if sublayer.stack == asked.stack else asked.depth
        for number, rows, c, _, _ in self._walk(asked, through_networks):
            if number == wanted:
                return rows, self._put_out(sublayer, rows, c)[0]
        message = "{part} adds nothing to what is asked here: it comes later, or is of the other stack."
        raise TraceError(message, part=f"{sublayer.stack} {sublayer.kind} {sublayer.layer + 1}")

    def _attention_read(
        self, sublayer: Sublayer, head: int | None, rows: list[int], c: Float[Tensor, "row d_model"]
    ) -> Followed:
        site, layer = sublayer.site, sublayer.layer
        assert site is not None
        inputs, value = self.attention(site, layer), self.weights(site, layer).value
        heads = list(range(inputs.num_heads)) if head is None else [head]
        asked_of = torch.einsum("hvd,rd->hrv", self._output(site, layer)[heads], c)
        of_values = inputs.weights(heads, rows).transpose(1, 2) @ asked_of
        shared = [each // (inputs.num_heads // len(value.weight)) for each in heads]
        vectors = torch.einsum("hdv,hkv->kd", value.weight[shared], of_values)
        bias = 0.0 if value.bias is None else float((of_values * value.bias[shared][:, None]).sum())
        functional, of_norm = self.keys_read(site, layer, vectors, list(range(len(vectors))))
        return Followed(functional, {Part("bias"): bias + of_norm})

    def _network_read(self, sublayer: Sublayer, rows: list[int], c: Float[Tensor, "row d_model"]) -> Followed:
        stack, layer = sublayer.stack, sublayer.layer
        network, reader, read = self._told(stack, layer)
        asked_of = c @ network.outer.weight[0].T
        of_units = asked_of * self.gates(stack, layer)[rows]
        vectors = of_units @ network.inner.weight[0].T
        biases = 0.0 if network.inner.bias is None else float((of_units @ network.inner.bias[0]).sum())
        biases += 0.0 if network.outer.bias is None else float((c @ network.outer.bias[0]).sum())
        functional, of_norm = self.reads(reader, rows, vectors)
        constants = {Part("bias"): biases + of_norm}
        if self.partner is not None:
            (units,) = network.inner(read[rows])
            own = asked_of * (self._own_gates(stack, layer) - self.gates(stack, layer))[rows]
            constants[Part("reading")] = float((own * units).sum())
        return Followed(functional, constants)


class _Network(NamedTuple):
    """A network that can be followed."""

    weights: FeedForwardWeights
    reader: Sublayer  #: whose norm it reads
    read: Float[Tensor, "row d_model"]


def bias_share(norm: Norm, c: Float[Tensor, "row d_model"]) -> float:
    """What the learned bias of a norm gives to c · norm(x), over all rows."""
    return 0.0 if norm.bias is None else float((c @ norm.bias.to(c)).sum())


def sublayer_of(part: Part) -> Sublayer:
    """The sub-layer that a part is, or is a head of. Raises a TraceError if it is neither."""
    if part.stack is None or part.layer is None or part.kind not in ("self", "cross", "feed_forward"):
        raise TraceError("Only attentions and feed-forward networks read something, not {part}.", part=part.kind)
    return Sublayer(part.stack, part.layer, part.kind)
