"""Which rectangle of a picture a position is of, proven by painting; and models that read pictures or texts."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from PIL import Image

from model import Trace
from model.adapters.inspect_folder import reads_in, sides_in
from model.adapters.sight import Sight, probe_picture
from model.errors import CheckpointError, InputTextError
from model.nn.edits import SwitchOff
from model.opening import open_reader
from model.reader import Reader
from model.sources.picture_file import PartlyHidden
from tests.model.adapters import zoo
from tests.model.adapters.sided_zoo import SIDED, save_sided
from tests.model.adapters.speech_zoo import stir


@pytest.fixture(scope="module", params=SIDED)
def sided(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path, Reader, Any]:
    """The kind of model, its folder, what was opened, and the library's own."""
    folder = tmp_path_factory.mktemp(request.param)
    theirs = save_sided(folder, request.param)
    return request.param, folder, open_reader(folder, "cpu"), theirs


def drawn(width: int = 50, height: int = 20) -> Image.Image:
    return Image.fromarray(np.random.default_rng(3).integers(0, 256, (height, width, 3), dtype=np.uint8))


def look(reader: Reader, picture: Image.Image) -> Trace:
    return reader.reading("drawn", picture).trace("")


def test_either_side_attends_as_in_the_library(sided: tuple[str, Path, Reader, Any]) -> None:
    kind, folder, reader, theirs = sided
    assert (sides_in(folder), reads_in(folder)) == (("picture", "text"), "picture")
    assert reader.offered.reads == ("picture", "text")
    assert not reader.offered.note
    trace = look(reader, drawn())
    given = SIDED[kind][1]()(drawn(), return_tensors="pt")
    texts = reader.speaking(reads="text")
    # Texts of CLIP are read as it was trained.
    assert ("without padding" in texts.offered.note) == (kind != "clip")
    read = texts.trace("A cat sat.")
    (site,) = read.sites
    with torch.inference_mode():
        eager = theirs.vision_model(**given, output_attentions=True).attentions
        words = theirs.text_model(torch.tensor([read.source_ids or read.target_ids]), output_attentions=True).attentions
    assert (len(eager), len(words)) == (3, 2)
    for layer, weights in enumerate(eager):
        rows = trace.source.grid.placed if trace.source.grid is not None and kind == "siglip2" else slice(None)
        torch.testing.assert_close(
            trace.weights("encoder.self", layer)[:, rows], weights[0][:, rows], atol=1e-5, rtol=0
        )
    for layer, weights in enumerate(words):
        torch.testing.assert_close(read.weights(site, layer), weights[0], atol=1e-5, rtol=0)


def test_a_side_is_chosen_as_a_language_is(sided: tuple[str, Path, Reader, Any]) -> None:
    _, _, reader, _ = sided
    texts = reader.speaking(reads="text")
    assert (reader.abilities.reads, texts.abilities.reads) == ("picture", "text")
    assert texts.speaking(reads="picture") is texts.speaking("text").speaking("picture") is reader
    assert len({reader.key, texts.key}) == 2
    given = reader.reading("drawn", drawn())
    assert given.speaking("picture") is given
    with pytest.raises(InputTextError, match="picture, text"):
        reader.speaking(reads="sound")


def test_every_position_has_its_rectangle_or_a_name(sided: tuple[str, Path, Reader, Any]) -> None:
    kind, _, reader, _ = sided
    trace = look(reader, drawn())
    rows, columns = SIDED[kind][2]
    before, after = {"clip": (["[CLS]"], []), "siglip": ([], []), "siglip2": ([], ["[PAD]"] * 2)}[kind]
    patches = [f"{row}·{column}" for row in range(1, rows + 1) for column in range(1, columns + 1)]
    assert list(trace.source_tokens) == [*before, *patches, *after]
    assert trace.special_tokens == {*before, *after}
    assert trace.source.grid is not None
    left, top = (trace.source.grid.rectangles[trace.source.grid.placed, side].view(rows, columns) for side in (0, 1))
    assert left[1].tolist() == [8 * column for column in range(columns)]
    assert top[:, 1].tolist() == [8 * row for row in range(rows)]
    # What is filled in is attended to by nobody.
    padding = [at for at, name in enumerate(trace.source_tokens) if name == "[PAD]"]
    assert not trace.weights("encoder.self", 2)[:, : rows * columns, padding].any()


def test_a_patch_that_is_painted_changes_its_own_position_alone(sided: tuple[str, Path, Reader, Any]) -> None:
    """Painted in the picture itself, before any processor: what is seen there is what the position is of."""
    _, _, reader, _ = sided
    size = (32, 24) if sided[0] == "siglip2" else (24, 24)
    plain, painted = Image.new("RGB", size, "grey"), Image.new("RGB", size, "grey")
    painted.paste("red", (16, 8, 24, 16))
    silent = [SwitchOff("encoder.self", layer, head) for layer in range(2) for head in range(2)]
    looks = [reader.reading("a", each).trace("", edits=silent) for each in (plain, painted)]
    queries = [trace.inputs["encoder.self"][2].query for trace in looks]  # type: ignore[union-attr]
    changed = (queries[1] - queries[0]).abs().amax((0, 2))
    source = looks[1].source
    assert source.grid is not None
    # Hidden, it is read as if it were not painted.
    hidden = reader.reading("a", PartlyHidden(painted, (16, 8, 24, 16), "grey")).trace("", edits=silent)
    torch.testing.assert_close(hidden.inputs["encoder.self"][2].query, queries[0])  # type: ignore[union-attr]
    left, top, right, bottom = source.grid.rectangles[int(changed.argmax())].tolist()
    assert source.grid.pixels[top:bottom, left:right].float().mean((0, 1)).tolist() == pytest.approx(
        [255, 0, 0], abs=40
    )


@pytest.mark.parametrize("model_type", ["yolos", "dinov3_vit", "beit"])
def test_special_tokens_are_named_by_what_they_are_learned_in(tmp_path: Path, model_type: str) -> None:
    more: dict[str, Any] = {"num_register_tokens": 3, "num_detection_tokens": 5, "use_relative_position_bias": True}
    size = 24 if model_type == "dinov3_vit" else [16, 24]
    config = transformers.AutoConfig.for_model(model_type, **(zoo.PATCHES | more | {"image_size": size}))
    torch.manual_seed(1)
    stir(transformers.AutoModel.from_config(config)).save_pretrained(tmp_path)
    transformers.ViTImageProcessorPil(size={"height": 16, "width": 24}).save_pretrained(tmp_path)
    reader = open_reader(tmp_path, "cpu")
    names = look(reader, drawn()).source_tokens
    before, after = {"yolos": (1, 5), "dinov3_vit": (4, 0), "beit": (1, 0)}[model_type]
    assert names[:before] == ("[CLS]", "[REG]", "[REG]", "[REG]")[:before]
    assert names[before + 6 :] == ("[DET]",) * after
    assert names[before : before + 6] == ("1·1", "1·2", "1·3", "2·1", "2·2", "2·3")
    assert (
        reader.abilities.positions == {"yolos": "learned", "dinov3_vit": "rotary", "beit": "relative bias"}[model_type]
    )


def test_a_picture_that_keeps_its_shape_has_as_many_patches_as_fit_and_its_edge_is_in_none(tmp_path: Path) -> None:
    config = transformers.AutoConfig.for_model("dinov3_vit", **(zoo.PATCHES | {"num_register_tokens": 3}))
    torch.manual_seed(1)
    stir(transformers.AutoModel.from_config(config)).save_pretrained(tmp_path)
    transformers.BitImageProcessorPil(size={"shortest_edge": 26}, do_center_crop=False).save_pretrained(tmp_path)
    reader = open_reader(tmp_path, "cpu")
    assert reader.abilities.max_length is None
    trace = look(reader, drawn())
    grid = trace.source.grid
    assert grid is not None
    assert (grid.rows, grid.columns, grid.first_patch) == (3, 8, 4)
    assert grid.pixels.shape == (26, 65, 3)
    assert grid.rectangles[-1].tolist() == [56, 16, 64, 24]
    assert len(trace.source_tokens) == trace.weights("encoder.self", 1).size(2) == 4 + 3 * 8


class Mixed(torch.nn.Module):
    """Positions of a picture of 3 × 4 patches, which are not told as they are read."""

    main_input_name = "pixel_values"

    def __init__(self, how: str) -> None:
        super().__init__()
        self.config = transformers.AutoConfig.for_model("vit", **zoo.PATCHES)
        self.read, self.how = torch.nn.Conv2d(3, 5, 8, 8), how

    def forward(self, pixel_values: torch.Tensor) -> torch.Tensor:
        rows = self.read(pixel_values)
        match self.how:
            case "columns first":
                rows = rows.mT
            case "upside down":
                rows = rows.flip(2)
            case "ends exchanged":
                rows = torch.cat([rows[..., -1:], rows[..., 1:-1], rows[..., :1]], dim=-1)
            case "blurred":
                rows = rows + rows.roll(1, -1)
            case "larger":
                rows = rows[..., ::2]
        return rows.flatten(2).mT


@pytest.mark.parametrize("how", ["in order", "columns first", "upside down", "ends exchanged", "blurred", "larger"])
def test_only_positions_that_are_patches_in_order_are_believed(how: str) -> None:
    model = Mixed(how)
    processor = transformers.ViTImageProcessorPil(size={"height": 24, "width": 32})

    def sight() -> Sight:
        return Sight.of(model, processor, embedded=lambda numbers: model(numbers["pixel_values"]))

    if how == "in order":
        seen, picture = sight(), probe_picture()
        assert seen.source("a", seen.numbers(picture), picture).tokens[-1] == "3·4"
    else:
        with pytest.raises(CheckpointError, match="patch by patch"):
            sight()


class Mirrored:
    """A processor of the library, which is given every picture mirrored."""

    def __init__(self, processor: Any) -> None:
        self.processor = processor

    def __getattr__(self, name: str) -> Any:
        return getattr(self.processor, name)

    def __call__(self, picture: Image.Image, **given: Any) -> Any:
        return self.processor(picture.transpose(Image.Transpose.FLIP_LEFT_RIGHT), **given)


def test_a_processor_that_mirrors_pictures_is_refused() -> None:
    model = Mixed("in order")
    processor = Mirrored(transformers.ViTImageProcessorPil(size={"height": 24, "width": 32}))
    with pytest.raises(CheckpointError, match="red spot"):
        Sight.of(model, processor, embedded=lambda numbers: model(numbers["pixel_values"]))
