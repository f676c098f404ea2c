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
    "1C1ER1S3D": 0.072, "1C3D": 0.012, "1CR3D": 0.013, "1CTRP1CBIP1SP3D": 0.078, "1DIST2D": 0.0088,
    "1DIST3D": 0.032, "1ER3D": 0.015, "1F3D": 0.016, "1FP2D": 0.0042, "1H1U1S3D": 0.067, "1H3D": 0.012,
    "1P1C1S3D": 0.067, "1P1ER1S3D": 0.038, "1P1L2D": 0.17, "1P1ROD2D": 0.0085, "1P1RP2D": 0.0052,
    "1P1SLOT2D": 0.0069, "1P1SPSP3D": 0.015, "1P1U1S3D": 0.044, "1P1USER2D": 0.016, "1P2D": 0.0041,
    "1P2S3D": 0.036, "1P3D": 0.0059, "1PC3D": 0.016, "1PL3D": 0.013, "1R1BEVEL3D": 0.013, "1R1C1S3D": 0.08,
    "1R1EPI2D": 0.0076, "1R1L2D": 0.21, "1R1P1U1S3D": 0.066, "1R1P2U3D": 0.13, "1R1ROD2D": 0.012,
    "1R1SLOT2D": 0.011, "1R1SPSP3D": 0.026, "1R1U1S3D": 0.057, "1R2D": 0.0061, "1R2P2D": 0.013,
    "1R2S3D": 0.044, "1R3D": 0.014, "1RD2D": 0.0052, "1ROD2D": 0.0084, "1S1CR3D": 0.043, "1S3D": 0.016,
    "1SC3D": 0.019, "1SLOT2D": 0.005, "1SP3D": 0.019, "1SPSP3D": 0.032, "1U3D": 0.015, "2R1P2D": 0.017,
    "2R1P3D": 0.052, "2R1U1S3D": 0.13, "2R2EPI2D": 0.01, "2S3D": 0.024, "3C3D": 0.22, "3P1S3D": 0.051,
    "3R1C1ER3D": 0.19, "3R1P2D": 0.026, "3R1S3D": 0.13, "3R2C2ER1S3D": 0.13, "3R2D": 0.047, "3R3D": 0.13,
    "3R3S3D": 0.1, "5R1P2D": 0.063, "5R2D": 0.07, "5R3D": 0.32, "6P12S3D": 0.37, "6P6U6S1F3D": 0.37,
    "6P6U6S3D": 0.53, "6R2C2ER4S3D": 0.55, "6R2D": 0.11,
}  # fmt: skip

#: Libraries of group types by name: the paper's, and the package ``groups``.
LIBRARIES = {"mbdsbeg": MBDSBEG, "groups": frozenset(CLOSED_FORMS)}
