"""What attribution explains: how probable a token is after a prefix, or how much more so than another."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from model.errors import DataError
from model.nn.hooks import listen
from model.nn.transformer import Transformer
from model.trace.trace import Trace

#: The points at which a token's own vector goes in, before its position is added.
EMBEDDINGS: Final = ("encoder.embedding.hook_embedding", "decoder.embedding.hook_embedding")


@dataclass(frozen=True)
class TokenChoice:
    """A token that may follow a prefix, and maybe another beside it.

    Attributes:
        source, prefix: what the encoder and the decoder read, as token ids; the prefix begins with <s>.
        token: what is written next.
        against: another token instead; None to ask for the token's own log-probability.
    """

    source: tuple[int, ...]
    prefix: tuple[int, ...]
    token: int
    against: int | None = None

    @property
    def row(self) -> int:
        """The decoder's row that writes the token."""
        return len(self.prefix) - 1

    def of_hidden(self, model: Transformer, hidden: Float[Tensor, "batch target d_model"]) -> Float[Tensor, "batch"]:
        """log p(token), or log p(token) − log p(against), in nats, from the decoder's output."""
        log_probs = model.projection(hidden[:, -1]).float().log_softmax(-1)
        chosen: Tensor = log_probs[:, self.token]
        return chosen if self.against is None else chosen - log_probs[:, self.against]

    def without(self, model: Transformer, seen: Bool[Tensor, "batch source"] | None = None) -> Float[Tensor, "batch"]:
        """The same for variants of the source of which only some tokens can be attended to; all where it is None.

        A token that is not seen keeps its place: no position of the encoder and no row of the decoder attends to it.
        """
        variants, device = 1 if seen is None else len(seen), model.projection.weight.device
        source = torch.tensor([self.source], device=device).expand(variants, -1)
        prefix = torch.tensor([self.prefix], device=device).expand(variants, -1)
        seen = None if seen is None else seen.to(device)
        return self.of_hidden(model, model.decode(prefix, model.encode(source, seen), seen))

    def of_embeddings(
        self,
        model: Transformer,
        source: Float[Tensor, "batch source d_model"],
        prefix: Float[Tensor, "batch prefix d_model"],
    ) -> Float[Tensor, "batch"]:
        """The same with these vectors in place of the tokens' own (scaled) embeddings; positions are added as ever."""
        ids = [torch.tensor([own], device=source.device).expand(len(source), -1) for own in (self.source, self.prefix)]
        with listen(edits=dict(zip(EMBEDDINGS, (lambda _: source, lambda _: prefix), strict=True))):
            return self.of_hidden(model, model.decode(ids[1], model.encode(ids[0])))


def choice_at(trace: Trace, step: int, against: int | None = None) -> TokenChoice:
    """The token that a trace wrote at a step, from 0.

    Raises:
        DataError: there is no such step, or the token is to be set against itself.
    """
    if not 0 <= step < len(trace.steps):
        raise DataError(f"Steps run from 0 to {len(trace.steps) - 1}, got {step}.")
    row = trace.rows_before + step
    token = trace.steps[step].token_id
    if against == token:
        raise DataError(f"“{trace.steps[step].token}” cannot be set against itself; choose another token.")
    return TokenChoice(tuple(trace.source_ids), tuple(trace.target_ids[: row + 1]), token, against)


def visible(length: int, hidden: Sequence[Sequence[int]]) -> Bool[Tensor, "variant source"]:
    """Which of so many tokens are seen where these are hidden, one row a variant."""
    seen = torch.ones(len(hidden), length, dtype=torch.bool)
    for row, positions in zip(seen, hidden, strict=True):
        row[list(positions)] = False
    return seen
