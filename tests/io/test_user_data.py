"""The paper's script User_Data.m: every spelling, and what is wrong with its line."""

from comparison import groups, says, topology

import mbssa
from mbssa.io.user_data import parse_user_data, write_user_data

#: The listing of the paper, section 3.1, with its line numbers.
PAPER = """1 global ProblemType N M KnownInputs
2 %Topological information
3 ProblemType=6 ; %Select 3 for planar and 6 for spatial mechanism
4 M={ ... ; %Extended adjacency matrix based on Type
5 '1' 'R' '2' 'P';
6 'R' '2' 'S' '2';
7 '1' 'S' '3' 'C';
8 'P' '2' 'C' '4'};
9 N=length(M) ; %Number of bodies including chassis
10 KnownInputs=[ ... ; %Known inputs matrix
11 0 1 0 0;
12 1 0 0 0;
13 0 0 0 0;
14 0 0 0 0];
"""
SCRIPT = "\n".join(line.partition(" ")[2] for line in PAPER.splitlines())
#: The same with the matrix as Eq. (6) prints it.
DASHES = SCRIPT.replace("'1'", "'-'").replace("'2'", "'–'").replace("'3'", "'-'").replace("'4'", "''")

SPELLINGS = {
    "as printed": PAPER,
    "as a file": SCRIPT,
    "with dashes": DASHES,
    "Windows": SCRIPT.replace("\n", "\r\n"),
    "double quotes and commas": SCRIPT.replace("' '", '", "')
    .replace("'", '"')
    .replace("0 1 0 0", "0,1,0, 0"),
    "curly quotes": SCRIPT.replace("' '", "’ ‘").replace("'", "‘"),
    "lines for rows": SCRIPT.replace("';", "'").replace("0;", "0"),
    "one line": " ".join(line.partition("%")[0].replace("... ;", "") for line in SCRIPT.splitlines()[2:]),
    "block comment": "%{\n'unclosed\n%}\nclear all; clc\n" + SCRIPT,
    "another order": "\n".join(SCRIPT.splitlines()[8:] + SCRIPT.splitlines()[:8]),
    "N as a number": SCRIPT.replace("length(M)", "4"),
    "no N": SCRIPT.replace("N=length(M) ;", ""),
}


def test_the_script_of_the_paper(put):
    for spelling in SPELLINGS:
        for encoding in ["utf-8", "utf-8-sig", "utf-16", "cp1252"]:
            mechanism = mbssa.load(put("User_Data.m", SPELLINGS[spelling].encode(encoding)))
            assert mechanism.name == "User_Data", (spelling, encoding)
            assert topology(mechanism) == topology(mbssa.load("spatial_four_bar")), (spelling, encoding)
            assert [bodies for bodies, _ in groups(mechanism)] == [(2,), (3, 4)], (spelling, encoding)


def test_no_driven_coordinate_may_be_written_as_zeros(put):
    for zeros in ("zeros(N)", "zeros(4)", "zeros(4,4)", "zeros(N,N)"):
        script = SCRIPT.partition("KnownInputs=")[0] + f"KnownInputs={zeros};"
        assert mbssa.load(put("User_Data.m", script)).n_driven == 0
    says(put("User_Data.m", SCRIPT.partition("KnownInputs=")[0] + "KnownInputs=zeros(3);"), "KnownInputs")


def test_a_written_script_is_the_paper_s():
    script = write_user_data(mbssa.load("spatial_four_bar"))[0].decode().splitlines()
    assert script[1:] == [
        "global ProblemType N M KnownInputs",
        "ProblemType=6; % 3 for planar, 6 for spatial",
        "M={ ... % extended adjacency matrix",
        "'-' 'R' '-' 'P';",
        "'R' '-' 'S' '-';",
        "'-' 'S' '-' 'C';",
        "'P' '-' 'C' '-'};",
        "N=length(M); % bodies with the frame",
        "KnownInputs=[ ... % driven coordinates of each pair",
        "0 1 0 0;",
        "1 0 0 0;",
        "0 0 0 0;",
        "0 0 0 0];",
    ]


def test_what_a_script_loses_is_named():
    pairs = [(2, 1, "C", ["angle"]), (1, 2, "P", 1), (2, 3, "R", 0)]
    mechanism = mbssa.from_pairs(["frame", "tube", "rod"], pairs, "spatial")
    lost = write_user_data(mechanism)[1]
    assert lost == [
        "names of the bodies",
        "which coordinates are driven: 1-2 drives angle, a count of 1 means slide",
        "order of the joints and of their two bodies: row by row instead",
        "MBSSA3D itself does not read P+C; this package does",
    ]
    again = parse_user_data(write_user_data(mechanism)[0].decode(), "x", "x")
    assert topology(again) == topology(mechanism)


BAD_SCRIPTS = {
    "missing M": (SCRIPT.replace("M={", "% {").replace("'", "%"), "M: is missing", "M={"),
    "nothing": ("", "ProblemType: is missing", "ProblemType=6"),
    "missing inputs": (SCRIPT.partition("KnownInputs=")[0], "KnownInputs: is missing", "KnownInputs=["),
    "not square": (SCRIPT.replace(" '2';", ";"), "line 6", "3 entries", "write 4"),
    "asymmetric": (SCRIPT.replace("'R' '2' 'S'", "'P' '2' 'S'"), "line 5", "M is symmetric"),
    "unknown type": (SCRIPT.replace("'R'", "'RR'"), "line 5", "'RR' is not a joint type"),
    "planar type": (SCRIPT.replace("=6", "=3"), "line 6", "only in spatial"),
    "problem type": (SCRIPT.replace("=6", "=4"), "line 3", "3 (planar) or 6 (spatial)"),
    "no number": (SCRIPT.replace("=6", "='6'"), "line 3", "whole number"),
    "inputs not square": (SCRIPT.replace("0 1 0 0", "0 1 0"), "line 11", "3 entries; write 4"),
    "rows of inputs": (SCRIPT.replace("0 1 0 0;", ""), "line 10", "3 rows; M has 4"),
    "inputs asymmetric": (SCRIPT.replace("1 0 0 0", "0 0 0 0"), "line 11", "symmetric"),
    "too many inputs": (
        SCRIPT.replace("0 1 0 0", "0 2 0 0").replace("1 0 0 0", "2 0 0 0"),
        "line 11",
        "0 to 1",
    ),
    "half an input": (SCRIPT.replace("0 1 0 0", "0 1.5 0 0"), "line 11", "whole number"),
    "huge input": (SCRIPT.replace("0 1 0 0", f"0 {10**30} 0 0"), "KnownInputs", "whole numbers"),
    "text in inputs": (SCRIPT.replace("0 1 0 0", "0 'R' 0 0"), "line 11", "whole numbers"),
    "name in M": (SCRIPT.replace("'R' '2' 'S'", "R '2' 'S'"), "line 6", "quoted types"),
    "truncated": (SCRIPT[: SCRIPT.index("'1' 'S'")], "line 7", "M={ of line 4 is not closed"),
    "truncated in a quote": (SCRIPT[: SCRIPT.index("'1' 'S'") + 2], "line 7", "quote", "not closed"),
    "wrong N": (SCRIPT.replace("length(M)", "5"), "line 9", "N is 5; M has 4 rows"),
    "another function": (SCRIPT.replace("length(M)", "system(M)"), "line 9", "system(M) is not read"),
    "a call": ("delete('x');\n" + SCRIPT, "line 1", "'delete' is not read"),
    "a loop": ("for k=1:4\nend\n" + SCRIPT, "line 1", "'for' is not read"),
    "arithmetic": (SCRIPT.replace("=6", "=3+3"), "line 3", "semicolon"),
    "strange sign": ("!ls\n" + SCRIPT, "line 1", "read, not run"),
    "twice": (SCRIPT + "\nProblemType=3;", "line 15", "in line 3 already"),
    "no equals sign": ("M{1}='R';", "line 1", "write ="),
    "not connected": (SCRIPT.replace("'P'", "'-'").replace("'S'", "'-'"), "not connected", "3, 4"),
    "binary": (bytes(range(256)), "line 2", "is not text"),
    "binary behind text": (SCRIPT.encode() + b"\x00\x01", "line 14", "is not text"),
    "odd UTF-16": (b"\xff\xfe\x00", "line 1", "is not text"),
}


def test_a_bad_script_is_told_its_line(put, run_mbssa):
    for case in BAD_SCRIPTS:
        text, *parts = BAD_SCRIPTS[case]
        path = put("User_Data.m", text)
        says(path, *parts)
    result = run_mbssa("decompose", str(path))
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Traceback" not in result.stderr
