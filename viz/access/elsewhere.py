"""Long work in other processes or on other machines: HEADLIGHT_CLUSTER names a Dask cluster, by address or file."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from model import later

if TYPE_CHECKING:
    from model import Reader

CLUSTER_VARIABLE: Final = "HEADLIGHT_CLUSTER"


@contextmanager
def computed_elsewhere(reader: "Reader", folder: Path) -> Iterator[None]:
    """In the block and thread, measurements over a corpus by this model run on the server's cluster, if it has one.

    The web process only reads texts and adds results up. Raises as `model.cluster.joined`.

    Args:
        reader: as it was opened from the folder; one whose languages were chosen computes here.
        folder: of the model, a path that all workers can read.
    """
    where = os.environ.get(CLUSTER_VARIABLE, "")
    if not where or reader.offered.writes:
        yield
        return
    place = later.cluster.ModelPlace(str(folder.resolve()), reader.weights_digest, None, "float32")
    with later.cluster.joined(where) as client, later.cluster.computed_on(client, {reader.key: place}):
        yield
