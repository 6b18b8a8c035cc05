import base64
import io

import numpy as np
from PIL import Image

from viz.pages.learn.collection.drawing import tile_urls
from viz.theme import SEQUENTIAL


def picture(url: str) -> np.ndarray:
    kind, _, data = url.partition(",")
    assert kind == "data:image/png;base64"
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB"))


def rgb(colour: str) -> list[int]:
    return [int(colour[i : i + 2], 16) for i in (1, 3, 5)]


def test_a_tile_has_a_pixel_a_weight_from_night_to_light() -> None:
    weights = np.zeros((2, 3, 4, 5), np.float32)
    weights[1, 2, 3, 0] = 1.0
    urls = tile_urls(weights)
    assert [len(row) for row in urls] == [3, 3]
    tile = picture(urls[1][2])
    assert tile.shape == (4, 5, 3)
    assert list(tile[3, 0]) == rgb(SEQUENTIAL[-1])
    assert list(tile[0, 0]) == rgb(SEQUENTIAL[0])
    assert (picture(urls[0][0]) == rgb(SEQUENTIAL[0])).all()


def test_a_weight_has_the_colour_at_its_square_root() -> None:
    tile = picture(tile_urls(np.full((1, 1, 1, 1), (4 / 9) ** 2, np.float32))[0][0])
    assert np.abs(tile[0, 0].astype(int) - rgb(SEQUENTIAL[4])).max() <= 2


def test_a_long_sentence_is_pooled_by_maximum() -> None:
    weights = np.zeros((1, 1, 300, 300), np.float32)
    weights[0, 0, 299, 299] = 1.0
    tile = picture(tile_urls(weights)[0][0])
    assert tile.shape == (128, 128, 3)
    assert list(tile[-1, -1]) == rgb(SEQUENTIAL[-1])
