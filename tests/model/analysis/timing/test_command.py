"""`python -m model timing` over sounds that a tiny Whisper hears."""

import json
from pathlib import Path

import pytest
import torch

from model.__main__ import main
from model.adapters.speech_reader import SpeechReader
from model.analysis.timing.transcript import transcript_of
from model.analysis.timing.warping import smoothed
from model.opening import open_reader
from tests.model.adapters import speech_zoo
from tests.model.analysis.timing.timed_sound import save_sound_with_times
from tests.model.test_json_output import is_as_listed


@pytest.mark.long
def test_the_command_scores_all_heads_of_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, data = speech_zoo.SAVED["whisper"](tmp_path / "whisper"), tmp_path / "sounds"
    settings = folder / "generation_config.json"
    own = [[1, 0], [0, 1]]
    stated = json.loads(settings.read_text(encoding="utf-8"))
    settings.write_text(json.dumps({**stated, "alignment_heads": own}), encoding="utf-8")
    save_sound_with_times(folder, data)
    reader = open_reader(folder, "cpu")
    assert isinstance(reader, SpeechReader)
    assert reader.alignment_heads == ((1, 0), (0, 1))
    trace = reader.of_file(str(data / "tone.wav")).trace("")
    heard = transcript_of(trace)
    # Rows are those that write, frames those of the sound alone.
    assert trace.source.waveform is not None
    last = smoothed(trace.weights("decoder.cross", 1)[:, -len(trace.steps) :], trace.source.waveform.frames)
    torch.testing.assert_close(heard.matrices[-len(last) :], last)
    asked = ["timing", "--model", str(folder), "--data", str(data), "--device", "cpu"]
    assert main([*asked, "--json"]) == 0
    line = capsys.readouterr().out.strip()
    assert is_as_listed("timing", line)
    told = json.loads(line)
    assert (told["set"], told["sounds"], told["own"]["heads"], told["found"]) == ("sounds", 1, own, [])
    assert [(head["layer"], head["head"]) for head in told["heads"]] == [
        (layer, head) for layer, count in enumerate(reader.abilities.heads["decoder.cross"]) for head in range(count)
    ]
    assert main(asked) == 0
    assert "alignment_heads = [[1, 0], [0, 1]]" in capsys.readouterr().out
    settings.write_text(json.dumps({**stated, "alignment_heads": [[[1], 0], [0, 1]]}), encoding="utf-8")
    spoiled = open_reader(folder, "cpu")
    assert isinstance(spoiled, SpeechReader)
    assert spoiled.alignment_heads == ()
    (data / "tone.csv").unlink()
    assert main(asked) == 2
    assert "tone.wav has no file of word times" in capsys.readouterr().err
