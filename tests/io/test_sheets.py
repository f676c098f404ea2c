"""The paper's matrices as a sheet: every spelling, and what is wrong with its line."""

from comparison import SHEET, same_mechanism, says, topology

import mbssa
from mbssa.io.sheet import parse_sheet, write_sheet

BARE = "-,R,-,P\nR,-,S,-\n-,S,-,C\nP,-,C,-\n\ndriven\n0,1,0,0\n1,0,0,0\n0,0,0,0\n0,0,0,0\n"
NUMBERED = "6,1,2,3,4\n1,1,R,2,P\n2,R,2,S,2\n3,1,S,3,C\n4,P,2,C,4\n\nKnownInputs,1,2,3,4\n1,,1\n2,1\n3,\n4,\n"
SHEETS = {
    "full": SHEET,
    "semicolons": SHEET.replace(",", ";"),
    "tabs": SHEET.replace(",", "\t"),
    "quoted": "\n".join(",".join(f'"{c}"' for c in line.split(",")) for line in SHEET.splitlines()).replace(
        '""', ""
    ),
    "separator line": "sep=;\n" + SHEET.replace(",", ";"),
    "padded": SHEET.replace("\n\n", "\n,,,,\n,,,,\n") + ",,,,\n",
    "no empty line": SHEET.replace("\n\n", "\n"),
    "empty cells": SHEET.replace("-", "").replace("0", ""),
    "blanks": SHEET.replace(",", " , "),
    "bare": BARE,
    "bare, empty cells": BARE.replace("-", "").replace("0", ""),
    "space alone": "spatial\n" + BARE,
    "space alone, padded": "Spatial,,,\n" + BARE,
    "header without labels": "1,2,3,4\n" + BARE,
    "labels without space": SHEET.replace("spatial", ""),
    "numbers": NUMBERED,
    "names above only": "spatial,frame,crank,coupler,slider\n" + BARE,
}


def test_sheets_in_every_spelling(put):
    for spelling in SHEETS:
        for encoding in ["utf-8-sig", "utf-16", "cp1252"]:
            mechanism = mbssa.load(put("sheet.csv", SHEETS[spelling].encode(encoding)))
            assert topology(mechanism) == topology(mbssa.load("spatial_four_bar")), (spelling, encoding)
            named = "crank" in SHEETS[spelling]
            assert mechanism.body_names == (("frame", "crank", "coupler", "slider") if named else None), (
                spelling,
                encoding,
            )


def test_a_written_sheet_can_be_read_by_eye():
    mechanism = mbssa.from_pairs(["frame", "Kurbel", "Stößel"], [(1, 2, "R", 1), (2, 3, "P", 0)], "planar")
    data, lost = write_sheet(mechanism)
    assert lost == []
    assert data.startswith(b"\xef\xbb\xbf")
    assert data.decode("utf-8-sig").splitlines() == [
        "planar,frame,Kurbel,Stößel",
        "frame,-,R,-",
        "Kurbel,R,-,P",
        "Stößel,-,P,-",
        "",
        "driven,frame,Kurbel,Stößel",
        "frame,0,1,0",
        "Kurbel,1,0,0",
        "Stößel,0,0,0",
    ]


def test_names_that_are_words_of_the_sheet_do_no_harm():
    names = ["frame", "driven", "planar", "R", "a;b;c;d;e;f;g;h;i;j;k", 'quo"te, comma']
    pairs = [(1, k, "R", 1) for k in range(2, 7)]
    mechanism = mbssa.from_pairs(names, pairs, "planar", name="words")
    data, lost = write_sheet(mechanism)
    assert lost == []
    same_mechanism(mechanism, parse_sheet(data.decode(), "words", "words"))


BAD_SHEETS = {
    "no space": ("-,R\nR,-\n\ndriven\n0,1\n1,0\n", "line 1", "write planar or spatial into the first cell"),
    "no inputs": (SHEET.partition("\n\n")[0], "driven", "is missing; below M, after an empty line"),
    "nothing": ("", "driven", "is missing"),
    "not square": (SHEET.replace("slider,P,-,C,-\n", ""), "line 2", "3 rows of 5 cells"),
    "inputs not square": (SHEET.replace("slider,0,0,0,0\n", ""), "line 7", "3 rows"),
    "inputs too wide": (SHEET.replace("0,1,0,0", "0,1,0,0,0,1"), "line 8", "it is square"),
    "asymmetric": (SHEET.replace("crank,R", "crank,P"), "line 2", "M is symmetric"),
    "unknown type": (SHEET.replace("R", "RR"), "line 2", "'RR' is not a joint type"),
    "unknown type, no space": (BARE.replace("S", "SS"), "line 2", "'SS' is not a joint type"),
    "planar": (SHEET.replace("spatial", "planar"), "line 3", "only in spatial"),
    "half": (SHEET.replace("0,1,0,0", "0,0.5,0,0"), "line 8", "write 0, 1"),
    "word": (SHEET.replace("0,1,0,0", "0,yes,0,0"), "line 8", "'yes' is no number"),
    "not a number": (SHEET.replace("0,1,0,0", "0,nan,0,0"), "line 8", "'nan' is no number"),
    "infinite": (SHEET.replace("0,1,0,0", "0,inf,0,0"), "line 8", "'inf' is no number"),
    "too many": (SHEET.replace("0,1,0,0", "0,2,0,0").replace("1,0,0,0", "2,0,0,0"), "line 8", "0 to 1"),
    "other labels": (SHEET.replace("\ncrank,R", "\nrocker,R"), "line 3", "'rocker', its column 'crank'"),
    "other labels below": (SHEET.replace("driven,frame,crank", "driven,frame,rocker"), "line 9", "'rocker'"),
    "repeated": (SHEET.replace("coupler", "crank"), "label 3", "'crank' is taken"),
    "no label": (SHEET.replace("coupler", ""), "label 3", "is empty"),
    "another's number": (SHEET.replace("coupler", "2"), "label 3", "another body's number"),
    "open quote": (SHEET.replace("crank,R", '"crank,R'), "no row of cells", "line"),
    "not connected": (SHEET.replace("P", "-").replace("S", "-"), "not connected", "3, 4"),
    "truncated": (SHEET[: len(SHEET) // 3], "driven", "is missing"),
    "binary": (bytes(range(256)), "line 2", "is not text"),
    "prose": ("This is no sheet.\nIt has two lines.\n", "line 1", "planar or spatial"),
}


def test_a_bad_sheet_is_told_its_line(put, run_mbssa):
    for case in BAD_SHEETS:
        text, *parts = BAD_SHEETS[case]
        path = put("sheet.csv", text)
        says(path, *parts)
    result = run_mbssa("decompose", str(path))
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Traceback" not in result.stderr
