"""Write probabilities as people read them, and say why those of a model end below 100 %."""

from viz.access import models
from viz.selection import state
from viz.text.messages import _


def percent(probability: float) -> str:
    """In percent; what is not certain never reads as 100 %, nor what is possible as 0 %."""
    value = 100 * probability
    if 0 < value < 0.1:
        return "< 0.1 %"
    if 99.9 < value < 100:
        return "> 99.9 %"
    return f"{value:.1f} %" if value < 9.95 or value > 99 else f"{value:.0f} %"


def label_smoothing_note() -> str:
    """What label smoothing does to the chosen model's probabilities; "" where its training record names none.

    The target of the right token is 1 − ε + ε / vocabulary, that of every other token ε / vocabulary (§5.4).
    """
    choice = state.current().model
    smoothing = models.label_smoothing(choice)
    if smoothing is None:
        return ""
    tokens = len(models.vocabulary(models.reader(choice)))
    target = 1 - smoothing + smoothing / tokens
    return _(
        "Trained with label smoothing ε = {smoothing:g} (§5.4): the target was {target:.0%} for the right token and "
        "ε / {tokens:,} for each other one. So a sure choice ends near {target:.0%}, and no token at 0.",
        smoothing=smoothing,
        target=target,
        tokens=tokens,
    )
