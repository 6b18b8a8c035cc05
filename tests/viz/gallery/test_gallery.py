"""The gallery: pages that lead to each other, share their scripts, and hold what the traces hold."""

import base64
import json
import re
import zlib
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.viz.sent import unpack
from viz.gallery import contents, site
from viz.gallery.__main__ import main
from viz.gallery.contents import Exhibit
from viz.text.messages import speaking

TEXT = "Tom told me. </script><!-- \u2028 <b>"


@pytest.fixture(scope="module")
def exhibits(tiny_checkpoints: Path) -> list[Exhibit]:
    return contents.own(tiny_checkpoints / "en-de", [TEXT, "A cat."])


@pytest.fixture(scope="module")
def folder(exhibits: list[Exhibit], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("gallery")
    site.write(out, exhibits, has_story=False)
    return out


def pictures(data: Path) -> list[tuple[dict[str, Any], list[bytes]]]:
    """Of a file of data: the plan and the payloads of each picture."""
    (listed,) = re.findall(r"pictures\.push\(\.\.\.(\[.*\])\);\n$", data.read_text(encoding="utf-8"))
    found = []
    for picture in json.loads(listed):
        packed, start, parts = zlib.decompress(base64.b64decode(picture["data"])), 0, []
        for size in picture["sizes"]:
            parts.append(packed[start : start + size])
            start += size
        found.append((json.loads(parts[0]), parts[1:]))
    return found


def test_every_address_of_every_page_is_a_file_of_the_site(folder: Path) -> None:
    pages = sorted(folder.glob("*.html"))
    assert len(pages) == 6
    for page in pages:
        addresses = re.findall(r'(?:src|href)="([^"#]+)"', page.read_text(encoding="utf-8"))
        assert len(addresses) > 4
        assert all((folder / address).is_file() for address in addresses)
    components = (
        "tile_keeper",
        "head_grid",
        "matrix_picture",
        "head_lines",
        "headline",
        "word_picker",
        "decode_player",
    )
    assert {file.stem for file in folder.glob("scripts/*")} == {*components, "draw"}


def test_only_the_sites_own_scripts_run_and_nothing_is_fetched(folder: Path) -> None:
    for page in (*folder.glob("index*.html"), *folder.glob("01-*.html")):
        text = page.read_text(encoding="utf-8")
        (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
        assert policy == (
            "default-src &#x27;none&#x27;; script-src &#x27;self&#x27; blob:; style-src &#x27;unsafe-inline&#x27;; "
            "img-src data: blob:"
        )
        assert text.count("<script") == text.count('<script src="') == text.count("</script>")
        assert "<b> " not in text
        assert "Tom told me. &lt;/script&gt;&lt;!--" in text
    assert not any("\u2028" in data.read_text(encoding="utf-8") for data in folder.glob("data/*"))


def test_a_page_holds_every_head_of_every_site_as_heatmap_and_as_lines(folder: Path, exhibits: list[Exhibit]) -> None:
    trace = exhibits[0].trace
    assert trace is not None
    (data,) = (path for path in folder.glob("data/01-*.js") if ".zh" not in path.name)
    words, *others = pictures(data)
    assert [line["words"] for line in unpack(words[1][0])[0]["lines"]][1] == trace.translation.split()
    of_sites = [picture for picture in others if len(picture[0]["parts"]) == 4]
    assert {str(plan["alt"]).partition(":")[0] for plan, _ in of_sites} == {
        "Encoder self-attention", "Decoder self-attention", "Decoder cross-attention",
    }  # fmt: skip
    for plan, payloads in of_sites:
        site_ = {"Enc": "encoder.self", "Decoder s": "decoder.self", "Decoder c": "decoder.cross"}
        path = next(path for name, path in site_.items() if str(plan["alt"]).startswith(name))
        counts = [int(str(part["count"])) for part in plan["parts"]]
        assert counts == [1, 1, 9, 9]
        heatmaps, lines = payloads[3:11], payloads[12:]
        for number, (heatmap, drawn) in enumerate(zip(heatmaps, lines, strict=True)):
            layer, head = divmod(number, 4)
            expected = trace.weights(path, layer).numpy()
            np.testing.assert_array_equal(unpack(heatmap)[1][0], expected[head].ravel())
            header, (shares,) = unpack(drawn)
            assert header["command"]["heads"] == [head]
            np.testing.assert_allclose((shares / 65535.0) ** 2, expected.ravel(), atol=1e-4)
        numbers = [unpack(drawn)[0]["command"]["number"] for drawn in payloads[11:]]
        assert len(set(numbers)) == len(numbers)
    (film,) = (payloads for plan, payloads in others if len(plan["parts"]) == 1)
    assert len(unpack(film[0])[0]["steps"]) == len(trace.steps)


def test_both_languages_say_the_same_with_their_own_words(folder: Path) -> None:
    texts = {page.name: page.read_text(encoding="utf-8") for page in folder.glob("*.html")}
    assert 'lang="zh"' in texts["index.zh.html"]
    assert "看清每一个注意力头在做什么" in texts["index.zh.html"]
    assert {name.replace(".zh", "") for name in texts} == {name for name in texts if ".zh" not in name}


def test_what_ships_begins_with_the_story_and_breaks_its_head() -> None:
    tired, wide, broken = islice(contents.shipped(), 3)
    assert [exhibit.written.count(word) for exhibit, word in ((tired, " es "), (wide, " sie "), (broken, " sie "))] == [
        1, 1, 1,
    ]  # fmt: skip
    assert tired.found is not None
    assert broken.trace is not None
    off = broken.trace.weights(tired.found.site, tired.found.layer)[tired.found.head]
    assert not off.any()


def test_the_first_page_of_what_ships_is_small(tmp_path: Path) -> None:
    site.write(tmp_path, list(islice(contents.shipped(), 2)), has_story=True)
    for name in ("index.html", "index.zh.html"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        files = [tmp_path / name, *(tmp_path / address for address in re.findall(r'src="([^"]+)"', text))]
        assert sum(file.stat().st_size for file in files) < 200_000
    assert "the line in the sentence shows it" in (tmp_path / "index.html").read_text(encoding="utf-8")


def test_one_chooses_texts_and_models(tiny_checkpoints: Path) -> None:
    model = tiny_checkpoints / "en-de"
    examples = contents.own(model)
    assert [exhibit.text.partition(" ")[0] for exhibit in examples] == ["The", "The"]
    assert examples[0].label == "en-de"
    with speaking("zh"):
        assert examples[0].label == "en-de"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--text", " "], "The sentence is empty"),
        (["--model", "nowhere"], "The folder nowhere does not exist"),
        (["--out", __file__], "is not a folder"),
    ],
)
def test_what_is_wrong_is_a_line_and_exit_code_2(
    arguments: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--out", str(tmp_path), *arguments]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("python -m viz.gallery: ")
    assert said in line
