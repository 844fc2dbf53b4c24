"""The file of drills: what is asked when, and what happens to damaged files."""

import shutil
import sqlite3
from datetime import UTC, datetime, timedelta

import pytest

from knightadder.drills.box import Choice, DrillBox
from knightadder.drills.drill import Drill
from knightadder.engine.errors import OptionError

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
AFTER_E4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
FORK = "4k3/8/8/2q5/4N3/8/6PP/7K w - - 0 1"
OPENING = Drill("repertoire", START, (("e2e4", "e7e5", "g1f3"),), "Repertoire", "Unnamed")
REPLY = Drill("repertoire", AFTER_E4, (("c7c5",), ("e7e5",)), "Repertoire", "King's Pawn Game")
MISTAKE = Drill("mistake", FORK, (("e4c5",),), "Did not take a loose piece", "Réti Opening")


class Clock:
    def __init__(self):
        self.time = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self):
        return self.time


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def box(tmp_path, clock):
    return DrillBox(tmp_path / "new" / "drills.sqlite", clock)


def answer(box, drill, grade, **details):
    """Answer a drill as a page that shows it now."""
    asked = box.next(Choice(kind=drill.kind, white=drill.board().turn))
    assert asked.drill == drill
    return box.answer(asked.number, asked.turn, grade, **details)


def test_a_drill_comes_back_later_each_time_it_is_right_and_soon_after_a_fault(box, clock):
    assert box.add([MISTAKE]) == 1
    assert box.add([MISTAKE]) == 0
    assert box.add([MISTAKE, REPLY]) == 1
    waits = []
    for grade in ("good", "good", "good", "good", "again"):
        due = answer(box, MISTAKE, grade)
        waits.append(due - clock.time)
        clock.time = due
    assert timedelta(minutes=1) <= waits[0] < timedelta(days=1) < waits[2] < waits[3]
    assert waits[4] <= timedelta(minutes=20)


def test_due_ones_come_before_new_ones_and_none_twice_in_a_row(box, clock):
    box.add([MISTAKE, OPENING])
    first = box.next()
    answer(box, MISTAKE, "again")
    assert box.next(after=first.number).drill == OPENING
    clock.time += timedelta(minutes=2)
    assert box.next().number == first.number
    answer(box, MISTAKE, "good")
    for _ in range(3):
        clock.time = answer(box, OPENING, "good")
    clock.time = answer(box, MISTAKE, "good")
    answer(box, MISTAKE, "good")
    answer(box, OPENING, "good")
    asked = box.next()
    assert asked.number is None and asked.next_due > clock.time + timedelta(minutes=20)


def test_drills_are_chosen_by_kind_side_theme_and_opening(box):
    box.add([MISTAKE, OPENING, REPLY])
    for choice, wanted in (
        (Choice(kind="mistake"), MISTAKE),
        (Choice(kind="repertoire", white=False), REPLY),
        (Choice(kind="repertoire", white=True), OPENING),
        (Choice(theme=MISTAKE.theme), MISTAKE),
        (Choice(opening="King's Pawn Game"), REPLY),
        (Choice(opening="King's Pawn Game", white=True), None),
    ):
        assert box.next(choice).drill == wanted
    assert [(each.opening, each.count, each.new, each.due) for each in box.groups()] == [
        ("Réti Opening", 1, 1, 0),
        ("Unnamed", 1, 1, 0),
        ("King's Pawn Game", 1, 1, 0),
    ]


def test_a_changed_repertoire_keeps_the_progress_of_what_stays_and_of_what_returns(box, clock):
    assert box.set_repertoire(True, [OPENING]) == 1 and box.set_repertoire(False, [REPLY]) == 1
    answer(box, OPENING, "good")
    assert box.set_repertoire(True, []) == 0
    assert box.next(Choice(white=True)).number is None and box.next().drill == REPLY
    assert box.set_repertoire(True, [OPENING]) == 0
    [white, _] = box.groups()
    assert (white.count, white.new) == (1, 0)
    assert box.repertoires() == {
        True: {"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -": ("e2e4",)},
        False: {"rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq -": ("c7c5", "e7e5")},
    }


def test_progress_is_there_in_another_process(box, clock):
    box.add([MISTAKE])
    due = answer(box, MISTAKE, "again")
    assert DrillBox(box.file, clock).next().next_due == due


def test_drills_that_another_process_adds_first_are_not_new(box):
    def late(add):
        add([OPENING])  # by another process, while these drills are prepared
        yield OPENING

    other = DrillBox(box.file)
    assert box.add(late(other.add)) == 0
    box.file.unlink()
    assert box.set_repertoire(True, late(lambda drills: other.set_repertoire(True, drills))) == 0


def test_an_answer_counts_once_however_often_it_is_sent(box, clock):
    box.add([MISTAKE])
    asked = box.next()
    due = box.answer(asked.number, asked.turn, "good")
    clock.time += timedelta(seconds=5)
    for grade in ("good", "again"):  # sent twice, or from another tab that shows the same turn
        assert box.answer(asked.number, asked.turn, grade) is None
    assert box.next().next_due == due
    assert box.next().turn != asked.turn
    assert box.answer(77, asked.turn, "good") is None
    box.file.unlink()
    box.add([REPLY])  # the drill with this number is now a different one
    assert box.answer(asked.number, asked.turn, "good") is None
    assert box.groups()[0].new == 1


def test_an_answer_that_comes_late_counts_from_when_it_was_given(box, clock):
    box.add([MISTAKE])
    clock.time += timedelta(hours=12)
    given = clock.time - timedelta(hours=11)
    due = answer(box, MISTAKE, "good", ago=timedelta(hours=11))
    assert given < due < given + timedelta(hours=1)
    assert answer(box, MISTAKE, "good", ago=timedelta(days=3)) > given  # not before the answer before it


def test_a_file_that_is_deleted_meanwhile_is_made_anew(box):
    box.add([MISTAKE])
    shutil.rmtree(box.file.parent)
    assert box.groups() == []
    assert box.add([MISTAKE]) == 1


def test_files_that_cannot_be_used_are_a_line(tmp_path, box):
    text = tmp_path / "text.sqlite"
    text.write_text("no database at all, but a text that is long enough\n" * 40)
    with pytest.raises(OptionError, match=r"cannot use the drills in .*text\.sqlite: file is not a database"):
        DrillBox(text)
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as database:
        database.execute("CREATE TABLE mine (x)")
    database.close()
    with pytest.raises(OptionError, match=r"other\.sqlite is not a file of drills, or a different version created it"):
        DrillBox(other)
    with pytest.raises(OptionError, match=r"cannot use .*text\.sqlite"):
        DrillBox(text / "drills.sqlite")
    box.add([MISTAKE])
    with sqlite3.connect(box.file) as database:
        [(drill,)] = database.execute("SELECT drill FROM drills")
    database.close()
    for damaged in ("{}", *(drill.replace('[["e4c5"]]', good) for good in ('[["e4e5"]]', '[["0000"]]', "[[]]", "[]"))):
        with sqlite3.connect(box.file) as database:
            database.execute("UPDATE drills SET drill = ?", [damaged])
        database.close()
        with pytest.raises(OptionError, match="is damaged"):
            box.next()
