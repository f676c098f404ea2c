"""One class of poses and one search of a spanning tree, counted by name: lists that may only shrink."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("mbssa", "groups", "routes", "mbssa_studio")

#: Poses of bodies are ``Poses``, and one of two frames is ``RelativePose``. The others hold more: a motion
#: with its geometry for reactions, the equations of a joint.
POSES = {
    "mbssa/joints/poses.py Poses", "mbssa/joints/poses.py RelativePose",
    "groups/joint_jacobian.py PosesOverTime", "groups/joint_jacobian.py PairPose",
}  # fmt: skip
#: What a tree is made of: of a group, of Wehage's method, of an XML file; equations of motion of trees.
TREES = {
    "groups/dynamics/forward/trees.py Trees",
    "groups/tree.py GroupTree", "mbssa/loops/spanning_tree.py CutTree",
    "mbssa/io/robots/xml_tree.py _Tree",
}  # fmt: skip
#: Only ``spanning_forest`` searches; the others weigh the joints, or name the pairs of a pin.
SEARCHES = {
    "mbssa/disjoint_set.py spanning_forest", "groups/tree.py spanning", "mbssa/io/multiple.py spanning_tree",
    "mbssa/io/multiple.py spanning_choices", "mbssa/io/toml_file.py _spanning_pairs",
}  # fmt: skip


def names(kind, *parts):
    """Definitions whose names have one of some parts, with their files."""
    found = set()
    for path in (p for package in PACKAGES for p in sorted((ROOT / package).rglob("*.py"))):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, kind) and any(part in node.name for part in parts):
                found.add(f"{path.relative_to(ROOT).as_posix()} {node.name}")
    return found


def test_there_is_one_class_of_poses():
    assert names(ast.ClassDef, "Pose", "Configuration") <= POSES


def test_there_is_one_search_of_a_spanning_tree():
    assert names(ast.ClassDef, "Tree", "Forest") <= TREES | {"groups/tree.py Forest"}
    assert names(ast.FunctionDef, "spanning") <= SEARCHES
    # A tree is what joins two sets: nothing else filters edges by it.
    searching = [
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        if "if parts.merge(" in (text := path.read_text("utf-8")) or "if joined.merge(" in text
    ]
    assert searching == ["mbssa/disjoint_set.py"]
