"""What the source says, found once for all tests of the catalogues."""

import pytest
from babel.messages.catalog import Catalog

from viz.locale.__main__ import template


@pytest.fixture(scope="package")
def source() -> Catalog:
    """The texts of the source."""
    return template()
