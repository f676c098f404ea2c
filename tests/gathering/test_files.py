"""Files that are written whole: what is on the disk, in which order, and what is left after an error."""

import os

import pytest

from mbssa.gathering.files import whole


def test_the_content_is_on_the_disk_before_the_name_is(tmp_path, monkeypatch):
    """Else a power cut may leave an empty file where a whole one was."""
    done = []
    for name in ("fsync", "replace"):
        was = getattr(os, name)
        monkeypatch.setattr(os, name, lambda *a, name=name, was=was: (done.append(name), was(*a)))
    with whole(tmp_path / "run.csv") as place:
        place.write_text("time")
    assert done == ["fsync", "replace"]
    assert (tmp_path / "run.csv").read_text() == "time"


def test_a_disk_that_is_full_at_the_end_leaves_what_was_there(tmp_path, monkeypatch):
    def full(_handle):
        raise OSError(28, "No space left on device")

    (tmp_path / "run.csv").write_text("before")
    monkeypatch.setattr(os, "fsync", full)
    with (
        pytest.raises(OSError, match="No space left on device") as error,
        whole(tmp_path / "run.csv") as place,
    ):
        place.write_text("time")
    assert error.value.filename == str(tmp_path / "run.csv")
    assert [path.name for path in tmp_path.iterdir()] == ["run.csv"]
    assert (tmp_path / "run.csv").read_text() == "before"
