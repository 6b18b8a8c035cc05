"""Two encoder–decoders from before the Transformer: a GRU, and ConvS2S. Sections are those of their papers.

The GRU with additive attention is the model of Bahdanau et al. 2015, arXiv 1409.0473. The encoder reads the source in
both directions; each token's annotation is both states side by side. Before a target token is written, the decoder's
state is scored against every annotation by a small network, and the annotations' mean under the softmax of these scores
is read together with the last token. Without attention (Cho et al. 2014, arXiv 1406.1078) the memory is one vector, the
encoder's last states in both directions, which is read together with every token; all else is the same.

ConvS2S, Gehring et al. 2017, arXiv 1705.03122: a layer is a convolution over k tokens with a gated linear unit;
positions are learned and added to the embeddings. Every decoder layer attends to the encoder's output with one head of
its own.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from model.config import ConvolutionalConfig, FixedVectorConfig, RecurrentConfig
from model.errors import InputTextError
from model.nn.attention import AttentionSite, KeptRows
from model.nn.encoder_decoder import (
    Decoder,
    DecoderInputs,
    EncoderDecoder,
    LayerCache,
    Memory,
    Padding,
    SourceIds,
    TargetRows,
)
from model.nn.hooks import HookPoint, name_hooks, rows_from
from model.nn.masks import AttentionMask
from model.nn.score_functions import Additive

AnyRecurrent = RecurrentConfig | FixedVectorConfig


class Alignment(AttentionSite):
    """score(s, h_j) = vᵀ tanh(W s + U h_j); the context is Σ_j softmax(scores)_j h_j (§3.1, A.1.2).

    W, U and v are `query`, `key` and `score_vector`; the annotations h_j are the values, as they are.
    """

    def __init__(self, config: RecurrentConfig) -> None:
        super().__init__(num_heads=1, d_v=2 * config.hidden_size)
        self.query = nn.Linear(config.hidden_size, config.alignment_size, bias=False)
        self.key = nn.Linear(2 * config.hidden_size, config.alignment_size)
        self.score_vector = nn.Parameter(torch.empty(1, config.alignment_size))

    @property
    def score(self) -> Additive:
        """vᵀ tanh(query + key)."""
        return Additive(self.score_vector)

    def keys_and_values(
        self, annotations: Memory, cache: KeptRows | None
    ) -> tuple[Float[Tensor, "batch 1 source d_k"], Float[Tensor, "batch 1 source width"]]:
        """U h_j and h_j of every annotation, computed once for all steps (A.1.2)."""
        if cache:
            key, value = cache.tensors
        else:
            key, value = self.hook_key(self.key(annotations)[:, None]), self.hook_value(annotations[:, None])
            if cache is not None:
                cache.append(key, value)
        return key, value

    def forward(
        self,
        state: Float[Tensor, "batch width"],
        key: Float[Tensor, "batch 1 source d_k"],
        value: Float[Tensor, "batch 1 source d_v"],
        mask: AttentionMask,
    ) -> Float[Tensor, "batch d_v"]:
        """The context vector of one state."""
        query = self.hook_query(self.query(state)[:, None, None])
        return self.attend(query, key, value, mask)[:, 0, 0]


class TokenEmbedding(nn.Module):
    """Embeddings of tokens, then dropout; a recurrent model needs no positions."""

    def __init__(self, config: AnyRecurrent, tokens: nn.Embedding) -> None:
        super().__init__()
        self.tokens, self.dropout = tokens, nn.Dropout(config.dropout)
        self.hook_embedding = HookPoint()

    def forward(
        self, token_ids: Int[Tensor, "batch position"], first: int = 0
    ) -> Float[Tensor, "batch position d_model"]:
        """Embed tokens, wherever the first stands."""
        return self.dropout(self.hook_embedding(self.tokens(token_ids)))  # type: ignore[no-any-return]


class RecurrentEncoder(nn.Module):
    """A bidirectional GRU over the embedded source (§3.2)."""

    def __init__(self, config: AnyRecurrent, tokens: nn.Embedding) -> None:
        super().__init__()
        self.keeps_all = isinstance(config, RecurrentConfig)
        self.embedding = TokenEmbedding(config, tokens)
        self.gru = nn.GRU(config.d_model, config.hidden_size, batch_first=True, bidirectional=True)

    def forward(self, source_ids: SourceIds, source_padding: Padding) -> Memory:
        """States forwards and backwards, side by side: each token's (zeros at padding), or for each the last ones."""
        embedded = self.embedding(source_ids)
        if source_padding is not None:
            # The way back begins at each sentence's own end.
            lengths = source_padding.sum(1).cpu()
            embedded = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
        states, last = self.gru(embedded)
        if not self.keeps_all:
            return torch.cat(tuple(last), dim=-1)[:, None].expand(-1, source_ids.size(1), -1)
        if source_padding is not None:
            states, _ = pad_packed_sequence(states, batch_first=True, total_length=source_ids.size(1))
        annotations: Tensor = states
        return annotations


class RecurrentLayer(nn.Module):
    """One step s_i = GRU(s_{i−1}, [y_{i−1}; c_i]), where the context c_i is aligned by s_{i−1} (§3.1, A.2.2)."""

    def __init__(self, config: AnyRecurrent) -> None:
        super().__init__()
        self.cross_attention = Alignment(config) if isinstance(config, RecurrentConfig) else None
        self.cell = nn.GRUCell(config.d_model + 2 * config.hidden_size, config.hidden_size)
        self.hook_output = HookPoint()

    def forward(
        self, state: Float[Tensor, "batch hidden"], inputs: DecoderInputs, cache: KeptRows | None
    ) -> tuple[Float[Tensor, "batch target hidden"], Float[Tensor, "batch target width"]]:
        """States and contexts of the target rows, one after the other; the first follows this state."""
        context_of, first = self._contexts(inputs, cache), inputs.target_mask.first_query
        states, contexts = [], []
        for row, read in enumerate(inputs.embedded.unbind(1)):
            with rows_from(first + row):
                contexts.append(context_of(state))
                state = self.cell(torch.cat((read, contexts[-1]), dim=-1), state)
                state = self.hook_output(state[:, None])[:, 0]
            states.append(state)
        return torch.stack(states, dim=1), torch.stack(contexts, dim=1)

    def _contexts(self, inputs: DecoderInputs, cache: KeptRows | None) -> Callable[[Tensor], Tensor]:
        """From a state to its context vector; without attention that is the memory itself, whatever the state."""
        attention = self.cross_attention
        if attention is None:
            return lambda state: inputs.memory[:, 0]
        key, value = attention.keys_and_values(inputs.memory, cache)
        mask = replace(inputs.memory_mask, num_queries=1)
        return lambda state: attention(state, key, value, mask)


class RecurrentDecoder(Decoder):
    """The first state, the recurrent layer, and the readout (§3.1, A.2.2)."""

    embedding: TokenEmbedding

    def __init__(self, config: AnyRecurrent, tokens: nn.Embedding) -> None:
        super().__init__()
        self.embedding, self.dropout = TokenEmbedding(config, tokens), nn.Dropout(config.dropout)
        self.first_state = nn.Linear(config.hidden_size, config.hidden_size)
        self.layers = nn.ModuleList((RecurrentLayer(config),))
        # Two numbers for each that is put out, of which the larger counts: "maxout" (Goodfellow et al. 2013).
        self.readout = nn.Linear(config.d_model + 3 * config.hidden_size, 2 * config.d_model)
        self.hook_output = HookPoint()

    def run_layers(self, x: TargetRows, inputs: DecoderInputs, caches: Sequence[LayerCache | None]) -> TargetRows:
        """What the projection reads for these rows, one after the other; what is kept of the target are the states."""
        target, memory = caches[0] or (None, None)
        if target:
            state = target.tensors[0][:, -1]
        else:  # ←h_1 has read the whole source, backwards.
            state = torch.tanh(self.first_state(inputs.memory[:, 0, inputs.memory.size(2) // 2 :]))
        states, contexts = self.layers[0](state, inputs, memory)
        if target is not None:
            target.append(states)
        pairs = self.readout(torch.cat((states, x, contexts), dim=-1)).unflatten(-1, (-1, 2))
        return self.hook_output(self.dropout(pairs.amax(-1)))  # type: ignore[no-any-return]


class RecurrentTranslator(EncoderDecoder):
    """Encoder, decoder and output projection; one embedding for source, target and output, as in the Transformers.

    Differs from the paper in that shared embedding, and in where torch's GRU applies the reset gate: after the
    recurrent matrix, not before it.
    """

    config: AnyRecurrent
    encoder: RecurrentEncoder
    decoder: RecurrentDecoder

    def __init__(self, config: AnyRecurrent) -> None:
        super().__init__()
        self.config = config
        tokens = nn.Embedding(config.vocab_size, config.d_model)
        self.encoder = RecurrentEncoder(config, tokens)
        self.decoder = RecurrentDecoder(config, tokens)
        self.projection = nn.Linear(config.d_model, config.vocab_size)
        self.projection.weight = tokens.weight
        self._initialise(tokens)
        name_hooks(self)

    @property
    def last_hook(self) -> str:
        """What the readout gives."""
        return "decoder.hook_output"

    def _initialise(self, tokens: nn.Embedding) -> None:
        """Orthogonal recurrent matrices (B.1), Xavier-uniform others, zero biases."""
        for name, parameter in self.named_parameters():
            if "weight_hh" in name:
                for gate in parameter.data.chunk(3):
                    nn.init.orthogonal_(gate)
            elif parameter.dim() == 2:
                nn.init.xavier_uniform_(parameter)
            else:
                nn.init.zeros_(parameter)
        nn.init.normal_(tokens.weight, std=tokens.embedding_dim**-0.5)


#: "We multiply the sum of the input and output of a residual block by √0.5 to halve the variance of the sum" (§3.5).
HALF_VARIANCE = 0.5**0.5


class PositionedEmbedding(nn.Module):
    """w + p: embeddings of tokens plus embeddings of their places, both learned (§3.1)."""

    def __init__(self, config: ConvolutionalConfig, tokens: nn.Embedding) -> None:
        super().__init__()
        self.tokens = tokens
        self.embed_positions = nn.Embedding(config.num_positions, config.d_model)
        self.hook_embedding, self.hook_positional = HookPoint(), HookPoint()

    def forward(
        self, token_ids: Int[Tensor, "batch position"], first: int = 0
    ) -> Float[Tensor, "batch position d_model"]:
        """Embed tokens at the positions from `first` on. Raises an InputTextError where there are too many."""
        learned, last = self.embed_positions.num_embeddings, first + token_ids.size(1)
        if last > learned:
            message = "This model has learned {learned:,} positions, but the text needs {last:,}; shorten it."
            raise InputTextError(message, learned=learned, last=last)
        embedded: Tensor = self.hook_embedding(self.tokens(token_ids))
        positions = self.embed_positions(torch.arange(first, last, device=token_ids.device))
        positioned: Tensor = embedded + self.hook_positional(positions)
        return positioned


class GatedConvolution(nn.Module):
    """v([A B]) = A ⊗ σ(B), where [A B] is a convolution over k rows (§3.2; Dauphin et al. 2016)."""

    def __init__(self, config: ConvolutionalConfig) -> None:
        super().__init__()
        self.kernel_size = config.kernel_size
        self.convolution = nn.Conv1d(config.d_model, 2 * config.d_model, config.kernel_size)

    def forward(self, rows: Float[Tensor, "batch width d_model"]) -> Float[Tensor, "batch position d_model"]:
        """The output at each position whose k rows are there: `kernel_size` − 1 fewer than there are rows."""
        return F.glu(self.convolution(rows.transpose(1, 2)), dim=1).transpose(1, 2)


class ConvolutionalEncoderLayer(nn.Module):
    """A gated convolution over as many tokens before as after, with a residual connection."""

    def __init__(self, config: ConvolutionalConfig) -> None:
        super().__init__()
        self.gated, self.dropout = GatedConvolution(config), nn.Dropout(config.dropout)
        self.hook_output = HookPoint()

    def forward(
        self, x: Float[Tensor, "batch source d_model"], padding: Padding
    ) -> Float[Tensor, "batch source d_model"]:
        """Run the layer; what lies beyond a sentence's end counts as zeros."""
        if padding is not None:
            x = x * padding[..., None]
        side = self.gated.kernel_size // 2
        convolved = self.gated(F.pad(self.dropout(x), (0, 0, side, side)))
        return self.hook_output((convolved + x) * HALF_VARIANCE)  # type: ignore[no-any-return]


class ConvolutionalEncoder(nn.Module):
    """Gated convolutions over the embedded source."""

    def __init__(self, config: ConvolutionalConfig, tokens: nn.Embedding) -> None:
        super().__init__()
        self.embedding, self.dropout = PositionedEmbedding(config, tokens), nn.Dropout(config.dropout)
        self.layers = nn.ModuleList(ConvolutionalEncoderLayer(config) for _ in range(config.num_layers))
        self.num_attentions = config.decoder_layers

    def forward(self, source_ids: SourceIds, source_padding: Padding) -> Memory:
        """The memory: for each token its key z, and beside it its value z + e (§3.3), scaled like a residual sum."""
        embedded = self.embedding(source_ids)
        z = self.dropout(embedded)
        for layer in self.layers:
            z = layer(z, source_padding)
        if z.requires_grad:
            # Every decoder layer's attention adds to this gradient (§3.5).
            z.register_hook(lambda gradient: gradient / self.num_attentions)
        return torch.cat((z, (z + embedded) * HALF_VARIANCE), dim=-1)


class DecoderLayerAttention(AttentionSite):
    """scores = d · z, with d = W h + b + g; the context is Σ_j weights_j (z_j + e_j) (§3.3, eqs. 1 and 2).

    W is `query`; h is the layer's convolution, g the embedding of the token that the row reads. d · z is not scaled.
    """

    def __init__(self, config: ConvolutionalConfig) -> None:
        super().__init__(num_heads=1, d_v=config.d_model)
        self.query = nn.Linear(config.d_model, config.d_model)

    def forward(self, convolved: TargetRows, inputs: DecoderInputs, cache: KeptRows | None) -> TargetRows:
        """The context of each target row."""
        query = self.hook_query(((self.query(convolved) + inputs.embedded) * HALF_VARIANCE)[:, None])
        if cache:
            key, value = cache.tensors
        else:
            keys, values = inputs.memory[:, None].chunk(2, dim=-1)
            key, value = self.hook_key(keys), self.hook_value(values)
            if cache is not None:
                cache.append(key, value)
        return self.attend(query, key, value, inputs.memory_mask)[:, 0]


class ConvolutionalDecoderLayer(nn.Module):
    """A gated convolution over a token and those before it, its attention, and a residual connection around both."""

    def __init__(self, config: ConvolutionalConfig) -> None:
        super().__init__()
        self.gated, self.dropout = GatedConvolution(config), nn.Dropout(config.dropout)
        self.cross_attention = DecoderLayerAttention(config)
        self.hook_output = HookPoint()

    def forward(self, x: TargetRows, inputs: DecoderInputs, cache: LayerCache | None) -> TargetRows:
        """Run the layer on these target rows, which see `kernel_size` − 1 rows before each: zeros before the first."""
        target, memory = cache or (None, None)
        new, before = x.size(1), self.gated.kernel_size - 1
        rows = x if target is None else target.append(x)[0]
        # Where there are more, the first of them are cut off: negative padding.
        rows = F.pad(rows, (0, 0, new + before - rows.size(1), 0))
        convolved = self.gated(self.dropout(rows))
        context = self.cross_attention(convolved, inputs, memory)
        # A mean of m vectors has an m-th of their variance: m √(1/m) = √m restores it (§3.5).
        padding = inputs.memory_mask.key_padding
        lengths = inputs.memory.size(1) if padding is None else padding.sum(1)[:, None, None]
        attended = (convolved + context * lengths**0.5) * HALF_VARIANCE
        return self.hook_output((attended + x) * HALF_VARIANCE)  # type: ignore[no-any-return]


class ConvolutionalDecoder(Decoder):
    """Decoder layers over the embedded target prefix and the memory."""

    embedding: PositionedEmbedding

    def __init__(self, config: ConvolutionalConfig, tokens: nn.Embedding) -> None:
        super().__init__()
        self.embedding, self.dropout = PositionedEmbedding(config, tokens), nn.Dropout(config.dropout)
        self.layers = nn.ModuleList(ConvolutionalDecoderLayer(config) for _ in range(config.decoder_layers))

    def run_layers(self, x: TargetRows, inputs: DecoderInputs, caches: Sequence[LayerCache | None]) -> TargetRows:
        """Every layer, with dropout before and after."""
        return self.dropout(super().run_layers(self.dropout(x), inputs, caches))  # type: ignore[no-any-return]


class ConvolutionalTranslator(EncoderDecoder):
    """Encoder, decoder and output projection; one embedding for source, target and output, as in the Transformers.

    Embeddings are as wide as the layers, so no map lies between them. Differs from the paper in that shared embedding,
    and in that weights are not normalised (Salimans & Kingma 2016): all models here are trained by the same loop.
    """

    config: ConvolutionalConfig
    encoder: ConvolutionalEncoder
    decoder: ConvolutionalDecoder

    def __init__(self, config: ConvolutionalConfig) -> None:
        super().__init__()
        self.config = config
        tokens = nn.Embedding(config.vocab_size, config.d_model)
        self.encoder = ConvolutionalEncoder(config, tokens)
        self.decoder = ConvolutionalDecoder(config, tokens)
        self.projection = nn.Linear(config.d_model, config.vocab_size)
        self.projection.weight = tokens.weight
        self._initialise()
        name_hooks(self)

    @property
    def last_hook(self) -> str:
        """The output of the last decoder layer."""
        return f"decoder.layers.{self.config.decoder_layers - 1}.hook_output"

    def _initialise(self) -> None:
        """Normal weights that keep the variance: √(4p/n) before a gate, √(1/n) elsewhere, 0.1 in embeddings (§3.5)."""
        for module in self.modules():
            if isinstance(module, nn.Conv1d):
                inputs = module.in_channels * module.kernel_size[0]
                nn.init.normal_(module.weight, std=(4 * (1 - self.config.dropout) / inputs) ** 0.5)
            elif isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, std=module.in_features**-0.5)
            elif isinstance(module, nn.Embedding):
                nn.init.normal_(module.weight, std=0.1)
            if isinstance(module, nn.Conv1d | nn.Linear) and module.bias is not None:
                nn.init.zeros_(module.bias)
        # The projection's matrix is the embedding.
        nn.init.normal_(self.projection.weight, std=0.1)
