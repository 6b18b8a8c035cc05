"""A corpus on a cluster: the same numbers, whoever dies meanwhile, and neither weights nor secrets in what is sent."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import numpy as np
import psutil
import pytest
import torch

from model import Translator
from model.__main__ import main
from model.analysis.atlas.measure import Atlas, build_atlas
from model.analysis.coreference.case_files import PronounCases, curated_cases
from model.analysis.coreference.measure import measure_coreference
from model.analysis.corpus import CorpusSentence
from model.analysis.head_description.measure import measure_heads
from model.analysis.interventions.head_effects import heads_off
from model.analysis.metrics.alignment import AlignedPair
from model.analysis.metrics.head_metrics import HeadName
from model.analysis.reasons.over_set import TwinPair, reasons_over_set
from model.analysis.two_models import head_distances
from model.checkpoint import save_checkpoint
from model.cluster import ModelPlace, computed_on, joined, local_workers
from model.errors import ClusterError
from model.evaluation import evaluate_writer
from model.interruption import Kept
from model.pairs import Pair
from model.reader import Reader, Writer
from tests.conftest import SENTENCES
from tests.paths import ROOT
from tests.patience import PATIENCE

distributed = pytest.importorskip("distributed", reason="needs Dask: pip install 'headlight[cluster]'")
cloudpickle = pytest.importorskip("cloudpickle")
pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("default")]

#: Every third sentence comes again and again: of equal ones, the earlier is stronger.
CORPUS = [CorpusSentence(f"{text} {number}" if number % 3 else text) for number, text in enumerate(SENTENCES[:11] * 20)]
ALIGNED = [AlignedPair(("Tom", "told", str(number)), ("Tom", "sagte"), frozenset({(0, 0)})) for number in range(70)]


@pytest.fixture(scope="module")
def folder(tiny_checkpoints: Path) -> Path:
    return tiny_checkpoints / "en-de"


@pytest.fixture(scope="module")
def writer(folder: Path) -> Translator:
    return Translator.load(folder, device="cpu")


@pytest.fixture(scope="module")
def places(folder: Path, writer: Translator) -> dict[str, ModelPlace]:
    return {writer.key: ModelPlace(str(folder), writer.weights_digest, "cpu", "float32")}


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with local_workers(2) as client:
        yield client


def same(found: Atlas, expected: Atlas) -> None:
    for name in ("metrics", "intervals"):
        ours, theirs = getattr(found, name), getattr(expected, name)
        assert ours.keys() == theirs.keys()
        for metric, table in ours.items():
            np.testing.assert_allclose(table, theirs[metric], atol=1e-6, rtol=1e-6)
    np.testing.assert_allclose(found.divergences, expected.divergences, atol=1e-6)
    np.testing.assert_allclose(found.mean_outputs, expected.mean_outputs, atol=1e-6)
    assert (found.texts, found.rows, found.corpus) == (expected.texts, expected.rows, expected.corpus)
    for metric, ranked in found.strongest.items():
        np.testing.assert_array_equal(ranked, expected.strongest[metric])


def measured(writer: Writer, reader: Reader) -> dict[str, Any]:
    cases = PronounCases(curated_cases().cases[:40])
    bleu = evaluate_writer(writer, [Pair(text, SENTENCES[1]) for text, _ in CORPUS[:50]])
    twins = [TwinPair(f"{number}", f"Tom told me {number}.", f"Tom told us {number}.") for number in range(20)]
    reasons = reasons_over_set(reader, twins)
    described = measure_heads(reader, CORPUS[:50]).sites["decoder.cross"]
    return {
        "coreference": measure_coreference(reader, cases).sites["encoder.self"].accuracy.value,
        "distances": head_distances(reader, reader, [text for text, _ in CORPUS[:40]], ("encoder.self",) * 2).distances,
        "bleu": [bleu.bleu, bleu.chrf, bleu.cut],
        "heads": [described.weight, described.of_tokens],
        "reasons": [reasons.odds, reasons.of_parts, reasons.weights],
    }


def test_two_workers_give_what_one_process_gives(
    client: Any, places: dict[str, ModelPlace], writer: Translator
) -> None:
    cases = PronounCases(curated_cases().cases[:40])
    atlas, others = build_atlas(writer, CORPUS, ALIGNED, cases=cases), measured(writer, writer)
    with computed_on(client, places):
        done: list[int] = []
        same(build_atlas(writer, CORPUS, ALIGNED, done.append, cases), atlas)
        found = measured(writer, writer)
    assert sum(done) == len(CORPUS) + len(ALIGNED)
    for module in ("atlas.measure", "head_description.measure"):
        name = f"model.analysis.{module}"
        assert list(client.run(lambda name=name: name in sys.modules).values()) == [True, True]
    for name, expected in others.items():
        for ours, theirs in zip(found[name], expected, strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-6, rtol=1e-6)


def test_no_weights_and_no_secrets_are_sent(
    client: Any, places: dict[str, ModelPlace], writer: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_a-secret-of-this-test")
    sent: list[bytes] = []
    submit = client.submit

    def watched(*given: Any, **options: Any) -> Any:
        sent.append(cloudpickle.dumps(given))
        return submit(*given, **options)

    monkeypatch.setattr(client, "submit", watched)
    with computed_on(client, places):
        build_atlas(writer, CORPUS, ALIGNED, cases=PronounCases(curated_cases().cases[:40]))
        measured(writer, writer)
    assert len(sent) > 10
    weights = [weight.detach().numpy().tobytes()[:64] for weight in writer.model.parameters()]
    for message in sent:
        assert len(message) < 20_000 < writer.num_bytes
        assert not any(weight in message for weight in weights)
        assert b"hf_a-secret" not in message


def test_workers_of_this_machine_are_reached_from_it_alone_and_have_no_pages(client: Any) -> None:
    processes = [psutil.Process(pid) for pid in (os.getpid(), *client.run(os.getpid).values())]
    listening = {
        each.laddr for process in processes for each in process.net_connections() if each.status == psutil.CONN_LISTEN
    }
    assert len(listening) > 3
    assert {address for address, _port in listening} == {"127.0.0.1"}
    assert client.scheduler.address.startswith("tls://")
    for port in (client.cluster.scheduler.http_server.port, *client.run(port_of_pages).values()):
        for page in ("health", "info/main/workers.html", "api/v1/retire_workers", "json/identity.json"):
            with pytest.raises(HTTPError, match="404"):
                urlopen(f"http://127.0.0.1:{port}/{page}")


def port_of_pages(dask_worker: Any) -> int:
    return int(dask_worker.http_server.port)


def test_edits_of_heads_are_computed_where_they_are_made(
    client: Any, places: dict[str, ModelPlace], writer: Translator
) -> None:
    pairs = [Pair(text, SENTENCES[1]) for text, _ in CORPUS[:40]]
    off = [HeadName("decoder.cross", 1, head) for head in range(writer.abilities.heads["decoder.cross"][1])]
    written: list[str] = []
    with computed_on(client, places), heads_off(writer, off):
        evaluate_writer(writer, pairs, collect=written.append)
    expected: list[str] = []
    with heads_off(writer, off):
        evaluate_writer(writer, pairs, collect=expected.append)
    assert written == expected


def test_a_worker_with_another_model_is_refused(client: Any, places: dict[str, ModelPlace], writer: Translator) -> None:
    (key, place), *_ = places.items()
    other = ModelPlace(place.name, "0" * 64, "cpu", "float32")
    with computed_on(client, {key: other}), pytest.raises(ClusterError, match="is a different model"):
        build_atlas(writer, CORPUS)
    nowhere = ModelPlace(f"{place.name}-not", place.digest, "cpu", "float32")
    with computed_on(client, {key: nowhere}), pytest.raises(ClusterError, match="There is no folder"):
        build_atlas(writer, CORPUS)


def test_a_worker_killed_in_the_middle_changes_nothing(places: dict[str, ModelPlace], writer: Translator) -> None:
    expected, killed = build_atlas(writer, CORPUS), list[int]()
    workers: Any

    def kill(done: int) -> None:
        if done and not killed:
            killed.extend(workers.run(os.getpid).values())
            psutil.Process(killed[0]).kill()

    with local_workers(2) as workers:
        with computed_on(workers, places):
            found = build_atlas(writer, CORPUS, progress=kill)
        assert not psutil.pid_exists(killed[0])
    same(found, expected)


def test_a_lost_cluster_is_said_and_what_was_kept_goes_on(
    places: dict[str, ModelPlace], writer: Translator, tmp_path: Path
) -> None:
    done: list[int] = []
    workers: Any

    def lose(count: int) -> None:
        done.append(count)
        if sum(done) >= 80 and workers.cluster.status.name == "running":
            workers.cluster.close()

    with (
        local_workers(2) as workers,
        computed_on(workers, places),
        pytest.raises(ClusterError, match=r"was lost.* texts have been computed, .* were being computed"),
    ):
        build_atlas(writer, CORPUS, progress=lose, unfinished=tmp_path)
    with local_workers(1) as workers, computed_on(workers, places):
        again: list[int] = []
        found = build_atlas(writer, CORPUS, progress=again.append, unfinished=tmp_path)
    assert sum(count for count in again if isinstance(count, Kept)) >= 64
    assert sum(again) == len(CORPUS)
    same(found, build_atlas(writer, CORPUS))


@pytest.mark.skipif(os.name == "nt", reason="Windows sends no such signal to one process")
def test_control_c_ends_a_command_and_its_workers(folder: Path, tmp_path: Path) -> None:
    texts = tmp_path / "texts.txt"
    texts.write_text("\n".join(f"Tom told me {number}." for number in range(20_000)), encoding="utf-8")
    command = [sys.executable, "-m", "model", "atlas", "--text", str(texts), "--checkpoint", str(folder)]
    command += ["--out", str(tmp_path / "out.npz"), "--workers", "2", "--device", "cpu"]
    with subprocess.Popen(
        command, cwd=ROOT, stderr=subprocess.PIPE, encoding="utf-8", start_new_session=True
    ) as process:
        end = time.monotonic() + PATIENCE
        while not list(tmp_path.glob("out.npz.unfinished/*/*.npz")):
            assert process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.05)
        workers = psutil.Process(process.pid).children(recursive=True)
        assert len(workers) >= 2
        # As a terminal does: to all of them.
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate()
    assert process.returncode == 130
    assert said.splitlines()[-1] == "python -m model: Stopped."
    assert "Traceback" not in said
    assert not psutil.wait_procs(workers, timeout=PATIENCE)[1]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("tcp://10.1.2.3:8786", "tls://HOST:PORT"),
        ("ftp://localhost:1", "tls://HOST:PORT"),
        ("scheduler.json", "no scheduler file"),
        ("tcp://127.0.0.1:1", "cannot be used"),
    ],
)
def test_what_is_no_cluster_is_one_sentence(
    where: str, expected: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("model.cluster.PATIENCE", 1)
    with pytest.raises(ClusterError, match=expected) as error, joined(where):
        pass
    assert "\n" not in str(error.value)


def test_commands_join_a_cluster_by_its_scheduler_file(
    folder: Path, writer: Translator, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = deepcopy(writer.model)
    with torch.no_grad():
        for number, parameter in enumerate(changed.parameters()):
            parameter.mul_(1 + number % 3 / 10)
    save_checkpoint(tmp_path / "changed", changed, writer.tokenizer, card="For a test.\n")
    texts, file = tmp_path / "texts.txt", tmp_path / "scheduler.json"
    # What a random model writes is too long for the other one to read.
    texts.write_text("\n".join(f"{text}\t{SENTENCES[1]}" for text, _ in CORPUS), encoding="utf-8")
    options = ["--text", str(texts), "--device", "cpu", "--json"]
    commands = (
        ["atlas", *options, "--checkpoint", str(folder), "--out", str(tmp_path / "atlas.npz")],
        ["compare", *options, str(folder), str(tmp_path / "changed")],
    )
    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
        file.write_text(f'{{"address": "{cluster.scheduler_address}"}}', encoding="utf-8")
        joined_outputs = []
        for command in commands:
            assert main([*command, "--scheduler-file", str(file)]) == 0
            joined_outputs.append(capsys.readouterr().out)
        with distributed.Client(cluster, set_as_default=False) as client:
            assert list(client.run(lambda: "model.analysis.moved_heads" in sys.modules).values()) == [True]
    for command, expected in zip(commands, joined_outputs, strict=True):
        assert main(command) == 0
        assert capsys.readouterr().out == expected
