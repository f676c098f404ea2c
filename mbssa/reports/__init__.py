"""Reports of results (module 5 of MBSSA3D): one file turns one value into text, JSON, CSV and Markdown."""
