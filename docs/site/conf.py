"""Settings of the documentation site. `make docs` assembles the pages and builds it, without a network."""

import scumble

project = "scumble"
author = "the scumble maintainers"
copyright = author
version = release = scumble.__version__

extensions = ["myst_parser"]
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]
suppress_warnings = ["misc.highlighting_failure"]  # output of commands is not code

html_theme = "alabaster"
html_title = "scumble"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "description": "Publish a table that people can mine without publishing the people in it.",
    "fixed_sidebar": True,
    "page_width": "1080px",
    "sidebar_width": "250px",
    "font_family": "system-ui, sans-serif",
    "head_font_family": "system-ui, sans-serif",
    "show_powered_by": False,
}
