"""The notebook in the documents runs, and shows what it says."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def outputs(file: Path) -> list[list[dict[str, Any]]]:
    """Give the outputs of each cell of code."""
    cells = json.loads(file.read_text("utf-8"))["cells"]
    return [cell["outputs"] for cell in cells if cell["cell_type"] == "code"]


def kinds(found: list[list[dict[str, Any]]]) -> list[list[list[str]]]:
    return [[sorted(each.get("data", {each["output_type"]: ""})) for each in cell] for cell in found]


def test_the_notebook_runs(tmp_path: Path) -> None:
    file = tmp_path / "notebook.ipynb"
    subprocess.run([sys.executable, ROOT / "tools" / "run_notebook.py", "--out", file], check=True, timeout=250)
    found, kept = outputs(file), outputs(ROOT / "docs" / "notebook.ipynb")
    assert kinds(found) == kinds(kept)  # the one in the documents has its outputs
    text = json.dumps(found)
    assert "Traceback" not in text
    assert text.count("<svg") == 2 and text.count("White: ") == 2  # boards with bars
    assert text.count("<table") >= 5  # those beside the boards, and of pandas
    assert text.count("image/png") == 2
    assert re.search(r"<Analysis: Qh4#, #-1, depth \d+, 1 line>", text)
