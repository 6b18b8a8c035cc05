"""The layers' tests check the shapes of every call of a layer."""

from collections.abc import Iterator

import pytest

from tests.shape_checks import layers_checked


@pytest.fixture(autouse=True)
def shapes_of_layers_are_checked() -> Iterator[None]:
    with layers_checked():
        yield
