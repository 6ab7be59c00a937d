"""Equations as MathML, which browsers draw by themselves: no script and no network."""

import re

from docutils import nodes
from docutils.utils.math import MathError, pick_math_environment
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator

_LOGGER = logging.getLogger(__name__)


def to_mathml(tex: str, *, block: bool) -> str:
    r"""LaTeX as MathML, by the converter that comes with docutils.

    Example:
        >>> "<mi>x</mi>" in to_mathml("x^2", block=False)
        True
    """
    tex = re.sub(r"\n\s*\n", "\n", tex.strip())
    if block and pick_math_environment(tex) == "align*":
        tex = f"\\begin{{align*}}{tex}\\end{{align*}}"
    markup = tex2mathml(tex, as_block=block)
    # A bar is taken for an operator between two terms, with space on both sides.
    return re.sub(r"<mo([^>]*)>\|</mo>", r'<mo\1 lspace="0" rspace="0">|</mo>', markup)


def _visit(translator: HTML5Translator, node: nodes.math | nodes.math_block) -> None:
    block = isinstance(node, nodes.math_block)
    try:
        markup = to_mathml(node.astext(), block=block)
    except MathError as error:
        _LOGGER.warning("equation %r: %s", node.astext(), error, location=node)
        markup = translator.encode(node.astext())
    translator.body.append(f'<div class="equation">{markup}</div>' if block else markup)
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the renderer with Sphinx."""
    app.add_html_math_renderer("mathml", (_visit, None), (_visit, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
