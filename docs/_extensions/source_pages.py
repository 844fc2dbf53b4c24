"""A page in the site for every file of the repository that a document links to.

The documents link to sources by relative paths, which is what works where the repository itself is read. In the site
such a link would lead out of it. So each file becomes a page, in colours if it is Python, and the link leads there; a
link to a file that is included as a document, such as the changelog, leads to that document.
"""

from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.highlighting import PygmentsBridge
from sphinx.transforms import SphinxTransform

ROOT = Path(__file__).parents[2]
PAGES = "source/"  # the folder of these pages

_LEXERS = {".py": "python", ".json": "json", ".toml": "toml", ".md": "markdown"}


class SourceLinks(SphinxTransform):
    """Replace links to files outside the documents by links to their pages."""

    default_priority = 500

    def apply(self):
        """Look at every link that MyST took for one to a file."""
        kinds = (addnodes.download_reference, addnodes.pending_xref)
        for link in list(self.document.findall(lambda node: isinstance(node, kinds))):
            if link.get("reftype") == "myst":
                self._replace(link)

    def _replace(self, link):
        file = self._file(link)
        if file is None:
            return
        name = file.relative_to(ROOT).as_posix()
        document = self.config.source_pages_documents.get(name)
        if document is None:
            self.env.source_pages.add(name)
        target = document or PAGES + name
        page = nodes.reference("", "", *link.children, internal=True)
        page["refuri"] = self.app.builder.get_relative_uri(self.env.docname, target)
        link.replace_self(page)

    def _file(self, link):
        """Give the file that a link leads to, if it is in the repository and not one of the site's own files."""
        target = link["reftarget"]
        if link.get("refdomain") == "doc":  # a document, which MyST names without its suffix
            target += ".md"
            path = Path(target) if target.startswith("/") else self.env.srcdir / target
        else:
            path = Path(self.env.relfn2path(target, self.env.docname)[1])
        path = path.resolve()
        is_source = path.suffix == ".py" or not path.is_relative_to(self.env.srcdir)
        return path if path.is_relative_to(ROOT) and is_source and path.is_file() else None


def _start(app):
    if not hasattr(app.env, "source_pages"):
        app.env.source_pages = set()


def _pages(app):
    """Yield the pages: their names, what fills the template, and the template."""
    highlight = PygmentsBridge("html", app.config.pygments_style)
    for name in sorted(app.env.source_pages):
        file = ROOT / name
        code = highlight.highlight_block(file.read_text("utf-8"), _LEXERS.get(file.suffix, "text"), linenos=False)
        yield PAGES + name, {"title": name, "body": f"<h1>{name}</h1>\n{code}"}, "page.html"


def setup(app):
    """Register the extension with Sphinx."""
    app.add_config_value("source_pages_documents", {}, "env")
    app.add_transform(SourceLinks)
    app.connect("builder-inited", _start)
    app.connect("html-collect-pages", _pages)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
