"""Parts taken out of a translator while it runs."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from model import Translator
from model.analysis.interventions.parts_off import PARTS, Part, PartOff, edits_without, score_without, translate_without
from model.errors import EditError
from model.nn.hooks import listen
from model.nn.transformer import Transformer

TEXT = "The dog sleeps."


def encoded(model: Transformer, off: PartOff | None = None) -> torch.Tensor:
    with torch.no_grad(), listen(edits={} if off is None else edits_without(model, off)):
        return model.encode(torch.tensor([[5, 6, 7, 8]]))


def test_the_whole_model_translates_as_it_always_does(translator: Translator) -> None:
    assert translate_without(translator, [TEXT], None) == [translator.translate(TEXT)]


@pytest.mark.parametrize("part", PARTS)
def test_every_part_makes_a_difference_and_leaves_nothing_behind(translator: Translator, part: Part) -> None:
    whole = encoded(translator.model)
    assert not torch.allclose(encoded(translator.model, PartOff(part)), whole)
    assert torch.equal(encoded(translator.model), whole)


def test_without_positions_the_order_of_the_source_does_not_matter(translator: Translator) -> None:
    edits = edits_without(translator.model, PartOff("positions"))
    with torch.no_grad(), listen(edits=edits):
        forwards, backwards = (translator.model.encode(torch.tensor([ids])) for ids in ([5, 6, 7], [7, 6, 5]))
    torch.testing.assert_close(forwards, backwards.flip(1))


def test_without_the_scaling_scores_are_plain_dot_products(translator: Translator) -> None:
    off = PartOff("scaling")
    plain = translator.trace(TEXT, target="x")
    unscaled = translator.trace(TEXT, target="x", edits=edits_without(translator.model, off))
    expected = plain.scores("encoder.self", 0) * translator.config.d_k**0.5
    torch.testing.assert_close(unscaled.scores("encoder.self", 0), expected, rtol=1e-4, atol=1e-5)


def test_a_layer_without_its_residual_connections_is_its_last_sub_layer_alone(translator: Translator) -> None:
    edits = edits_without(translator.model, PartOff("residuals", layer=0))
    feed_forward = translator.model.get_submodule("encoder.layers.0.feed_forward")
    given: list[torch.Tensor] = []
    handle = feed_forward.register_forward_hook(lambda module, inputs, output: given.append(output))
    with torch.no_grad(), listen(edits=edits, record={"hook_output"}) as recorded:
        translator.model.encode(torch.tensor([[5, 6, 7]]))
    handle.remove()
    torch.testing.assert_close(recorded["encoder.layers.0.hook_output"][0], given[0])


def test_without_norms_no_layer_norm_runs_in_the_layer(translator: Translator) -> None:
    ran: list[str] = []
    handles = [
        module.register_forward_hook(lambda module, inputs, output, name=name: ran.append(name))
        for name, module in translator.model.named_modules()
        if isinstance(module, nn.LayerNorm)
    ]
    encoded(translator.model, PartOff("norms", layer=1))
    for handle in handles:
        handle.remove()
    assert ran
    assert not any(name.startswith("encoder.layers.1.") for name in ran)


def test_of_the_heads_one_stays(translator: Translator) -> None:
    edits = edits_without(translator.model, PartOff("heads", kept_head=2))
    trace = translator.trace(TEXT, target="x", extras={"hook_head_output"}, edits=edits)
    real = trace.recorded["encoder.layers.1.self_attention.hook_head_output"]
    assert [bool(head.any()) for head in real] == [False, False, True, False]


def test_what_a_model_lacks_is_said(translator: Translator) -> None:
    with pytest.raises(EditError, match="no layer 9"):
        edits_without(translator.model, PartOff("norms", layer=9))
    with pytest.raises(EditError, match="none would be removed"):
        edits_without(translator.model, PartOff("heads", kept_head=4))
    bare = Transformer(replace(translator.config, positions="none"))
    with pytest.raises(EditError, match="without positions"):
        edits_without(bare, PartOff("positions"))


def test_a_part_that_changes_nothing_scores_a_hundred(translator: Translator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "model.analysis.interventions.parts_off.translate_without",
        lambda translator, texts, off, progress: (progress(len(texts)), [f"{text} ." for text in texts])[1],
    )
    told: list[int] = []
    (score,) = score_without(translator, [PartOff("norms")], told.append)
    assert score.bleu == pytest.approx(100)
    assert score.unchanged == 1.0
    assert sum(told) == 2 * 200
