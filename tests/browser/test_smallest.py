"""The smallest texts, models and films in a real browser: every component draws them, in numbers.

The `page` fixture also asserts that nothing went to the console as an error.
"""

from functools import partial
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Locator, Page, expect

from model.tokenizer import Tokenizer
from model.training.film import save_film
from tests.browser.conftest import visit
from tests.browser.pointing import box_of, until
from tests.viz.pages.experiments.through_training.test_film import film
from tests.viz.smallest import TEXT, save_smallest

PATIENCE = 60_000
#: Address and parameters of a view → what is drawn there.
VIEWS = {
    "": (".head-grid", ".matrix-picture"),
    "?drawn=Lines": (".head-lines",),
    "?site=decoder.self": (".head-grid", ".matrix-picture"),
    "decode?studio=Film": (".decode-player",),
    "decode?studio=Logit lens": (".lens-table",),
    "decode?studio=Beam search": (".beam-picture",),
    "learn?learn=The Transformer": (".walk",),
    "learn?learn=The Transformer&depth=layer": (".layer-scene",),
    "learn?learn=The Transformer&depth=head": (".head-scene",),
    "learn?learn=The Transformer&depth=cell": (".cell-scene",),
    "learn?learn=The Transformer&depth=number": (".number-scene",),
    "experiments?claim=Through training": (".training-film",),
    "experiments?claim=Through training&film_site=decoder.cross": (".training-film",),
}
#: What stands where a number belongs, in every element below one and in its attributes; a canvas without pixels, too.
WITHOUT_NUMBERS = """root => {
  const none = /(^|[^A-Za-z_])(NaN|-?Infinity|undefined|null)([^A-Za-z_]|$)/;
  return [root, ...root.querySelectorAll("*")].flatMap((each) => [
    ...[...each.attributes].filter(({ value }) => none.test(value)).map(({ name, value }) => `${name}=${value}`),
    ...[...each.childNodes].filter((node) => node.nodeType === 3 && none.test(node.data)).map(({ data }) => data),
    ...(each.localName === "canvas" && each.offsetParent && !(each.width * each.height) ? ["an empty canvas"] : []),
  ]);
}"""


@pytest.fixture(scope="module")
def smallest(checkpoints: Path, tokenizer: Tokenizer) -> str:
    """The model as the app calls it, with a film of its training that has one of everything."""
    folder = checkpoints / "smallest"
    save_smallest(folder, tokenizer)
    save_film(film((1, 1, 1, 1, 1, False)), folder / "film.npz")
    return folder.name


def is_large(drawn: Locator) -> bool:
    box = box_of(drawn)
    return min(box["width"], box["height"]) > 10


def has_all_numbers(drawn: Locator) -> bool:
    return bool(drawn.evaluate(WITHOUT_NUMBERS) == [])


@pytest.mark.long
@pytest.mark.parametrize("view", VIEWS)
def test_a_component_draws_one_token_one_head_one_layer_and_one_step_in_numbers(
    page: Page, url: str, smallest: str, view: str
) -> None:
    address, _, chosen = view.partition("?")
    known = urlencode({"checkpoint": smallest, "film_of": smallest, "text": TEXT})
    visit(page, f"{url}/{address}?{known}&{chosen}")
    for component in VIEWS[view]:
        drawn = page.locator(component).first
        expect(drawn).to_be_visible(timeout=PATIENCE)
        expect(drawn.locator("canvas, svg, table").first).to_be_visible(timeout=PATIENCE)

        until(partial(is_large, drawn), f"{component} is drawn")
        drawn.hover(force=True)
        until(partial(has_all_numbers, drawn), f"all of {component} is numbers")
