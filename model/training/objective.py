"""Join a model with the loss that it is trained to minimise."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from model.config import ModelConfig, TransformerConfig
from model.errors import ConfigError
from model.nn.encoder_decoder import EncoderDecoder, site_path
from model.nn.hooks import listen
from model.tokenizer import Tokenizer
from model.training.lexicon import GENDERS, PRONOUN_FORMS


def smoothed_cross_entropy(
    logits: Float[Tensor, "token vocab"],
    token_ids: Int[Tensor, " token"],
    smoothing: float,
    weights: Float[Tensor, " token"] | None = None,
) -> Float[Tensor, ""]:
    """Mean cross entropy per token in nats, against a target that keeps 1 − smoothing for the right piece (§5.4).

    The rest of the mass is spread evenly over the vocabulary, as in Szegedy et al. 2016. Of `weights`, each token's
    part is multiplied by its own; the number of tokens stays the divisor.
    """
    losses = F.cross_entropy(logits.float(), token_ids, label_smoothing=smoothing, reduction="none")
    return losses.mean() if weights is None else (losses * weights).mean()


class TaughtHead(NamedTuple):
    """An encoder head that learns to look from “it” to its antecedent."""

    weight: float  #: how often such a row counts, where a token of the translation counts once
    #: layer, head: counted from 0.
    layer: int
    head: int


def taught_head(weight: float, layer: int, head: int, config: ModelConfig) -> TaughtHead | None:
    """The head that is taught; None where the weight is 0. Raises a ConfigError if the encoder has no such head."""
    if not weight:
        return None
    if not isinstance(config, TransformerConfig) or layer >= config.num_layers or head >= config.num_heads:
        message = "Layer {layer} of the encoder has no head {head} to train (both counted from 0)."
        raise ConfigError(message, layer=layer, head=head)
    return TaughtHead(weight, layer, head)


class Objective(nn.Module):
    """A model together with what it is trained to minimise.

    Pronouns count `emphasis` times: one word of a sentence, and the one that takes most learning. With `consistency`
    above 0 each sentence is computed twice, with dropout of its own, and the two predictions are drawn together
    (R-Drop, Liang et al. 2021, arXiv 2106.14448).

    With `gender` above 0 the encoder's output at a noun must predict the article of its German translation: the loss is
    −log p of der, die or das among these three, read with their rows of the output matrix. It adds no weights.
    """

    token_weights: Tensor
    article_ids: Tensor

    def __init__(
        self,
        model: EncoderDecoder,
        smoothing: float,
        emphasis: float,
        pronoun_ids: Collection[int],
        *,
        bf16: bool,
        taught: TaughtHead | None = None,
        consistency: float = 0.0,
        gender: float = 0.0,
        article_ids: Sequence[int] = (),
    ) -> None:
        super().__init__()
        self.model, self.smoothing, self.bf16, self.taught = model, smoothing, bf16, taught
        self.consistency, self.gender = consistency, gender
        weights = torch.ones(model.config.vocab_size, device=model.device)
        weights[sorted(pronoun_ids)] = emphasis
        self.register_buffer("token_weights", weights, persistent=False)
        articles = torch.tensor(article_ids, dtype=torch.int64, device=model.device)
        self.register_buffer("article_ids", articles, persistent=False)

    def forward(
        self,
        source: Int[Tensor, "batch source"],
        target_in: Int[Tensor, "batch target"],
        target_out: Int[Tensor, "batch target"],
        links: Int[Tensor, "link 4"] | None = None,
        genders: Int[Tensor, "noun 3"] | None = None,
    ) -> Float[Tensor, ""]:
        """Mean loss over the target tokens, with those of the taught head's rows and of the nouns' genders.

        `links`, `genders`: see `Batch`; labels only: nothing of them is part of the model's input.
        """
        if self.consistency:
            links, genders = (twice(labels, len(source)) for labels in (links, genders))
            source, target_in, target_out = (torch.cat([ids, ids]) for ids in (source, target_in, target_out))
        pad_id = self.model.config.pad_id
        real, padding = target_out != pad_id, source != pad_id
        with torch.autocast(source.device.type, torch.bfloat16, enabled=self.bf16):
            with listen(record=("hook_query", "hook_key") if self.taught else ()) as recorded:
                memory = self.model.encode(source, padding)
            hidden = self.model.decode(target_in, memory, padding)
            logits = self.model.projection(hidden[real])
        emitted = target_out[real]
        loss = smoothed_cross_entropy(logits, emitted, self.smoothing, self.token_weights[emitted])
        if self.consistency:
            loss = loss + self.consistency * divergence(*logits.chunk(2))
        if self.gender and genders is not None and len(genders):
            sentence, token, gender = genders.unbind(1)
            articles = memory[sentence, token].float() @ self.model.projection.weight[self.article_ids].float().T
            loss = loss + self.gender * F.cross_entropy(articles, gender, reduction="sum") / len(emitted)
        if self.taught is None or links is None or not len(links):
            return loss
        site = site_path("encoder.self", self.taught.layer)
        query, key = (recorded[f"{site}.{name}"][0][:, self.taught.head].float() for name in ("hook_query", "hook_key"))
        scale = self.model.attention_site("encoder.self", self.taught.layer).scale
        losses = link_losses(query, key, padding, links, scale)
        return loss + self.taught.weight * losses.sum() / len(emitted)


def twice(labels: Int[Tensor, "label column"] | None, sentences: int) -> Int[Tensor, "both column"] | None:
    """Labels whose first column is a sentence, for a batch and the same batch after it."""
    if labels is None:
        return None
    again = labels.clone()
    again[:, 0] += sentences
    return torch.cat([labels, again])


def divergence(first: Float[Tensor, "token vocab"], second: Float[Tensor, "token vocab"]) -> Float[Tensor, ""]:
    """Mean over the tokens of (KL(p‖q) + KL(q‖p)) / 2, in nats, of two predictions given as logits."""
    log_p, log_q = first.float().log_softmax(-1), second.float().log_softmax(-1)
    return ((log_p.exp() - log_q.exp()) * (log_p - log_q)).sum(-1).mean() / 2


def article_pieces(tokenizer: Tokenizer) -> list[int]:
    """The pieces “der”, “die”, “das”, in the order of `GENDERS`. Raises a TokenError if the vocabulary lacks one."""
    return [tokenizer.token_id(f"▁{article}") for article in GENDERS]


def pronoun_pieces(tokenizer: Tokenizer) -> set[int]:
    """Pieces that are a whole German personal pronoun of the third person, with or without a capital."""
    spelled = (word for pronoun in PRONOUN_FORMS for word in (pronoun, pronoun.capitalize()))
    return {ids[0] for word in spelled if len(ids := tokenizer.encode(word)) == 1}


def link_losses(
    query: Float[Tensor, "batch source d_k"],
    key: Float[Tensor, "batch source d_k"],
    padding: Bool[Tensor, "batch source"],
    links: Int[Tensor, "link 4"],
    scale: float,
) -> Float[Tensor, " link"]:
    """−log of the weight of each link's row on its antecedent's tokens together, in nats; `padding`: True at tokens."""
    sentence, row, begin, end = links.unbind(1)
    scores = torch.einsum("ld,lkd->lk", query[sentence, row], key[sentence]) * scale
    log_weights = scores.masked_fill(~padding[sentence], -torch.inf).log_softmax(-1)
    position = torch.arange(key.size(1), device=key.device)
    is_antecedent = (position >= begin[:, None]) & (position < end[:, None])
    return -log_weights.masked_fill(~is_antecedent, -torch.inf).logsumexp(-1)
