"""Fixtures shared by all tests: a tiny seeded model, its tokenizer, and checkpoint folders of it."""

import gc
import json
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

# The models of the tests are so small that a second thread would only wait for the first. Benchmarks, which import this
# file too, run servers as people do.
if "PYTEST_VERSION" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    # Who tests it asks for it: else each model that a page opens would be measured, and the page drawn anew.
    os.environ.setdefault("HEADLIGHT_MEASURE_UNASKED", "0")
    # This process, and each of those that tests start, would compile all modules again.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    # What is imported stays.
    gc.disable()

from pathlib import Path

import pytest

import tests.shape_checks  # noqa: F401 before any module of the model
from tests.paths import ROOT

# The process that only gives out files waits for none of these: fixtures import what they need.
if TYPE_CHECKING:
    from model import TransformerConfig, Translator
    from model.analysis.coreference.case_files import PronounCases
    from model.config import ModelConfig
    from model.reader import Reader
    from model.tokenizer import Tokenizer
    from model.translator import EarlierTranslator

NO_RIGHT_TO_LINK = 1314
"""What Windows says of a link that someone makes who is not allowed to."""

SENTENCES = [
    "The animal didn't cross the street because it was too tired.",
    "Das Tier überquerte die Straße nicht, weil es zu müde war.",
    "A man in a red shirt walks along the river with his old dog.",
    "Ein Mann in einem roten Hemd geht mit seinem alten Hund am Fluss entlang.",
    "Tom told me that he would be late again tomorrow morning.",
    "Tom sagte mir, dass er morgen früh wieder zu spät kommen würde.",
    "She gave her sister the book, and they read it together.",
    "Sie gab ihrer Schwester das Buch, und sie lasen es zusammen.",
] * 4


def pytest_configure(config: pytest.Config) -> None:
    """Leave out what is long, unless it is named: by its file, by itself, or by `-m long`.

    Files are given out in their order, those of the browser first: what takes longest must not be begun last.
    """
    if config.args_source is not pytest.Config.ArgsSource.ARGS and not config.option.markexpr:
        config.option.markexpr = "not long"
    if hasattr(config.option, "loadscopereorder"):
        config.option.loadscopereorder = False


def pytest_collection_finish() -> None:
    """Modules and tests stay to the end: the collector, a tenth of the time, need not look at them again and again."""
    gc.collect()
    gc.freeze()
    gc.enable()
    gc.set_threshold(10_000, 20, 20)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object | None:
    """Give files out whole, and those that drive the same server to one process, so that it runs once."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return server_of(super()._split_scope(nodeid))

    return Scheduling(config, log)


@cache
def server_of(file: str) -> str:
    """What a file's tests in a browser share, named by the fixture that gives its address; of other tests, the file.

    Most drive the app with the tiny checkpoint. They are two halves, which take as long: as one they would end last.
    """
    if not file.startswith("tests/browser/"):
        return file
    text = (ROOT / file).read_text(encoding="utf-8")
    shared = next((fixture for fixture in ("app_as_shipped", "url", "serve") if f"{fixture}: " in text), file)
    return f"{shared}, {file > 'tests/browser/test_history.py'}" if shared == "url" else shared


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    """A test that makes links is skipped where they cannot be made."""
    try:
        yield
    except OSError as error:
        if getattr(error, "winerror", None) == NO_RIGHT_TO_LINK:
            pytest.skip("links need Windows' developer mode")
        raise


@pytest.fixture(scope="session", autouse=True)
def in_this_process() -> Iterator[None]:
    """Tokenizers are tried and chats rendered here: a process of its own takes a second to import the library.

    What such a process does is tested by `test_tokenizer_trial`, `test_chat_template` and the tests in a browser.
    """
    from model.adapters import chat_template, chat_template_process, inspect_folder, tokenizer_trial_process
    from model.adapters.limited_process import answered

    def tried(_module: str, arguments: list[str], **_limits: float) -> Any:
        return answered(tokenizer_trial_process.answer_to, *arguments)

    def rendered(_module: str, _arguments: list[str], given: bytes, **_limits: float) -> Any:
        return answered(chat_template_process.texts_of, json.loads(given))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(inspect_folder, "answer_of", tried)
        patch.setattr(chat_template, "answer_of", rendered)
        yield


@pytest.fixture(scope="session", autouse=True)
def a_cache_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Else a verdict of an earlier version would be believed, and what tests keep would lie in a person's cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session", autouse=True)
def costs_measured_in_few_runs() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("model.analysis.measured_cost.SECONDS", 0.0)
        yield


def few_cases(reader: "Reader") -> "PronounCases | None":
    """Some of the sentences with pronouns that every atlas measures besides its own: all of them take seconds."""
    from model.analysis.coreference.case_files import PronounCases, cases_for

    every = cases_for(reader)
    return every and PronounCases(every.cases[::20])


@pytest.fixture(scope="session", autouse=True)
def atlases_of_the_command_measured_on_few_pronouns() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("model.analysis.corpus_commands.cases_for", few_cases)
        yield


@pytest.fixture(scope="session")
def config() -> "TransformerConfig":
    from model import TransformerConfig

    return TransformerConfig(vocab_size=370, d_model=32, num_layers=2, num_heads=4, d_ff=64, max_length=64, norm="pre")


@pytest.fixture(scope="session")
def tokenizer(config: "TransformerConfig") -> "Tokenizer":
    from model.tokenizer import Tokenizer

    return Tokenizer.train(SENTENCES, config)


@pytest.fixture(scope="session")
def translator(config: "TransformerConfig", tokenizer: "Tokenizer") -> "Translator":
    """Random weights, but translations end after ten to twenty tokens: the longer, the likelier the end."""
    import torch

    from model import Transformer, Translator
    from model.training_record import LANGUAGES

    torch.manual_seed(22)
    model = Transformer(config)
    with torch.no_grad():
        # Column 7 of the positions is a cosine that falls over the first eighteen.
        model.decoder.embedding.tokens.weight[config.eos_id, 7] -= 3.5
    return Translator(model, tokenizer, name="tiny", languages=LANGUAGES)


@pytest.fixture(scope="session")
def tiny_checkpoints(tmp_path_factory: pytest.TempPathFactory, translator: "Translator") -> Path:
    """A folder of checkpoints, for HEADLIGHT_CHECKPOINTS, with one of random weights called "en-de"."""
    from model.checkpoint import save_checkpoint

    root = tmp_path_factory.mktemp("checkpoints")
    save_checkpoint(root / "en-de", translator.model, translator.tokenizer, card="Random weights, for tests.\n")
    return root


@pytest.fixture(scope="session")
def earlier_configs(config: "TransformerConfig") -> "dict[str, ModelConfig]":
    """The models from before the Transformer, tiny, by their architectures."""
    from model.config import ConvolutionalConfig, FixedVectorConfig, RecurrentConfig

    vocab_size, length = config.vocab_size, config.max_length
    all_three = (
        RecurrentConfig(vocab_size=vocab_size, max_length=length, d_model=32, hidden_size=24, alignment_size=20),
        FixedVectorConfig(vocab_size=vocab_size, max_length=length, d_model=32, hidden_size=28),
        ConvolutionalConfig(vocab_size=vocab_size, max_length=length, d_model=32, num_layers=2, decoder_layers=3),
    )
    return {config.architecture: config for config in all_three}


@pytest.fixture(scope="session")
def earlier_translators(
    earlier_configs: "dict[str, ModelConfig]", tokenizer: "Tokenizer"
) -> "dict[str, EarlierTranslator]":
    """The same with random weights."""
    import torch

    from model.nn.architectures import new_model
    from model.training_record import LANGUAGES
    from model.translator import EarlierTranslator

    torch.manual_seed(11)
    return {
        name: EarlierTranslator(new_model(config), tokenizer, name=name, digest=name, languages=LANGUAGES)
        for name, config in earlier_configs.items()
    }


@pytest.fixture(scope="session")
def earlier_checkpoints(
    tmp_path_factory: pytest.TempPathFactory, earlier_translators: "dict[str, EarlierTranslator]"
) -> Path:
    """A folder of checkpoints, for HEADLIGHT_CHECKPOINTS, with both."""
    from model.checkpoint import save_checkpoint

    root = tmp_path_factory.mktemp("earlier")
    for name, translator in earlier_translators.items():
        save_checkpoint(root / name, translator.model, translator.tokenizer, card="Random weights, for tests.\n")
    return root


@pytest.fixture(scope="session")
def experiment_checkpoints(
    tmp_path_factory: pytest.TempPathFactory,
    tiny_checkpoints: Path,
    translator: "Translator",
    earlier_translators: "dict[str, EarlierTranslator]",
) -> Path:
    """A folder of checkpoints with four experiments of random weights, and invented results of five, two seeds each."""
    import torch

    from model import Transformer
    from model.analysis.ablations.results import AblationResults, RunResult, SetScore, save_results
    from model.checkpoint import save_checkpoint

    root = tmp_path_factory.mktemp("compared")
    shutil.copytree(tiny_checkpoints / "en-de", root / "en-de")
    torch.manual_seed(5)
    models = {
        "full": translator.model,
        "no-positions": Transformer(replace(translator.config, positions="none")),
        "no-residual": Transformer(replace(translator.config, residual=False)),
        "gru": earlier_translators["recurrent"].model,
    }
    for preset, model in models.items():
        save_checkpoint(root / "experiments" / preset, model, translator.tokenizer, card="Random weights, for tests.\n")
    bleu = {"full": (20.0, 22.0), "single-head": (20.5, 21.0), "no-positions": (9.0, 12.0), "unscaled": (19.0, 20.0)}
    bleu["no-residual"] = (0.5, 0.5)
    runs = tuple(
        RunResult(preset, seed, "0", 830_000, 3.25, (SetScore("tatoeba_dev", score, 2 * score, 100, "invented"),))
        for preset, scores in bleu.items()
        for seed, score in enumerate(scores)
    )
    save_results(AblationResults(runs, dict.fromkeys(bleu, 12_345.0)), root / "experiments" / "ablations.json")
    return root


@pytest.fixture(scope="session")
def recorded_checkpoints(tmp_path_factory: pytest.TempPathFactory, tiny_checkpoints: Path) -> Path:
    """The same, with a made-up record of its training and scores, and hostile words in it."""
    from model.checkpoint import write_manifest

    root = tmp_path_factory.mktemp("recorded")
    folder = Path(shutil.copytree(tiny_checkpoints / "en-de", root / "en-de"))
    picture = "![x](https://evil.example/a.png) <img src=https://evil.example/b.png>"
    data = [
        {"name": "invented", "pairs": 1200, "weight": 1.5, "what": picture, "licence": "none"},
        {"name": "copied", "pairs": 34, "weight": 1},
    ]
    training = {"data": data, "settings": {"steps": 300, "decay": "linear"}, "dev_limit": 20, "note": picture}
    log: list[dict[str, float]] = [
        {"step": step, "learning_rate": step / 1e5, "loss": 600 / (step + 100), "tokens_per_second": 10}
        for step in range(50, 301, 50)
    ]
    log += [{"step": step, "learning_rate": step / 1e5, "bleu_a": step / 100, "bleu_<b>": 1.0} for step in (100, 300)]
    score = {"set": "a", "bleu": 12.34, "chrf": 40.0, "signature": "tok:13a", "sentences": 1000}
    entries = [
        {"command": "python -m model evaluate --data a.tsv --json", "result": {**score, "beam": 1}},
        {
            "command": "python -m model evaluate --data a.tsv --beam 4 --json",
            "result": {**score, "beam": 4, "bleu": 15},
        },
        {
            "command": "python -m model pronouns --json",
            "result": {"right": {"frames": 0.91}, "heads": {"0": {"1": 0.5}}, "of": picture},
        },
    ]
    (folder / "training.json").write_text(json.dumps(training), encoding="utf-8")
    (folder / "training_log.jsonl").write_text("".join(json.dumps(entry) + "\n" for entry in log), encoding="utf-8")
    (folder / "metrics.json").write_text(json.dumps({"entries": entries}), encoding="utf-8")
    (folder / "README.md").write_text(
        f"# tiny\n\n## What to expect\n\nRandom words,\nno sense.\n\n{picture}\n\n## End\n\nx\n", encoding="utf-8"
    )
    write_manifest(folder)
    return root
