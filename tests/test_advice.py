"""What messages, pages and READMEs advise works, word for word: each command and each line of Python is run.

A command runs in a folder that holds what it names: files called FILE.tsv, DIR, CHECKPOINT, …. So a new one is run as
soon as it is written; a new line of Python fails until it has an example here.
"""

import json
import lzma
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Mapping
from contextlib import chdir
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy
import peft
import pytest
import torch
import transformers
from safetensors.torch import load_file
from streamlit import config as streamlit_config

from model import Translator
from model.__main__ import build_parser, main
from model.analysis.coreference.case_files import CURATED
from model.errors import HeadlightError
from model.opening import open_reader
from model.trace.file import load_trace, save_trace
from model.training.ablations import ABLATIONS, DEV_SETS, TRAINING_SETS
from tests import advice
from tests.conftest import SENTENCES
from tests.model.adapters import speech_zoo
from tests.model.adapters.test_peft_adapter import adapted, change
from tests.model.adapters.zoo import save_model
from tests.model.analysis.timing.timed_sound import save_sound_with_times
from tests.often import often
from tests.paths import ROOT
from tests.stranger import __main__ as stranger
from viz import notebook

IN_SOURCE, IN_README = advice.in_source(), advice.in_readmes()
TEXT = "The animal was tired."
PAIRS = "".join(f"{a}\t{b}\n" for a, b in zip(SENTENCES[::2], SENTENCES[1::2], strict=True))
#: What an f-string or a message puts into a command.
HOLES: Final = {"seed": "0", "run.seed": "0", "run.preset": "full", "FILM": "film.npz"} | {
    "_DEV_FILE.format(score.set)": "FILE.tsv"
}


def is_call(text: str) -> bool:
    return re.match(r"[\w.]+\(", text) is not None


def commands() -> list[str]:
    """Every command; those of the small models' cards, which differ in the preset only, as one.

    A README may name a command without its options; a message tells a person to run it.
    """
    name_alone = re.compile(r"python -m model \w+")
    found = [f"{text} --help" if name_alone.fullmatch(text) else text for text in IN_README] + list(IN_SOURCE)
    of_a_card = re.compile(rf"--preset (?:{'|'.join(ABLATIONS)}|NAME) --seed (?:S|0)(?= --data DIR$)")
    filled = (re.sub(r"\{([^}]+)\}", lambda hole: HOLES[hole[1]], text) for text in found if not is_call(text))
    return sorted({of_a_card.sub("--preset full --seed 0", text) for text in filled})


COMMANDS: Final = [text for text in commands() if not text.startswith("--")]


@pytest.fixture(autouse=True)
def here_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No name is looked up at the hub; layers are narrow, and of the curated set a few sentences are enough."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setattr("model.analysis.layer_kinds.WIDEST", 16)
    monkeypatch.setattr("model.__main__.CURATED", {"en": Path("curated.jsonl")})


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory, tiny_checkpoints: Path) -> Path:
    """A folder with all that commands name."""
    root = tmp_path_factory.mktemp("prepared")
    for name in (
        "CHECKPOINT",
        "checkpoints/experiments/full",
        "checkpoints/experiments/no-smoothing",
        "runs/ninth/checkpoint",
    ):
        shutil.copytree(tiny_checkpoints / "en-de", root / name)
    save_model(root / "checkpoints" / "induction", "gpt2", "bytes")
    save_model(root / "MODEL", "gpt2", "bytes")
    save_sound_with_times(speech_zoo.SAVED["whisper"](root / "WHISPER"), root / "SOUNDS")
    (root / "FILE.tsv").write_text(PAIRS, encoding="utf-8")
    (root / "FILE.txt").write_text(f"{TEXT}\n", encoding="utf-8")
    aligned = {"en": ["the", "dog", "."], "de": ["der", "hund", "."], "sure": [[0, 0], [1, 1], [2, 2]]}
    few = CURATED["en"].read_text(encoding="utf-8").splitlines()[:4]
    (root / "curated.jsonl").write_text("\n".join(few), encoding="utf-8")
    (root / "FILE.jsonl").write_text(json.dumps(aligned) + "\n", encoding="utf-8")
    packed = lzma.compress(PAIRS.encode())
    sets = [f"DIR/{name}" for name in (*TRAINING_SETS, *DEV_SETS)]
    for name in (*sets, "SET.tsv.xz", "visitors.tsv.xz"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(packed)
    (root / "FOLDER").mkdir()
    (root / "FOLDER" / "config.json").symlink_to(root / "FILE.txt")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        run_model(["train", "--preset", "full", "--seed", "0", "--data", "DIR"])  # which `ablations` then measures
    return root


@pytest.fixture
def place(prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, in which the test runs."""
    copied = Path(shutil.copytree(prepared, tmp_path / "place", symlinks=True))
    monkeypatch.chdir(copied)
    monkeypatch.setattr("model.__main__.DEFAULT_CHECKPOINT", copied / "CHECKPOINT")
    return copied


def exit_code(run: Callable[[], object]) -> object:
    """What it returns, or leaves the program with, as argparse does after --help."""
    try:
        return run()
    except SystemExit as left:
        return left.code


def run_model(words: list[str]) -> None:
    """`python -m model`, as `words` say, made shorter."""
    name, *options = words
    assert exit_code(lambda: main([name, *advice.shortened(name, options)])) == 0


def check_pip(words: list[str]) -> None:
    """What pip would fetch is what the pinned requirements say, in versions with which these tests run."""
    extras = {".[notebook]": "viz/notebook/requirements.txt", ".[cluster]": ".packaging/cluster-requirements.txt"}
    if words[0] in extras:
        words = ["-r", extras[words[0]]]  # from which the build takes it
    if words[-1].endswith(extras[".[cluster]"]):
        pytest.importorskip("distributed", reason="needs what tests/requirements.txt names for the extra “cluster”")
    assert words[:1] == ["-r"], "name a file of requirements: a package by itself has no pinned version"
    for line in (ROOT / words[1]).read_text(encoding="utf-8").splitlines():
        requirement = line.partition("#")[0].strip()
        if requirement.startswith("-r"):
            check_pip(["-r", str((ROOT / words[1]).parent / requirement.split()[1])])
        elif requirement:
            name, pinned = requirement.partition(";")[0].split("==")
            assert version(name).partition("+")[0] == pinned


def check_server(words: list[str]) -> None:
    app, *options = words
    assert (ROOT / app).is_file()
    own = options[: options.index("--")] if "--" in options else options
    with chdir(ROOT):  # Streamlit reads its settings once, from where it is first asked.
        for option in (word for word in own if word.startswith("--")):
            streamlit_config.get_option(option.removeprefix("--"))


def check_benchmark(module: str, words: list[str]) -> None:
    """What takes minutes or hours is there, and has these options."""
    found = find_spec(module)
    assert found is not None
    source = Path(str(found.origin)).read_text(encoding="utf-8")
    assert [word for word in words if word.startswith("--") and f'"{word}"' not in source] == []


def run_words(words: list[str]) -> None:
    program, *rest = words
    match Path(program).name, rest:
        case "python" | "python3", ["-m", "model", *options]:
            run_model(options)
        case "python" | "python3", ["-m", module, *options] if module.startswith("tests."):
            check_benchmark(module, options)
        case "python" | "python3", ["-m", module, *_]:
            assert find_spec(module)
        case "pip", ["install", "."]:
            assert (ROOT / "pyproject.toml").is_file()  # tests/test_package.py and .ci/wheel install it
        case "pip", ["install", *options]:
            check_pip(options)
        case "headlight", [*options]:
            assert not options or build_parser().parse_args(options).execute  # tests/test_package.py runs it
        case "streamlit", ["run", *options]:
            check_server(options)
        case "cp", _:
            subprocess.run(words, check=True, timeout=60)
        case "torchrun", []:
            assert find_spec("torch.distributed.run")
        case "torchrun", options:
            # How the checkpoint that ships was trained: with sets that do not ship, its options are read.
            assert build_parser().parse_args(options[options.index("model") + 1 :]).run
        case _:
            pytest.fail(f"no test knows how to run {words}")


@pytest.mark.parametrize(
    "command", often(COMMANDS, {text for text in COMMANDS if "ablations --data DIR --out" not in text})
)
def test_a_command_runs_as_it_stands(command: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for part in command.partition(" > ")[0].split(" && "):
        words = shlex.split(part)
        while "=" in words[0]:
            variable = words.pop(0).partition("=")[0]
            assert any(variable in path.read_text(encoding="utf-8") for path in (ROOT / "viz").rglob("*.py"))
        run_words(words)


@pytest.mark.parametrize("option", [text for text in commands() if text.startswith("--")])
def test_an_option_that_is_named_is_one_of_the_training(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["train", "--help"])
    assert option in capsys.readouterr().out.split()


def test_no_command_stands_where_these_tests_do_not_find_it() -> None:
    assert advice.outside_backticks() == []


def test_every_documented_command_has_its_example_in_a_strangers_environment() -> None:
    assert [command for command in stranger.commands() if stranger.example(command) is None] == []


def test_what_bertviz_needs_is_what_the_advised_requirements_bring() -> None:
    from viz.pages.attention.opened_head.bertviz_page import missing_packages

    assert not missing_packages()
    assert {"bertviz", "ipython", "mpld3"} <= {
        line.partition("==")[0] for line in (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    }


# Lines of Python: each makes the mistake, reads the advice in what is said, follows it, and sees that it helped.

NAMES: Final[Mapping[str, Any]] = {
    "numpy": numpy,
    "load_trace": load_trace,
    "open_reader": open_reader,
    **{name: getattr(transformers, name) for name in dir(transformers) if name.startswith(("Auto", "Marian"))},
}


def error_of(folder: Path) -> str:
    with pytest.raises(HeadlightError) as error:
        open_reader(folder, device="cpu").trace(TEXT)
    return str(error.value)


def follow(line: str, said: str = "", **names: Any) -> Any:
    """Run a line as it stands; `said` is the message that must hold it."""
    assert not said or f"`{line}`" in said
    return eval(line, dict(NAMES), names)


def without_tokenizer(line: str, root: Path) -> None:
    original, folder = save_model(root / "original", "bert"), save_model(root / "folder", "bert")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (folder / name).unlink()
    follow(line, error_of(folder), original=original, folder=folder)
    assert open_reader(folder).trace(TEXT).source_tokens


def pickled(line: str, root: Path) -> None:
    folder = save_model(root / "folder", "bert")
    # More than plain tensors, of which torch reads none but where it is told to trust a file.
    torch.save(load_file(folder / "model.safetensors") | {"made by": Path("x")}, folder / "pytorch_model.bin")
    model = transformers.AutoModel.from_pretrained(folder)
    (folder / "model.safetensors").unlink()
    follow(line, error_of(folder), model=model, folder=folder)
    assert open_reader(folder).trace(TEXT).source_tokens

    adapted(root, "gpt2")
    (root / "adapter" / "adapter_model.safetensors").rename(root / "elsewhere.safetensors")
    said = error_of(root / "adapter")
    (root / "elsewhere.safetensors").rename(root / "adapter" / "adapter_model.safetensors")
    wrapped = peft.PeftModel.from_pretrained(
        transformers.AutoModelForCausalLM.from_pretrained(root / "base"), root / "adapter"
    )
    (root / "adapter" / "adapter_model.safetensors").unlink()
    wrapped.peft_config["default"].base_model_name_or_path = str(root / "base")
    follow(line, said, model=wrapped, folder=root / "adapter")
    assert open_reader(root / "adapter").trace(TEXT).steps is not None


def damaged_tokenizer(line: str, root: Path) -> None:
    folder = save_model(root / "folder", "bert")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    (folder / "tokenizer.json").write_text("{}", encoding="utf-8")
    follow(line, error_of(folder), tokenizer=tokenizer, folder=folder)
    assert open_reader(folder).trace(TEXT).source_tokens


def unmerged(line: str, root: Path) -> None:
    adapted(root, "gpt2")
    model = peft.PeftModel.from_pretrained(
        transformers.AutoModelForCausalLM.from_pretrained(root / "base"), root / "adapter"
    )
    change(root / "adapter", target_modules="c_.*")
    folder = root / "folder"
    follow(line, error_of(root / "adapter"), model=model, folder=folder)
    # What a merged model still lacks, the next message says.
    again = "AutoTokenizer.from_pretrained(original).save_pretrained(folder)"
    follow(again, error_of(folder), original=root / "base", folder=folder)
    assert open_reader(folder).trace(TEXT).target_tokens


def without_word_layer(line: str, root: Path) -> None:
    original = save_model(root / "original", "bert", head="masked")
    folder = save_model(root / "folder", "bert")
    follow(line, open_reader(folder).abilities.lacks["word choice"], original=original, folder=folder)
    assert open_reader(folder).abilities.has("word choice")


def unknown_tokens(line: str, root: Path) -> None:
    folder = save_model(root / "folder", "gpt2", "bytes")
    tokenizer: Any = transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer.add_tokens([f"new{number}" for number in range(100)] + ["animal"])
    tokenizer.save_pretrained(folder)
    said = error_of(folder)
    model: Any = transformers.AutoModelForCausalLM.from_pretrained(folder)
    follow(line, said, model=model, tokenizer=tokenizer)
    model.save_pretrained(folder)
    assert open_reader(folder).trace(TEXT).target_tokens


def only_read(line: str, root: Path) -> None:
    model: Any = Translator.load(ROOT / "checkpoints" / "experiments" / "full", device="cpu")
    trace = open_reader(save_model(root / "bert", "bert")).trace(TEXT)
    with pytest.raises(ValueError, match="only read") as error:
        notebook.film(trace, model)
    assert notebook.film(follow(line, str(error.value), model=model, text=TEXT), model).payloads


def session_only_read(line: str, _root: Path) -> None:
    model: Any = open_reader(ROOT / "checkpoints" / "induction")
    with pytest.raises(ValueError, match="only read") as error:
        notebook.film(model.trace(TEXT), model)
    session = follow(line, str(error.value), model=model, text=TEXT)
    session.step()
    assert notebook.film(session.trace(), model).payloads


def earlier_model(line: str, root: Path) -> None:
    reader = follow(line, folder=ROOT / "checkpoints" / "experiments" / "gru")
    assert reader.trace(TEXT).translation


def trace_file(line: str, root: Path) -> None:
    translator = Translator.load(ROOT / "checkpoints" / "en-de", device="cpu")
    trace, file = translator.trace(TEXT), root / "trace.npz"
    save_trace(trace, file)
    if line.startswith("weights"):
        found = follow(f"trace.{line}", trace=load_trace(file), site="encoder.self", layer=1, heads=[2], rows=[0, 3])
        torch.testing.assert_close(found, trace.weights("encoder.self", 1)[2:3, [0, 3]])
        return
    found = follow(line, file=file)
    tokens = found["source_tokens"] if line.startswith("numpy") else found.source_tokens
    assert tuple(tokens) == trace.source_tokens


EXAMPLES: Final[Mapping[str, Callable[[str, Path], None]]] = {
    "AutoTokenizer.from_pretrained(original).save_pretrained(folder)": without_tokenizer,
    "model.save_pretrained(folder)": pickled,
    "tokenizer.save_pretrained(folder)": damaged_tokenizer,
    "model.merge_and_unload().save_pretrained(folder)": unmerged,
    "AutoModelForMaskedLM.from_pretrained(original).save_pretrained(folder)": without_word_layer,
    "model.resize_token_embeddings(len(tokenizer))": unknown_tokens,
    "model.trace(text)": only_read,
    "model.decode(text)": session_only_read,
    "open_reader(folder)": earlier_model,
    "numpy.load(file)": trace_file,
    "load_trace(file)": trace_file,
    "weights(site, layer, heads, rows)": trace_file,
}


def test_every_line_of_python_that_is_advised_has_its_example() -> None:
    advised = {text for text in IN_SOURCE | IN_README if is_call(text)}
    assert advised == EXAMPLES.keys()


@pytest.mark.filterwarnings("ignore:Recommended. pip install sacremoses")
@pytest.mark.parametrize("line", EXAMPLES)
def test_a_line_of_python_helps_against_what_was_wrong(line: str, tmp_path: Path) -> None:
    EXAMPLES[line](line, tmp_path)


def test_the_python_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [(ROOT / path).read_text(encoding="utf-8") for path in ("README.md", ".github/docs/commands.md")]
    blocks = re.findall(r"```python\n(.*?)```", "\n".join(texts), re.DOTALL)
    shutil.copytree(ROOT / "checkpoints" / "en-de", tmp_path / "checkpoints" / "en-de")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"weights": numpy.full((3, 2, 2), 0.5)}
    for block in blocks:
        if not block.startswith("import headlight"):  # tests/test_package.py runs that one
            exec(compile(block, "commands.md", "exec"), names)
    assert (tmp_path / "film.html").stat().st_size > 100_000
