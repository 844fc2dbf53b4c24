"""Run docs/notebook.ipynb, and write it with its outputs, which the site shows as they are.

It takes half a minute. The engine plays better from one version to the next, so the outputs change a little, too.
"""

import argparse
from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[1] / "docs" / "notebook.ipynb"
SECONDS = 600  # for a cell; only a defect takes so long


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=NOTEBOOK, help="where to (default: docs/notebook.ipynb itself)")
    out = parser.parse_args().out
    notebook = nbformat.read(NOTEBOOK, 4)
    folder = {"metadata": {"path": NOTEBOOK.parent}}  # as in Jupyter
    NotebookClient(notebook, timeout=SECONDS, record_timing=False, resources=folder).execute()
    notebook.metadata.pop("language_info", None)  # which names the version of Python
    nbformat.write(notebook, out)


if __name__ == "__main__":
    main()
