"""The site of the documents: ``make docs`` builds it into ``docs/_build``, and needs no network for it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))
sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

import knightadder

project = "Knightadder"
author = "The Knightadder developers"
version = release = knightadder.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinxarg.ext", "sessions", "source_pages"]
exclude_patterns = ["_build", "jupyter_execute"]  # the second is where MyST-NB puts outputs of notebooks
source_pages_documents = {"CHANGELOG.md": "changelog", "README.md": "index"}

# tools/run_notebook.py runs it: here its outputs are only shown.
nb_execution_mode = "off"

# Headings are link targets, as they are where the repository is read.
myst_heading_anchors = 4

# Names in the library's docstrings stand in single backticks.
default_role = "py:obj"
# Parameters are described in words as much as in types, which nothing can link to.
napoleon_use_param = False
napoleon_use_rtype = False
autodoc_typehints_format = "short"
python_maximum_signature_line_length = 100
# Other projects' references are on the network.
nitpick_ignore_regex = [
    ("py:.*", r"(_?asyncio|chess|collections|concurrent|distributed|numpy|os|pandas|typing)\..*"),
    ("py:class", "Tabular"),  # the base of all results, which is not public
    ("py:class", "Executor|Future"),  # of annotations in quotation marks, which Sphinx does not resolve
    ("py:class", r"knightadder\.library\.stream\.Feed"),  # made by the engine
    ("py:class", r"knightadder\.pgn\..*|pathlib\.Path"),  # made by `read_games`
    ("py:class", r"Rows|pyarrow\.Table"),
]

html_theme = "furo"
html_title = f"Knightadder {version}"
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
