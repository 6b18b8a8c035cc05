"""Models that lack a part: each is trained by its name, decodes and is traced as any other, and says what it lacks."""

import lzma
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from model import Translator
from model.__main__ import main
from model.analysis.ablations.results import load_results
from model.config import Norm, TransformerConfig
from model.errors import InputTextError
from model.nn.encoder_decoder import SITES
from model.nn.layers import Residual
from model.nn.transformer import Transformer
from model.tokenizer import Tokenizer
from model.training.ablations import ABLATIONS, DEV_SETS, TRAINING_SETS
from model.training.loop import read_log
from model.training_record import LANGUAGES, read_card, read_metrics
from tests.conftest import SENTENCES
from tests.model.test_json_output import is_as_listed

SHAPE: dict[str, Any] = {"vocab_size": 370, "d_model": 32, "num_layers": 2, "d_ff": 64, "max_length": 64}
SHAPES = {
    name: replace(preset.config, **SHAPE)
    for name, preset in ABLATIONS.items()
    if isinstance(preset.config, TransformerConfig)
}
SHAPES["general"] = replace(SHAPES["full"], score="general")
# One of each way to compute attention; the others differ in numbers only.
COMPUTED = ["full", "no-positions", "learned-positions", "no-residual", "unscaled", "additive", "post-norm", "general"]
every = pytest.mark.parametrize("name", COMPUTED)


@pytest.fixture(scope="module")
def models(tokenizer: Tokenizer) -> dict[str, Translator]:
    torch.manual_seed(3)
    made = {name: Transformer(config) for name, config in SHAPES.items()}
    for model in made.values():
        # A matrix that begins as one of ones and zeros would hide a mistake.
        for parameter in model.parameters():
            parameter.data += 0.05 * torch.randn(parameter.shape)
    return {
        name: Translator(model, tokenizer, name=name, digest=name, languages=LANGUAGES) for name, model in made.items()
    }


@every
def test_weights_times_value_equal_what_the_model_computed(models: dict[str, Translator], name: str) -> None:
    trace = models[name].trace(SENTENCES[0], SENTENCES[1], extras={"hook_head_output"})
    for site in SITES:
        for layer in range(2):
            assert trace.head_output_deviation(site, layer) <= trace.head_output_tolerance(site, layer)


def test_learned_positions_are_what_is_added_and_end_where_the_matrix_does(models: dict[str, Translator]) -> None:
    model = models["learned-positions"]
    trace = model.trace(SENTENCES[0], SENTENCES[1])
    matrix = model.model.get_parameter("encoder.embedding.learned.weight")
    torch.testing.assert_close(trace.positional["source"], matrix[: len(trace.source_tokens)].detach() * 32**0.5)
    with pytest.raises(InputTextError, match="115 positions"):
        model.model.encode(torch.full((1, 116), 40))


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_without_a_residual_connection_nothing_of_the_input_stays(norm: Norm) -> None:
    x, nothing = torch.randn(1, 3, 32), torch.zeros(1, 3, 32)
    without = Residual(replace(SHAPES["no-residual"], norm=norm)).eval()
    assert torch.equal(without(x, lambda y: nothing), nothing)
    assert not torch.equal(Residual(replace(SHAPES["full"], norm=norm)).eval()(x, lambda y: nothing), nothing)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    pairs = "".join(f"{a}\t{b}\n" for a, b in zip(SENTENCES[::2], SENTENCES[1::2], strict=True))
    for name in (*TRAINING_SETS, *DEV_SETS):
        file = tmp_path / "data" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(lzma.compress(pairs.encode()))
    return tmp_path / "data"


@pytest.mark.long
def test_presets_train_by_name_share_a_vocabulary_and_are_compared_in_a_table(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    tiny = ["--vocab-size", "370", "--d-model", "16", "--num-layers", "1", "--d-ff", "16", "--steps", "2"]
    for preset, seed in (("full", "0"), ("full", "1"), ("additive", "0")):
        run = ["--preset", preset, "--seed", seed, "--data", str(data), "--dev-limit", "1", "--device", "cpu"]
        assert main(["train", *run, *tiny]) == 0
    runs = tmp_path / "runs" / "ablations"
    assert (runs / "full-0" / "tokenizer.model").read_bytes() == (runs / "additive-0" / "tokenizer.model").read_bytes()
    assert {"bleu_tatoeba_dev", "bleu_multi30k_val"} <= read_log(runs / "full-0")[-1].keys()
    capsys.readouterr()
    out = tmp_path / "experiments"
    assert main(["ablations", "--data", str(data), "--device", "cpu", "--limit", "1", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "full" in printed
    assert "additive" in printed
    assert printed.strip() in (out / "README.md").read_text(encoding="utf-8")
    assert load_results(out / "ablations.json") == load_results(runs / "ablations.json")
    assert main(["ablations", "--data", str(data), "--device", "cpu", "--limit", "1", "--json"]) == 0
    assert is_as_listed("ablations", capsys.readouterr().out)
    assert sorted(path.name for path in out.iterdir() if path.is_dir()) == ["additive", "full"]
    (bleu, _), card = read_metrics(out / "additive").scores, read_card(out / "additive")  # type: ignore[union-attr]
    assert (bleu.set, bleu.sentences) == ("tatoeba_dev", 1)
    assert card is not None
    assert f"| tatoeba_dev | {bleu.bleu:.1f} |" in card
    assert Translator.load(out / "additive", device="cpu").config.score == "additive"
    results = load_results(runs / "ablations.json")
    assert [(run.preset, run.seed) for run in results.runs] == [("full", 0), ("full", 1), ("additive", 0)]
    assert all(speed > 0 for speed in results.tokens_per_second.values())
