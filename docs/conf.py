"""How Sphinx builds these pages; `make docs` runs it."""

import sys
import tomllib
from pathlib import Path

_DOCS = Path(__file__).parent
sys.path.insert(0, str(_DOCS / "_ext"))

project = "torchalu"
author = copyright = "The torchalu developers"
version = release = tomllib.loads((_DOCS.parent / "pyproject.toml").read_text("utf-8"))["project"][
    "version"
]

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "mathml",
    "committed",
    "conventions",
    "cost",
    "exhibits",
]
exclude_patterns = ["_build", "_ext"]
templates_path = ["_templates"]
default_role = "literal"
html_math_renderer = "mathml"

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
myst_update_mathjax = False

autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_typehints_format = "short"
autodoc_type_aliases = {"RunOptions": "Runs"}
autosummary_generate = False
napoleon_numpy_docstring = False
napoleon_custom_sections = ["Equation", "Shape", "Units", "Initialization", "Source"]
python_maximum_signature_line_length = 88

html_theme = "pydata_sphinx_theme"
html_title = "torchalu"
html_static_path = ["_static"]
html_css_files = ["torchalu.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navigation_with_keys": False,
    "navbar_center": [],
    "navbar_persistent": [],
    "navbar_end": ["search-button-field", "theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"**": ["contents"]}
