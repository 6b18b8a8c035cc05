"""A text read as a chat: the library's own tokens, and whose each of them is."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import transformers

from model.adapters import chat_template
from model.adapters.chat_template import Message, as_fields, read_messages
from model.adapters.chat_writer import ChatWriter
from model.analysis.coreference.pronoun_rows import pronoun_link
from model.errors import InputTextError
from model.opening import as_chat, open_reader
from model.trace.file import load_trace, save_trace
from model.word_choice import Chooser
from tests.model.adapters import chats
from tests.model.adapters.chats import FORMS, save_chat_model

TALKS = {
    "one": "Which animal was tired?",
    "two": "user: Which animal?\nassistant: The dog.\nuser:  It was \n tired. ",
    "open": "user: Which animal?\nassistant: The",
}
WITH_SYSTEM = "system: The house is old.\n" + TALKS["two"]


@pytest.fixture(scope="session")
def chat_folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Name of a form → a folder with such a model; not to be changed."""
    made: dict[str, Path] = {}

    def folder(form: str) -> Path:
        if form not in made:
            made[form] = save_chat_model(tmp_path_factory.mktemp("chat") / "llama", FORMS[form])
        return made[form]

    return folder


@pytest.fixture
def marked(chat_folder: Callable[[str], Path]) -> ChatWriter:
    return as_chat(open_reader(chat_folder("marked")))


def text_of(chat: ChatWriter, text: str, role: str) -> str:
    """What the tokens of one role spell, without white space."""
    found = chat.chat(text)
    own = "".join(token for token, its in zip(found.encoded.tokens, found.roles, strict=True) if its == role)
    return own.replace("▁", "").replace("⏎", "")


@pytest.mark.parametrize("talk", [*TALKS.values(), WITH_SYSTEM], ids=[*TALKS, "system"])
@pytest.mark.parametrize("form", FORMS)
def test_tokens_are_those_of_the_librarys_own_call(chat_folder: Callable[[str], Path], form: str, talk: str) -> None:
    if form == "trimmed" and talk is WITH_SYSTEM:
        pytest.skip("this template refuses a system's message")
    folder, messages = chat_folder(form), read_messages(talk)
    goes_on = messages[-1].role == "assistant"
    tokenizer: Any = transformers.AutoTokenizer.from_pretrained(folder)
    options = {"add_generation_prompt": not goes_on, "continue_final_message": goes_on, "return_dict": False}
    expected = tokenizer.apply_chat_template(as_fields(messages), **options)
    assert list(as_chat(open_reader(folder)).source(talk).ids) == expected


@pytest.mark.parametrize(
    ("form", "system", "user", "assistant"),
    [
        ("marked", "Thehouseisold.", "Whichanimal?Itwastired.", "Thedog."),
        ("brackets", "Thehouseisold.", "Whichanimal?Itwastired.", "Thedog."),
        ("default system", "Thehouseisold.", "Whichanimal?Itwastired.", "Thedog."),
        ("forgetful", "", "Itwastired.", "Thedog."),
    ],
)
def test_each_token_has_the_role_of_its_message(
    chat_folder: Callable[[str], Path], form: str, system: str, user: str, assistant: str
) -> None:
    chat = as_chat(open_reader(chat_folder(form)))
    assert text_of(chat, WITH_SYSTEM, "system") == system
    assert text_of(chat, WITH_SYSTEM, "user") == user
    assert text_of(chat, WITH_SYSTEM, "assistant") == assistant


def test_what_the_template_writes_has_no_role(marked: ChatWriter) -> None:
    found = marked.chat("Tom.")
    assert found.why_no_roles == ""
    assert [token for token, role in zip(found.encoded.tokens, found.roles, strict=True) if not role].count(
        "<|begin|>"
    ) == 2
    assert text_of(marked, "Tom.", "user") == "Tom."


def test_roles_are_unknown_where_the_template_looks_into_contents(tmp_path: Path) -> None:
    chat = as_chat(open_reader(save_chat_model(tmp_path / "looking", chats.LOOKING)))
    assert chat.chat("user: Who?\nassistant: The dog.\nuser: Why?").roles
    found = chat.chat("user: Who?\nassistant: Hm.</think>The dog.\nuser: Why?")
    assert found.roles == ()
    assert "does not only join the messages" in found.why_no_roles
    assert "Hm" not in found.text


def test_a_slow_tokenizer_says_no_roles(marked: ChatWriter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(marked.pieces), "_has_offsets", False)
    found = marked.chat("Tom.")
    assert found.roles == ()
    assert "which characters" in found.why_no_roles
    assert marked.trace("Tom.").roles == ()


def test_a_trace_carries_roles_and_what_is_written_is_the_assistants(
    marked: ChatWriter, short_texts: None, tmp_path: Path
) -> None:
    session = marked.decode("Which animal was tired?")
    for _ in range(3):
        session.step()
    trace = session.trace()
    assert len(trace.roles) == len(trace.target_tokens)
    assert trace.roles[-2:] == ("assistant", "assistant")
    assert set(trace.roles) == {"", "user", "assistant"}
    save_trace(trace, tmp_path / "chat.npz")
    assert load_trace(tmp_path / "chat.npz").roles == trace.roles


@pytest.mark.parametrize(
    "text",
    ["The animal was tired, because it ran.", "user: Who ran?\nassistant: The animal ran, because it was tired."],
)
def test_a_word_of_the_typed_text_is_found_behind_the_template(marked: ChatWriter, text: str) -> None:
    tokens, offsets = marked.source(text).tokens, marked.source_offsets(text)
    assert offsets is not None
    both = list(zip(tokens, offsets, strict=True))
    assert all(text[begin:end].strip() in ("", token.replace("▁", " ").strip()) for token, (begin, end) in both)
    places = [(text.index(word), text.index(word) + len(word)) for word in ("it", "animal")]
    for begin, end in places:
        behind = "".join(token for token, of in both if of[0] < end and begin < of[1])
        assert behind.replace("▁", "") == text[begin:end]
    # A pronoun is looked for where it stands in the chat, not at its place in the plain text.
    link = pronoun_link(marked, marked.trace(text), places[0], [places[1]])
    assert link is not None
    assert offsets[link.row][1] == places[0][1]
    assert places[1][0] <= offsets[link.key][0] < places[1][1]


def test_what_is_read_and_what_is_written_share_their_prompt(marked: ChatWriter) -> None:
    text = "user: Which animal?\nassistant: The"
    assert marked.decode(text).prompt_ids == marked.source(text).ids == marked.trace(text).target_ids


def test_a_chat_is_never_taken_for_the_same_text_without_a_template(chat_folder: Callable[[str], Path]) -> None:
    plain = open_reader(chat_folder("marked"))
    assert as_chat(plain).key != plain.key
    assert as_chat(plain).trace("Tom.").key != plain.trace("Tom.").key


def test_messages_are_read_as_they_are(marked: ChatWriter) -> None:
    messages = [Message("user", " user: a "), Message("assistant", "b")]
    trace = marked.trace_messages(messages)
    assert " user: a " in trace.text
    assert set(trace.roles) == {"", "user", "assistant"}


def test_two_answers_differ_after_the_prompt(marked: ChatWriter) -> None:
    assert isinstance(marked, Chooser)
    before = marked.source("Which animal?").ids
    choice = marked.word_choice("Which animal?", "dog", "cat")
    assert choice.place.target[: len(before)] == before
    # The last token that both answers share says the one in which they differ.
    assert choice.place.row == len(choice.place.target) - 1


def test_a_template_that_refuses_says_what_it_says(chat_folder: Callable[[str], Path]) -> None:
    chat = as_chat(open_reader(chat_folder("trimmed")))
    with pytest.raises(InputTextError, match=r"“System role not supported”.*As a chat"):
        chat.source(WITH_SYSTEM)
    with pytest.raises(InputTextError, match=r"Roles must take turns"):
        as_chat(open_reader(chat_folder("brackets"))).source("user: a\nuser: b")


@pytest.mark.parametrize(("text", "words"), [("  ", "empty"), ("user:", "chat is empty"), ("a " * 600, "too long")])
def test_a_chat_that_cannot_be_read_is_refused(marked: ChatWriter, text: str, words: str) -> None:
    with pytest.raises(InputTextError, match=words):
        marked.trace(text)


def test_roles_of_messages_are_those_that_there_are(marked: ChatWriter) -> None:
    with pytest.raises(InputTextError, match="“tool” is not a role"):
        marked.trace_messages([Message("tool", "x")])


def test_a_model_without_a_template_or_another_kind_is_refused(opened: Callable[[str], Any]) -> None:
    with pytest.raises(InputTextError, match="has no chat template"):
        as_chat(opened("gpt2"))
    with pytest.raises(InputTextError, match="decoder-only"):
        as_chat(opened("bert"))


def test_the_template_named_default_is_taken_and_a_file_goes_before_settings(tmp_path: Path) -> None:
    named = [{"name": "tool_use", "template": "tools"}, {"name": "default", "template": chats.FORGETFUL}]
    folder = save_chat_model(tmp_path / "named", named)
    assert as_chat(open_reader(folder)).chat("Tom.").text == "[user]Tom.[assistant]"
    (folder / "chat_template.jinja").write_text("({{ messages[0].content }})", encoding="utf-8")
    assert as_chat(open_reader(folder)).chat("Tom.").text == "(Tom.)"
    without = save_chat_model(tmp_path / "without", named[:1])
    with pytest.raises(InputTextError, match="named tool_use, and none named default"):
        as_chat(open_reader(without))


def test_a_folder_with_a_template_reads_plain_text_as_before(chat_folder: Callable[[str], Path]) -> None:
    folder = chat_folder("marked")
    tokenizer: Any = transformers.AutoTokenizer.from_pretrained(folder)
    trace = open_reader(folder).trace("user: Tom.")
    assert list(trace.target_ids) == tokenizer("user: Tom.")["input_ids"]
    assert trace.roles == ()


def test_the_same_chat_is_rendered_once(marked: ChatWriter, monkeypatch: pytest.MonkeyPatch) -> None:
    marked.source("Once.")
    monkeypatch.setattr(chat_template, "answer_of", lambda *_, **__: pytest.fail("rendered again"))
    marked.source("Once.")
