"""Attribution as a job of the pages."""

from model import Translator
from viz.access.attribution import explaining_step
from viz.server.background_jobs import Progress


def test_its_progress_rises_to_the_end(translator: Translator) -> None:
    task = explaining_step(translator, translator.trace("The dog did not run because it was tired."), 2, None)
    seen: list[tuple[int, int]] = []
    progress = Progress(task.total, task.unit, lambda: seen.append((progress.done, progress.total)))
    task.compute(progress)
    shares = [done / total for done, total in seen if total]
    assert shares == sorted(shares)
    assert len(set(shares)) > 6
    assert 0 < shares[0] < 0.5
    assert shares[-1] == 1
    assert shares.count(1) == 1
