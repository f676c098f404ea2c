"""Every file format keeps the topology of a mechanism and names a damaged file."""

from __future__ import annotations

from pathlib import Path

import pytest

import mbssa
from mbssa.io.formats import ALL_ENDINGS, ENDINGS

Rows = list[tuple[tuple[int, ...], str, tuple[str, ...]]]


def topology(mechanism: mbssa.Mechanism) -> Rows:
    """Bodies, type and driven coordinates of every joint, without the order that matrices do not keep."""
    rows = ((tuple(sorted(joint.bodies)), joint.type.code, joint.driven) for joint in mechanism.joints)
    return sorted(rows)


def test_topology_comes_back(tmp_path: Path) -> None:
    for name in ("planar_four_bar", "spatial_four_bar", "stewart"):
        model = mbssa.load(name)
        for ending in ENDINGS:
            path = tmp_path / f"{name}{ending}"
            mbssa.save(model, path)
            back = mbssa.load(path)
            assert (back.space, back.n_bodies) == (model.space, model.n_bodies), path.name
            assert topology(back) == topology(model), path.name


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    for ending in ALL_ENDINGS:
        path = tmp_path / f"damaged{ending}"
        path.write_bytes(b"\x00\xff{ nothing")
        with pytest.raises(mbssa.ModelError) as raised:
            mbssa.load(path)
        assert raised.value.source == str(path)
        assert raised.value.faults, ending
