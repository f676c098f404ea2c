"""Sphinx configuration: pages in MyST Markdown, whose cells are executed by the build."""

import os
import sysconfig

# Cells call the command line of the environment that builds the pages.
os.environ["PATH"] = os.pathsep.join((sysconfig.get_path("scripts"), os.environ["PATH"]))
os.environ["COLUMNS"] = "80"

project, author = "mbssa", "the mbssa developers"
extensions = ["myst_nb"]
html_theme = "furo"
html_title = "mbssa"
exclude_patterns = ["_build"]
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True
myst_heading_anchors = 3
