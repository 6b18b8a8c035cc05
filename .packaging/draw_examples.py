"""Draw the example pictures of models that read pictures: a scene, a line of text and a receipt.

python .packaging/draw_examples.py

Writes example_scene.png, example_line.png and example_receipt.png into model/sources/. Letters are those of Pillow's
own font, so that they look the same everywhere.
"""

from pathlib import Path
from typing import Final

from PIL import Image, ImageDraw, ImageFont

FOLDER: Final = Path(__file__).parents[1] / "model" / "sources"
LINE: Final = "The animal was too tired."
RECEIPT: Final = (("Tea", "2.40"), ("Two rolls", "3.10"), ("Street map", "7.95"), ("Total", "13.45"))
INK: Final = "#1b1e28"


def scene() -> Image.Image:
    """A red house with a lit window, a green tree and a yellow sun, apart from one another, on a meadow."""
    picture = Image.new("RGB", (224, 224), "#a9d3ee")
    draw = ImageDraw.Draw(picture)
    draw.rectangle((0, 150, 224, 224), "#7fb069")
    draw.ellipse((160, 16, 208, 64), "#f4c430")
    draw.polygon(((20, 104), (62, 64), (104, 104)), "#5b3a29")
    draw.rectangle((30, 104, 94, 176), "#b5413b")
    draw.rectangle((42, 116, 62, 136), "#ffe9a8")
    draw.rectangle((70, 136, 86, 176), "#5b3a29")
    draw.rectangle((157, 136, 167, 184), "#6b4a2f")
    draw.ellipse((134, 80, 190, 146), "#2f6b3c")
    return picture


def line() -> Image.Image:
    """One line of printed text, as models that read lines are given it."""
    font = ImageFont.load_default(40)
    left, top, right, bottom = font.getbbox(LINE)
    picture = Image.new("RGB", (round(right - left) + 40, round(bottom - top) + 32), "#fdfcf7")
    ImageDraw.Draw(picture).text((20 - left, 16 - top), LINE, INK, font)
    return picture


def receipt() -> Image.Image:
    """A receipt: a name, three things with their prices, their sum."""
    picture = Image.new("RGB", (320, 320), "#fdfcf7")
    draw, font, large = ImageDraw.Draw(picture), ImageFont.load_default(24), ImageFont.load_default(32)
    draw.text((160, 34), "Corner Shop", INK, large, anchor="mm")
    draw.text((160, 72), "29 November 2026", INK, font, anchor="mm")
    for number, (name, price) in enumerate(RECEIPT):
        y = 126 + 44 * number + 16 * (number == len(RECEIPT) - 1)
        draw.text((28, y), name, INK, font, anchor="lm")
        draw.text((292, y), price, INK, font, anchor="rm")
    draw.line((28, 250, 292, 250), INK, 2)
    return picture


def main() -> None:
    """Write all three."""
    for make in (scene, line, receipt):
        make().save(FOLDER / f"example_{make.__name__}.png", optimize=True)


if __name__ == "__main__":
    main()
