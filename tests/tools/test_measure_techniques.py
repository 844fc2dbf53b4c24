"""The switches that the book's measurement of techniques builds into the engine."""

import ast
import shutil
from pathlib import Path

import measure_techniques

from knightadder.core.search.parameters import PARAMETERS

PACKAGE = Path(measure_techniques.ROOT) / "src" / "knightadder"


def test_every_technique_can_still_be_switched_off(tmp_path):
    files = {edit.file for edit in measure_techniques.edits()}
    for file in files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PACKAGE / file, tmp_path / file)
    measure_techniques.build_in(tmp_path)
    for file in files:
        text = (tmp_path / file).read_text("utf-8")
        ast.parse(text)
        assert "without" in text and "{off}" not in text
    known = {parameter.name for parameter in PARAMETERS}
    for technique in measure_techniques.TECHNIQUES:
        assert bool(technique.edits) != bool(technique.parameters)
        assert technique.parameters.keys() <= known
