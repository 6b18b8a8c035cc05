"""Pictures and labels: patches are tokens that lie in the picture; classifiers and taggers keep their head."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from PIL import Image

from model import Trace
from model.adapters.image_reader import ImageReader
from model.adapters.text_reader import LabelReader
from model.analysis.attribution.choice import TokenChoice
from model.analysis.attribution.methods import attribute, choice_run
from model.analysis.interventions.head_effects import measure_effects
from model.analysis.interventions.patching import patch_heads
from model.analysis.interventions.word_pairs import gift_pairs, own_pair
from model.errors import CheckpointError, InputTextError
from model.opening import open_reader
from model.sources import picture_file
from model.sources.source import Grid
from model.trace.file import load_trace, save_trace
from tests.model.adapters import zoo
from tests.model.adapters.zoo import CONFIGS, tiny

PIXELS = np.random.default_rng(0).integers(0, 256, (50, 70, 3), dtype=np.uint8)


def read_folder(folder: Path) -> ImageReader:
    reader = open_reader(folder)
    assert isinstance(reader, ImageReader)
    return reader


def grid_of(trace: Trace) -> Grid:
    assert trace.source.grid is not None
    return trace.source.grid


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("vit")
    tiny("vit").save_pretrained(root)
    size = {"height": 24, "width": 24}
    transformers.ViTImageProcessorPil(size=size).save_pretrained(root)
    return root


@pytest.fixture(scope="module")
def reader(root: Path) -> ImageReader:
    return read_folder(root)


@pytest.fixture(scope="module")
def trace(reader: ImageReader) -> Trace:
    return reader.trace_picture(PIXELS, extras={"hook_head_output"})


def test_weights_are_those_of_the_eager_model(reader: ImageReader, trace: Trace) -> None:
    model = tiny("vit")
    pixels = reader.sight.processor(Image.fromarray(PIXELS), return_tensors="pt")["pixel_values"]
    with torch.inference_mode():
        eager = model(pixel_values=pixels, output_attentions=True).attentions
    for layer in range(2):
        torch.testing.assert_close(trace.weights("encoder.self", layer), eager[layer][0], atol=1e-5, rtol=0)
        assert trace.head_output_deviation("encoder.self", layer) <= 1e-5


def test_the_picture_is_kept_as_the_model_saw_it(trace: Trace) -> None:
    seen = np.asarray(Image.fromarray(PIXELS).resize((24, 24), Image.Resampling.BILINEAR), dtype=int)
    pixels = grid_of(trace).pixels
    assert pixels.shape == (24, 24, 3)
    assert np.abs(pixels.numpy().astype(int) - seen).max() <= 1


def test_a_file_an_image_bytes_and_what_is_given_are_the_same_trace(
    reader: ImageReader, trace: Trace, tmp_path: Path
) -> None:
    Image.fromarray(PIXELS).save(tmp_path / "cat.png")
    bound, another = (reader.reading("cat", Image.fromarray(pixels)) for pixels in (PIXELS, PIXELS[::-1]))
    of_file, of_image = reader.trace(str(tmp_path / "cat.png")), reader.trace_picture(Image.fromarray(PIXELS))
    assert len({reader.key, bound.key, another.key}) == 3
    for other in (of_file, of_image, bound.trace("whatever the text")):
        assert torch.equal(other.weights("encoder.self", 1), trace.weights("encoder.self", 1))
    assert of_file.text == "cat.png"


def test_a_trace_with_a_picture_survives_its_file(trace: Trace, tmp_path: Path) -> None:
    save_trace(trace, tmp_path / "trace.npz")
    again = load_trace(tmp_path / "trace.npz")
    assert torch.equal(grid_of(again).pixels, grid_of(trace).pixels)
    assert grid_of(again).first_patch == 1
    assert torch.equal(again.weights("encoder.self", 1), trace.weights("encoder.self", 1))


@pytest.mark.parametrize("shape", [(4, 4), (4, 3), (4, 5, 4), (3, 4, 5), (1, 4, 4, 3), (0, 4, 3)])
def test_bytes_that_are_no_picture_are_refused(reader: ImageReader, shape: tuple[int, ...]) -> None:
    with pytest.raises(InputTextError, match="uint8"):
        reader.trace_picture(np.zeros(shape, dtype=np.uint8))


def test_what_is_no_picture_is_refused(reader: ImageReader, tmp_path: Path) -> None:
    (tmp_path / "x.png").write_bytes(b"<svg onload=alert(1)>")
    for text, words in (
        (str(tmp_path / "x.png"), "type SVG"),
        ("/nowhere.png", "no file"),
        ("", "not a picture|no file"),
    ):
        with pytest.raises(InputTextError, match=words):
            reader.trace(text)
    with pytest.raises(InputTextError, match="no decoder"):
        reader.trace("a.png", "a cat")
    with pytest.raises(InputTextError, match=r"65 × 8 pixels.*8 times"):
        reader.trace_picture(np.zeros((8, 65, 3), dtype=np.uint8))


def written(folder: Path, size: dict[str, int], model_type: str = "vit", **settings: object) -> Path:
    """A folder with a random model for pictures, and a processor that makes pictures of this size."""
    config = transformers.AutoConfig.for_model(model_type, **{**CONFIGS["vit"], **settings})
    transformers.AutoModel.from_config(config).save_pretrained(folder)
    transformers.ViTImageProcessorPil(size=size).save_pretrained(folder)
    return folder


@pytest.mark.parametrize(
    ("model_type", "size", "special"),
    [
        ("vit", (3, 3), ("[CLS]",)),
        ("ijepa", (2, 4), ()),
        ("deit", (4, 2), ("[CLS]", "[DIST]")),
        ("dinov2_with_registers", (2, 2), ("[CLS]", "[REG]", "[REG]", "[REG]")),
    ],
)
def test_pictures_need_not_be_square_and_other_tokens_may_come_first(
    tmp_path: Path, model_type: str, size: tuple[int, int], special: tuple[str, ...]
) -> None:
    rows, columns = size
    image_size = [8 * rows, 8 * columns] if rows != columns else 8 * rows
    settings: dict[str, object] = {"image_size": image_size, "num_register_tokens": 3}
    reader = read_folder(written(tmp_path, {"height": 8 * rows, "width": 8 * columns}, model_type, **settings))
    trace = reader.trace_picture(PIXELS)
    assert reader.abilities.max_length == len(special) + rows * columns
    patches = (f"{row}·{column}" for row in range(1, rows + 1) for column in range(1, columns + 1))
    assert trace.source_tokens == (*special, *patches)
    assert trace.special_tokens == set(special)
    grid = grid_of(trace)
    assert (grid.rows, grid.columns, grid.first_patch) == (rows, columns, len(special))


@pytest.mark.parametrize(
    ("size", "words"),
    [
        ({"height": 32, "width": 32}, "contradict each other"),
        ({"height": 24, "width": 100_000}, "width = 100000; 1 to 4,096 pixels"),
        ({"height": 0, "width": 24}, "height = 0; 1 to 4,096 pixels"),
    ],
)
def test_a_processor_that_makes_what_the_model_cannot_read_is_refused(
    tmp_path: Path, size: dict[str, int], words: str
) -> None:
    with pytest.raises(CheckpointError, match=words):
        open_reader(written(tmp_path, size))


def test_a_folder_without_an_image_processor_says_so(tmp_path: Path) -> None:
    tiny("vit").save_pretrained(tmp_path)
    with pytest.raises(CheckpointError, match="image processor"):
        open_reader(tmp_path)


A, B = "The animal was tired.", "The street was too wide."
NAMES = {0: "good", 1: "bad", 2: "neither"}
#: Kind → the library's class, the model beneath it, and its tokenizer.
MADE: dict[str, tuple[Any, str, str]] = {
    "text": (transformers.AutoModelForSequenceClassification, "bert", "wordpiece"),
    "decoder": (transformers.AutoModelForSequenceClassification, "gpt2", "bytes"),
    "token": (transformers.AutoModelForTokenClassification, "roberta", "wordpiece"),
    "answer": (transformers.AutoModelForQuestionAnswering, "bert", "wordpiece"),
}


@pytest.fixture(scope="module", params=MADE)
def opened(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, LabelReader, Any]:
    """The kind, what was opened, and the library's own model."""
    auto, model_type, tokenizer = MADE[request.param]
    folder: Path = tmp_path_factory.mktemp("labels") / request.param
    values = zoo.CONFIGS[model_type] | ({} if request.param == "answer" else {"id2label": NAMES})
    torch.manual_seed(3)
    theirs = auto.from_config(transformers.AutoConfig.for_model(model_type, **values)).eval()
    with torch.no_grad():
        for name, parameter in theirs.named_parameters():
            if parameter.dim() > 1 and "norm" not in name:
                parameter.normal_(std=0.3)
    theirs.save_pretrained(folder)
    zoo.save_tokenizer(folder, tokenizer)
    reader = open_reader(folder, "cpu")
    assert isinstance(reader, LabelReader)
    return request.param, reader, theirs


def _expected(kind: str, theirs: Any, ids: tuple[int, ...], row: int) -> torch.Tensor:
    with torch.inference_mode():
        output = theirs(torch.tensor([ids]))
    if kind == "answer":
        return output.start_logits[0]
    return output.logits[0, row] if kind == "token" else output.logits[0]


def test_labels_are_those_of_the_saved_head(opened: tuple[str, LabelReader, Any]) -> None:
    kind, reader, theirs = opened
    place = reader.place(A)
    ids = place.source or place.target
    assert ids == reader.source(A).ids
    expected = _expected(kind, theirs, ids, place.row)
    torch.testing.assert_close(reader.place_logits(place, copies=2)[1], expected, atol=1e-5, rtol=1e-5)
    if kind == "answer":
        assert reader.labels(A)[1] == "2: ▁the"
    else:
        assert reader.labels(A) == tuple(NAMES.values())
        choice = reader.word_choice(A, "bad", "good")
        odds = reader.log_odds([choice])[0, 0]
        torch.testing.assert_close(odds, expected[1] - expected[0], atol=1e-5, rtol=1e-5)
    # It is offered nothing that it was never trained for.
    assert not reader.abilities.generates
    assert gift_pairs(reader) == {}


@pytest.mark.parametrize("opened", ["token"], indirect=True)
def test_a_tagger_is_asked_about_the_word_in_brackets(opened: tuple[str, LabelReader, Any]) -> None:
    _, reader, _ = opened
    place, marked = reader.place(A), reader.place("The [animal] was tired.")
    assert marked.source == place.source
    tokens = reader.source(A).tokens
    assert "▁animal".startswith(tokens[marked.row])
    assert tokens[place.row] == "."
    # A word may begin where another piece ends.
    begin, row = reader.place("The street[.]"), reader.place("The [street].").row
    assert reader.source("The street.").tokens[begin.row] == "."
    assert begin.row > row


def test_attribution_heads_off_and_patching_ask_for_a_label(opened: tuple[str, LabelReader, Any]) -> None:
    kind, reader, theirs = opened
    label = 2
    pair = own_pair(reader, A, B, (label,)).pair
    assert pair.a.right == label != pair.a.wrong
    choice = TokenChoice(pair.a.place, pair.a.right, pair.a.wrong)
    run = choice_run(reader, choice)
    integrated = attribute(run, "integrated")
    assert integrated.integration is not None
    # What is given to all words adds up to what the choice changes by, from nothing read to the text.
    ids = choice.read
    expected = _expected(kind, theirs, ids, pair.a.place.row)
    odds = float(expected[label] - expected[pair.a.wrong])
    base = float(run.of_embeddings(*(torch.zeros_like(each) for each in run.embeddings()))[0].detach())
    assert float(integrated.read.sum()) == pytest.approx(odds - base, abs=0.05 * max(1.0, abs(odds - base)))
    assert attribute(run, "gradient").read.shape == (len(ids),)
    effects = measure_effects(reader, [pair.a])
    assert effects.changes.shape == (1, 8)
    assert float(effects.changes.abs().max()) > 1e-3
    patched = patch_heads(reader, [pair]).changes
    assert patched.shape == (1, 8)
    assert float(patched.abs().max()) > 1e-3


@pytest.mark.parametrize("colour", ["grey", "mean"])
def test_a_part_that_is_hidden_is_read_as_if_it_were_painted_over(reader: ImageReader, colour: str) -> None:
    picture = Image.fromarray(PIXELS[:24, :24])
    painted = picture.copy()
    mean = tuple(np.asarray(picture).mean((0, 1)).round().astype(int).tolist())
    painted.paste((128, 128, 128) if colour == "grey" else mean, (8, 0, 24, 16))
    hidden = picture_file.PartlyHidden(picture, (8, 0, 24, 16), "grey" if colour == "grey" else "mean")
    named, expected = reader.reading("a.png", hidden), reader.trace_picture(painted)
    for layer in range(2):
        weights = named.trace("").weights("encoder.self", layer)
        torch.testing.assert_close(weights, expected.weights("encoder.self", layer), atol=1e-6, rtol=0)
    assert named.key != reader.reading("a.png", picture).key


def test_a_file_may_be_as_large_as_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Image.fromarray(PIXELS).save(tmp_path / "cat.png")
    size = (tmp_path / "cat.png").stat().st_size
    with (tmp_path / "huge.png").open("wb") as file:
        file.truncate((64 << 20) + 1)
    with pytest.raises(InputTextError, match="larger than 64 MB"):
        picture_file.open_picture(tmp_path / "huge.png")
    monkeypatch.setattr(picture_file, "LARGEST_FILE", size)
    assert picture_file.open_picture(tmp_path / "cat.png").size == (70, 50)
    monkeypatch.setattr(picture_file, "LARGEST_FILE", size - 1)
    with pytest.raises(InputTextError, match="larger than"):
        picture_file.open_picture(tmp_path / "cat.png")
