"""Every head switched off in turn: the table equals one run for each head."""

import pytest
import torch

from model import Translator
from model.analysis.interventions.ablation import ablate_heads
from model.errors import InputTextError
from model.nn.edits import SwitchOff
from model.nn.transformer import SITES
from tests.conftest import SENTENCES

TEXT = SENTENCES[0]


@pytest.mark.parametrize("target", [None, "Das Tier war müde."])
def test_each_entry_is_the_change_in_a_run_without_that_head(translator: Translator, target: str | None) -> None:
    done: list[int] = []
    ablation = ablate_heads(translator, TEXT, target, done.append)
    plain = translator.trace(TEXT, target)
    emitted = [step.token_id for step in plain.steps]
    assert ablation.tokens == tuple(step.token for step in plain.steps)
    assert ablation.log_probs.tolist() == pytest.approx([step.log_prob for step in plain.steps], abs=1e-5)
    for site in SITES:
        assert ablation.changes[site].shape == (2, 4, len(emitted))
        for layer, head in ((0, 0), (0, 3), (1, 2)):
            without = translator._forced_trace(TEXT, emitted, (), [SwitchOff(site, layer, head)])
            changes = [a.log_prob - b.log_prob for a, b in zip(without.steps, plain.steps, strict=True)]
            assert ablation.changes[site][layer, head].tolist() == pytest.approx(changes, abs=2e-5)
            assert float(ablation.totals(site)[layer, head]) == pytest.approx(sum(changes), abs=1e-3)
    assert done == [4] * 6


def test_blocks_change_nothing(translator: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = ablate_heads(translator, TEXT, "Das Tier.", lambda _: None)
    monkeypatch.setattr("model.decoding.blocks.LOGITS_AT_ONCE", 3 * translator.config.vocab_size)
    in_blocks = ablate_heads(translator, TEXT, "Das Tier.", lambda _: None)
    for site in SITES:
        torch.testing.assert_close(in_blocks.changes[site], whole.changes[site], atol=1e-5, rtol=1e-4)


def test_blank_text_is_refused(translator: Translator) -> None:
    with pytest.raises(InputTextError):
        ablate_heads(translator, " ", None, lambda _: None)
