"""Run every command that README, documents and CONTRIBUTING name as a stranger has it: python -m tests.stranger [DIR].

Two environments: a clone with nothing but requirements.txt, and a folder elsewhere with nothing but the wheel. Each
command is found in the documents themselves, and runs on small files that are made here; one that is not in `EXAMPLES`
is a failure. Of a server it is asked whether it answers. At last, what is said where the notebook's requirements are
not installed, and that installing them helps. DIR keeps the environments, so that the next run is short.

This process needs Python alone.
"""

import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests import advice
from tests.paths import ROOT

#: Seconds: of one command, and until a server answers.
SECONDS, ANSWERS = 1_800, 300


@dataclass(frozen=True)
class Example:
    """How a command is run."""

    options: str = ""  #: are added, by which it is shorter or its server can be asked
    left_out: str = ""  #: why it is not run here, if it is not
    is_server: bool = False  #: ends only when it is ended
    in_clone: bool = False  #: names files that only a clone has


_PORT: Final = "--server.headless true --server.address 127.0.0.1 --server.port PORT"
_SHIPPED: Final = "trains for hours with sets that do not ship"
#: What a command is → how it is run; the first that fits holds.
EXAMPLES: Final = {
    r".*pip install -r tests/requirements\.txt.*": Example(left_out=".ci/run runs it"),
    r"bash \.ci/\w+|.*pre-commit.*|.*peers.*": Example(left_out="of those who change the code"),
    r"python -m venv .*": Example(left_out="for Windows"),
    r".*streamlit run app\.py.*": Example(_PORT, is_server=True, in_clone=True),
    r"headlight": Example(f"app {_PORT}", is_server=True),
    r"headlight \w+.*": Example(),
    r"pip install (\.|'\.\[\w+\]'|-r viz/notebook/requirements\.txt)": Example(left_out="done below"),
    r"pip install -r \.packaging/cluster-requirements\.txt": Example(in_clone=True),
    r"python -m http\.server .*": Example("--bind 127.0.0.1 PORT", is_server=True),
    r"python -m viz\.locale.*": Example(in_clone=True),
    r"python -m (model|viz\.\w+)( .*)?": Example(),
    r"python -m tests\.benchmarks\.\w+( .*)?": Example(left_out="measures for minutes or hours with the tests' needs"),
    r"torchrun": Example(left_out="a launcher's name"),
    r"torchrun .*": Example(left_out=_SHIPPED),
}
#: Small files of the names that commands use, made by the environment itself.
PREPARE: Final = """
import json, lzma, re, shutil, sys
from pathlib import Path
from MODEL.analysis.head_description.corpora import default_corpus
from MODEL.training.ablations import DEV_SETS, TRAINING_SETS
from transformers import BertConfig, BertModel, BertTokenizerFast
pairs = [
    ("The animal didn't cross the street because it was too tired.",
     "Das Tier überquerte die Straße nicht, weil es zu müde war."),
    ("A man in a red shirt walks along the river with his old dog.",
     "Ein Mann in einem roten Hemd geht mit seinem alten Hund am Fluss entlang."),
    ("Tom told me that he would be late again tomorrow morning.",
     "Tom sagte mir, dass er morgen früh wieder zu spät kommen würde."),
    ("She gave her sister the book, and they read it together.",
     "Sie gab ihrer Schwester das Buch, und sie lasen es zusammen."),
] * 4
text = "".join(f"{english}\\t{german}\\n" for english, german in pairs)
Path("FILE.tsv").write_text(text, encoding="utf-8")
Path("FILE.jsonl").write_text(json.dumps(
    {"en": ["the", "dog", "."], "de": ["der", "Hund", "."], "sure": [[0, 0], [1, 1], [2, 2]]}) + "\\n")
for name in (*(f"DIR/{each}" for each in (*TRAINING_SETS, *DEV_SETS)), "SET.tsv.xz", "visitors.tsv.xz"):
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_bytes(lzma.compress(text.encode()))
bert = Path("path/to/a/bert")
bert.mkdir(parents=True)
signs = "abcdefghijklmnopqrstuvwxyz"
words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *signs, *(f"##{each}" for each in signs), "…"]
# It knows English, as the texts that its heads are described over are chosen by that.
known = {each for text, _ in default_corpus("en") for each in re.findall(r"\\w+|[^\\w\\s]", text.lower())}
words += sorted(known.difference(words))
(bert / "vocab.txt").write_text("\\n".join(words), encoding="utf-8")
BertTokenizerFast(str(bert / "vocab.txt")).save_pretrained(bert)
sizes = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64)
BertModel(BertConfig(vocab_size=len(words), **sizes)).save_pretrained(bert)
for name in ("path/to/a/gpt2", "path/to/it"):
    shutil.copytree("checkpoints/induction", name)

# A speech model, and the sound that ships with times of the words that this model writes about it.
import torch
from MODEL.analysis.timing.transcript import transcript_of
from MODEL.opening import open_reader
from MODEL.sources import sound_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, WhisperConfig, WhisperFeatureExtractor
from transformers import WhisperForConditionalGeneration
told = ["<|endoftext|>", "<|startoftranscript|>", "<|notimestamps|>"]
tokens = [*sorted(pre_tokenizers.ByteLevel.alphabet()), *told]
bytes_alone = Tokenizer(models.BPE({token: number for number, token in enumerate(tokens)}, []))
bytes_alone.pre_tokenizer, bytes_alone.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
named = dict(eos_token=told[0], additional_special_tokens=told[1:])
PreTrainedTokenizerFast(tokenizer_object=bytes_alone, **named).save_pretrained("WHISPER")
WhisperFeatureExtractor(feature_size=8, chunk_length=5).save_pretrained("WHISPER")
sizes = dict(d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4)
torch.manual_seed(0)
WhisperForConditionalGeneration(WhisperConfig(
    **sizes, encoder_ffn_dim=48, decoder_ffn_dim=48, vocab_size=len(tokens), num_mel_bins=8, init_std=0.5,
    max_source_positions=250, max_target_positions=40, pad_token_id=256, bos_token_id=256, eos_token_id=256,
    decoder_start_token_id=257, suppress_tokens=None, begin_suppress_tokens=None,
)).save_pretrained("WHISPER")
Path("SOUNDS").mkdir()
shutil.copy(sound_file.EXAMPLE_WORDS.with_suffix(".flac"), "SOUNDS/a.flac")
words = transcript_of(open_reader(Path("WHISPER")).of_file("SOUNDS/a.flac").trace("")).words
rows = [f"{word.text},{at / 10},{at / 10 + 0.1}" for at, word in enumerate(words) if word.text.isalnum()]
Path("SOUNDS/a.csv").write_text("\\n".join(["word,start,end", *rows]), encoding="utf-8")
"""
#: What a cell of a notebook does, where there is no widget and where there is one.
CELL: Final = """
from PACKAGE.notebook import heads
import numpy
picture = heads(numpy.full((1, 2, 2, 2), 0.5), queries=["a", "b"])
try:
    print(type(picture.widget).__name__)
except ModuleNotFoundError as error:
    print(error)
"""


def commands() -> list[str]:
    """What the documents name, each once, in their order: what trains comes before what reads its results."""
    found = advice.in_readmes((*advice.READMES, ROOT / ".github" / "CONTRIBUTING.md"))
    others = re.compile(r"(python -m model train --preset) (?!full)\S+ --seed 0 --data DIR")
    chosen = dict.fromkeys(others.sub(r"\1 full --seed 0 --data DIR", each) for each in found if each)
    return sorted(chosen, key=lambda each: ("ablations" in each) + ("ablations" in each and "train" not in each))


def example(command: str) -> Example | None:
    """How a command is run; None if nobody has said so."""
    return next((how for what, how in EXAMPLES.items() if re.fullmatch(what, command)), None)


def shortened(command: str) -> str:
    """A command of `python -m model` that takes a second."""
    program, arrow, target = command.partition(" > ")
    if not program.startswith("python -m model "):
        return command
    name, *options = shlex.split(program)[3:]
    options = advice.shortened(name, options or ["--help"] * (name in ("train", "grow")))
    return shlex.join(["python", "-m", "model", name, *options]) + arrow + target


def installed(command: str) -> str:
    """A command as the package has it; `.packaging/build_hooks.py` changes texts likewise."""
    return re.sub(r"python -m (?:model|viz\.(?=gallery|heads))( ?)", r"headlight ", command)


def with_options(command: str, options: str) -> str:
    """Options of ours go before those of the app."""
    before, dashes, after = command.partition(" -- ")
    return f"{before} {options}{dashes}{after}"


class Stranger:
    """An environment, the folder in which its commands run, and what failed."""

    def __init__(self, programs: Path, place: Path) -> None:
        self.place, self.failed = place, list[str]()
        path = f"{programs}{os.pathsep}{os.environ['PATH']}"
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        # Without its environment a command would be the system's: pip installs into none but one that was made here.
        assert (programs / "python").exists(), f"{programs} is no environment"
        options = {"PIP_QUIET": "1", "PIP_NO_COMPILE": "1", "PIP_REQUIRE_VIRTUALENV": "1"}
        self.environment = kept | options | {"PATH": path, "HF_HUB_OFFLINE": "1"}

    def run(self, command: str) -> str:
        """Run a command, say how long it took, and keep it if it failed."""
        began = time.monotonic()
        done = subprocess.run(
            ["bash", "-c", command], cwd=self.place, env=self.environment, capture_output=True, encoding="utf-8",
            timeout=SECONDS, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        said = done.stdout + done.stderr
        self.told(command, began, "" if not done.returncode else said)
        return said

    def serve(self, command: str) -> None:
        """Start a server and ask it, until it answers."""
        began, port = time.monotonic(), _free_port()
        command = command.replace("PORT", str(port))
        log = self.place / "server.log"
        with log.open("wb") as output:
            server = subprocess.Popen(
                ["bash", "-c", command], cwd=self.place, env=self.environment, stdout=output, stderr=output,
                stdin=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
        try:
            while not (is_up := _answers(port)) and server.poll() is None and time.monotonic() < began + ANSWERS:
                time.sleep(0.2)
        finally:
            os.killpg(server.pid, 15)
            server.wait(30)
        self.told(command, began, "" if is_up else log.read_text(encoding="utf-8") or "It does not answer.")

    def told(self, command: str, began: float, error: str) -> None:
        print(f"{'FAILED' if error else 'ran'} ({time.monotonic() - began:.0f} s): {command.strip()[:200]}", flush=True)
        if error:
            print(error[-3_000:], flush=True)
            self.failed.append(command)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as bound:
        return int(bound.getsockname()[1])


def _answers(port: int) -> bool:
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=5).read()
    except urllib.error.HTTPError:
        return True  # it knows other names only
    except OSError:
        return False
    return True


def run_all(stranger: Stranger, *, is_installed: bool) -> None:
    """Every command, as a clone has it, or as the package does."""
    stranger.run(f"python -c {shlex.quote(PREPARE.replace('MODEL', 'headlight.model' if is_installed else 'model'))}")
    adapted = installed if is_installed else str
    for command in commands():
        how = example(command)
        if how is None:
            stranger.failed.append(f"no example: {command}")
        elif how.left_out or (is_installed and how.in_clone) or (not is_installed and command.startswith("headlight")):
            continue
        elif how.is_server:
            stranger.serve(with_options(adapted(command), how.options))
        else:
            # A film is not written over an atlas, and documents name both by the same word.
            (stranger.place / "FILE.npz").unlink(missing_ok=True)
            stranger.run(adapted(shortened(command)))


def cell(stranger: Stranger, package: str, advised: str) -> None:
    """A picture in a notebook: what is said without anywidget, and what comes after the advice is followed."""
    for expected, first in (("pip install '.[notebook]'", ""), ("Widget", advised)):
        if first:
            stranger.run(first)
        said = stranger.run(f"python -c {shlex.quote(CELL.replace('PACKAGE', package))}")
        if expected not in said:
            stranger.failed.append(f"a notebook's picture says {said!r}")


def main(folder: Path) -> int:
    """Make both, run all in each, and say what failed."""
    clone, elsewhere = folder / "clone", folder / "elsewhere"
    environments = clone / ".venv", folder / "wheel"
    clone.mkdir(parents=True, exist_ok=True)
    for left in (elsewhere, *(path for path in clone.iterdir() if path != environments[0])):
        shutil.rmtree(left) if left.is_dir() else left.unlink(missing_ok=True)
    files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, encoding="utf-8")
    for name in filter(None, files.stdout.split("\0")):
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, clone / name)
    for environment in environments:
        if not environment.is_dir():
            subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    in_clone, of_wheel = Stranger(environments[0] / "bin", clone), Stranger(environments[1] / "bin", elsewhere)
    elsewhere.mkdir()
    shutil.copytree(clone / "checkpoints", elsewhere / "checkpoints")
    in_clone.run("pip install -r requirements.txt && pip uninstall -y anywidget")
    run_all(in_clone, is_installed=False)
    cell(in_clone, "viz", "pip install -r viz/notebook/requirements.txt")
    of_wheel.run(f"pip install --force-reinstall --no-deps {clone} && pip install {clone}")
    of_wheel.run("pip uninstall -y anywidget")
    run_all(of_wheel, is_installed=True)
    cell(of_wheel, "headlight", f"cd {clone} && pip install '.[notebook]'")
    failed = [*in_clone.failed, *of_wheel.failed]
    print("\n".join(failed) or "All commands ran.")
    return bool(failed)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        sys.exit(main(Path(sys.argv[1]).resolve()))
    with tempfile.TemporaryDirectory() as made:
        sys.exit(main(Path(made)))
