"""The documents of a site: Markdown that cannot carry HTML, links that lead somewhere, and what code says of itself."""

import re
from html import unescape
from pathlib import Path

import pytest

import model
from viz import notebook
from viz.gallery import docs
from viz.text import glossary


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    site = tmp_path_factory.mktemp("site")
    (site / "scripts").mkdir()
    for name in ("index.html", "scripts/typefaces.css"):
        (site / name).write_text("", encoding="utf-8")
    assert docs.write(site) == len(list((site / "docs").glob("*.html")))
    return site / "docs"


def text_of(page: Path) -> str:
    """What a person reads."""
    return unescape(re.sub(r"<[^>]*>", "", page.read_text(encoding="utf-8").partition("<body>")[2]))


def test_every_link_leads_to_a_file_of_the_site_and_to_a_heading_of_it(folder: Path) -> None:
    pages = {page: page.read_text(encoding="utf-8") for page in folder.glob("*.html")}
    for page, text in pages.items():
        links = re.findall(r'href="([^"]+)"', text)
        assert len(links) > 10
        # Every document is named by its title.
        assert '<a href="numbers.html">How each number is computed</a>' in text
        for link in links:
            name, _, anchor = link.partition("#")
            target = (folder / name).resolve() if name else page
            assert target.is_file(), (page.name, link)
            assert not anchor or f'id="{anchor}"' in pages[target], (page.name, link)


def test_no_script_runs_and_nothing_is_fetched(folder: Path) -> None:
    for page in folder.glob("*.html"):
        text = page.read_text(encoding="utf-8")
        (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
        assert "default-src &#39;none&#39;; script-src ;" in policy
        assert "<script" not in text
        assert re.findall(r'src=|rel="stylesheet" href="(.*?)"', text) == ["../scripts/typefaces.css"]


def test_a_document_carries_no_html_and_no_link_out_of_the_site() -> None:
    html = docs.rendered("# A <b>b</b>\n\n<img src=x onerror=alert(1)>\n\n[x](javascript:alert(1)) [y](../z.md)", {})
    assert re.findall(r"<(?!/?(?:h1|p)\b)", html) == []
    assert "&lt;img" in html
    assert "href" not in html
    assert docs.rendered("[tour](tour.md#learn)", {"tour": ""}) == '<p><a href="tour.html#learn">tour</a></p>\n'


def test_each_number_is_told_by_what_computes_it(folder: Path) -> None:
    text = text_of(folder / "numbers.html")
    assert "softmax over keys" in text
    assert "−Σ w · log₂ w, in bits" in text
    assert "AER = 1 − (|A∩S| + |A∩P|) / (|A| + |S|) (Och & Ney 2003)" in text


def test_the_api_page_holds_docstrings_and_the_glossary_its_terms(folder: Path) -> None:
    text = text_of(folder / "api.html")
    for item in (model.Translator, model.AttentionInputs, model.open_reader, notebook.heads):
        assert (item.__doc__ or "").strip().splitlines()[0] in text
    first_line = (model.Trace.weights.__doc__ or "").strip().partition("\n")[0]
    assert f"weights() – {first_line}" in text
    assert "(self" not in text
    assert "attention_weights(query, key, *, scale" in text
    terms = text_of(folder / "glossary.html")
    assert all(term.text in terms for term in glossary.terms("en"))
