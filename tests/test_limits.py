"""Each limit on what comes from outside takes as much as it says, and not one more."""

import re
from collections.abc import Callable
from io import BytesIO
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from PIL import Image

from model import checked
from model.abilities import Abilities, Kind
from model.adapters import chat_template, config_limits, inspect_folder
from model.adapters.generate_call import most_steps
from model.decoding.beam import LARGEST_WIDTH
from model.decoding.sampling import LARGEST_SEED, MOST_SAMPLES, UNCHANGED, Draws, draws_of
from model.errors import HeadlightError
from model.reader import LARGEST_ALPHA
from model.sources import picture_file, sound_file
from model.translator import Translator
from viz.access import text_files as atlas
from viz.notebook import pictures

SMALL = 6
PAIR = b'{"en": ["a"], "de": ["b"], "sure": [[0, 0]]}\n'


def refusal(call: Callable[[], object]) -> str:
    """What the error says in which a call ends; "" if it does not."""
    try:
        call()
    except (HeadlightError, checked.Malformed, ValueError) as error:
        return str(error)
    return ""


def is_refused(call: Callable[[], object], said: str) -> bool:
    """Whether a call ends in an error that says this; another error is about something else."""
    return said in refusal(call)


def picture(width: int, height: int) -> None:
    file = BytesIO()
    Image.new("L", (width, height)).save(file, "PNG")
    picture_file.picture_of(file.getvalue(), "a.png")


def sound(samples: int, channels: int = 1, rate: int = 5_000, loud: float = 0.5) -> None:
    sound_file.as_sound(np.full((samples, channels), loud, np.float32), rate)


def numbers(config: dict[str, Any], *, has_table: bool = True) -> None:
    config_limits.check_values(config, has_table=has_table)


def replaced(**step: str) -> None:
    config_limits.check_pipeline({"normalizer": step})


#: Module and name of a limit → what is tried with so much, and what the refusal says.
LIMITS: list[tuple[ModuleType, str, Callable[[int], object], str]] = [
    (chat_template, "LONGEST_TEMPLATE", lambda n: chat_template.chosen_template("x" * n), "at most"),
    (config_limits, "MOST_LAYERS", lambda n: numbers({"num_layers": n}), "num_layers"),
    (config_limits, "MOST_GROUPS", lambda n: numbers({"num_hidden_groups": n}), "groups"),
    (config_limits, "LONGEST_TABLE", lambda n: numbers({"n_positions": n}), "n_positions"),
    (config_limits, "LONGEST", lambda n: numbers({"n_positions": n}, has_table=False), "n_positions"),
    (config_limits, "LARGEST", lambda n: numbers({"vocab_size": n}), "vocab_size"),
    (config_limits, "LARGEST", lambda n: numbers({"bias": -n}), "bias"),
    (picture_file, "LARGEST_SIDE", lambda n: picture(1, n), "can be read"),
    (picture_file, "LARGEST_AREA", lambda n: picture(n, 1), "can be read"),
    (picture_file, "LONGEST_RATIO", lambda n: picture(n, 1), "longer side"),
    (sound_file, "LARGEST_FILE", lambda n: sound_file.sound_of(bytes(n), "a.wav"), "MB"),
    (sound_file, "LONGEST", lambda n: sound(n * 5_000), "longer than"),
    (sound_file, "MOST_CHANNELS", lambda n: sound(700, n), "channels"),
    (sound_file, "MOST_NUMBERS", lambda n: sound(n), "unpacks to"),
    (sound_file, "LOUDEST", lambda n: sound(700, loud=-n), "expected numbers"),
    (inspect_folder, "MAX_PATH", lambda n: inspect_folder.folder_with_model("x" * n), "too long"),
    (config_limits, "MAX_GROWTH", lambda n: replaced(type="Replace", content="x" * n), "one character into up to"),
    (config_limits, "MAX_AROUND", lambda n: replaced(type="Prepend", prepend="x" * n), "tokens to every text"),
    (config_limits, "MAX_MADE_UP", lambda n: config_limits.check_settings({"offset": n}), "the limit is"),
    (
        config_limits,
        "MAX_PADDING",
        lambda n: config_limits.check_pipeline({"padding": {"pad_to_multiple_of": n}}),
        "pads every text",
    ),
    (
        pictures,
        "MOST_LINES",
        lambda n: pictures.lines([[[1.0]]] * n, queries=["a"], keys=["b"]),
        "cannot be told apart",
    ),
    (atlas, "MAX_SENTENCES", lambda n: atlas.read_sentences(b"a\n" * n, "a.txt"), "more than 6 rows"),
    (atlas, "MAX_SENTENCES", lambda n: atlas.read_sentences(b"text\n" + b"a\n" * n, "a.csv"), "at most 6 are read"),
    (atlas, "MAX_PAIRS", lambda n: atlas.read_pairs(PAIR * n, "a.jsonl"), "more than 6 rows"),
    (atlas, "MAX_SENTENCE", lambda n: atlas.read_sentences(b"x" * n, "a.txt"), "a sentence may have"),
]


@pytest.mark.parametrize(("module", "name", "tried", "said"), LIMITS)
def test_a_limit_takes_its_bound_and_refuses_one_more(
    monkeypatch: pytest.MonkeyPatch, module: ModuleType, name: str, tried: Callable[[int], object], said: str
) -> None:
    monkeypatch.setattr(module, name, SMALL)
    assert not is_refused(lambda: tried(SMALL), said)
    refused = refusal(lambda: tried(SMALL + 1))
    assert said in refused
    # Megabytes and minutes are no whole ones here; nobody types a path that long.
    assert said in ("MB", "longer than", "expected numbers", "too long") or re.search(rf"\b{SMALL}\b", refused)


#: What is tried with the first value must be taken, with the second refused.
EDGES: list[tuple[Callable[[Any], object], Any, Any, str]] = [
    (lambda n: config_limits.check_settings({"extra_ids": n}), 0, -1, "extra_ids"),
    (lambda n: sound(30_000, rate=n), sound_file.LOWEST_RATE, sound_file.LOWEST_RATE - 1, "samples a second"),
    (lambda n: sound(30_000, rate=n), sound_file.HIGHEST_RATE, sound_file.HIGHEST_RATE + 1, "samples a second"),
    (lambda n: sound(n), 500, 499, "expected at least"),
    (lambda n: draws_of(n, UNCHANGED, 1), 1, 0, "samples"),
    (lambda n: draws_of(n, UNCHANGED, 1), MOST_SAMPLES, MOST_SAMPLES + 1, "samples"),
    (lambda n: Draws(seed=n), 0, -1, "seed"),
    (lambda n: Draws(seed=n), LARGEST_SEED, LARGEST_SEED + 1, "seed"),
    (lambda n: Draws(sample=n), 0, -1, "sample"),
]


@pytest.mark.parametrize(("tried", "taken", "refused", "said"), EDGES)
def test_a_range_takes_its_ends_and_refuses_what_is_beyond(
    tried: Callable[[Any], object], taken: Any, refused: Any, said: str
) -> None:
    assert not is_refused(lambda: tried(taken), said)
    assert is_refused(lambda: tried(refused), said)


@pytest.mark.parametrize(
    ("kind", "limit", "most"),
    [
        ("encoder-decoder", None, 5 + 50),
        ("encoder-decoder", 55, 55),
        ("encoder-decoder", 54, 54),
        ("decoder", None, 100),
        # The last token that is written need not be read.
        ("decoder", 104, 100),
        ("decoder", 103, 99),
    ],
)
def test_a_model_writes_no_more_than_its_positions_allow(kind: Kind, limit: int | None, most: int) -> None:
    abilities = Abilities(
        kind=kind, family="any", heads={}, generates=True, knows_inputs=True, positions="learned",
        max_length=limit, max_target_length=limit,
    )  # fmt: skip
    assert most_steps(abilities, 5) == most


@pytest.mark.parametrize(
    ("choices", "is_wrong"),
    [
        ({"beam": 1}, False),
        ({"beam": 0}, True),
        ({"beam": LARGEST_WIDTH}, False),
        ({"beam": LARGEST_WIDTH + 1}, True),
        ({"beam": 2, "alpha": 0.0}, False),
        ({"beam": 2, "alpha": -0.01}, True),
        ({"beam": 2, "alpha": LARGEST_ALPHA}, False),
        ({"beam": 2, "alpha": LARGEST_ALPHA + 0.01}, True),
    ],
)
def test_a_tree_of_beams_has_a_width_and_a_penalty_within_their_range(
    translator: Translator, choices: dict[str, Any], is_wrong: bool
) -> None:
    assert is_refused(lambda: translator.beam_tree("Tom.", **choices), "must") == is_wrong
