"""The norms of a window of a text are those of each of its tokens that is followed alone."""

import pytest
import torch

from model.analysis.residual_stream.norms import stack_norms
from model.analysis.residual_stream.token_path import follow
from model.reader import Reader
from model.trace.trace import Trace
from tests.model.adapters.zoo import random_reader, writer

TEXT, WINDOW = "The animal was too tired.", slice(1, 4)


def opened(name: str) -> tuple[Reader, Trace]:
    """A model, that scales what it adds where its kind may, and a trace."""
    if name != "granite":
        reader = random_reader(name)
        return reader, reader.trace(TEXT, "It was old." if name == "bart" else None)
    granite = writer(name)
    for layer in granite.model.base_model.layers:  # type: ignore[union-attr]
        layer.residual_multiplier = 0.22
    return granite, granite.trace(TEXT)


@pytest.mark.parametrize("name", ["gemma2", "granite", "bart"])
def test_norms_of_a_window_are_those_of_each_token_that_is_followed(name: str) -> None:
    reader, trace = opened(name)
    found = stack_norms(reader, trace, dict.fromkeys(reader.parts.stacks, WINDOW))
    assert set(found) == set(reader.parts.stacks)
    for stack, norms in found.items():
        for at, position in enumerate(range(WINDOW.start, WINDOW.stop)):
            path = follow(reader, trace, stack, position)
            every = [addition for layer in path.layers for addition in layer]
            vectors = torch.stack([torch.stack([each.added, each.summed, each.after]) for each in every])
            torch.testing.assert_close(norms.begin[at], path.begin.norm())
            torch.testing.assert_close(norms.sublayers[..., at], vectors.norm(dim=-1), atol=1e-4, rtol=1e-4)
            assert set(norms.heads) == {f"{stack}.{kind}" for kind in norms.kinds[0] if kind != "feed_forward"}
            for layer, additions in enumerate(path.layers):
                for each in additions:
                    if each.heads is not None:
                        own = norms.heads[f"{stack}.{each.kind}"][layer, :, at]
                        torch.testing.assert_close(own, each.heads.parts.norm(dim=-1), atol=1e-4, rtol=1e-3)


def test_a_stack_that_does_not_attend_to_itself_has_no_norms_and_the_other_has() -> None:
    reader, trace = opened("gemma2")
    assert set(stack_norms(reader, trace, {"encoder": WINDOW, "decoder": WINDOW})) == {"decoder"}
