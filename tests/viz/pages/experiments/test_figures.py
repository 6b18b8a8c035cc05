"""BLEU as pictures: every row and bar has its place, and nothing leaves the picture."""

from viz.pages.experiments import figures
from viz.pages.experiments.data.ablations import Row, SetResult


def test_every_seed_s_row_is_within_the_picture_and_has_its_height() -> None:
    def drawn(models: int) -> tuple[int, tuple[float, float]]:
        of_set = {"dev": SetResult((1, 1), (1, 1), {0: -1.0}, None)}
        layout = figures.seed_points([Row(f"model {n}", 1, of_set, None, None) for n in range(models)], "dev").layout
        return layout.height, layout.yaxis.range

    (low, (bottom, top)), (high, _) = drawn(3), drawn(5)
    # The first category is at 0, and a row reaches half a row to both sides of its place.
    assert (-1 < bottom <= -0.5, 2.5 <= top < 3) == (True, True)
    assert (high - low) / 2 >= 20
    assert low > 3 * (high - low) / 2


def test_every_part_taken_out_has_a_bar_of_its_own_height_with_its_number_beside_it() -> None:
    few, more = (figures.bleu_bars(["a", "b", "c"][:n], [91.25, 3.0, 0.0][:n], [0.5, 0, 0][:n]) for n in (2, 3))
    assert (few.data[0].text[0], few.data[0].customdata[0]) == ("91.2", "50%")
    assert few.layout.height > 2 * (more.layout.height - few.layout.height) >= 50
    # The number of a bar of 100 stands beyond it.
    assert more.layout.xaxis.range[0] == 0
    assert more.layout.xaxis.range[1] > 100
