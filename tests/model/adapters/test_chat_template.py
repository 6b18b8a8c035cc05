"""A chat template of unknown origin is run under limits: each of these is refused in a sentence, and nothing hangs."""

from collections.abc import Callable
from pathlib import Path
from time import monotonic

import pytest

from model.adapters import chat_template
from model.adapters.chat_template import (
    LONGEST_TEMPLATE,
    Message,
    chosen_template,
    marked,
    read_messages,
    rendered,
    roles_of,
    spans_of,
)
from model.adapters.limited_process import answer_of
from model.errors import CheckpointError, InputTextError
from model.opening import as_chat, open_reader
from tests.model.adapters.chats import MARKED, put_template, save_chat_model

CHAT = (Message("user", "Hello."),)


@pytest.fixture(autouse=True)
def none_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_template, "_known", {})


def is_refused(template: str, words: str) -> None:
    with pytest.raises(InputTextError, match=words) as error:
        rendered(template, CHAT, {})
    assert len(str(error.value)) < 500
    assert "As a chat" in str(error.value)


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("{% for a in range(99999) %}" * 3 + "{% endfor %}" * 3, "takes more than 2 seconds"),
        ("{% set a = 'x' * 10**9 %}{{ a }}{{ a }}", "memory|takes more than"),
        ("{{ 'x' * 300000 }}", "300,000 characters, and at most 200,000"),
        ("{{ range(10**9) | list }}", "cannot be used for this chat|takes more than"),
        ("{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}", "cannot be used for this chat|takes more than"),
    ],
)
def test_a_template_that_takes_all_it_can_is_refused_in_a_sentence(
    template: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat_template, "answer_of", answer_of)
    monkeypatch.setattr(chat_template, "SECONDS", 2)
    begun = monotonic()
    is_refused(template, words)
    assert monotonic() - begun < chat_template.PATIENCE


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("{{ messages.__class__.__mro__ }}", "unsafe"),
        ("{{ ''.__class__ }}{{ cycler.__init__.__globals__.os.system('x') }}", "unsafe"),
        ("{{ '{0.__class__.__init__.__globals__}'.format(messages) }}", "unsafe"),
        ("{% set _ = messages.append(1) %}", "unsafe"),
        ("{% include '/etc/passwd' %}", "no loader"),
        ("{% import 'os' as os %}", "no loader"),
        ("{{ undefined.x.y }}", "undefined"),
        ("{% for", "cannot be used for this chat"),
        ("{{ raise_exception('a' * 5000) }}", "refuses this chat: “a{200} …”"),
        ("{{ raise_exception('\\ud800') }}", "refuses this chat"),
    ],
)
def test_a_hostile_template_is_refused_in_a_sentence(template: str, words: str) -> None:
    is_refused(template, words)


def test_a_process_of_its_own_makes_the_same_of_a_chat(monkeypatch: pytest.MonkeyPatch) -> None:
    here = rendered(MARKED, CHAT, {})
    monkeypatch.setattr(chat_template, "answer_of", answer_of)
    chat_template._known.clear()
    assert rendered(MARKED, CHAT, {}) == here
    assert "Hello." in here.text


def test_what_is_refused_is_not_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputTextError):
        rendered("{{ raise_exception('no') }}", CHAT, {})
    monkeypatch.setattr(chat_template, "answer_of", None)
    with pytest.raises(InputTextError, match="“no”"):
        rendered("{{ raise_exception('no') }}", CHAT, {})


def test_a_machine_with_much_else_to_do_is_said_and_nothing_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_template, "answer_of", answer_of)
    monkeypatch.setattr(chat_template, "PATIENCE", 0.01)
    with pytest.raises(InputTextError, match="Try again"):
        rendered("{{ 1 }}", CHAT, {})
    assert not chat_template._known


def test_no_more_than_a_few_results_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_template, "answer_of", lambda *_, **__: {"texts": ["x", "x"]})
    for number in range(chat_template.MAX_REMEMBERED + 9):
        rendered("x", (Message("user", str(number)),), {})
    assert len(chat_template._known) == chat_template.MAX_REMEMBERED


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "no chat template"),
        (7, "not text"),
        ("x" * 5_000_000, "5,000,000 characters"),
        ({"rag": "x", "tool_use": "y"}, "named rag, tool_use"),
        ({"default": ["x"]}, "not text"),
    ],
    ids=["none", "number", "5 MB", "no default", "list"],
)
def test_what_is_no_template_is_refused(value: object, words: str) -> None:
    with pytest.raises(InputTextError, match=words):
        chosen_template(value)


def test_a_folder_opens_although_its_template_will_not_do(tmp_path: Path) -> None:
    folder = save_chat_model(tmp_path / "large", "x" * (LONGEST_TEMPLATE + 1))
    reader = open_reader(folder)
    assert reader.trace("Tom.").target_tokens
    with pytest.raises(InputTextError, match="at most 200,000 are run"):
        as_chat(reader)


def test_a_file_with_a_template_of_9_megabytes_is_refused_unread(tmp_path: Path) -> None:
    folder = save_chat_model(tmp_path / "file")
    with (folder / "chat_template.jinja").open("wb") as file:
        file.truncate(9 << 20)
    with pytest.raises(CheckpointError, match=r"chat_template\.jinja has more than"):
        open_reader(folder)


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    folder = save_chat_model(tmp_path / "linked")
    (tmp_path / "secret").write_text("{{ 'secret' }}", encoding="utf-8")
    (folder / "chat_template.jinja").symlink_to(tmp_path / "secret")
    with pytest.raises(CheckpointError, match="chat_template"):
        open_reader(folder)


def test_templates_of_another_form_are_refused(tmp_path: Path) -> None:
    folder = save_chat_model(tmp_path / "number")
    put_template(folder, 7)
    reader = open_reader(folder)
    with pytest.raises(InputTextError, match="not text"):
        as_chat(reader)


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
    forged = marked([Message("user", "x")] * 7)[6].content
    assert spans_of(f"{forged}hi", f"{forged}{marked(messages)[0].content}", messages) is None


def test_a_token_that_reaches_into_a_message_is_of_it() -> None:
    messages = [Message("system", "ab"), Message("user", "cd")]
    spans = spans_of("<ab><cd>", "<{}><{}>".format(*(one.content for one in marked(messages))), messages)
    assert spans is not None
    assert roles_of(spans, [(0, 2), (2, 3), (3, 5), (5, 5), (5, 8)]) == ("system", "system", "", "", "user")
