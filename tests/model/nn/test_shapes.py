"""The shapes that types name are checked: whatever calls with another one, or gets one, fails."""

import pytest
import torch
from jaxtyping import TypeCheckError

from model.analysis.metrics.measures import norm_shares
from model.nn.attention import attention_weights


def test_other_shapes_than_the_types_say_are_refused() -> None:
    query = torch.zeros(2, 4, 3, 8)
    assert attention_weights(query, query, scale=1.0).weights.shape == (2, 4, 3, 3)
    with pytest.raises(TypeCheckError):
        attention_weights(query, torch.zeros(2, 4, 3, 7), scale=1.0)
    with pytest.raises(TypeCheckError):
        attention_weights(query, query[:, :2], scale=1.0)
    with pytest.raises(TypeCheckError):
        norm_shares(torch.ones(3, 3))
