"""Sphinx configuration: pages in MyST Markdown, whose cells are executed by the build."""

import os
import sysconfig

# Cells call the command line of the environment that builds the pages.
os.environ["PATH"] = os.pathsep.join((sysconfig.get_path("scripts"), os.environ["PATH"]))
os.environ |= {"COLUMNS": "80", "TTY_COMPATIBLE": "0"}  # no progress bars and colours

project, author = "mbssa", "the mbssa developers"
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_use_ivar = True
suppress_warnings = ["ref.python"]  # words such as "number" that name attributes of several classes
html_theme = "furo"
html_title = "mbssa"
exclude_patterns = ["_build"]
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True
nb_render_markdown_format = "myst"
myst_heading_anchors = 3
