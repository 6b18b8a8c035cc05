"""The gallery: pages that lead to each other, share their scripts, and hold what the traces hold."""

import base64
import io
import json
import re
import zlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fontTools.ttLib import TTFont

from model.analysis.reasons.cell import telling_cell
from model.analysis.reasons.score import explain
from model.analysis.reasons.trail import asked_at, follow_trail, leading
from model.analysis.reasons.twins import trace_twin
from model.analysis.reasons.without import outcomes
from model.opening import as_chooser, open_reader
from tests.model.adapters import speech_zoo
from tests.paths import ROOT
from tests.viz.sent import unpack
from viz.access import attention, blocks
from viz.access.attention import MatrixView
from viz.access.findings import Finding
from viz.gallery import contents, drawings, reasons, site
from viz.gallery.__main__ import main
from viz.gallery.contents import Exhibit
from viz.pages.learn.transformer.walk_file import MOST_TOKENS
from viz.selection.examples import EXAMPLES
from viz.selection.selection import Selection
from viz.text import written

TEXT = "Tom told me. </script><!-- \u2028 <b>"


@pytest.fixture(scope="module")
def exhibits(tiny_checkpoints: Path) -> list[Exhibit]:
    return contents.own(tiny_checkpoints / "en-de", [TEXT, "A cat."])


@pytest.fixture(scope="module")
def folder(exhibits: list[Exhibit], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("gallery")
    assert site.write(out, exhibits, has_story=False) == len(list(out.rglob("*.html")))
    return out


def left(data: Path) -> Any:
    """What a file of data leaves."""
    (value,) = re.findall(r" = (.*);\n$", data.read_text(encoding="utf-8"))
    return json.loads(re.sub(r"^\{ \.\.\.\{(.*)\}, data: (.*) \}$", r'{\1, "data": \2}', value))


def pieces(text: str) -> Iterator[bytes]:
    """The pieces in a file, of its text."""
    packed, start = zlib.decompress(base64.b85decode(text)), 0
    while start < len(packed):
        end = start + 4 + int.from_bytes(packed[start : start + 4], "little")
        yield packed[start + 4 : end]
        start = end


def pictures(own: Path) -> list[tuple[dict[str, Any], list[bytes]]]:
    """Of a language's file of data: the plan and the payloads of each picture."""
    known = left(own)
    streams = [pieces(known["data"]), *(pieces(left(own.with_name(f"{name}.js"))) for name in known["shared"])]
    found = []
    for picture in known["plan"]:
        plan, *payloads = (b"".join(next(streams[int(place)]) for place in places) for places in picture)
        found.append((json.loads(plan), payloads))
    assert [next(stream, None) for stream in streams] == [None] * len(streams)
    return found


def test_every_address_of_every_page_is_a_file_of_the_site(folder: Path) -> None:
    pages = sorted(folder.glob("*.html"))
    assert len(pages) == 6
    for page in pages:
        text = page.read_text(encoding="utf-8")
        addresses = re.findall(r'(?:src|href)="([^"#]+)"', text)
        addresses += [each for listed in re.findall(r'data-scripts="([^"]+)"', text) for each in listed.split()]
        assert len(addresses) > 4
        assert all((folder / address).is_file() for address in addresses)
    components = (
        "tile_keeper", "head_grid", "matrix_picture", "head_lines", "headline", "word_picker", "decode_player", "why",
        "trail_picture",
    )  # fmt: skip
    assert {file.stem for file in folder.glob("scripts/*")} == {*components, "walk", "draw", "typefaces"}


def test_typefaces_have_the_signs_of_a_page_a_name_of_ours_and_their_notice(folder: Path) -> None:
    sheet = (folder / "scripts" / "typefaces.css").read_text(encoding="utf-8")
    faces = [TTFont(io.BytesIO(base64.b64decode(each))) for each in re.findall(r"base64,([^)]+)\)", sheet)]
    assert [str(face["name"].getDebugName(1)) for face in faces] == ["Headlight Sans", "Headlight Serif"]
    for face in faces:
        assert {ord(sign) for sign in "aßžșяếΩ“–→√≈"} <= face.getBestCmap().keys()
        names = {name.nameID: name.toUnicode() for name in face["name"].names}
        assert "SIL Open Font License" in names.pop(13)
        assert "Adobe" in names.pop(0)
        # The name is reserved by who drew it.
        assert "Source" not in "".join(names.values())


def test_a_page_leads_to_the_one_before_the_one_after_and_itself_in_the_other_language(folder: Path) -> None:
    first, second = (next(folder.glob(f"0{number}-*[!h].html")).name for number in (1, 2))
    for name, previous, following in ((first, [], [second]), (second, [first], [])):
        text = (folder / name).read_text(encoding="utf-8")
        assert re.findall(r'href="([^"]+)" aria-label="Previous"', text) == previous
        assert re.findall(r'href="([^"]+)" aria-label="Next"', text) == following
        assert re.findall(r'<a lang="(\w+)" href="([^"]+)"', text) == [("zh", name.replace(".html", ".zh.html"))]


def test_rows_of_the_start_page_stand_for_what_they_write_and_two_texts_are_pointed_at_apart(
    exhibits: list[Exhibit],
) -> None:
    sides = set()
    for exhibit in exhibits:
        assert exhibit.trace is not None
        assert exhibit.choice is not None
        found = Finding("decoder.cross", 1, 1)
        _tiles, _words, payload = drawings.words_as_lines(exhibit.trace, exhibit.choice, found).payloads()
        focus = unpack(payload)[0]["focus"]
        assert focus["rows"]["ahead"] == 1
        sides.add(focus["columns"]["side"])
    assert len(sides) == 2


def test_a_card_draws_each_token_once_evenly_within_its_picture(folder: Path, exhibits: list[Exhibit]) -> None:
    page = (folder / "index.html").read_text(encoding="utf-8")
    cards = re.findall(r'<svg viewBox="0 0 (\d+) \d+" aria-hidden="true">(.*?)</svg>', page)
    assert len(cards) >= len(exhibits)
    assert page.count("<figure>") == 1
    for (width, drawn), exhibit in zip(cards, exhibits, strict=False):
        dots = [(int(x), y) for x, y in re.findall(r'<circle cx="(\d+)" cy="(\d+)"', drawn)]
        for y, count in zip(sorted({y for _, y in dots}, key=int), reversed(exhibit.weights.shape), strict=True):
            places = [x for x, at in dots if at == y]
            assert len(places) == count
            # The middle of the row is the middle of the picture.
            assert sum(places) / count == pytest.approx(int(width) / 2, abs=1)


def test_what_is_found_is_open_and_its_attention_comes_first_with_the_film(exhibits: list[Exhibit]) -> None:
    for exhibit in exhibits:
        assert exhibit.trace is not None
        assert exhibit.found is not None
        found, own = exhibit.found, written.label(exhibit.found.site)
        others = [written.label(site_) for site_ in exhibit.trace.sites if site_ != found.site]
        assert [section.heading for section in exhibit.sections()] == ["", own, "Film", "Why", *others]


@pytest.mark.long
def test_a_sound_can_be_played_and_its_frames_are_taken_together(tmp_path: Path) -> None:
    folder = speech_zoo.save_whisper(tmp_path / "whisper", seconds=5)
    (exhibit,) = contents.own(folder, ["not read", "nor this"])
    assert exhibit.trace is not None
    assert exhibit.found is not None
    trace, found = exhibit.trace, exhibit.found
    site.write(tmp_path / "site", [exhibit], has_story=False)
    (own,) = (tmp_path / "site" / "data").glob("01-*-picture.en.js")
    sound, tiles, film, why, *_ = pictures(own)
    header, (samples, _spectrogram, over_time, _after, *_) = unpack(sound[1][0])
    assert trace.source.waveform is not None
    np.testing.assert_array_equal(samples, trace.source.waveform.samples.numpy())
    assert found.cell is not None
    # Special tokens have no rows, and a row of a word is the mean of its tokens'.
    rows, _columns = attention.shown_axes(trace, "decoder.cross", MatrixView.of(Selection().common))
    held = trace.weights("decoder.cross", found.layer, [found.head])[0][:, : trace.source.waveform.frames]
    frames = np.stack([held[list(group)].mean(0) for group in rows.groups])
    np.testing.assert_allclose(over_time.reshape(frames.shape), frames, atol=1e-6)
    assert found.cell.row in rows.groups[header["kept"]]
    pooled = blocks.weights_of(trace, "encoder.self")
    np.testing.assert_allclose(pooled.sum(-1), 1, atol=1e-5)
    assert pooled.shape[2] == pooled.shape[3] < len(trace.source_tokens)
    assert all(payloads for _plan, payloads in (tiles, film, why))


def test_of_a_large_attention_only_the_open_head_is_kept(
    exhibits: list[Exhibit], monkeypatch: pytest.MonkeyPatch
) -> None:
    trace = exhibits[1].trace
    assert trace is not None
    all_bytes = sum(trace.weights("encoder.self", layer).numpy().nbytes for layer in range(2))
    for most, kept in ((all_bytes, 8), (all_bytes - 1, 0)):
        monkeypatch.setattr(drawings, "MOST_BYTES", most)
        assert len(drawings.heads_of(trace, "encoder.self", (1, 2)).parts[-1].choices) == kept


@pytest.mark.parametrize(("text", "length"), [("abc", MOST_TOKENS), (40 * "a", 48)])
def test_a_decoder_writes_as_much_as_a_walk_holds_or_a_few_tokens_more(text: str, length: int) -> None:
    (exhibit,) = contents.own(ROOT / "checkpoints" / "induction", [text])
    assert exhibit.trace is not None
    # The last that is written is not read.
    assert len(exhibit.trace.target_tokens) == length - 1


def test_only_the_sites_own_scripts_run_and_nothing_is_fetched(folder: Path) -> None:
    for page in (*folder.glob("index*.html"), *folder.glob("01-*.html")):
        text = page.read_text(encoding="utf-8")
        (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
        assert policy == (
            "default-src &#39;none&#39;; script-src &#39;self&#39; blob:; "
            "style-src &#39;self&#39; &#39;unsafe-inline&#39;; img-src data: blob:; font-src data:"
        )
        assert text.count("<script") == text.count('<script src="') == text.count("</script>")
        assert "<b> " not in text
        assert "Tom told me. &lt;/script&gt;&lt;!--" in text
    assert not any("\u2028" in data.read_text(encoding="utf-8") for data in folder.glob("data/*"))


def test_a_page_holds_every_head_of_every_site_as_heatmap_and_as_lines(folder: Path, exhibits: list[Exhibit]) -> None:
    trace = exhibits[0].trace
    assert trace is not None
    (data,) = folder.glob("data/01-*-picture.en.js")
    words, *others = pictures(data)
    assert [line["words"] for line in unpack(words[1][0])[0]["lines"]][1] == trace.translation.split()
    assert [line["language"] for line in unpack(words[1][0])[0]["lines"]] == ["en", "de"]
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
    (film,) = (payloads for plan, payloads in others if plan["parts"][0]["element"] == "decode-player")
    assert len(unpack(film[0])[0]["steps"]) == len(trace.steps)


def test_whatever_a_kept_answer_asks_is_kept_and_answers_as_the_model_does(tiny_checkpoints: Path) -> None:
    example = EXAMPLES[0]
    (exhibit,) = contents.own(tiny_checkpoints / "en-de", [example.text])
    assert exhibit.trace is not None
    (drawing,) = (section.drawing for section in exhibit.sections() if section.heading == "Why")
    part, picture = drawing.parts
    reader = open_reader(tiny_checkpoints / "en-de")
    twin = trace_twin(reader, exhibit.trace, example.twin)
    question = telling_cell(exhibit.trace, twin)
    assert question is not None
    reason = explain(reader.parts, exhibit.trace, question, twin)
    names, asked, twins = ("", *part.answers), set(), set[str]()
    steps = [".".join(level.trail) for level in leading(reason).levels]
    for name, packed in zip(names, (part.payload, *part.choices), strict=True):
        page, _ = unpack(packed)
        answer = follow_trail(reason, tuple(filter(None, name.split("."))))
        assert ".".join(answer.codes) == name
        total = answer.levels[-1].total if name not in ("", "q", "k") else reason.total
        assert page["total"] == pytest.approx(total, rel=1e-4, abs=1e-6)
        rows = [row for group in page["groups"] for top in group["rows"] for row in (top, *top["heads"])]
        asked |= {each["trail"] for each in (*rows, *(tint for row in rows for tint in row["tints"]))}
        assert {crumb["trail"] for crumb in page["crumbs"]} <= {*names}
        assert page["rivals"] == []
        # Beside every share stands what is left without it, or a sentence says why not: of a rest and of the twin too.
        rests = [group["rest"] for group in page["groups"] if group["rest"]]
        bars = [*rows, *rests]
        numbered = {codes for codes, test in page["tests"].items() if test["refused"] or test["product"] is not None}
        if name in steps:
            assert {bar["test"] for bar in bars if not bar["refused"]} <= numbered
            assert {tint["test"] for bar in bars for tint in bar["tints"]} <= numbered
            tints = (tint for bar in bars for tint in bar["tints"])
            twins |= {tint["test"] for tint in tints if 2 * tint["line"] >= len(page["lines"])}
        # Along what gives most, what a run gives without a step stands beside its share.
        own = {each["test"] for each in (*rows, *(tint for row in rows for tint in row["tints"]))} & {*steps} - {""}
        tested = {codes for codes in own if name in steps and not page["tests"][codes]["refused"]}
        assert {codes for codes, test in page["tests"].items() if test["run"]} == tested
        for codes in tested:
            (one,) = outcomes(as_chooser(reader), reason, [asked_at(answer, codes.rpartition(".")[2])])
            assert page["tests"][codes]["run"]["score"] == pytest.approx(one.by_run.score, rel=1e-3, abs=1e-4)
    # The picture of each trail asks for nothing else, and shows which steps were tested.
    assert picture.answers == part.answers
    for packed in (picture.payload, *picture.choices):
        drawn, _ = unpack(packed)
        trails = [(each["trail"], each["tested"]) for step in drawn["steps"] for each in (step, *step["others"])]
        assert {trail for trail, _tested in trails} <= {*names, None, "q", "k"}
        assert all(tested for trail, tested in trails if trail in {*steps} - {""})
    # The side that is followed anyway is the question itself.
    assert asked - {*names} <= {"q", "k"} - {*part.answers}
    assert twins
    # What gives most is kept to its end.
    assert leading(reason).codes in {tuple(name.split(".")) for name in names}
    assert len(names) == reasons.ANSWERS


def test_a_page_says_why_a_score_cannot_be_split(earlier_checkpoints: Path) -> None:
    for name, told in (("recurrent", "not products of queries and keys"), ("convolutional", "the residual stream")):
        (exhibit,) = contents.own(earlier_checkpoints / name, ["Tom told me."])
        (why,) = (section for section in exhibit.sections() if section.heading == "Why")
        assert not why.drawing.parts
        assert told in why.notes[0]


def test_the_walk_of_a_trace_holds_its_numbers_once_and_its_words_in_each_language(
    folder: Path, exhibits: list[Exhibit]
) -> None:
    trace = exhibits[1].trace
    assert trace is not None
    (english,), (chinese,) = (folder.glob(f"data/02-*-walk.{code}.js") for code in ("en", "zh"))
    told = []
    for own in (english, chinese):
        ((_plan, (payload,)),) = pictures(own)
        header, (numbers, shared, _strips, exact, _projections, words) = unpack(payload)
        texts = json.loads(zlib.decompress(words.tobytes()))
        story = spoken(json.loads(zlib.decompress(shared.tobytes())), texts)
        told.append((header, story))
        queries = np.ascontiguousarray(np.frombuffer(zlib.decompress(exact.tobytes()), np.uint8).reshape(4, -1).T).view(
            "<f4"
        )
        query = trace.attention("encoder.self", 0).query.numpy().ravel()
        np.testing.assert_allclose(queries.ravel()[: query.size], query, rtol=2**-11)
        weights = np.frombuffer(zlib.decompress(numbers.tobytes()), "<f4")
        expected = trace.weights("encoder.self", 0).numpy().ravel()
        np.testing.assert_allclose(weights[: expected.size], expected, rtol=2**-11)
    (header, story), (_, other) = told
    assert header["sites"][0]["site"] == "encoder.self"
    assert story["paths"]["encoder"][0]["stages"][:2] == ["Input", "Layer 1"]
    assert other["paths"]["encoder"][0]["stages"][:2] == ["输入", "第 1 层"]
    assert "up to 24 tokens" in next(folder.glob("01-*.html")).read_text(encoding="utf-8")
    (shared_file,) = folder.glob("data/02-*-walk.js")
    assert shared_file.stat().st_size > 4 * english.stat().st_size


def spoken(value: Any, texts: list[str]) -> Any:
    """A story with its words in place."""
    if isinstance(value, dict):
        return {key: spoken(each, texts) for key, each in value.items()}
    if isinstance(value, list):
        return [spoken(each, texts) for each in value]
    if not isinstance(value, str):
        return value
    place, *numbers = value.split(" ")
    text = texts[int(place)]
    for at, number in enumerate(numbers):
        text = text.replace(chr(0xE000 + at), number)
    return text


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
    for exhibit, pronoun, noun in ((tired, "es", "animal"), (wide, "sie", "street")):
        words, _heads, film = islice(exhibit.sections(), 3)
        line, step = (unpack(section.drawing.parts[0].payload)[0] for section in (words, film))
        (looking,), (looked_at,) = line["chosen"]
        shown = [word for each in line["lines"] for word in each["words"]]
        # The line in the sentence leads from the pronoun to its noun, and the film is on the step that writes it.
        assert (shown[looking], shown[looked_at]) == (pronoun, noun)
        assert step["steps"][step["command"]["step"]]["token"] == f"▁{shown[looking]}"
    assert tired.found is not None
    assert broken.trace is not None
    off = broken.trace.weights(tired.found.site, tired.found.layer)[tired.found.head]
    assert not off.any()


@pytest.mark.long
def test_the_first_page_of_what_ships_is_small(tmp_path: Path) -> None:
    site.write(tmp_path, list(islice(contents.shipped(), 2)), has_story=True)
    for name in ("index.html", "index.zh.html"):
        text = (tmp_path / name).read_text(encoding="utf-8")
        needed = re.findall(r'(?:src|stylesheet" href)="([^"]+)"', text)
        files = [tmp_path / name, *(tmp_path / address for address in needed)]
        assert sum(file.stat().st_size for file in files) < 300_000
    assert "the line in the sentence shows it" in (tmp_path / "index.html").read_text(encoding="utf-8")


def test_the_report_of_an_atlas_names_its_model_which_is_said_or_has_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shipped = ROOT / "checkpoints" / "en-de"
    apart = tmp_path / "apart.npz"
    apart.write_bytes((shipped / "atlas.npz").read_bytes())
    for file, named in ((shipped / "atlas.npz", ()), (apart, ("--model", "/models/own"))):
        assert main(["--out", str(tmp_path / "site"), "--atlas", str(file), *named]) == 0
    pages = [(tmp_path / "site" / name).read_text(encoding="utf-8") for name in ("atlas.html", "apart.html")]
    assert [f"--checkpoint {model} " in page for page, model in zip(pages, (shipped, "/models/own"), strict=True)] == [
        True, True,
    ]  # fmt: skip
    capsys.readouterr()
    assert main(["--out", str(tmp_path / "site"), "--atlas", str(apart)]) == 2
    assert "with --model FOLDER" in capsys.readouterr().err


@pytest.mark.parametrize("part", ["data", "scripts", "docs", "docs/notebooks"])
def test_nothing_is_written_through_a_link_in_the_folder_of_a_site(
    part: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "named").mkdir()
    (tmp_path / "site").symlink_to("named")
    (tmp_path / "site" / part).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "site" / part).symlink_to(tmp_path / "elsewhere")
    assert main(["--out", str(tmp_path / "site"), "--text", "Tom."]) == 2
    assert "leads through a link inside" in capsys.readouterr().err
    assert not list((tmp_path / "elsewhere").iterdir())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--out", "-"], "cannot be a folder"),
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
