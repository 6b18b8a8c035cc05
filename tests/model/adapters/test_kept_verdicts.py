"""A verdict is kept on disk by content: another process believes it, unless anything about it is wrong."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from model.abilities import Abilities
from model.adapters import kept_verdicts, open_folder
from model.adapters.proof import explore_model
from model.opening import open_reader
from tests.model.adapters import zoo


@pytest.fixture
def proofs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which models were proven; nothing is known of any before."""
    done: list[str] = []
    prove, write = explore_model, open_folder._how_it_writes

    def noted(what: str, act: Callable[..., Any]) -> Callable[..., Any]:
        def run(*given: Any) -> Any:
            done.append(what)
            return act(*given)

        return run

    monkeypatch.setattr(open_folder, "_PROVEN", {})
    monkeypatch.setattr(open_folder, "_WRITES", {})
    monkeypatch.setattr(open_folder, "explore_model", noted("attends", prove))
    monkeypatch.setattr(open_folder, "_how_it_writes", noted("writes", write))
    return done


def _opened(folder: Path, cache: Path | None) -> Abilities:
    """As another process opens it."""
    open_folder._PROVEN.clear()
    open_folder._WRITES.clear()
    return open_reader(folder, "cpu", cache=cache).abilities


def test_another_process_does_not_prove_again(tmp_path: Path, proofs: list[str]) -> None:
    folder, cache = zoo.save_model(tmp_path / "gpt2", "gpt2", "bytes"), tmp_path / "cache"
    first = _opened(folder, cache)
    assert proofs == ["attends", "writes"]
    assert _opened(folder, cache) == first
    assert proofs == ["attends", "writes"]
    # `headlight verify` asks for no verdict that is kept, and other weights have another.
    _opened(folder, None)
    assert proofs == ["attends", "writes"] * 2
    zoo.tiny("gpt2", seed=1).save_pretrained(folder)
    _opened(folder, cache)
    assert proofs == ["attends", "writes"] * 3


def _damaged(text: str) -> str:
    return text[:-9]


def _of_other_heads(text: str) -> str:
    content = json.loads(text)["content"] | {"heads": {"decoder.self": [4, 3]}}
    return json.dumps({"digest": kept_verdicts._digest(content), "content": content})


def _without_its_digest(text: str) -> str:
    kept: dict[str, Any] = json.loads(text)
    kept["content"]["difference"] = 0.5
    return json.dumps(kept)


def _of_another_key(text: str) -> str:
    content = json.loads(text)["content"] | {"key": ["other", "cpu", "torch.float32"]}
    return json.dumps({"digest": kept_verdicts._digest(content), "content": content})


def _of_a_strange_kind(text: str) -> str:
    content = json.loads(text)["content"] | {"positions": "<script>"}
    return json.dumps({"digest": kept_verdicts._digest(content), "content": content})


@pytest.mark.parametrize(
    "change", [_damaged, _of_other_heads, _without_its_digest, _of_another_key, _of_a_strange_kind]
)
def test_a_file_that_cannot_be_believed_is_proven_anew(
    tmp_path: Path, proofs: list[str], change: Callable[[str], str]
) -> None:
    folder, cache = zoo.save_model(tmp_path / "gpt2", "gpt2", "bytes"), tmp_path / "cache"
    first = _opened(folder, cache)
    (file,) = (cache / "verdicts").iterdir()
    file.write_text(change(file.read_text(encoding="utf-8")), encoding="utf-8")
    assert _opened(folder, cache) == first
    assert proofs == ["attends", "writes"] * 2


def test_few_files_are_kept(tmp_path: Path, proofs: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_verdicts, "MOST_FILES", 2)
    for seed in range(4):
        zoo.tiny("gpt2", seed=seed).save_pretrained(tmp_path / "gpt2")
        zoo.save_tokenizer(tmp_path / "gpt2", "bytes")
        _opened(tmp_path / "gpt2", tmp_path / "cache")
    assert len(list((tmp_path / "cache" / "verdicts").iterdir())) == 2


def test_a_folder_that_cannot_be_written_to_costs_only_time(tmp_path: Path, proofs: list[str]) -> None:
    (tmp_path / "cache").write_text("a file", encoding="utf-8")
    folder = zoo.save_model(tmp_path / "gpt2", "gpt2", "bytes")
    assert _opened(folder, tmp_path / "cache").proof == _opened(folder, None).proof
