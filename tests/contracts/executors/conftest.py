"""What ranks are started with is for them alone."""

collect_ignore = ["on_ranks.py", "slowly.py"]
