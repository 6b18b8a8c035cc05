"""A model with a chat template: the text is read as a chat, roles stand above it, and who wants none has none."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.model.adapters.zoo import LOOKING, TRIMMED, save_chat_model
from tests.viz.pages.any_model import add, opened
from tests.viz.sent import sent_to, unlinked
from viz.selection.examples import CHAT_EXAMPLE, EXAMPLES
from viz.theme import ROLE_COLOURS

TALK = "system: The house is old.\nuser: Which animal was tired?"


@pytest.fixture
def app(any_model: AppTest) -> AppTest:
    any_model.query_params["text"] = TALK
    return any_model


def roles_of_heatmap(app: AppTest) -> list[str]:
    ((header, _),) = sent_to(app, "matrix_picture")
    of_rows, of_columns = ([role for role, *_ in header[side]] for side in ("rowRoles", "columnRoles"))
    assert of_rows == of_columns
    return of_columns


def head_of(app: AppTest) -> str:
    return " ".join(element.value for element in app.html)


def test_a_chat_is_read_with_its_template_and_its_roles_are_those_of_what_is_shown(app: AppTest) -> None:
    opened(app, "chat")
    assert app.toggle(key="chat").value is True
    assert roles_of_heatmap(app) == ["system", "user"]
    ((header, _),) = sent_to(app, "word_picker")
    (line,) = header["lines"]
    assert line["mark"] == "CHAT"
    assert [" ".join(line["words"][begin:end]) for _, begin, end, _ in line["roles"]] == [
        "The house is old.",
        "Which animal was tired?",
    ]
    assert [colour for *_, colour in line["roles"]] == [ROLE_COLOURS["system"], ROLE_COLOURS["user"]]
    # The grid of heads has the roles of all tokens, whatever the heatmap joins.
    ((header, _),) = sent_to(app, "head_grid")
    ((tiles, _),) = sent_to(app, "tile_keeper")
    tokens = tiles["keyTokens"]
    spoken = ["".join(tokens[begin:end]).replace("▁", " ").strip() for _, begin, end, _ in header["roles"]]
    assert spoken == ["The house is old.", "Which animal was tired?"]
    # Runs are of the rows and the columns that are shown.
    app.toggle(key="sinks").set_value(False).run()
    ((header, _),) = sent_to(app, "matrix_picture")
    shown = [" ".join(header["columnTokens"][begin:end]) for _, begin, end, _ in header["columnRoles"]]
    assert shown == ["The house is old", "Which animal was tired"]
    # A row is of whose message it reads, whatever it writes.
    read = [name.partition(" → ")[0] for name in header["rowTokens"]]
    assert [" ".join(read[begin:end]) for _, begin, end, _ in header["rowRoles"]] == spoken
    # Without the template, the text is read as it is.
    app.toggle(key="chat").set_value(False).run()
    assert not app.exception
    assert app.query_params["chat"] in ("False", ["False"])
    assert roles_of_heatmap(app) == []
    ((header, _),) = sent_to(app, "word_picker")
    assert header["lines"][0]["mark"] == "TEXT"
    assert [word for word in header["lines"][0]["words"] if word != "⏎"] == TALK.split()


def test_what_is_written_is_of_the_assistant(app: AppTest) -> None:
    opened(app, "chat", "decoding")
    assert not app.error, app.error[0].value
    assert 'aria-label="assistant"' in head_of(app)
    assert 'aria-label="system"' in head_of(app)


def test_a_chat_is_among_the_examples_of_who_reads_chats(app: AppTest) -> None:
    app.query_params["text"] = CHAT_EXAMPLE.text
    opened(app, "chat")
    assert roles_of_heatmap(app) == ["system", "user", "assistant", "user"]
    assert any("heads attend to the template" in unlinked(caption.value) for caption in app.caption)
    app.toggle(key="chat").set_value(False).run()
    assert app.text_area(key="text").value == EXAMPLES[0].text


def test_what_a_template_refuses_is_a_sentence_and_the_switch_stays(app: AppTest, tmp_path: Path) -> None:
    add(opened(app, "bert"), save_chat_model(tmp_path / "strict", TRIMMED))
    assert "System role not supported" in app.error[0].value
    app.toggle(key="chat").set_value(False).run()
    assert not app.error
    assert not app.exception


def test_a_template_cannot_write_html_or_markdown(app: AppTest, tmp_path: Path) -> None:
    evil = "{{ raise_exception('<img src=x onerror=alert(1)> ![a](https://evil.example)') }}"
    add(opened(app, "bert"), save_chat_model(tmp_path / "evil", evil))
    assert "<img" not in app.error[0].value.replace("\\<", "")
    assert "![" not in app.error[0].value


def test_roles_that_are_not_known_are_said_to_be_unknown(app: AppTest, tmp_path: Path) -> None:
    app.query_params["text"] = "user: Who?\nassistant: Hm.</think>The dog.\nuser: Why?"
    add(opened(app, "bert"), save_chat_model(tmp_path / "looking", LOOKING))
    assert any("is unknown" in unlinked(caption.value) for caption in app.caption)
    assert roles_of_heatmap(app) == []
