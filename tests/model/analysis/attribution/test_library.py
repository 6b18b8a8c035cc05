"""Attribution of models of `transformers`, against what the library's own modules compute."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from model.adapters.stream_taps import ModuleCall
from model.adapters.text_reader import TextReader
from model.analysis.attribution import methods
from model.analysis.attribution.choice import TokenChoice, visible
from model.analysis.attribution.methods import (
    METHODS,
    OF_CHOICE,
    POINTS,
    alti,
    attribute,
    choice_run,
    distances,
    gradient_times_input,
)
from model.analysis.attribution.runs import LibraryRun, through_norm
from model.opening import open_reader
from model.word_choice import TokenPlace
from tests.model.adapters import zoo
from tests.model.adapters.zoo import save_model, tiny

#: Post-norm, layers that share their weights, pre-norm, shared keys and values, a cap and two norms, both stacks.
FAMILY = ["bert", "albert", "gpt2", "llama", "gemma2", "bart", "t5"]
TEXT = "The dog did not run because it was tired."
HIDDEN = [1, 3, 4]


@pytest.fixture(scope="module", params=FAMILY)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> LibraryRun:
    is_encoder = zoo.KINDS[request.param] == "encoder"
    folder = save_model(tmp_path_factory.mktemp(request.param), request.param, head=head_of(request.param))
    reader = open_reader(folder, device="cpu")
    assert isinstance(reader, TextReader)
    text = TEXT.replace("it", "[MASK]") if is_encoder else TEXT
    place = reader.place(text)
    if place.source and place.target:
        place = place.__class__(place.source, (*place.target, 11, 12), 2)
    made = choice_run(reader, TokenChoice(place, 7, 9), text)
    assert isinstance(made, LibraryRun)
    return made


@pytest.fixture(scope="module")
def theirs(run: LibraryRun) -> nn.Module:
    """The same weights with the library's own eager attention."""
    model_type = str(run.reader.config.model_type)
    return tiny(model_type, head=head_of(model_type))


def head_of(model_type: str) -> str | None:
    return "masked" if zoo.KINDS[model_type] == "encoder" else None


def log_odds(run: LibraryRun, model: nn.Module, seen: Sequence[bool] | None = None, **given: Any) -> Tensor:
    """log p(7) − log p(9) as the library computes it, with a mask of its own."""
    choice = run.choice
    length = len(choice.read)
    mask = torch.ones(1, length, dtype=torch.long) if seen is None else torch.tensor([seen]).long()
    given = {"attention_mask": mask} | (given or {"input_ids": torch.tensor([choice.read])})
    if choice.source and choice.prefix and not any(name.startswith("decoder_inputs") for name in given):
        given["decoder_input_ids"] = torch.tensor([choice.prefix])
    if run.reader.abilities.kind == "decoder":
        given["position_ids"] = torch.arange(length)[None]
    logits = model(**given).logits[0, choice.place.row]
    return logits[7] - logits[9]


def path_integral(choice: Callable[[Tensor], Tensor], inputs: Tensor) -> Tensor:
    """∫ gradient · input along the path, by 32 points on each of 4 parts of each of 30 stretches that double."""
    points, weights = (torch.tensor(each) for each in np.polynomial.legendre.leggauss(32))
    total, edges = torch.zeros(inputs.size(1)).double(), [0.0, *(2.0**-power for power in range(29, -1, -1))]
    for begin, end in pairwise(edges):
        for part in range(4):
            width = (end - begin) / 4
            shares = begin + width * (part + (points + 1) / 2)
            vectors = (shares[:, None, None] * inputs.detach()).requires_grad_()
            (gradients,) = torch.autograd.grad(choice(vectors).sum(), vectors)
            total += ((gradients * inputs.detach()).sum(-1) * weights[:, None] * width / 2).sum(0)
    return total


@torch.no_grad()
def test_hidden_tokens_are_those_that_the_librarys_mask_hides(run: LibraryRun, theirs: nn.Module) -> None:
    length = len(run.choice.read)
    all_seen, some = run.choice.of_logits(run.seen_logits(visible(length, [[], HIDDEN])))
    assert float(all_seen) == pytest.approx(float(log_odds(run, theirs)), abs=1e-5)
    seen = [position not in HIDDEN for position in range(length)]
    assert float(some) == pytest.approx(float(log_odds(run, theirs, seen)), abs=1e-5)
    # How the text is cut, and so how much is hidden, differs a little each time that a vocabulary is learned.
    assert abs(float(some - all_seen)) > 1e-4


def test_gradients_are_those_by_the_librarys_own_embeddings(run: LibraryRun, theirs: nn.Module) -> None:
    sides = [ids for ids in (run.choice.source, run.choice.prefix) if ids]
    table = theirs.get_input_embeddings()  # type: ignore[operator]
    vectors = [table(torch.tensor([ids])).detach().requires_grad_() for ids in sides]
    names = ["inputs_embeds", "decoder_inputs_embeds"][: len(vectors)]
    log_odds(run, theirs, **dict(zip(names, vectors, strict=True))).backward()
    expected = [(vector.grad * vector).sum(-1)[0].detach() for vector in vectors]
    for scores, own in zip((each for each in gradient_times_input(run) if len(each)), expected, strict=True):
        torch.testing.assert_close(scores, own, atol=1e-4, rtol=1e-3)


@pytest.mark.long
def test_each_score_that_has_converged_is_that_of_many_more_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """ModernBERT's first norm reads embeddings alone: near zero its gradients are so large, and of both signs, that
    their sum can be right while no score is."""
    reader = zoo.random_reader("modernbert", head="masked")
    reader.model.double()
    place = TokenPlace(reader.source(TEXT).ids, (), 5)
    run = choice_run(reader, TokenChoice(place, 7, 9), TEXT)
    found = attribute(run, "integrated")
    assert found.uncertain is not None
    assert found.integration is not None
    (inputs,) = run.embeddings()
    exact = path_integral(lambda vectors: run.of_embeddings(vectors), inputs)
    off = (found.read.double() - exact).abs()
    assert found.integration.is_converged
    assert (off <= found.uncertain + 1e-3).all()
    assert off.max() <= methods.TOLERANCE * exact.abs().max()
    sure = found.read.abs() > found.uncertain
    assert torch.equal(found.read.sign()[sure], exact.sign()[sure].float())
    assert sure.sum() > len(sure) / 2
    monkeypatch.setattr(methods, "MOST_POINTS", 160)
    few = attribute(run, "integrated").integration
    assert few is not None
    assert not few.is_converged


@torch.no_grad()
def test_a_value_taken_away_is_as_if_the_librarys_projection_had_put_out_zero(
    run: LibraryRun, theirs: nn.Module
) -> None:
    layers, values = list(run.layers()), value_projections(theirs)
    outputs: dict[int, list[Tensor]] = {}
    for number, block in enumerate(blocks(run, theirs)):
        block.register_forward_hook(
            lambda _, args, out, number=number: outputs.setdefault(number, []).append(
                (out[0] if isinstance(out, tuple) else out)[0]
            )
        )
    log_odds(run, theirs)
    whole = outputs[0][0]
    key = 2

    def zero(_: nn.Module, args: Any, out: Tensor) -> Tensor:
        out = out.clone()
        width = out.size(-1) if len(values) > 0 and not is_joined(theirs) else out.size(-1) // 3
        out[:, key, -width:] = 0
        return out

    handle = values[0].register_forward_hook(zero)
    outputs.clear()
    log_odds(run, theirs)
    handle.remove()
    expected = 1 - torch.cosine_similarity(outputs[0][0], whole, dim=-1)
    found = distances(layers[0], next(iter(layers[0].keys)))
    torch.testing.assert_close(found[:, key], expected.clamp_min(0), atol=1e-5, rtol=1e-3)
    assert float(found[:, key].max()) > 1e-4


def blocks(run: LibraryRun, theirs: nn.Module) -> list[nn.Module]:
    """The first layer, by the name that the library gives it."""
    names = {
        "bert": "bert.encoder.layer.0",
        "albert": "albert.encoder.albert_layer_groups.0",
        "gpt2": "transformer.h.0",
        "llama": "model.layers.0",
        "gemma2": "model.layers.0",
        "bart": "model.encoder.layers.0",
        "t5": "encoder.block.0",
    }
    return [theirs.get_submodule(names[str(run.reader.config.model_type)])]


def value_projections(theirs: nn.Module) -> list[nn.Module]:
    ends = (".value", ".v_proj", ".SelfAttention.v", ".c_attn")
    return [module for name, module in theirs.named_modules() if name.endswith(ends)]


def is_joined(theirs: nn.Module) -> bool:
    return any(name.endswith(".c_attn") for name, _ in theirs.named_modules())


@torch.no_grad()
def test_the_parts_of_every_attention_add_up(run: LibraryRun) -> None:
    # All biases of these models are 0, so that nothing else is in what they put out.
    for layer in run.sums():
        for attention, is_across in ((layer.within, False), (layer.across, True)):
            if attention is not None:
                assert attention.is_across == is_across
                # What the residual connection hands on is a part of its own in cross-attention alone.
                assert attention.parts.size(1) == (len(run.choice.source) + 1 if is_across else len(attention.parts))
                torch.testing.assert_close(attention.parts.sum(1), attention.output, atol=1e-4, rtol=1e-3)


def test_all_shares_add_up_and_every_token_gets_a_number(run: LibraryRun, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(methods, "MOST_POINTS", 2 * POINTS)
    sizes = {len(run.choice.source), len(run.choice.prefix)}
    assert {len(each) for each in alti(run)} == sizes
    for method in METHODS:
        found = attribute(run, method)
        assert found.read.shape == (len(run.choice.read),)
        assert found.read.isfinite().all()
        if method not in OF_CHOICE:
            whole = found.read.sum() + (0 if found.prefix is None else found.prefix.sum())
            assert float(whole) == pytest.approx(1, abs=1e-4)


class Centring(nn.RMSNorm):
    """A layer norm that is none of PyTorch's, as Cohere's."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x - x.mean(-1, keepdim=True))


@pytest.mark.parametrize("norm", [nn.LayerNorm(8), nn.RMSNorm(8, eps=1e-6), Centring(8, eps=1e-6)])
def test_parts_go_through_a_norm_as_a_linear_map(norm: nn.Module) -> None:
    torch.manual_seed(0)
    with torch.no_grad():
        for parameter in norm.parameters():
            parameter.normal_()
        parts = torch.randn(3, 5, 8)
        given = parts.sum(1)
        put_out = norm(given)
        found = through_norm(parts, ModuleCall(norm, given, put_out), 1e-4, torch.device("cpu"))
        bias: Mapping[str, Tensor] = dict(norm.named_parameters())
        torch.testing.assert_close(found.sum(1) + bias.get("bias", torch.zeros(8)), put_out, atol=1e-5, rtol=1e-4)
