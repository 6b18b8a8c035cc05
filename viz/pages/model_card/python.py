"""The Python that gives what the page about a model shows."""

from typing import Final

from viz.access import models
from viz.selection import state
from viz.ui.snippets import Snippet, Views, alone, folder, of_model


def _overview() -> Snippet:
    """What the model is made of, beside the paper's two."""
    if not models.abilities(state.current().model).is_headlight:
        return of_model({"description": "describe"}, "described = describe(reader)")
    imports = {"config": "PRESETS", "decoding.cost": "count_parameters"}
    configs = "configs = [reader.config, PRESETS['base'], PRESETS['big']]"
    return of_model(imports, configs, "counts = [count_parameters(config) for config in configs]")


def _read(*names: str) -> Snippet:
    """Files of the model's folder, each read by the function of this name."""
    read = (f"{name.removeprefix('read_')} = {name}({folder(state.current().model)})" for name in names)
    return alone({"training_record": ", ".join(names)}, *read)


VIEWS: Final[Views] = {
    "Overview": _overview,
    "Data and training": lambda: _read("read_log", "read_training"),
    "Scores": lambda: _read("read_metrics"),
    "Card": lambda: _read("read_card"),
}
