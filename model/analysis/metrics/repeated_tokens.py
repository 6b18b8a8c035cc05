"""What the heads of a decoder do on random tokens that come again: how much they repeat.

Olsson et al. 2022 ("In-context Learning and Induction Heads", §"head activation evaluators") read 25 random tokens four
times over, so that nothing but the repetition can be of use. They leave out the least common tokens; here tokens are
drawn from those of our own 200 sentences, for a vocabulary may hold many that no text of the training held.

- prefix matching: the weight on what followed a token the last times, Σ_j α_ij over j ≤ i with token j−1 = token i.
- duplicate token (Wang et al. 2022): the weight on the same token before, Σ_j α_ij over j < i with token j = token i.
- previous token: the weight on j = i − 1.
- copying: whether what the head writes for a token speaks for that token. v_j W_O of each key j of the first 25 is
  read by the norms that follow (without their divisors, which change no rank) and the output embedding; the score is
  the share of the vocabulary that it ranks below token j: 1 where it always speaks for the token itself, ½ by chance, 0
  where it speaks against it. Olsson et al. measure copying otherwise, as a ratio of logits.

Prefix matching and previous token are means over all rows of the later copies, and so is duplicate token.
"""

from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeGuard

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from model.analysis.corpus import OWN_CORPUS, read_text
from model.analysis.head_circuits import direct_output, read_off
from model.errors import DataError, TraceError
from model.interruption import Progress, no_progress
from model.reader import Reader
from model.trace.steps import without_steps

if TYPE_CHECKING:
    from model.adapters.text_reader import TextReader

SITE: Final = "decoder.self"
TOKENS: Final = 25
COPIES: Final = 4
#: Sets of random tokens.
DRAWS: Final = 8
#: What weights alone tell.
OF_WEIGHTS: Final = ("prefix_matching", "duplicate", "repeat_previous")
NAMES: Final = (*OF_WEIGHTS, "copying")


def is_decoder(reader: Reader) -> TypeGuard["TextReader"]:
    """Whether a model is a decoder alone."""
    return reader.abilities.kind == "decoder"


def can_be_asked(reader: Reader) -> bool:
    """Whether a model is a decoder alone, with room for the tokens twice."""
    return is_decoder(reader) and copies_of(reader) > 1


def copies_of(reader: Reader) -> int:
    """How often the tokens are read one after the other: `COPIES`, or as often as fits."""
    most = reader.abilities.max_length
    return COPIES if most is None else min(COPIES, most // TOKENS)


def common_tokens(reader: "TextReader") -> Int[Tensor, "token"]:
    """The tokens of our own sentences, special ones left out."""
    texts = [sentence.text for sentence in read_text(OWN_CORPUS)]
    seen = {token for text in texts for token in reader.pieces.encode(text, with_special=False).ids}
    return torch.tensor(sorted(token for token in seen - reader.special_ids if token < reader.vocab_size))


@torch.inference_mode()
def repeated_tokens(
    reader: Reader,
    draws: int = DRAWS,
    seed: int = 0,
    progress: Progress = no_progress,
    *,
    names: Collection[str] = NAMES,
) -> dict[str, Float[Tensor, "layer_and_head"]]:
    """The metrics named of every head, those of layer 0 first; no "copying" where values or last norm are not known.

    Raises a DataError if the model is none, has too few tokens, or reads too short texts. `progress` is called with 0
    after each draw; it may end the work by an exception.
    """
    if not is_decoder(reader):
        raise DataError("Repeated tokens need a decoder-only model.")
    copies = copies_of(reader)
    if copies < 2:
        message = "Repeated tokens need {tokens} positions; this model has {max_length}."
        raise DataError(message, tokens=2 * TOKENS, max_length=reader.abilities.max_length)
    known = common_tokens(reader)
    if len(known) < TOKENS:
        raise DataError(
            "Expected {tokens} different tokens in Headlight's texts, got {num_known}.",
            tokens=TOKENS,
            num_known=len(known),
        )
    generator = torch.Generator().manual_seed(seed)
    found: dict[str, list[Tensor]] = {}
    for _ in range(draws):
        once = known[torch.randperm(len(known), generator=generator)[:TOKENS]]
        for name, values in _of_tokens(reader, once.repeat(copies), names).items():
            found.setdefault(name, []).append(values)
        progress(0)
    return {name: torch.stack(values).mean(0) for name, values in found.items()}


def _of_tokens(
    reader: "TextReader", tokens: Int[Tensor, "row"], names: Collection[str]
) -> dict[str, Float[Tensor, "layer_and_head"]]:
    with without_steps():
        trace = reader.trace_rows("", tokens.tolist(), ())
    layers = trace.inputs[SITE]
    weights = torch.cat([layer.weights() for layer in layers])
    masks = patterns(tokens)
    later = slice(TOKENS, None)
    found = {name: (weights * mask).sum(-1)[:, later].mean(-1) for name, mask in masks.items() if name in names}
    if "copying" not in names:
        return found
    with suppress(TraceError):
        first, unembed = tokens[:TOKENS], read_off(reader.parts, SITE)
        scores = [
            copying(layer.values()[:, :TOKENS] @ direct_output(reader.parts, SITE, number), unembed, first)
            for number, layer in enumerate(layers)
        ]
        found["copying"] = torch.cat(scores)
    return found


def patterns(tokens: Int[Tensor, "row"]) -> Mapping[str, Bool[Tensor, "row key"]]:
    """Name → the keys whose weight counts in each row."""
    rows = torch.arange(len(tokens))
    is_same = tokens[:, None] == tokens
    earlier = rows[:, None] > rows
    before = torch.roll(is_same, 1, dims=1)
    before[:, 0] = False
    return {
        "prefix_matching": before & (earlier | (rows[:, None] == rows)),
        "duplicate": is_same & earlier,
        "repeat_previous": rows[:, None] - 1 == rows,
    }


def copying(
    written: Float[Tensor, "head key d_model"], unembed: Float[Tensor, "vocab d_model"], tokens: Int[Tensor, "key"]
) -> Float[Tensor, "head"]:
    """The copying score of heads that write these vectors for these tokens."""
    own, ranks = tokens[None, :, None], []
    for of_head in written:
        logits = (of_head @ unembed.T)[None]
        at = logits.gather(-1, own)
        below = (logits < at).sum(-1) + ((logits == at).sum(-1) - 1) / 2
        ranks.append((below / (unembed.size(0) - 1)).mean())
    return torch.stack(ranks)
