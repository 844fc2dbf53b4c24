"""The tables of `make bench-table`, and what benchmarks say of results that are missing."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def microbench(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import microbench

    return microbench


def _rows(text):
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()[2:]]


def test_every_evaluation_is_timed(microbench):
    rows = _rows(microbench.table(microbench.EVALUATION, None, 1))
    assert len(rows) == 15
    for name, ours, published, _ in rows:
        assert ours.endswith(" ns") and float(ours.split()[0]) > 0
        assert published.endswith(" ns") == (name.startswith("PeSTO") and "mean" not in name)


def test_each_search_begins_with_nothing_learnt(microbench):
    engine = microbench.Engine()
    count = microbench.nodes(microbench.KIWIPETE, 4)
    first = count(engine)
    microbench.search(microbench.KIWIPETE, 5)(engine)
    assert count(engine) == first
    engine.close()


def test_the_documents_show_all_rows(microbench):
    for name, measures in (("evaluation", microbench.EVALUATION), ("others", microbench.OTHERS)):
        rows = _rows((ROOT / f"docs/speed-{name}.txt").read_text("utf-8"))
        assert [row[0] for row in rows] == [measure.name for measure in measures]


@pytest.mark.parametrize(
    ("nodes", "text"),
    [
        ([], "0 of 0"),
        ([None, None], "0 of 2"),
        ([30, None, 10], "2 of 3; nodes: median 20, 90 % within 30, most 30"),
    ],
)
def test_mates_that_are_not_found(microbench, nodes, text):
    import mates

    assert mates.summary(nodes) == text
