"""Edits of attention: they do what they say, step by step as in one pass, and the trace shows what the model used."""

import copy
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch

from model import Translator
from model.analysis.metrics.derived_row import head_parts
from model.errors import EditError, TraceError
from model.nn.edit_hooks import compile_edits
from model.nn.edits import HeadEdit, MakeUniform, PointAt, SwitchOff
from model.nn.encoder_decoder import SITES, site_path
from model.nn.hooks import listen
from model.nn.masks import key_padding, pad
from model.trace.file import load_trace, save_trace
from model.trace.trace import Trace
from tests.conftest import SENTENCES

TEXT = SENTENCES[0]
ROWS = 8
KINDS = {
    "off": lambda site, **where: SwitchOff(site, 1, 2, **where),
    "uniform": lambda site, **where: MakeUniform(site, 1, 2, **where),
    "pointed": lambda site, **where: PointAt(site, 1, 2, 0, **where),
}
SPANS: tuple[dict[str, int], ...] = ({}, {"row": 4}, {"since": 3})


def stepped(translator: Translator, edits: Sequence[HeadEdit], rows: int = ROWS) -> Trace:
    session = translator.decode(TEXT, extras={"hook_head_output"}, edits=edits)
    for _ in range(rows):
        session.step()
    return session.trace()


def in_one_pass(translator: Translator, trace: Trace, edits: Sequence[HeadEdit]) -> Trace:
    """One pass over the tokens that the stepwise trace wrote, under the same edits."""
    emitted = [step.token_id for step in trace.steps]
    return translator.trace_tokens(TEXT, emitted, extras={"hook_head_output"}, edits=edits)


def changed_rows(edit: HeadEdit, count: int) -> list[int]:
    return [row for row in range(count) if row == edit.row or (edit.row is None and row >= edit.since)]


@pytest.mark.parametrize("site", SITES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("span", SPANS, ids=str)
def test_step_by_step_equals_one_pass_and_weights_at_value_equal_the_real_output(
    translator: Translator, site: str, kind: str, span: dict[str, int]
) -> None:
    edit = KINDS[kind](site, **span)
    by_steps = stepped(translator, [edit])
    at_once = in_one_pass(translator, by_steps, [edit])
    for one, other in zip(by_steps.steps, at_once.steps, strict=True):
        assert one.log_prob == pytest.approx(other.log_prob, abs=1e-5)
    for where in SITES:
        for layer in range(2):
            torch.testing.assert_close(by_steps.weights(where, layer), at_once.weights(where, layer))
            for trace in (by_steps, at_once):
                assert trace.head_output_deviation(where, layer) <= 1e-5


@pytest.mark.parametrize("site", SITES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("span", SPANS, ids=str)
def test_edited_rows_are_what_was_asked_for_and_all_others_of_the_layer_stay(
    translator: Translator, site: str, kind: str, span: dict[str, int]
) -> None:
    edit = KINDS[kind](site, **span)
    plain = stepped(translator, ())
    edited = in_one_pass(translator, plain, [edit])
    before, after, mask = plain.weights(site, 1), edited.weights(site, 1), plain.mask(site, 1).float()
    expected = {
        "off": torch.zeros_like(mask),
        "uniform": mask / mask.sum(-1, keepdim=True),
        "pointed": torch.nn.functional.one_hot(torch.zeros(len(mask), dtype=torch.long), mask.size(1)).float(),
    }[kind]
    rows = changed_rows(edit, len(mask))
    assert rows
    torch.testing.assert_close(after[2][rows], expected[rows])
    kept = torch.ones(after.shape[:2], dtype=torch.bool)
    kept[2, rows] = False
    torch.testing.assert_close(after[kept], before[kept])
    path = site_path(site, 1)
    real = [trace.recorded[f"{path}.hook_head_output"] for trace in (plain, edited)]
    torch.testing.assert_close(real[1][kept], real[0][kept])
    assert not torch.allclose(real[1][2][rows], real[0][2][rows])
    for part in ("query", "key", "value"):
        torch.testing.assert_close(getattr(edited.inputs[site][1], part), getattr(plain.inputs[site][1], part))


@pytest.mark.parametrize("site", SITES)
def test_a_head_switched_off_contributes_nothing_as_if_its_part_of_the_output_projection_were_zero(
    translator: Translator, site: str
) -> None:
    plain = stepped(translator, ())
    edited = in_one_pass(translator, plain, [SwitchOff(site, 1, 2)])
    parts = head_parts(edited.attention(site, 1), 3, translator.output_projection(site, 1))
    assert not parts[2].any()
    assert parts[[0, 1, 3]].any(dim=1).all()
    # W_O without the head's rows: another way to the same model.
    without = copy.deepcopy(translator.model)
    d_k = translator.config.d_k
    with torch.no_grad():
        without.get_parameter(f"{site_path(site, 1)}.output.weight")[:, 2 * d_k : 3 * d_k] = 0.0
        source, target = torch.tensor([plain.source_ids]), torch.tensor([plain.target_ids])
        log_probs = without(source, target)[0].log_softmax(-1)
    for row, step in enumerate(edited.steps):
        assert step.log_prob == pytest.approx(float(log_probs[row, step.token_id]), abs=1e-5)


def test_several_edits_of_a_head_act_together_the_later_one_counts_and_off_is_off(translator: Translator) -> None:
    site = "decoder.cross"
    edits = [
        SwitchOff(site, 0, 0, row=1),
        MakeUniform(site, 0, 0),
        PointAt(site, 0, 0, 2, row=3),
        MakeUniform(site, 0, 3),
    ]
    weights = stepped(translator, edits, 5).weights(site, 0)
    uniform = 1 / weights.size(-1)
    assert weights[0, 1].eq(0).all()
    assert weights[0, 3].tolist() == [float(key == 2) for key in range(weights.size(-1))]
    torch.testing.assert_close(weights[[0, 0, 0, 3], [0, 2, 4, 1]], torch.full((4, weights.size(-1)), uniform))
    assert weights[1].std(dim=-1).gt(1e-4).all()


def test_compiled_edits_reach_every_sentence_of_a_batch_and_no_padding(translator: Translator) -> None:
    sources = pad([translator.source_ids(text) for text in (TEXT, "Tom told me.")], translator.config.pad_id)
    padding = key_padding(sources, translator.config.pad_id)
    edits = compile_edits([MakeUniform("encoder.self", 0, 1)], translator.config.shapes, num_source=5, num_target=5)
    with torch.no_grad(), listen(record={"hook_weights"}, edits=edits) as recorded:
        translator.model.encode(sources, padding)
    (weights,) = recorded["encoder.layers.0.self_attention.hook_weights"]
    expected = (padding / padding.sum(1, keepdim=True))[:, None].expand(-1, sources.size(1), -1)
    torch.testing.assert_close(weights[:, 1], expected)
    forbidden = compile_edits(
        [PointAt("encoder.self", 0, 1, sources.size(1) - 1)],
        translator.config.shapes,
        num_source=sources.size(1),
        num_target=5,
    )
    with torch.no_grad(), listen(edits=forbidden), pytest.raises(EditError, match="mask forbids"):
        translator.model.encode(sources, padding)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (SwitchOff("encoder.cross", 0, 0), r"no attention 'encoder\.cross', only encoder\.self"),
        (SwitchOff("encoder.self", 2, 0), "Layers of encoder.self run from 0 to 1, got 2"),
        (SwitchOff("encoder.self", -1, 0), "Layers .* got -1"),
        (MakeUniform("decoder.self", 0, 4), "Heads of decoder.self run from 0 to 3, got 4"),
        (MakeUniform("encoder.self", 0, 0, row=99), "Rows of encoder.self run from 0 to"),
        (MakeUniform("decoder.self", 0, 0, since=999), "Rows of decoder.self run from 0 to"),
        (PointAt("decoder.cross", 0, 0, 99), "Keys of decoder.cross run from 0 to .*, got 99"),
        (PointAt("encoder.self", 0, 0, -1), "Keys of encoder.self run from 0 to .*, got -1"),
        (PointAt("decoder.self", 0, 0, 3), "Row 0 of decoder.self may attend to keys up to 0, not to key 3"),
        (PointAt("decoder.self", 0, 0, 3, row=2), "Row 2 .* up to 2, not to key 3"),
    ],
    ids=str,
)
def test_an_edit_of_what_does_not_exist_is_refused_before_anything_runs(
    translator: Translator, edit: HeadEdit, message: str
) -> None:
    for run in (translator.decode, translator.trace):
        with pytest.raises(EditError, match=message):
            run(TEXT, edits=[edit])
    with pytest.raises(EditError, match=message):
        translator.trace(TEXT, target="Das Tier.", edits=[edit])


@pytest.mark.parametrize(
    "edit",
    [
        SwitchOff("encoder.self", 1, 3, row=4),
        MakeUniform("decoder.cross", 0, 0, since=6),
        PointAt("encoder.self", 0, 0, 4),
        PointAt("decoder.cross", 0, 0, 4, row=6),
        PointAt("decoder.self", 0, 0, 0),
        PointAt("decoder.self", 0, 0, 6, since=6),
    ],
    ids=str,
)
def test_the_first_and_the_last_of_each_can_be_edited(translator: Translator, edit: HeadEdit) -> None:
    """Of five rows of the encoder and seven of the decoder; a row of the decoder sees itself."""
    assert compile_edits([edit], translator.config.shapes, num_source=5, num_target=7)


def test_a_file_with_an_edit_of_what_does_not_exist_is_refused(translator: Translator, tmp_path: Path) -> None:
    save_trace(stepped(translator, [SwitchOff("decoder.cross", 0, 3)], 2), tmp_path / "trace.npz")
    with np.load(tmp_path / "trace.npz") as file:
        arrays = dict(file)
    header = json.loads(arrays["trace.json"].tobytes())
    wrongs: tuple[dict[str, object], ...] = ({"head": 4}, {"head": "3"}, {"site": "x"}, {"kind": "Trace"}, {"more": 1})
    for number, wrong in enumerate(wrongs):
        header["edits"] = [{**header["edits"][0], **wrong}]
        arrays["trace.json"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
        np.savez(tmp_path / f"{number}.npz", **arrays)
        with pytest.raises(TraceError, match="damaged"):
            load_trace(tmp_path / f"{number}.npz")
        header["edits"] = [{"kind": "SwitchOff", "site": "decoder.cross", "layer": 0, "head": 3}]
