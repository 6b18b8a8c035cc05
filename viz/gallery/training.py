"""What is drawn of a training: its film. It reads films with torch, which other drawings do without."""

from pathlib import Path

import numpy as np
from jaxtyping import Float

from viz.pages.experiments.through_training import component as training_film
from viz.pages.experiments.through_training import data as training_data
from viz.pages.experiments.through_training.component import FilmState
from viz.pictures.component import begun
from viz.pictures.offline import Drawing, Part


def training_of(path: Path) -> tuple[Drawing, str, Float[np.ndarray, "query key"]]:
    """A film, on the head that changes most; its sentence; its last weights. Raises as `training_data.at`."""
    opened = training_data.at(path)
    found = training_data.opens_on(opened)
    view = training_data.view(opened, found.sentence, found.site, found.metric)
    state = FilmState(int(np.searchsorted(view.frames, found.frame)), found.layer, found.head)
    threshold = training_data.job_threshold(found.site, found.metric)
    packed = begun(view, state, name="training", finding="", threshold=threshold)
    sentence = opened.film.sentences[found.sentence]
    weights = sentence.frame(-1, found.site)[found.layer, found.head]
    return Drawing([Part(training_film.COMPONENT, packed)], view.heads, sentence.source), sentence.source, weights
