"""The texts of Markdown files that a page shows are found."""

from pathlib import Path

from viz.locale.extraction import markdown_texts, source_files


def test_a_file_of_formulas_gives_titles_and_texts_but_no_formula(tmp_path: Path) -> None:
    file = tmp_path / "formulas.md"
    file.write_text("## A title\n\n$$\nx\n$$\n\nA text\nin lines.\n##\n\n$$\ny\n$$\n\nMore.\n", encoding="utf-8")
    assert list(markdown_texts(file)) == ["A title", "A text in lines.", "More."]


def test_any_other_markdown_file_is_one_text(tmp_path: Path) -> None:
    file = tmp_path / "formats.md"
    file.write_text("| a | b |\n|---|---|\n", encoding="utf-8")
    assert list(markdown_texts(file)) == ["| a | b |\n|---|---|"]


def test_files_that_no_page_shows_are_left_out() -> None:
    markdown = [path for path in source_files() if path.suffix == ".md"]
    assert markdown
    assert all(path.name != "README.md" for path in markdown)
