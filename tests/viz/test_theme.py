"""The palettes keep their promises: monotone in lightness for every kind of colour vision, distinct, symmetric."""

import numpy as np
import pytest

from tests.paths import ROOT
from viz import theme

# Machado, Oliveira and Fernandes 2009, severity 1, on linear RGB.
VISIONS = {
    "normal": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def linear_rgb(stops: tuple[str, ...]) -> np.ndarray:
    srgb = np.array([[int(stop[i : i + 2], 16) / 255 for i in (1, 3, 5)] for stop in stops])
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def luminance(stops: tuple[str, ...], vision: str = "normal") -> np.ndarray:
    seen = np.clip(linear_rgb(stops) @ np.array(VISIONS[vision]).T, 0, 1)
    return seen @ [0.2126, 0.7152, 0.0722]


@pytest.mark.parametrize("vision", VISIONS)
def test_scales_get_lighter_at_every_step_from_zero_on(vision: str) -> None:
    assert (np.diff(luminance(theme.SEQUENTIAL, vision)) > 0).all()
    values = luminance(theme.DIVERGING, vision)
    middle = len(values) // 2
    assert (np.diff(values[: middle + 1]) < 0).all()
    assert (np.diff(values[middle:]) > 0).all()


def test_scales_share_their_zero_stops_are_apart_and_streamlit_is_told_the_same() -> None:
    assert theme.SEQUENTIAL[0] == theme.DIVERGING[len(theme.DIVERGING) // 2] == theme.NIGHT
    assert len(set(theme.HEAD_COLOURS)) == len(theme.HEAD_COLOURS) == 16
    scale = theme.colorscale(("#000000", "#808080", "#ffffff"))
    assert scale == [[0.0, "#000000"], [0.5, "#808080"], [1.0, "#ffffff"]]
    import tomllib

    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    for appearance in ("light", "dark"):
        assert tuple(config["theme"][appearance]["chartSequentialColors"]) == theme.SEQUENTIAL


@pytest.mark.parametrize("stops", [theme.SEQUENTIAL, theme.DIVERGING, theme.HEAD_COLOURS])
def test_every_colour_can_be_written_on(stops: tuple[str, ...]) -> None:
    def luminance(colour: str) -> float:
        parts = (part / 255 for part in bytes.fromhex(colour[1:]))
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return sum(part * weight for part, weight in zip(linear, (0.2126, 0.7152, 0.0722), strict=True))

    for step in range(301):
        colour = theme.colour_at(step / 300, stops)
        low, high = sorted(map(luminance, (colour, theme.ink_on(colour))))
        assert (high + 0.05) / (low + 0.05) >= 4.5
    assert (theme.colour_at(0.0, stops), theme.colour_at(1.0, stops)) == (stops[0], stops[-1])
