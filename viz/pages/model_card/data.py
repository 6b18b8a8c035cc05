"""What is known of a model without a text: its shape, and what its folder tells of its making."""

from typing import Final

from model import Reader
from model.config import PRESETS
from model.description import Description, Hyperparameters, describe, hyperparameters
from model.reader import Writer
from model.training_record import Metrics, Training, TrainingLog, read_card, read_log, read_metrics, read_training
from viz.access import models
from viz.selection.choices import ModelChoice
from viz.server.caches import cached
from viz.text.messages import _

MAX_TRANSLATIONS: Final = 500


def shapes(choice: ModelChoice) -> list[tuple[str, Hyperparameters]]:
    """Name and hyperparameters of the chosen model, then of the paper's two. Raises as `hyperparameters`."""
    papers = ((_("{name} (paper)", name=name), PRESETS[name]) for name in ("base", "big"))
    own = models.name_of(choice), hyperparameters(models.reader(choice))
    return [own, *((name, Hyperparameters.of_config(config)) for name, config in papers)]


def description(reader: Reader) -> Description:
    """Describe the parts of any model in words and numbers."""
    return describe(reader)


def training(choice: ModelChoice) -> Training | None:
    """What the checkpoint says it was trained on; None where it says nothing. Raises a CheckpointError if malformed."""
    return read_training(models.folder(choice))


def training_log(choice: ModelChoice) -> TrainingLog | None:
    """The curves of the checkpoint's training run, as `training`."""
    return read_log(models.folder(choice))


def metrics(choice: ModelChoice) -> Metrics | None:
    """What was measured with the checkpoint, as `training`."""
    return read_metrics(models.folder(choice))


def card(choice: ModelChoice) -> str | None:
    """Return the checkpoint's card, as `training`; the text is untrusted."""
    return read_card(models.folder(choice))


@cached(max_entries=MAX_TRANSLATIONS)
def translation(translator: Writer, text: str) -> str:
    """The greedy translation of a text, without a trace. Raises what the model raises."""
    return translator.translate(text)
