"""Draw an example picture, a house by a lake at dusk, for who has none at hand."""

from typing import Final

from PIL import Image, ImageDraw

SIDE: Final = 224
_SKY: Final = ((24, 44, 92), (240, 152, 96))
_WATER: Final = ((38, 74, 112), (18, 34, 66))


def example_picture() -> Image.Image:
    """The picture, 224 × 224: sky, moon, hills, a house with two lit windows, a tree, and their lake."""
    picture = Image.new("RGB", (SIDE, SIDE))
    draw = ImageDraw.Draw(picture)
    shore = 150
    for row in range(SIDE):
        top, bottom, share = (*_SKY, row / shore) if row < shore else (*_WATER, (row - shore) / (SIDE - shore))
        colour = tuple(round(a + (b - a) * share) for a, b in zip(top, bottom, strict=True))
        draw.line((0, row, SIDE, row), fill=colour)
    draw.ellipse((158, 22, 194, 58), fill=(250, 240, 205))
    draw.polygon([(0, shore), (0, 112), (52, 78), (108, 122), (150, 96), (224, 132), (224, shore)], fill=(44, 62, 84))
    draw.polygon([(96, shore), (160, 120), (224, 138), (224, shore)], fill=(34, 74, 66))
    draw.rectangle((48, 104, 104, shore), fill=(172, 70, 54))
    draw.polygon([(40, 106), (76, 74), (112, 106)], fill=(92, 38, 40))
    for left in (56, 84):
        draw.rectangle((left, 116, left + 12, 130), fill=(252, 214, 110))
    draw.rectangle((70, 128, 82, shore), fill=(70, 34, 30))
    draw.rectangle((166, 112, 173, shore), fill=(70, 48, 34))
    draw.ellipse((144, 70, 196, 122), fill=(46, 108, 62))
    for row in (162, 176, 190, 206):
        draw.line((28 + row % 30, row, 120 + row % 50, row), fill=(98, 128, 158), width=2)
    draw.line((168, 158, 184, 158), fill=(250, 240, 205), width=2)
    draw.line((164, 170, 188, 170), fill=(220, 214, 190), width=2)
    return picture
