"""``mbssa loops``: what it prints, writes and refuses."""

import json

import pytest

import mbssa
from mbssa.loops import independent_loops, wehage_substructures

TABLE_4 = {
    "P": [0, 1, 1, 1, 2, 3, 4, 9, 13, 1, 9, 8, 1, 11, 13, 15, 5, 10, 6, 7, 16, 12],
    "loop_terminators": [[9, 18], [9, 19], [14, 21], [11, 20], [16, 22], [8, 17]],
    "parent_joints": [None, *"SEMTFNPBCHQAIJKUDGOLR"],
}


def test_the_table_has_loops_and_modules(run_mbssa):
    done = run_mbssa("loops", "nine_bar")
    assert done.exit_code == 0
    assert "2 independent loops with the fewest coordinates; Eq. (1): C = P − N_m = 10 − 8" in done.stdout
    assert "determined: 2 modules in 2 levels" in done.stdout
    assert str(independent_loops(mbssa.load("nine_bar"))) + "\n" == done.stdout


def test_json_says_everything(run_mbssa):
    record = json.loads(run_mbssa("loops", "rotor", "--compare", "--format", "json").stdout)
    assert record["loops"][0]["bodies"] == [1, 10, 9, 13]
    assert record["modules"][0]["cuts"] == ["9-10"]
    assert [way["modules"] for way in record["comparison"]] == [7, 6, 5, 1]


def test_csv_and_markdown(run_mbssa):
    lines = run_mbssa("loops", "nine_bar", "--format", "csv").stdout.splitlines()
    assert lines[0].startswith("Module,Loops,Equations")
    assert len(lines) == 3
    ways = run_mbssa("loops", "nine_bar", "--compare", "--format", "csv").stdout.splitlines()
    assert [line.split(",")[0] for line in ways[1:]] == [
        "structural groups",
        "minimum cycle basis",
        "Wehage",
        "all loops at once",
    ]
    text = run_mbssa("loops", "rotor", "--method", "wehage", "--format", "markdown").stdout
    assert text.startswith("# rotor: ")
    assert "| 5 | 5,6 | 13,9,15,8,16,12,21; 13,9,15,11,16,14,22 |" in text


def test_a_tree_of_the_paper_gives_its_table(run_mbssa, tmp_path):
    path = tmp_path / "table4.json"
    path.write_text(json.dumps(TABLE_4))
    done = run_mbssa("loops", "rotor", "--tree", str(path))
    assert done.exit_code == 0
    assert "5 substructures by Wehage's rule, loops {3, 5} merged" in done.stdout
    assert "13,9,15,11,16,14,21; 13,15,9,8,12,16,22" in done.stdout


def test_substructures_that_need_each_other_are_named(run_mbssa, tmp_path):
    path = tmp_path / "table6.json"
    parents = [0, 1, 1, 7, 2, 3, 11, 5, 10, 1, 14, 8, 1, 16, 13, 12, 13, 4, 16, 8, 9, 11]
    terminators = [[9, 17], [1, 18], [19, 15], [20, 9], [6, 21], [9, 22]]
    path.write_text(json.dumps({"P": parents, "loop_terminators": terminators}))
    done = run_mbssa("loops", "rotor", "--tree", str(path))
    assert "substructures 2, 3, 5 need each other's coordinates: module 3" in done.stdout


def test_the_user_chooses_where_to_cut(run_mbssa):
    done = run_mbssa("loops", "nine_bar", "--cut", "7-5, 1-6", "--format", "json")
    assert [loop["cut"] for loop in json.loads(done.stdout)["loops"]] == ["5-7", "1-6"]


def test_the_kinematic_graph_is_drawn(run_mbssa, tmp_path):
    for ending in ["svg", "png"]:
        path = tmp_path / f"loops.{ending}"
        assert run_mbssa("loops", "rotor", "--plot", str(path)).exit_code == 0, ending
        first = path.read_bytes()
        assert run_mbssa("loops", "rotor", "--plot", str(path), "--force").exit_code == 0, ending
        assert path.read_bytes() == first, ending
        if ending == "svg":
            found = independent_loops(mbssa.load("rotor"))
            arrows = [(a, b) for b in found.dag for a in found.dag.predecessors(b)]
            assert all(f'id="arrow-{a}-{b}"'.encode() in first for a, b in arrows), ending
            assert b'id="arrow-0-1"' in first, ending


def test_what_is_not_determined_exits_1(run_mbssa, tmp_path):
    path = tmp_path / "arm.toml"
    path.write_text('format = 1\nspace = "planar"\nbodies = 2\n[[joint]]\nbodies = [1, 2]\ntype = "R"\n')
    done = run_mbssa("loops", str(path))
    assert done.exit_code == 1
    assert "in no loop and not driven: 1-2.angle" in done.stdout


def test_bad_input_is_refused(run_mbssa, tmp_path):
    (tmp_path / "none.json").write_text("{}")
    for arguments, words in [
        (["--cut", "1-2"], "error: --cut: "),
        (["--cut", "3-4,9-9"], "no joint '9-9'"),
        (["--cut", "3-4,3-4"], "joint 3-4 is cut twice"),
        (["--method", "basis", "--cut", "3-4,1-9"], "--method basis"),
        (["--plot", "loops.txt"], "--plot loops.txt: ends in none of .png, .svg, .pdf"),
        (["--tree", "{tree}"], "tree.json: not JSON"),
        (["--tree", str(tmp_path / "none.json")], 'none.json: write {"P": [0, 1, …]'),
    ]:
        (tmp_path / "tree.json").write_text("P = [0]")
        done = run_mbssa("loops", "nine_bar", *(a.format(tree=tmp_path / "tree.json") for a in arguments))
        assert done.exit_code == 2, arguments
        assert words in done.stderr, arguments
        assert done.stdout == "", arguments


def test_what_is_proposed_instead_of_wrong_cuts_will_do(run_mbssa):
    for cuts in ["1-2,1-9,1-6", "1-2,2-3,3-4", "1-2,2-3", "1-2,2-3,3-4,4-5,5-7,1-6", "1-2"]:
        message = run_mbssa("loops", "nine_bar", "--cut", cuts).stderr
        here = "is 1" if cuts == "1-2" else f"are {cuts.count(',') + 1}"
        assert f"2 loops need 2 cuts, and here {here}; " in message, cuts
        assert ("bodies come loose from the frame" in message) == (cuts != "1-2"), cuts
        advice = message.partition("; ")[2].strip().removesuffix(", for instance")
        out, _, more = advice.removeprefix("leave out ").partition("cut ")
        left = set(cuts.split(",")) - set(out.removesuffix("and ").strip(", ").split(", "))
        left |= set(more.removesuffix(" too").split(", ")) if more else set()
        assert run_mbssa("loops", "nine_bar", "--cut", ",".join(left)).exit_code == 0, cuts


class TestTrees:
    def test_the_printed_parent_of_body_7_is_refused(self):
        printed = {**TABLE_4, "P": [3 if body == 7 else p for body, p in enumerate(TABLE_4["P"], 1)]}
        with pytest.raises(ValueError, match=r"7 and 3.*4-7"):
            wehage_substructures(mbssa.load("rotor"), tree=printed)

    def test_cuts_and_the_tree_that_they_leave_are_the_same(self):
        rotor = mbssa.load("rotor")
        by_tree = wehage_substructures(rotor, tree=TABLE_4)
        by_cuts = wehage_substructures(rotor, cuts=["9-10", "6-9", "14-16", "7-11", "12-16", "5-8"])
        assert by_tree.loops == by_cuts.loops
        assert [each.loops for each in by_tree.substructures] == [
            each.loops for each in by_cuts.substructures
        ]

    def test_joints_of_the_same_bodies_are_told_apart_by_their_ids(self):
        banana = mbssa.load("double_banana")
        lists = {"P": [0, 1, 1], "loop_terminators": [[2, 3]]}
        with pytest.raises(ValueError, match=r"2 and 1.*ids"):
            wehage_substructures(banana, tree=lists)
        named = {**lists, "parent_joints": [None, "upper_tip", "lower_tip"]}
        assert wehage_substructures(banana, tree=named).loops[0].cut == banana.joint("lower_tip").index

    def test_lists_that_do_not_fit_are_refused(self):
        for lists, words in [
            ({}, "write {"),
            ({"P": [0, 1], "loop_terminators": []}, "P has 2.*4 bodies"),
            ({"P": [0, 1, 2, 1], "loop_terminators": []}, "3-4"),
            ({"P": [0, 1, 2, 3, 1], "loop_terminators": [[4, 5], [2, 1]]}, "1-2"),
            ({"P": [0, 1, 2, 3, 1], "loop_terminators": [[4, 5]], "parent_joints": 5}, "is no list"),
        ]:
            with pytest.raises(ValueError, match=words):
                wehage_substructures(mbssa.load("planar_four_bar"), tree=lists)

    def test_cuts_and_a_tree_are_one_too_many(self):
        with pytest.raises(ValueError, match="write one of them"):
            wehage_substructures(mbssa.load("rotor"), cuts=[], tree=TABLE_4)


def test_ids_and_titles_with_brackets_are_printed_as_they_are(run_mbssa, tmp_path):
    path = tmp_path / "odd.toml"
    path.write_text(
        'format = 1\nspace = "planar"\nbodies = 3\ntitle = "[/b]"\n'
        '[[joint]]\nid = "a [/b]"\nbodies = [1, 2]\ntype = "R"\ndriven = true\n'
        '[[joint]]\nid = "c|[red]d"\nbodies = [2, 3]\ntype = "R"\n'
        '[[joint]]\nbodies = [1, 3]\ntype = "SLOT"\n'
    )
    done = run_mbssa("loops", str(path))
    assert done.exit_code == 0
    assert "a [/b] R  c|[red]d R  1-3 SLOT" in done.stdout


def test_no_file_is_written_over_one_that_is_read_or_written(run_mbssa, tmp_path):
    for option in ["--output", "--plot", "--tree"]:
        model = tmp_path / "arm.toml"
        model.write_text('format = 1\nspace = "planar"\nbodies = 2\n[[joint]]\nbodies = [1, 2]\ntype = "R"\n')
        before = model.read_bytes()
        picture, tree = tmp_path / "a.svg", tmp_path / "tree.json"
        tree.write_text('{"P": [0, 1], "loop_terminators": []}')
        options = {
            "--output": ["--output", str(model)],
            "--plot": ["--output", str(picture), "--plot", str(picture)],
            "--tree": ["--tree", str(tree), "--output", str(tree)],
        }
        done = run_mbssa("loops", str(model), *options[option])
        assert done.exit_code == 2, option
        assert "name another file" in done.stderr, option
        assert model.read_bytes() == before, option
        assert not picture.exists(), option
        assert tree.read_text().startswith("{"), option


def test_what_the_count_does_not_see_is_a_warning(run_mbssa):
    done = run_mbssa("loops", "micromanipulator")
    assert done.exit_code == 0
    assert "warning: SG-4{21} 2S3D has rank 5 of 6" in done.stderr
    assert run_mbssa("loops", "micromanipulator_driven").stderr == ""


def test_one_equation_is_one_equation(run_mbssa, tmp_path):
    path = tmp_path / "five.toml"
    joints = "".join(
        f'[[joint]]\nbodies = [{k}, {k % 5 + 1}]\ntype = "R"\ndriven = {str(k == 1).lower()}\n'
        for k in range(1, 6)
    )
    path.write_text(f'format = 1\nspace = "planar"\nbodies = 5\n{joints}')
    assert "module 1 has 1 equation fewer than unknowns" in run_mbssa("loops", str(path)).stdout


def test_markdown_of_a_comparison_has_its_remarks_and_no_empty_tables(run_mbssa, tmp_path):
    text = run_mbssa("loops", "nine_bar", "--compare", "--format", "markdown").stdout
    assert "4 structural groups with nothing to solve" in text
    path = tmp_path / "arm.toml"
    path.write_text(
        'format = 1\nspace = "planar"\nbodies = 2\n[[joint]]\nbodies = [1, 2]\ntype = "R"\ndriven = true\n'
    )
    assert "|" not in run_mbssa("loops", str(path), "--format", "markdown").stdout


def test_where_there_is_little_room_no_name_is_broken():
    from mbssa.loops import compare_loops
    from mbssa.reports.loops import loops_report

    comparison = compare_loops(mbssa.load("rotor"))
    text = loops_report(comparison.wehage, comparison).text(width=80)
    assert max(map(len, text.splitlines())) <= 80
    words = set(text.replace(",", " ").split())
    names = {name for module in comparison.wehage.modules for name in module.computes}
    assert names <= words
    assert {"Eqs.", "Unkn.", "11-14.angle_2", "Largest"} <= words
    assert "Eqs." not in str(comparison.wehage)
