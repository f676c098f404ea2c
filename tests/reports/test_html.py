"""Values in notebooks: the table of their command, and a picture."""

import base64
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from importlib import import_module

import pytest

import groups
import mbssa
import routes
from mbssa.reports.html import html_of
from mbssa.reports.structure import structure_report

#: The module; the package has the function of this name.
PAGE = import_module("groups.pictures.page")


class Read(HTMLParser):
    """Cells, texts and pictures of a page whose elements all close."""

    def __init__(self, text):
        super().__init__()
        self.open, self.cells, self.texts, self.pictures, self.frames = [], [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "img":
            kind, code = attributes["src"].split(",")
            assert kind == "data:image/svg+xml;base64"
            self.pictures.append(ET.fromstring(base64.b64decode(code)))
            return
        if tag == "iframe":
            self.frames.append(attributes["srcdoc"])
        if tag == "tr":
            self.cells.append([])
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.cells[-1].append(data)
        elif data.strip():
            self.texts.append(data)


def read(value):
    return Read(value._repr_html_())


BAR = mbssa.load("planar_four_bar")


@pytest.fixture(scope="module")
def trajectory():
    model = groups.build(mbssa.decompose(BAR))
    return model.solve(groups.default_motion(BAR, steps=5), compiled=False)


def test_a_structure_has_the_table_of_its_command_and_its_graph():
    structure = mbssa.decompose(BAR)
    found = read(structure)
    table = structure_report(structure).sheet
    assert found.cells[: len(table.items) + 1] == [list(table.columns), *map(list, table.rows())]
    assert "determined: 2 structural groups in 2 levels" in found.texts
    assert len(found.pictures) == 1


def test_a_mechanism_has_its_joints_and_is_drawn():
    found = read(BAR)
    assert found.cells[1] == ["1-2", "frame, crank", "R", "angle", "angle"]
    text = " ".join(ET.tostring(found.pictures[0], encoding="unicode", method="text").split())
    assert "coupler" in text


def test_a_mechanism_without_geometry_has_no_picture():
    assert not read(mbssa.from_pairs(3, [(1, 2, "R", 1), (2, 3, "R", 1)], "planar")).pictures


def test_a_check_has_its_verdict():
    assert read(mbssa.check(BAR)).texts[-1] == "Verdict: can be solved."


def test_transformations_have_their_rows():
    found = read(mbssa.transform(BAR))
    assert [row[1] for row in found.cells] == ["Inputs", "1-2.angle", "2-3.angle"]


def test_a_trajectory_has_its_groups_and_its_faults(trajectory):
    found = read(trajectory)
    assert found.cells[2][:3] == ["2", "coupler, rocker (3R2D)", "5"]
    assert "5 instants, t = 0 … 1 s" in found.texts
    assert "every group was solved at every instant" in found.texts
    assert len(found.pictures) == 1


def test_a_sweep_has_its_cases_and_a_picture(tmp_path):
    cases = routes.grid({"1-2.angle": [0.5, 1.0, 1.5]})
    found = routes.sweep(BAR, cases, record=["1-4.angle"], store=tmp_path / "s", executor="sequential")
    page = read(routes.open_sweep(tmp_path / "s"))
    assert page.cells == [["Cases", "Status", "Share"], ["3", "ok", "100.0%"]]
    assert "grid of 3: 1-2.angle" in page.texts
    assert len(read(found).pictures) == 1


def test_names_are_no_markup():
    text = 'format = 1\nspace = "planar"\ntitle = "<script>1 & 2"\n[[body]]\nname = "<b>"\n'
    text += '[[joint]]\nbodies = ["frame", "<b>"]\ntype = "R"\ndriven = true\n'
    found = read(mbssa.load(text))
    assert found.cells[1][1] == "frame, <b>"
    assert any("<script>1 & 2" in line for line in found.texts)


def test_what_cannot_be_drawn_says_why(monkeypatch):
    monkeypatch.setattr("mbssa.pictures.limits.find_spec", lambda name: None)
    assert (
        read(BAR).texts[-1]
        == 'no picture: pictures need Matplotlib: pip install -e ".[pictures]" in the clone'
    )


def test_a_long_table_is_cut():
    pairs = [(i, i + 1, "R", 1) for i in range(1, 700)]
    found = Read(
        html_of(
            mbssa.decompose(mbssa.from_pairs(700, pairs, "planar")),
            "mbssa.reports.structure:structure_report",
        )
    )
    assert "… and 199 more groups; --format csv lists them all" in found.texts


class TestShow:
    def test_in_a_notebook_the_page_is_in_a_frame(self, trajectory, monkeypatch):
        monkeypatch.setattr(PAGE, "in_notebook", lambda: True)
        monkeypatch.setattr(PAGE.webbrowser, "open", lambda place: pytest.fail("opened a browser"))
        shown = trajectory.show(height=300)
        assert shown.path is None
        (page,) = read(shown).frames
        assert page == shown.html
        assert re.search(r"<!doctype html>.*Planar four-bar", page, re.DOTALL | re.IGNORECASE)
        assert "height:300px" in shown._repr_html_()

    def test_elsewhere_the_browser_opens_a_file(self, trajectory, monkeypatch):
        opened = []
        monkeypatch.setattr(PAGE.webbrowser, "open", opened.append)
        shown = trajectory.show()
        assert opened == [shown.path.as_uri()]
        assert shown.path.read_text(encoding="utf-8") == shown.html
        assert str(shown.path) in repr(shown)
        assert shown.html not in repr(shown)


def test_a_text_is_a_text_in_a_notebook_too(monkeypatch, capsys):
    """Rich would print it as HTML there, and leave the text empty."""
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    assert str(mbssa.decompose(mbssa.load("planar_four_bar"))).startswith("planar_four_bar: Planar")
    assert capsys.readouterr().out == ""
