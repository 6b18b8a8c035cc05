"""A text read as a chat: the library's own tokens, whose each is; templates of unknown origin run under limits."""

import json
import tracemalloc
from collections.abc import Callable
from functools import cache
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
import transformers

from model.adapters import chat_template
from model.adapters.chat_template import (
    ChatWriter,
    Message,
    as_fields,
    chosen_template,
    marked,
    read_messages,
    rendered,
    spans_of,
)
from model.adapters.chat_template_process import texts_of
from model.adapters.inspect_folder import has_chat_template
from model.adapters.limited_process import answer_of
from model.analysis.coreference.pronoun_rows import pronoun_link
from model.errors import InputTextError
from model.opening import as_chat, open_reader
from model.trace.file import load_trace, save_trace
from tests.model.adapters import zoo
from tests.model.adapters.zoo import FORMS, save_chat_model

CHAT = (Message("user", "Hello."),)


def is_refused(template: str, words: str) -> None:
    with pytest.raises(InputTextError, match=words) as error:
        rendered(template, CHAT, {})
    assert len(str(error.value)) < 500
    assert "As a chat" in str(error.value)


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("{% for a in range(99999) %}" * 3 + "{% endfor %}" * 3, "takes more than 1 seconds or 1 GB"),
        ("{% set a = 'x' * 10**9 %}{{ a }}{{ a }}", "memory|takes more than"),
        ("{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}", "cannot be used for this chat|takes more than"),
    ],
)
def test_a_template_that_takes_all_it_can_is_refused_in_a_sentence(
    template: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat_template, "answer_of", answer_of)
    monkeypatch.setattr(chat_template, "SECONDS", 1)
    begun = monotonic()
    is_refused(template, words)
    assert monotonic() - begun < chat_template.PATIENCE


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("{{ ''.__class__ }}{{ cycler.__init__.__globals__.os.system('x') }}", "unsafe"),
        ("{{ '{0.__class__.__init__.__globals__}'.format(messages) }}", "unsafe"),
        ("{% set _ = messages.append(1) %}", "unsafe"),
        ("{% import 'os' as os %}", "no loader"),
        ("{{ undefined.x.y }}", "undefined"),
        ("{% for", "cannot be used for this chat"),
        ("{{ 'x' * 300000 }}", "300,000 characters, and at most 200,000"),
        ("{{ raise_exception('a' * 5000) }}", "rejects this chat: “a{200} …”"),
        ("{{ raise_exception('\\ud800') }}", "rejects this chat"),
    ],
)
def test_a_hostile_template_is_refused_in_a_sentence(template: str, words: str) -> None:
    is_refused(template, words)


def test_what_is_kept_of_a_chat_does_not_hold_its_messages() -> None:
    rendered("{{ 1 }}", CHAT, {})
    tracemalloc.start()
    try:
        for number in range(3):
            assert rendered("{{ 1 }}", [Message("user", f"{number}" * 150_000)], {}).text == "1"
        assert tracemalloc.get_traced_memory()[0] < 100_000
    finally:
        tracemalloc.stop()


def test_a_text_may_be_as_long_as_is_asked_and_marks_take_twice_as_much_at_most() -> None:
    asked = {"template": "{{ messages[0].content }}", "variables": {}, "goes_on": False}
    asked["chats"] = [as_fields([Message("user", content)]) for content in ("ab", "marked")]
    assert texts_of({**asked, "longest": 2}) == {"texts": ["ab", "mark"]}
    assert "2 characters, and at most 1 can" in texts_of({**asked, "longest": 1})["wrong"]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "no chat template"),
        (7, "not text"),
        ("x" * 5_000_000, "5,000,000 characters"),
        ({"rag": "x", "tool_use": "y"}, "named rag, tool_use"),
        ({f"{number}{'x' * 50}": "" for number in range(7)}, r"named 0x{39}, 1x{39}, 2x{39}, 3x{39}, 4x{39}, and none"),
        ({"default": ["x"]}, "not text"),
    ],
    ids=["none", "number", "5 MB", "no default", "many names", "list"],
)
def test_what_is_no_template_is_refused(value: object, words: str) -> None:
    with pytest.raises(InputTextError, match=words):
        chosen_template(value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello.", [("user", "Hello.")]),
        ("  Hello.\nyou: x \n", [("user", "Hello.\nyou: x")]),
        ("SYSTEM: a\nb\nUser:c\n\nassistant:", [("system", "a\nb"), ("user", "c"), ("assistant", "")]),
        ("Before.\nassistant: d", [("user", "Before."), ("assistant", "d")]),
        ("I am a user: yes", [("user", "I am a user: yes")]),
        ("\nsystem: a", [("system", "a")]),
    ],
)
def test_lines_with_a_role_begin_messages(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(message.role, message.content) for message in read_messages(text)] == expected


Make = Callable[[str], str]


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda text: f"<{text}>", [(1, 7)]),
        (lambda text: f"<{text.strip()}>", [(1, 5)]),
        (lambda text: f"{text.lstrip()}|{text}", [(0, 5), (6, 12)]),
        (lambda text: text.upper(), None),
        (lambda text: f"{len(text)}{text}", None),
        (lambda text: "nothing", []),
        (lambda text: text[:3], None),
    ],
    ids=["as it is", "stripped", "twice", "upper", "length", "dropped", "cut"],
)
def test_characters_are_known_exactly_or_not_at_all(make: Make, expected: list[tuple[int, int]] | None) -> None:
    messages = [Message("user", " a bc ")]
    spans = spans_of(make(messages[0].content), make(marked(messages)[0].content), messages)
    assert (None if spans is None else [(span.begin, span.end) for span in spans]) == expected


def test_marks_of_a_template_itself_name_no_message() -> None:
    messages = [Message("user", "hi")]
    for forged in (one.content for one in marked([Message("user", "x")] * 7)[1:]):
        assert spans_of(f"{forged}hi", f"{forged}{marked(messages)[0].content}", messages) is None


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


@pytest.fixture(scope="module")
def chats(chat_folder: Callable[[str], Path]) -> Callable[[str], ChatWriter]:
    """Name of a form → the model behind its template."""
    return cache(lambda form: as_chat(open_reader(chat_folder(form))))


@pytest.fixture
def marked_chat(chats: Callable[[str], ChatWriter]) -> ChatWriter:
    return chats("marked")


def test_what_is_kept_of_a_chat_is_not_kept_of_the_plain_text(
    chat_folder: Callable[[str], Path], marked_chat: ChatWriter
) -> None:
    plain = open_reader(chat_folder("marked"))
    assert marked_chat.key != plain.key
    assert marked_chat.key.startswith(plain.key)


def text_of(chat: ChatWriter, text: str, role: str) -> str:
    """What the tokens of one role spell, without white space."""
    found = chat.chat(text)
    own = "".join(token for token, its in zip(found.encoded.tokens, found.roles, strict=True) if its == role)
    return own.replace("▁", "").replace("⏎", "")


@pytest.mark.parametrize("talk", [*TALKS.values(), WITH_SYSTEM], ids=[*TALKS, "system"])
@pytest.mark.parametrize("form", FORMS)
def test_tokens_are_those_of_the_librarys_own_call(
    chat_folder: Callable[[str], Path], chats: Callable[[str], ChatWriter], form: str, talk: str
) -> None:
    if form == "trimmed" and talk is WITH_SYSTEM:
        pytest.skip("this template refuses a system's message")
    messages = read_messages(talk)
    goes_on = messages[-1].role == "assistant"
    tokenizer: Any = transformers.AutoTokenizer.from_pretrained(chat_folder(form))
    options = {"add_generation_prompt": not goes_on, "continue_final_message": goes_on, "return_dict": False}
    expected = tokenizer.apply_chat_template(as_fields(messages), **options)
    assert list(chats(form).source(talk).ids) == expected


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
    chats: Callable[[str], ChatWriter], form: str, system: str, user: str, assistant: str
) -> None:
    chat = chats(form)
    assert text_of(chat, WITH_SYSTEM, "system") == system
    assert text_of(chat, WITH_SYSTEM, "user") == user
    assert text_of(chat, WITH_SYSTEM, "assistant") == assistant


def test_roles_are_unknown_where_the_template_looks_into_contents(tmp_path: Path) -> None:
    chat = as_chat(open_reader(save_chat_model(tmp_path / "looking", zoo.LOOKING)))
    assert chat.chat("user: Who?\nassistant: The dog.\nuser: Why?").roles
    found = chat.chat("user: Who?\nassistant: Hm.</think>The dog.\nuser: Why?")
    assert found.roles == ()
    assert "does more than join the messages" in found.why_no_roles
    assert "Hm" not in found.text


def test_a_trace_carries_roles_and_what_is_written_is_the_assistants(
    marked_chat: ChatWriter, short_texts: None, tmp_path: Path
) -> None:
    session = marked_chat.decode("Which animal was tired?")
    assert session.prompt_ids == marked_chat.source("Which animal was tired?").ids
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
def test_a_word_of_the_typed_text_is_found_behind_the_template(marked_chat: ChatWriter, text: str) -> None:
    tokens, offsets = marked_chat.source(text).tokens, marked_chat.source_offsets(text)
    assert offsets is not None
    both = list(zip(tokens, offsets, strict=True))
    assert all(text[begin:end].strip() in ("", token.replace("▁", " ").strip()) for token, (begin, end) in both)
    assert {of for of, role in zip(offsets, marked_chat.chat(text).roles, strict=True) if not role} == {(0, 0)}
    places = [(text.index(word), text.index(word) + len(word)) for word in ("it", "animal")]

    for begin, end in places:
        behind = "".join(token for token, of in both if of[0] < end and begin < of[1])
        assert behind.replace("▁", "") == text[begin:end]
    # A pronoun is looked for where it stands in the chat, not at its place in the plain text.
    link = pronoun_link(marked_chat, marked_chat.trace(text), places[0], [places[1]])
    assert link is not None
    assert offsets[link.row][1] == places[0][1]
    assert places[1][0] <= offsets[link.key][0] < places[1][1]


def test_a_template_that_refuses_says_what_it_says(chats: Callable[[str], ChatWriter]) -> None:
    chat = chats("trimmed")
    with pytest.raises(InputTextError, match=r"“System role not supported”.*As a chat"):
        chat.source(WITH_SYSTEM)
    with pytest.raises(InputTextError, match=r"Roles must take turns"):
        chats("brackets").source("user: a\nuser: b")


def test_a_model_without_a_template_or_another_kind_is_refused(opened: Callable[[str], Any]) -> None:
    with pytest.raises(InputTextError, match="has no chat template"):
        as_chat(opened("gpt2"))
    with pytest.raises(InputTextError, match="decoder-only"):
        as_chat(opened("bert"))


@pytest.mark.parametrize(
    ("architecture", "settings", "has_file", "expected"),
    [
        ("LlamaForCausalLM", '{"chat_template": "{{ messages }}"}', False, True),
        ("LlamaForCausalLM", "{}", True, True),
        ("LlamaForCausalLM", None, True, True),
        ("LlamaForCausalLM", "{}", False, False),
        ("LlamaForCausalLM", '{"chat_template": null}', False, False),
        ("LlamaForCausalLM", '{"chat_template": ', False, False),
        ("LlamaForCausalLM", None, False, False),
        ("LlamaModel", "{}", True, False),
    ],
)
def test_a_folder_says_before_it_is_opened_whether_its_decoder_chats(
    tmp_path: Path, architecture: str, settings: str | None, has_file: bool, expected: bool
) -> None:
    config = {"model_type": "llama", "architectures": [architecture]}
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    if settings is not None:
        (tmp_path / "tokenizer_config.json").write_text(settings, encoding="utf-8")
    if has_file:
        (tmp_path / "chat_template.jinja").write_text("{{ messages }}", encoding="utf-8")
    assert has_chat_template(tmp_path) == expected


def test_the_template_named_default_is_taken_and_a_file_goes_before_settings(tmp_path: Path) -> None:
    named = [{"name": "tool_use", "template": "tools"}, {"name": "default", "template": zoo.FORGETFUL}]
    folder = save_chat_model(tmp_path / "named", named)
    assert as_chat(open_reader(folder)).chat("Tom.").text == "[user]Tom.[assistant]"
    (folder / "chat_template.jinja").write_text("({{ messages[0].content }})", encoding="utf-8")
    assert as_chat(open_reader(folder)).chat("Tom.").text == "(Tom.)"
    without = save_chat_model(tmp_path / "without", named[:1])
    with pytest.raises(InputTextError, match="named tool_use, and none named default"):
        as_chat(open_reader(without))
