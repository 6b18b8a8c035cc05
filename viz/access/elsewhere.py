"""Long work in other processes or on other machines: HEADLIGHT_CLUSTER names a Dask cluster, by address or file."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from model import later
from viz.access import models
from viz.selection.choices import ModelChoice

if TYPE_CHECKING:
    from model.cluster import ModelPlace

CLUSTER_VARIABLE: Final = "HEADLIGHT_CLUSTER"


def places_of(*choices: ModelChoice) -> "Mapping[str, ModelPlace]":
    """Where the server's cluster finds these models, by folders that all workers can read; empty without a cluster.

    Also where languages were chosen of one, which is no longer the model that its folder opens. Raises as
    `models.reader` and `models.folder`.
    """
    readers = [models.reader(choice) for choice in choices]
    if not os.environ.get(CLUSTER_VARIABLE) or any(reader.offered.writes for reader in readers):
        return {}
    return {
        reader.key: later.cluster.ModelPlace(
            str(models.folder(choice).resolve()), reader.weights_digest, None, "float32"
        )
        for choice, reader in zip(choices, readers, strict=True)
    }


@contextmanager
def computed_elsewhere(places: "Mapping[str, ModelPlace]") -> Iterator[None]:
    """In the block and thread, measurements over a corpus by models with a place run on the server's cluster.

    The web process only reads texts and adds results up. Raises as `model.cluster.joined`.
    """
    if not places:
        yield
        return
    where = os.environ[CLUSTER_VARIABLE]
    with later.cluster.joined(where) as client, later.cluster.computed_on(client, places):
        yield
