"""Run docs/notebook.ipynb, and write it with its outputs, which the website shows unchanged.

It takes half a minute. The outputs change a little with each version of the engine.
"""

import argparse
from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[1] / "docs" / "notebook.ipynb"
SECONDS = 600  # time limit for a cell; only a defect takes this long


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=NOTEBOOK, help="output file (default: docs/notebook.ipynb itself)")
    out = parser.parse_args().out
    notebook = nbformat.read(NOTEBOOK, 4)
    folder = {"metadata": {"path": NOTEBOOK.parent}}  # as in Jupyter
    NotebookClient(notebook, timeout=SECONDS, record_timing=False, resources=folder).execute()
    notebook.metadata.pop("language_info", None)  # because it contains the version of Python
    nbformat.write(notebook, out)


if __name__ == "__main__":
    main()
