"""An address that asks for what does not exist is answered in a sentence, and loses what was wrong."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.viz.page_run import app_of, as_read, healthy, opened, until
from viz.selection.catalogue import ROOT_VARIABLE

#: Page, what makes a part of the address count there, and the part that is wrong.
_BROKEN: list[tuple[str, dict[str, str], str]] = [
    ("attention", {}, "head=L99H99"),
    ("attention", {}, "head=L1H"),
    ("attention", {}, "site=nowhere"),
    ("attention", {}, "token=999"),
    ("attention", {}, "key_token=999"),
    ("attention", {}, "from=999"),
    ("attention", {"from": "1"}, "to=1.999"),
    ("attention", {}, "view=Nothing"),
    ("attention", {"figure": "entropy", "order": "highest"}, "keep=7"),
    ("attention", {}, "threshold=-3"),
    ("attention", {"view": "Why"}, "rival=999"),
    ("decoding", {}, "step=abc"),
    ("decoding", {}, "head=L1H99"),
    ("decoding", {}, "against=7"),
    ("decoding", {}, "candidates=99"),
    ("decoding", {}, "also=99"),
    ("coreference", {"other": "The cat sleeps."}, "head=L99H1"),
    ("coreference", {"other": "The cat sleeps."}, "token=999"),
    ("coreference", {"other": "The cat sleeps."}, "other_token=999"),
    ("coreference", {"other": "The cat sleeps."}, "distractor=99"),
    ("coreference", {"lab": "Cause"}, "off=e99.99"),
    ("coreference", {"lab": "Cause"}, "step=999"),
    ("atlas", {}, "corpus_figure=nothing"),
    ("experiments", {}, "models=nothing"),
    ("experiments", {}, "ablation_layer=99"),
    ("experiments", {"switches": "True"}, "without=99"),
    ("experiments", {"switches": "True"}, "kept=99"),
    ("learn", {}, "lesson=nothing"),
    ("learn", {}, "step_of_lesson=99"),
    ("learn", {"lesson": "embeddings"}, "step_of_lesson=99"),
    ("learn", {}, "answer=99"),
    ("learn", {"learn": "The Transformer"}, "token=999"),
    ("learn", {"learn": "The Transformer"}, "head=L99H99"),
    ("learn", {"learn": "The Transformer"}, "dim=999"),
    ("learn", {"learn": "The Transformer"}, "walk=99"),
    ("learn", {"learn": "The Transformer"}, "map=99999"),
    # A name that a parameter had.
    ("learn", {"learn": "The Transformer"}, "follow_token=999"),
    ("model_card", {}, "about=Nothing"),
]


@pytest.fixture
def app(experiment_checkpoints: Path, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv(ROOT_VARIABLE, str(experiment_checkpoints))
    return app_of(checkpoint="en-de", text="The dog sleeps.")


@pytest.mark.parametrize(
    ("page", "others", "wrong"), _BROKEN, ids=["-".join((page, *others, wrong)) for page, others, wrong in _BROKEN]
)
def test_what_does_not_exist_is_said_and_leaves_the_address(
    app: AppTest, page: str, others: dict[str, str], wrong: str
) -> None:
    name, value = wrong.split("=")
    shown = opened(app, page, **others, **{name: value})
    until(shown, lambda app: any(f"“{wrong}”" in as_read(one.value) for one in app.info))
    assert shown.query_params.get(name) != value
    # Another run of the page, as when a job is done, does not take the sentence away, nor say it twice.
    said = [one.value for one in healthy(shown.run()).info if f"“{wrong}”" in as_read(one.value)]
    assert len(said) == 1
    # What is right is not said to be wrong.
    assert not [
        one.value for one in shown.info if any(f"{name}={of}”" in as_read(one.value) for name, of in others.items())
    ]


def test_parameters_that_are_unknown_are_named_in_one_notice_without_what_they_say(app: AppTest) -> None:
    others = {"lang": "zh", "utm_source": "mail", "__sign": "abc", "plus": "king", "pairs": "64"}
    shown = opened(app, "model_card", **others, token="999", **{f"key{number}": "secret" for number in range(900)})
    notices = [as_read(one.value) for one in shown.info if "网址" in as_read(one.value)]
    assert notices == ["网址中有 Headlight 不认识的内容，已忽略：“key0”、“key1”、“key2”，还有另外 897 项。"]
    shown = opened(app_of(checkpoint="en-de", text="The dog sleeps.", colour="red"), "model_card")
    notices = [as_read(one.value) for one in shown.info if "URL" in as_read(one.value)]
    assert notices == ["Headlight ignores what it does not know in the URL: “colour”."]


def test_the_open_head_among_the_further_heads_of_a_film_does_exist(app: AppTest) -> None:
    shown = opened(app, "decoding", head="L1H1", also="0.1")
    assert shown.query_params["also"] == "1"
    assert not [one.value for one in shown.info if "URL" in as_read(one.value)]
