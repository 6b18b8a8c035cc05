"""Heads patched, and paths from head to head: what TransformerLens's own functions and hooks give."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor

from model.analysis.interventions.patching import ChoicePair, patch_heads, patch_paths
from model.analysis.interventions.word_pairs import asked_pair, indirect_object_pairs
from model.analysis.metrics.head_metrics import HeadName
from model.analysis.metrics.repeated_tokens import SITE
from model.word_choice import WordChoice
from tests.model.analysis.peers.conftest import LIVE, NATS, WHY_SKIPPED, Both, tokens_of

patching = pytest.importorskip("transformer_lens.patching", reason=WHY_SKIPPED)


def difference(choice: WordChoice, logits: Tensor) -> Tensor:
    """The metric that TransformerLens is given: the difference of two logits in the last row."""
    return logits[0, -1, choice.right] - logits[0, -1, choice.wrong]


def pairs_of(both: Both) -> list[ChoicePair[WordChoice]]:
    """Repeated letters, and those pairs of the set that have as many tokens, so that rows need not be matched."""
    texts = ("qsxk wnvb. qsx", "qsxb wnvk. qsx")
    a, b = (both.reader.word_choice(text, "k", "b") for text in texts)
    found = [ChoicePair(a, b), *(asked_pair(both.reader, asked).pair for asked in indirect_object_pairs())]
    alike = [pair for pair in found if pair.a.place.length == pair.b.place.length]
    assert len(alike) > 2
    return alike[:3]


def test_logit_differences_of_the_shipped_pairs_are_equal(both: Both) -> None:
    for asked in indirect_object_pairs():
        ours = asked_pair(both.reader, asked).pair
        for text, choice in ((asked.a, ours.a), (asked.b, ours.b)):
            right, wrong = (both.bridge.to_tokens(text + word)[0].tolist() for word in (asked.right, asked.wrong))
            at = next(place for place, (one, other) in enumerate(zip(right, wrong, strict=False)) if one != other)
            logits = both.bridge(torch.tensor([right[:at]]))[0, -1]
            torch.testing.assert_close(
                both.reader.log_odds([choice])[0, 0], logits[right[at]] - logits[wrong[at]], atol=NATS, rtol=0
            )


def test_a_head_patched_changes_the_logit_difference_alike(both: Both) -> None:
    for pair in pairs_of(both):
        ours = patch_heads(both.reader, [pair])
        metric = partial(difference, pair.a)
        # What it calls corrupted is what is read here (A), and what it calls clean is what is put in (B).
        theirs = patching.get_act_patch_attn_head_out_all_pos(
            both.bridge, tokens_of(pair.a), both.cache(pair.b), metric
        )
        torch.testing.assert_close(ours.patched[0], theirs.flatten(), atol=NATS, rtol=0)
        torch.testing.assert_close(ours.a[0], metric(both.bridge(tokens_of(pair.a))), atol=NATS, rtol=0)
        torch.testing.assert_close(ours.b[0], metric(both.bridge(tokens_of(pair.b))), atol=NATS, rtol=0)
        assert float(ours.changes.abs().max()) > LIVE


def test_direct_paths_to_the_word_are_those_of_hooks_that_hold_every_other_head(both: Both) -> None:
    for pair in pairs_of(both):
        ours = patch_paths(both.reader, [pair])
        held, taken = both.cache(pair.a), both.cache(pair.b)
        theirs = [
            difference(pair.a, both.bridge.run_with_hooks(tokens_of(pair.a), fwd_hooks=hold(both, sender, held, taken)))
            for sender in both.heads
        ]
        torch.testing.assert_close(ours.patched[0], torch.stack(theirs), atol=NATS, rtol=0)
        assert float(ours.changes.abs().max()) > LIVE


def test_paths_through_receivers_are_those_of_hooks_that_give_them_the_queries_keys_and_values_they_hear(
    both: Both,
) -> None:
    last = both.heads[-1].layer
    receivers = [HeadName(SITE, last, 1), HeadName(SITE, last, 2)]
    for pair in pairs_of(both):
        ours = patch_paths(both.reader, [pair], receivers)
        held, taken = both.cache(pair.a), both.cache(pair.b)
        theirs = []
        for sender in both.heads:
            heard: dict[str, Tensor] = {}
            parts = [(f"blocks.{last}.attn.hook_{part}", partial(keep, heard)) for part in "qkv"]
            both.bridge.run_with_hooks(tokens_of(pair.a), fwd_hooks=[*hold(both, sender, held, taken), *parts])
            heads = [name.head for name in receivers]
            given = [(name, partial(put, heads, of_part)) for name, of_part in heard.items()]
            theirs.append(difference(pair.a, both.bridge.run_with_hooks(tokens_of(pair.a), fwd_hooks=given)))
        torch.testing.assert_close(ours.patched[0], torch.stack(theirs), atol=NATS, rtol=0)
        assert float(ours.changes.abs().max()) > LIVE


def hold(both: Both, sender: HeadName, held: Any, taken: Any) -> list[tuple[str, Callable[..., Tensor]]]:
    """Hooks that give every head its output of one cache, and the sender its output of another.

    Feed-forward networks compute anew: what they make of the sender belongs to its direct path (Wang et al. 2022).
    """
    hooks: list[tuple[str, Callable[..., Tensor]]] = []
    for layer in range(both.bridge.cfg.n_layers):
        name = f"blocks.{layer}.attn.hook_z"
        outputs = held[name].clone()
        if layer == sender.layer:
            outputs[:, :, sender.head] = taken[name][:, :, sender.head]
        hooks.append((name, partial(put, range(outputs.size(2)), outputs)))
    return hooks


def keep(heard: dict[str, Tensor], activation: Tensor, hook: Any) -> Tensor:
    heard[hook.name] = activation.clone()
    return activation


def put(heads: Sequence[int], given: Tensor, activation: Tensor, hook: Any) -> Tensor:
    changed = activation.clone()
    changed[:, :, list(heads)] = given[:, :, list(heads)]
    return changed
