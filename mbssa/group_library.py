"""Types of structural groups with a solver, and their costs (Tables 9, 11 and 15), as plain data."""

# Tests of the package ``groups`` hold these tables against its solvers; kept here, they are read without
# importing one.

from __future__ import annotations

#: Types that the paper says its library MBDSBEG has (Tables 9, 11, 15).
MBDSBEG = frozenset({"1P3D", "1R3D", "1F3D", "1P1U1S3D", "1R1U1S3D"})

#: Type names whose groups, in every chain of the package ``groups``, are solved without iteration.
CLOSED_FORMS = (
    "1C1ER1S3D", "1C3D", "1CR3D", "1DIST2D", "1DIST3D", "1ER3D", "1F3D", "1FP2D", "1H3D", "1P1C1S3D",
    "1P1ER1S3D", "1P1ROD2D", "1P1RP2D", "1P1SLOT2D", "1P1SPSP3D", "1P1U1S3D", "1P2D", "1P2S3D", "1P3D",
    "1PC3D", "1PL3D", "1R1BEVEL3D", "1R1C1S3D", "1R1EPI2D", "1R1P1U1S3D", "1R1ROD2D", "1R1SLOT2D",
    "1R1SPSP3D", "1R1U1S3D", "1R2D", "1R2P2D", "1R2S3D", "1R3D", "1RD2D", "1ROD2D", "1S1CR3D", "1S3D",
    "1SC3D", "1SLOT2D", "1SP3D", "1SPSP3D", "1U3D", "2R1P2D", "2R1U1S3D", "2R2EPI2D", "3P1S3D", "3R1P2D",
    "3R1S3D", "3R2D",
)  # fmt: skip

#: µs that an instant of a group of each type takes, up to acceleration: ``benchmarks/type_costs.py`` measured
#: it on one core of one machine, of the chains of a type the most expensive. Only the ratios count.
COSTS = {
    "1C1ER1S3D": 1.7, "1C3D": 0.08, "1CR3D": 0.089, "1CTRP1CBIP1SP3D": 18.0, "1DIST2D": 0.087,
    "1DIST3D": 0.21, "1ER3D": 0.11, "1F3D": 0.12, "1FP2D": 0.069, "1H1U1S3D": 0.86, "1H3D": 0.077,
    "1P1C1S3D": 1.3, "1P1ER1S3D": 0.086, "1P1L2D": 12.0, "1P1ROD2D": 0.048, "1P1RP2D": 0.3, "1P1SLOT2D": 0.37,
    "1P1SPSP3D": 0.079, "1P1U1S3D": 0.15, "1P1USER2D": 25.0, "1P2D": 0.048, "1P2S3D": 0.14, "1P3D": 0.052,
    "1PC3D": 0.13, "1PL3D": 0.09, "1R1BEVEL3D": 0.078, "1R1C1S3D": 1.8, "1R1EPI2D": 0.37, "1R1L2D": 150.0,
    "1R1P1U1S3D": 0.94, "1R1P2U3D": 10.0, "1R1ROD2D": 0.056, "1R1SLOT2D": 0.41, "1R1SPSP3D": 0.098,
    "1R1U1S3D": 0.17, "1R2D": 0.031, "1R2P2D": 0.42, "1R2S3D": 0.16, "1R3D": 0.077, "1RD2D": 0.062,
    "1ROD2D": 0.085, "1S1CR3D": 1.2, "1S3D": 0.11, "1SC3D": 0.12, "1SLOT2D": 0.062, "1SP3D": 0.13,
    "1SPSP3D": 0.21, "1U3D": 0.11, "2R1P2D": 0.44, "2R1P3D": 3.8, "2R1U1S3D": 2.1, "2R2EPI2D": 0.32,
    "2S3D": 3.5, "3C3D": 4.6, "3P1S3D": 1.3, "3R1C1ER3D": 4.4, "3R1P2D": 0.51, "3R1S3D": 2.1,
    "3R2C2ER1S3D": 5.7, "3R2D": 0.087, "3R3D": 4.4, "3R3S3D": 2.2, "5R1P2D": 1.7, "5R2D": 2.0, "5R3D": 6.0,
    "6P12S3D": 2.9, "6P6U6S1F3D": 2.9, "6P6U6S3D": 2.9, "6R2C2ER4S3D": 9.0, "6R2D": 1.9,
}  # fmt: skip

#: Libraries of group types by name: the paper's, and the package ``groups``.
LIBRARIES = {"mbdsbeg": MBDSBEG, "groups": frozenset(CLOSED_FORMS)}
