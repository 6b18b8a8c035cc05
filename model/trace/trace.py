"""What one run left behind, for one sentence: tokens, attention inputs, positions, steps.

Weights are not stored; they are derived from q, k and mask on demand, by the model's own `attention_weights`. Only of a
model that gives nothing but weights, these are held (`WeightsOnly`).

| model | sites | tokens |
|---|---|---|
| encoder–decoder | encoder.self, decoder.self, decoder.cross | source and target |
| encoder only | encoder.self | source: a text or a picture |
| decoder only | decoder.self | target: the text, and what was written after it |
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final
from uuid import uuid4

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from model.errors import TraceError
from model.nn.attention import AttentionInputs, WeightsOnly
from model.nn.edit_hooks import is_named, named_edits
from model.nn.edits import HeadEdit
from model.nn.encoder_decoder import EncoderDecoder, site_path
from model.nn.hooks import Edit
from model.nn.masks import AttentionMask, Rows
from model.sources.source import Source, TextSource
from model.tokenizer import SPECIAL_TOKENS, Tokenizer
from model.trace import axes
from model.trace.axes import Axis, check_roles, single_tokens
from model.trace.row_blocks import row_slices
from model.trace.steps import DecodingStep, Spread

SiteLayers = Mapping[str, tuple[AttentionInputs | WeightsOnly, ...]]
"""Site → per layer, what its weights are read from."""

Recorded = dict[str, list[Any]]
"""Full hook name → the values of one call of the model, as `hooks.listen` yields them."""

UNKNOWN: Final = "…"
"""What a row writes, where nobody knows it."""

ROUNDING: Final = {torch.float64: 1e-5, torch.float32: 1e-5, torch.float16: 3e-3, torch.bfloat16: 2e-2}
"""Type of number → the share of the largest head output by which rounding moves any of them at most."""


TokenInputs = tuple[tuple[str, tuple[int, ...]], ...]
"""What a model reads of each token beside its id: the name of its argument, and a number for each, as the types by
which BERT tells two texts apart."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Trace:
    """One sentence, one target, and what every attention site computed. All tensors are on the CPU.

    Its methods raise a TraceError for a site, layer or head that does not exist, and where the model gives its weights
    only, for scores, outputs and inputs.

    Tokens are spelled alike for every model: a piece that begins a word has "▁" in front, a byte that is no whole
    character is "<0xF0>", a special token is as its model writes it.
    """

    reader_key: str  #: of the model that ran (`model.reader.Reader.key`)
    source: Source  #: what was read; its positions are those of the encoder
    translation: str = ""  #: the target as text; of a decoder-only model, what follows the text
    #: target_ids, target_tokens: what the decoder read; one per query row, empty without one.
    target_ids: tuple[int, ...] = ()
    target_tokens: tuple[str, ...] = ()
    #: predicted_ids, predicted_tokens: the most probable tokens after each of these rows.
    predicted_ids: tuple[int, ...] = ()
    predicted_tokens: tuple[str, ...] = ()
    #: per row, the token that really follows, its probability, and the candidates. Of a text that a decoder only reads,
    #: the last step is what the model would write next; of a long one there are none, and no predicted tokens either.
    steps: tuple[DecodingStep, ...] = ()
    inputs: SiteLayers  #: site → per layer, what its weights were computed from
    #: full hook name → value without batch dimension: embeddings, positions, layer outputs, extras; as far as the model
    #: gives them.
    recorded: Mapping[str, Tensor]
    special_tokens: frozenset[str] = frozenset(SPECIAL_TOKENS)  #: the tokens without text
    #: of a text that a decoder read as a chat, whose message each target token is of (`model.trace.axes`); "" for what
    #: the chat template wrote. Of a pair that an encoder read alone, which text each source token is of. Empty where
    #: there is neither, or where that is not known.
    roles: tuple[str, ...] = ()
    #: what an encoder alone read of each token beside its id. A file does not hold it.
    token_inputs: TokenInputs = ()
    #: how the probability of each step was spread over the vocabulary, where only the run could tell: other people's
    #: models have rules of their own for what may come. A file does not hold it.
    spread: Spread | None = None

    def __post_init__(self) -> None:
        check_roles(self.roles, len(self.target_tokens or self.source_tokens))

    @property
    def text(self) -> str:
        """The source as typed; of a file, its name."""
        return self.source.text

    @property
    def source_ids(self) -> tuple[int, ...]:
        """The ids of what the encoder read; empty without one."""
        return self.source.ids

    @property
    def source_tokens(self) -> tuple[str, ...]:
        """What the encoder read, a token a position; empty without one."""
        return self.source.tokens

    @cached_property
    def key(self) -> str:
        """Names this trace: by the model, what it read and wrote, the edits of its heads, and what was recorded.

        What is derived from a trace is cached under it. Two runs of the same have the same key.
        """
        tokens = self.source_ids, self.target_ids, tuple(step.token_id for step in self.steps)
        named = (self.reader_key, self.text, *tokens, self.edits, sorted(self.recorded))
        fingerprint = hashlib.blake2b(repr(named).encode(), digest_size=16)
        fingerprint.update(self.source.content)
        return fingerprint.hexdigest()

    @property
    def rows_before(self) -> int:
        """Target rows before that of the first step: none, or the text of a decoder-only model but its last token."""
        return len(self.target_tokens) - len(self.steps)

    def only_written(self, steps: Sequence[DecodingStep]) -> "Trace":
        """The same run with the last steps alone, those that wrote: a decoder-only model has one for its text too."""
        count = len(steps)
        if count == len(self.steps):
            return self
        first = len(self.predicted_ids) - count
        predicted = self.predicted_ids[first:], self.predicted_tokens[first:]
        return replace(self, steps=tuple(steps), predicted_ids=predicted[0], predicted_tokens=predicted[1])

    @property
    def sites(self) -> tuple[str, ...]:
        """The attention sites that the model has, of encoder.self, decoder.self and decoder.cross."""
        return tuple(self.inputs)

    @property
    def knows_inputs(self) -> bool:
        """Whether query, key and value are known, or weights only."""
        return all(isinstance(inputs, AttentionInputs) for layers in self.inputs.values() for inputs in layers)

    def layers_of(self, site: str) -> int:
        """How many layers a site has; stacks may differ."""
        self._check_site(site)
        return len(self.inputs[site])

    def heads_of(self, site: str) -> int:
        """How many heads a site has in each layer; the most, where layers differ."""
        self._check_site(site)
        return max(inputs.num_heads for inputs in self.inputs[site])

    @property
    def shapes(self) -> Mapping[str, tuple[int, int]]:
        """Site → its layers and heads."""
        return {site: (self.layers_of(site), self.heads_of(site)) for site in self.sites}

    @property
    def edits(self) -> tuple[HeadEdit, ...]:
        """What was done to heads in this run; scores, weights and head outputs are those that the model used then."""
        return tuple(edit for layers in self.inputs.values() for inputs in layers for edit in inputs.edits)

    @property
    def positional(self) -> Mapping[str, Float[Tensor, "position d_model"]]:
        """The positional encodings as added, for "source" and "target"; a TraceError if the model gives none."""
        return self._of_both_sides("hook_positional")

    @property
    def embedding(self) -> Mapping[str, Float[Tensor, "position d_model"]]:
        """The √d_model-scaled embeddings without positions, "source" and "target"; a TraceError if not given."""
        return self._of_both_sides("hook_embedding")

    def axis_tokens(self, site: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Tokens of a site's query rows and of its key columns."""
        self._check_site(site)
        stack, kind = site.split(".")
        queries = self.source_tokens if stack == "encoder" else self.target_tokens
        return queries, self.source_tokens if kind == "cross" else queries

    def axis_names(self, site: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What the tokens of `axis_tokens` are called: as their own tokenizer writes them."""
        queries, keys = self.axis_tokens(site)
        own = self.source.names
        return own if queries is self.source_tokens else queries, own if keys is self.source_tokens else keys

    def rows_write(self, site: str) -> bool:
        """Whether the query rows of a site stand for the tokens that they write, not for those that they read.

        They do where an encoder–decoder writes its translation: what a translated word attends to is what the model
        attended to when it wrote that word. In every other model a row stands for the token that it reads. Columns
        always do.
        """
        self._check_site(site)
        return site.startswith("decoder") and "decoder.cross" in self.inputs

    def written_tokens(self, site: str) -> tuple[str, ...]:
        """The tokens that the last so many query rows of a site wrote; none in an encoder, which writes nothing."""
        self._check_site(site)
        if site.startswith("encoder"):
            return ()
        steps = tuple(step.token for step in self.steps)
        # A model without a vocabulary of its own read its target, and nobody knows what the last row would write.
        return steps or (*self.target_tokens[1:], UNKNOWN) if self.rows_write(site) else steps

    def row_tokens(self, site: str) -> tuple[str, ...]:
        """The tokens that the query rows of a site stand for: those that they write, or read (`rows_write`)."""
        read, written = self.axis_tokens(site)[0], self.written_tokens(site)
        return (*read[1:], written[-1]) if self.rows_write(site) else read

    def sinks(self, site: str) -> tuple[int, ...]:
        """The keys of a site on which heads rest that have nothing to do, by position.

        These are special tokens, punctuation, and the first token that a decoder reads, which every row can see (Xiao
        et al. 2024, "Efficient Streaming Language Models with Attention Sinks", §3; Clark et al. 2019, §3.2).
        """
        keys = self.axis_tokens(site)[1]
        are_words = keys is not self.source_tokens or self.source.has_words
        return tuple(
            position
            for position, token in enumerate(keys)
            if token in self.special_tokens
            or (are_words and axes.is_punctuation(token))
            or (position == 0 and site == "decoder.self")
        )

    def axes(
        self, site: str, *, whole_words: bool = False, special_tokens: bool = True, sinks: bool = True
    ) -> tuple[Axis, Axis]:
        """The query rows and the key columns of a site: tokens or whole words, with special tokens or without; with
        `sinks` as columns, or without these and without rows of special tokens.

        Rows of a decoder are named by what they read and write, "die → Straße". They are grouped by words written
        where rows stand for what they write (`rows_write`), else by words read, as columns are.
        `model.trace.axes.between` averages weights over the rows of a word, and sums them over its columns.
        """
        read, keys = map(self.words_of, self.axis_tokens(site))
        if not whole_words:
            read, keys = map(single_tokens, self.axis_names(site))
        written, is_written = self.written_tokens(site), self.rows_write(site)
        if is_written:
            target = (*self.target_tokens, written[-1])
            read = axes.whole_words(target, self.special_tokens) if whole_words else single_tokens(target)
        rows = read
        if not (special_tokens and sinks):
            rows, keys = (axis.without_special_tokens(self.special_tokens) for axis in (rows, keys))
        if not sinks:
            keys = keys.without(self.sinks(site), self.axis_tokens(site)[1])
        return rows.as_rows_that_write(read) if is_written else rows.named_by_what_follows(read, written), keys

    def words_of(self, tokens: Sequence[str]) -> Axis:
        """An axis with every word of tokens; with each alone where they are patches or frames that were read."""
        is_alone = tokens is self.source_tokens and not self.source.has_words
        return single_tokens(tokens) if is_alone else axes.whole_words(tokens, self.special_tokens)

    def row_names(self, site: str) -> tuple[str, ...]:
        """What the query rows of a site are called: the token, and in a decoder also what it writes, "weil → es"."""
        return self.axes(site)[0].labels

    def attention(self, site: str, layer: int) -> AttentionInputs:
        """What this site and layer computed its weights from."""
        self._check(site, layer, None)
        inputs = self.inputs[site][layer]
        if isinstance(inputs, WeightsOnly):
            raise TraceError(
                "Queries, keys and values are not available here, only attention weights: {why}", why=inputs.why
            )
        return inputs

    def scores(
        self, site: str, layer: int, heads: Sequence[int] | None = None, rows: Rows = slice(None)
    ) -> Float[Tensor, "head row key"]:
        """Scaled scores before the softmax, −∞ where masked, in float32, for all heads and rows or those named."""
        self._check(site, layer, heads)
        return self.inputs[site][layer].scores_and_weights(heads, rows).scores

    def weights(
        self, site: str, layer: int, heads: Sequence[int] | None = None, rows: Rows = slice(None)
    ) -> Float[Tensor, "head row key"]:
        """Attention weights in float32.

        Each row sums to 1 over its keys, to 0 where its head is switched off, to less than 1 where a sink takes a part.
        """
        self._check(site, layer, heads)
        return self.inputs[site][layer].weights(heads, rows)

    def head_output(
        self, site: str, layer: int, heads: Sequence[int] | None = None, rows: Rows = slice(None)
    ) -> Float[Tensor, "head row d_k"]:
        """weights @ value before W_O, in float32."""
        self._check(site, layer, heads)
        return self.inputs[site][layer].head_output(heads, rows)

    def mask(self, site: str, layer: int, rows: Rows = slice(None)) -> Bool[Tensor, "row key"]:
        """The mask as the model used it; True where attention is allowed."""
        self._check(site, layer, None)
        return self.inputs[site][layer].mask.rows(rows)[0]

    def head_output_deviation(self, site: str, layer: int) -> float:
        """Largest difference between the head output derived here and the one the model really computed.

        Raises a TraceError if the run did not record "hook_head_output".
        """
        # A copy has the keys and values, where they would be made for each block.
        inputs, real = replace(self.attention(site, layer)), self._real_outputs(site, layer).float()
        blocks = row_slices(0, inputs.query.size(1), inputs.num_heads * inputs.shape[2])
        return max(float((inputs.head_output(rows=rows) - real[:, rows]).abs().max()) for rows in blocks)

    def largest_head_output(self, site: str, layer: int) -> float:
        """The largest absolute value among the head outputs that the model computed. Raises as the deviation."""
        return float(self._real_outputs(site, layer).float().abs().max())

    def head_output_tolerance(self, site: str, layer: int) -> float:
        """The largest deviation that rounding alone explains: a share of the largest head output.

        Which share depends on the numbers that the model computed in (`ROUNDING`). Raises as the deviation.
        """
        share = ROUNDING[self._real_outputs(site, layer).dtype]
        return share * self.largest_head_output(site, layer)

    def knows_outputs(self, site: str) -> bool:
        """Whether the run recorded "hook_head_output" here."""
        return f"{site_path(site, 0)}.hook_head_output" in self.recorded

    def _real_outputs(self, site: str, layer: int) -> Tensor:
        name = f"{site_path(site, layer)}.hook_head_output"
        if name not in self.recorded:
            raise TraceError("This trace contains no recorded head outputs; trace with extras={'hook_head_output'}.")
        return self.recorded[name]

    def _of_both_sides(self, hook: str) -> Mapping[str, Tensor]:
        sides = {"source": "encoder", "target": "decoder"}
        if missing := [stack for stack in sides.values() if f"{stack}.embedding.{hook}" not in self.recorded]:
            message = "This model does not expose the {hook} of its {missing}."
            raise TraceError(message, hook=hook.removeprefix("hook_"), missing=missing[0])
        values = {side: self.recorded[f"{stack}.embedding.{hook}"].float() for side, stack in sides.items()}
        return MappingProxyType(values)

    def _check_site(self, site: str) -> None:
        if site not in self.inputs:
            raise TraceError("There is no attention {site!r}, only {sites}.", site=site, sites=", ".join(self.sites))

    def _check(self, site: str, layer: int, heads: Sequence[int] | None) -> None:
        self._check_site(site)
        if not 0 <= layer < len(self.inputs[site]):
            message = "Layers of {site} run from 0 to {num_inputs}, got {layer}."
            raise TraceError(message, site=site, num_inputs=len(self.inputs[site]) - 1, layer=layer)
        num_heads = self.inputs[site][layer].num_heads
        if heads is not None and not all(0 <= head < num_heads for head in heads):
            raise TraceError(
                "Heads run from 0 to {num_heads}, got {heads}.", num_heads=num_heads - 1, heads=list(heads)
            )


def join_recorded(calls: Sequence[Recorded]) -> dict[str, Any]:
    """One value per hook: what several calls computed row after row (or one call at once), without batch dimension."""
    joined: dict[str, Any] = {}
    for name in {name: None for call in calls for name in call}:
        values = [value for call in calls for value in call.get(name, ())]
        if isinstance(values[0], AttentionMask):
            joined[name] = AttentionMask.joined(values)
        else:
            rows = torch.cat(values, dim=-2).to("cpu")
            joined[name] = rows if name.endswith("hook_positional") else rows[0]
    return joined


def build_trace(
    model: EncoderDecoder,
    tokenizer: Tokenizer,
    reader_key: str,
    text: str,
    source_ids: Sequence[int],
    emitted: Sequence[int],
    recorded: Mapping[str, Any],
    *,
    predicted_ids: Sequence[int] = (),
    steps: Sequence[DecodingStep] = (),
    edits: Mapping[str, Edit] = MappingProxyType({}),
) -> Trace:
    """Put a trace together from what the hooks recorded of one sentence, what was emitted, and the edits of the run.

    A function among `edits` that is not a named edit (`model.nn.edits`) may do anything to weights and head outputs, so
    derived values do not include it: record "hook_weights" and "hook_head_output" to see what the model used. It has no
    name to be cached by, so each of its runs has a key of its own.
    """

    def layer_inputs(site: str, layer: int) -> AttentionInputs:
        path, attention = site_path(site, layer), model.attention_site(site, layer)
        query, key, value, mask = (recorded[f"{path}.hook_{part}"] for part in ("query", "key", "value", "mask"))
        return AttentionInputs(
            query=query,
            key=key,
            value=value,
            mask=mask.to(torch.device("cpu")),
            scale=attention.scale,
            score=model.score_of(site, layer),
            edits=named_edits(edits, path),
        )

    shapes, target_ids = model.config.shapes, (model.config.bos_id, *emitted[:-1])
    inputs = {site: tuple(layer_inputs(site, layer) for layer in range(layers)) for site, (layers, _) in shapes.items()}
    held_by_inputs = ("hook_query", "hook_key", "hook_value", "hook_mask")
    rest = {name: value for name, value in recorded.items() if not name.endswith(held_by_inputs)}
    if not all(map(is_named, edits.values())):
        reader_key = f"{reader_key}/{uuid4().hex}"
    return Trace(
        reader_key=reader_key,
        source=TextSource(text=text, ids=tuple(source_ids), tokens=tokenizer.tokens(source_ids)),
        translation=tokenizer.decode(emitted),
        target_ids=target_ids,
        target_tokens=tokenizer.tokens(target_ids),
        predicted_ids=tuple(predicted_ids),
        predicted_tokens=tokenizer.tokens(predicted_ids),
        steps=tuple(steps),
        inputs=MappingProxyType(inputs),
        recorded=MappingProxyType(rest),
    )
