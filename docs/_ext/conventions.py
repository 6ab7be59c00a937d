"""Two habits of the sources that the pages do not show.

A block of doctests in Markdown ends with an empty line, so that doctest does not take the fence
for output. Docstrings write |x| for the magnitude of x, where reStructuredText would read the
name of a substitution.
"""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform


class LastLine(SphinxTransform):
    """Drop the empty line at the end of a block."""

    default_priority = 400

    def apply(self, **_: object) -> None:
        """Shorten each block that has one."""
        for node in self.document.findall(nodes.literal_block):
            if node.rawsource == node.astext() and node.rawsource.endswith("\n"):
                node.rawsource = node.rawsource.rstrip("\n")
                node.children = []
                node += nodes.Text(node.rawsource)


class Magnitudes(SphinxTransform):
    """Put bars back where reStructuredText reads the name of a substitution."""

    default_priority = 215  # substitutions are resolved at 220

    def apply(self, **_: object) -> None:
        """Replace each reference by its text."""
        for node in list(self.document.findall(nodes.substitution_reference)):
            node.replace_self(nodes.Text(f"|{node.astext()}|"))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the transforms with Sphinx."""
    app.add_transform(LastLine)
    app.add_transform(Magnitudes)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
