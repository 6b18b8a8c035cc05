"""The report of an atlas: what it says, and that nothing of a corpus becomes HTML."""

import re
import shlex
from dataclasses import replace

from model.__main__ import build_parser
from model.analysis.atlas.measure import Atlas
from model.analysis.corpus import Origin
from model.analysis.data_files import Columns
from viz.pages.atlas.report import report


def test_a_report_says_what_was_read_and_the_command_that_reads_it_again(atlas: Atlas) -> None:
    origin = Origin("my <b>texts</b>.csv", 9_000, Columns("said", ""), sample=6, seed=0)
    page = report(replace(atlas, origin=origin), "my model")
    assert "my &lt;b&gt;texts&lt;/b&gt;.csv" in page
    assert "6 of 9,000 rows, drawn with seed 0" in page
    assert "<b>" not in page
    (command,) = re.findall(r"<pre><code>(.*)</code></pre>", page)
    words = shlex.split(command.replace("&lt;", "<").replace("&gt;", ">").replace("&#39;", "'"))
    read = build_parser().parse_args(words[3:])
    given = str(read.text), read.column, read.sample, read.seed, str(read.checkpoint)
    assert given == (origin.name, "said", 6, 0, "my model")


def test_its_numbers_are_those_of_the_atlas_with_their_intervals(atlas: Atlas) -> None:
    page = report(atlas, "m")
    values, ends = atlas.metrics["confidence"][0], atlas.intervals["confidence"][0]
    best = int(values.argmax())
    layer, head = divmod(best, values.shape[1])
    low, high = ends[layer, head]
    assert f"L{layer + 1} H{head + 1} {values.flat[best]:.2f} ({low:.2f} – {high:.2f})" in page
    assert f"{atlas.rows['confidence'][0]:,}" in page


def test_heads_that_rest_are_folded_away_and_all_others_are_not(atlas: Atlas) -> None:
    page = report(atlas, "m")
    folded = "".join(re.findall(r"<details>(.*?)</details>", page, re.DOTALL))
    table = re.compile(r'<th scope="row"[^>]*>(L\d H\d)</th><td[^>]*>([^<]*)</td>')
    resting, working = table.findall(folded), table.findall(page.replace(folded, ""))
    assert {job for _head, job in resting} <= {"first token", "last token", "punctuation"}
    assert not {job for _head, job in working} & {"first token", "last token", "punctuation"}
    assert resting
    assert working


def test_a_sentence_that_is_cut_says_so(atlas: Atlas) -> None:
    long = tuple(f"{text} {'word ' * 40}" for text in atlas.texts)
    quoted = re.findall(r"<td[^>]*>([^<]*word w[^<]*)</td>", report(replace(atlas, texts=long), "m"))
    assert quoted
    assert all(cell.endswith("…") and len(cell) < 140 for cell in quoted)
