"""A GRU encoder–decoder with additive attention: the model of Bahdanau et al. 2015, arXiv 1409.0473.

The encoder reads the source in both directions; each token's annotation is both states side by side. Before a target
token is written, the decoder's state is scored against every annotation by a small network, and the annotations' mean
under the softmax of these scores is read together with the last token. Sections are those of the paper.
"""

from collections.abc import Sequence
from dataclasses import replace

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from model.config import RecurrentConfig
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
from model.nn.layers import Dropout
from model.nn.masks import AttentionMask
from model.nn.score_functions import Additive


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

    def __init__(self, config: RecurrentConfig, tokens: nn.Embedding) -> None:
        super().__init__()
        self.tokens, self.dropout = tokens, Dropout(config.dropout)
        self.hook_embedding = HookPoint()

    def forward(
        self, token_ids: Int[Tensor, "batch position"], first: int = 0
    ) -> Float[Tensor, "batch position d_model"]:
        """Embed tokens, wherever the first stands."""
        return self.dropout(self.hook_embedding(self.tokens(token_ids)))  # type: ignore[no-any-return]


class RecurrentEncoder(nn.Module):
    """A bidirectional GRU over the embedded source (§3.2)."""

    def __init__(self, config: RecurrentConfig, tokens: nn.Embedding) -> None:
        super().__init__()
        self.embedding = TokenEmbedding(config, tokens)
        self.gru = nn.GRU(config.d_model, config.hidden_size, batch_first=True, bidirectional=True)

    def forward(self, source_ids: SourceIds, source_padding: Padding) -> Memory:
        """The annotations: states forwards and backwards, side by side; zeros at padding."""
        embedded = self.embedding(source_ids)
        if source_padding is None:
            annotations: Tensor = self.gru(embedded)[0]
            return annotations
        # The way back begins at each sentence's own end.
        lengths = source_padding.sum(1).cpu()
        packed = pack_padded_sequence(embedded, lengths, batch_first=True, enforce_sorted=False)
        return pad_packed_sequence(self.gru(packed)[0], batch_first=True, total_length=source_ids.size(1))[0]


class RecurrentLayer(nn.Module):
    """One step s_i = GRU(s_{i−1}, [y_{i−1}; c_i]), where the context c_i is aligned by s_{i−1} (§3.1, A.2.2)."""

    def __init__(self, config: RecurrentConfig) -> None:
        super().__init__()
        self.cross_attention = Alignment(config)
        self.cell = nn.GRUCell(config.d_model + 2 * config.hidden_size, config.hidden_size)
        self.hook_output = HookPoint()

    def forward(
        self, state: Float[Tensor, "batch hidden"], inputs: DecoderInputs, cache: KeptRows | None
    ) -> tuple[Float[Tensor, "batch target hidden"], Float[Tensor, "batch target width"]]:
        """States and contexts of the target rows, one after the other; the first follows this state."""
        key, value = self.cross_attention.keys_and_values(inputs.memory, cache)
        mask, first = replace(inputs.memory_mask, num_queries=1), inputs.target_mask.first_query
        states, contexts = [], []
        for row, read in enumerate(inputs.embedded.unbind(1)):
            with rows_from(first + row):
                contexts.append(self.cross_attention(state, key, value, mask))
                state = self.cell(torch.cat((read, contexts[-1]), dim=-1), state)
                state = self.hook_output(state[:, None])[:, 0]
            states.append(state)
        return torch.stack(states, dim=1), torch.stack(contexts, dim=1)


class RecurrentDecoder(Decoder):
    """The first state, the recurrent layer, and the readout (§3.1, A.2.2)."""

    embedding: TokenEmbedding

    def __init__(self, config: RecurrentConfig, tokens: nn.Embedding) -> None:
        super().__init__()
        self.embedding, self.dropout = TokenEmbedding(config, tokens), Dropout(config.dropout)
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

    config: RecurrentConfig
    encoder: RecurrentEncoder
    decoder: RecurrentDecoder

    def __init__(self, config: RecurrentConfig) -> None:
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
