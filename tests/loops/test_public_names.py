"""Every public name of the folder is listed, sorted, and has an executed example."""

import mbssa.loops


def test_all_is_sorted_and_has_examples():
    assert list(mbssa.loops.__all__) == sorted(mbssa.loops.__all__)
    without = [
        name for name in mbssa.loops.__all__ if ">>>" not in (getattr(mbssa.loops, name).__doc__ or "")
    ]
    assert without == []
