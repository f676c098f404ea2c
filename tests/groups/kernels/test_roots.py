"""Real roots of quartics and trigonometric polynomials against eigenvalues of companion matrices."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groups.kernels.roots import quadratic, quartic, trigonometric

MANY = 500


def eigenvalues(polynomials):
    """All roots of many polynomials (N, 5), highest power first, by companion matrices."""
    companion = np.zeros((len(polynomials), 4, 4), dtype=polynomials.dtype)
    companion[:, 0] = -polynomials[:, 1:] / polynomials[:, :1]
    companion[:, [1, 2, 3], [0, 1, 2]] = 1.0
    return np.linalg.eigvals(companion)


def value(terms, q):
    a0, a1, b1, a2, b2 = terms
    return a0 + a1 * np.cos(q) + b1 * np.sin(q) + a2 * np.cos(2 * q) + b2 * np.sin(2 * q)


def product(first, second):
    """Trigonometric polynomial of degree two from two of degree one."""
    (x, c, s), (y, d, t) = first, second
    return np.array(
        [x * y + (c * d + s * t) / 2, x * d + c * y, x * t + s * y, (c * d - s * t) / 2, (c * t + s * d) / 2]
    )


def random_trigonometric(rng):
    return rng.normal(size=(MANY, 5)) * 10.0 ** rng.uniform(-3, 0, size=(MANY, 5))


def nearly_double_trigonometric(rng):
    """One factor is 1 - cos(q - u), shifted by 1e-12 to 1 up or down."""
    u, v = rng.uniform(-np.pi, np.pi, (2, MANY))
    shift = 10.0 ** rng.uniform(-12, 0, MANY) * rng.choice([-1, 1], MANY)
    constant = rng.uniform(-1.5, 1.5, MANY)
    return product((1 - shift, -np.cos(u), -np.sin(u)), (constant, np.cos(v), np.sin(v))).T


def rooted_near_half_a_turn(rng):
    """A root within 1e-12 to 1e-3 of q = π, where tan(q / 2) is infinite."""
    terms = random_trigonometric(rng)
    terms[:, 0] -= value(terms.T, np.pi + rng.normal(size=MANY) * 10.0 ** rng.uniform(-12, -3, MANY))
    return terms


def test_trigonometric_roots_are_those_on_the_unit_circle():
    rng = np.random.default_rng(1)
    families = random_trigonometric, nearly_double_trigonometric, rooted_near_half_a_turn
    terms = np.concatenate([family(rng) for family in families])
    a0, a1, b1, a2, b2 = terms.T
    z = eigenvalues(np.stack([a2 - 1j * b2, a1 - 1j * b1, 2 * a0, a1 + 1j * b1, a2 + 1j * b2], axis=1))
    off = abs(np.log(abs(z)))
    # A double root is blurred to the square root of rounding, a triple one to the cube root.
    surely, perhaps = (off < 1e-9).sum(axis=1), (off < 1e-4).sum(axis=1)
    size = abs(terms).sum(axis=1)
    for k in range(len(terms)):
        with np.errstate(all="ignore"):  # as compiled code
            count, angles = trigonometric(*terms[k])
        assert surely[k] <= count <= perhaps[k], terms[k]
        found = np.array(angles[:count])
        assert (abs(value(terms[k], found)) < 1e-13 * size[k]).all(), terms[k]
        assert (np.diff(found) >= 0).all(), terms[k]
        assert ((found > -np.pi) & (found <= np.pi)).all(), terms[k]
        for single in np.angle(z[k][off[k] < 1e-9]):
            assert abs(np.exp(1j * found) - np.exp(1j * single)).min() < 1e-6, terms[k]


def random_quartic(rng):
    return rng.normal(size=(MANY, 5))


def nearly_double_quartic(rng):
    a, b, c = rng.normal(size=(3, MANY))
    shift = 10.0 ** rng.uniform(-12, 0, MANY) * rng.choice([1, 1j], MANY)
    factors = np.stack([a + shift, a - shift, b + 0j, c + 0j], axis=1)
    return np.array([np.poly(row).real for row in factors]) * rng.normal(size=(MANY, 1))


def nearly_cubic(rng):
    terms = rng.normal(size=(MANY, 5))
    terms[:, 0] *= 10.0 ** rng.uniform(-12, -2, MANY)
    return terms


def test_quartic_roots_are_the_real_eigenvalues():
    rng = np.random.default_rng(2)
    terms = np.concatenate([family(rng) for family in (random_quartic, nearly_double_quartic, nearly_cubic)])
    z = eigenvalues(terms)
    z = np.where(abs(z) < 1e4, z, 1e9 + 1e9j)
    off = abs(z.imag) / (1 + abs(z) ** 2)
    surely, perhaps = (abs(z.imag) < 1e-11 * abs(z)).sum(axis=1), (off < 1e-4).sum(axis=1)
    for k in range(len(terms)):
        with np.errstate(all="ignore"):  # as compiled code
            count, found = quartic(*terms[k])
        found = np.array(found[:count])
        found = found[abs(found) < 1e4]
        assert surely[k] <= len(found) <= perhaps[k], terms[k]
        assert (np.diff(found) >= 0).all()
        size = abs(terms[k]).max() * (1 + found**2) ** 2
        assert (abs(np.polyval(terms[k], found)) < 1e-12 * size).all(), terms[k]


@given(st.lists(st.integers(-9, 9), max_size=4, unique=True), st.floats(0.01, 100))
def test_a_quartic_made_of_real_roots_has_them(given_roots, factor):
    """Whatever the degree: leading coefficients that are zero are no obstacle."""
    expected = np.sort(given_roots) / 4
    terms = np.zeros(5)
    terms[4 - len(expected) :] = factor * np.poly(expected)
    count, found = quartic(*terms)
    assert count == len(expected)
    assert np.allclose(found[:count], expected, rtol=0, atol=1e-11)


def test_exact_special_cases():
    assert quadratic(0.0, 0.0, 0.0)[0] == -1
    assert quadratic(0.0, 0.0, 1.0)[0] == 0
    assert quadratic(0.0, 2.0, -1.0)[:2] == (1, 0.5)
    assert quadratic(1.0, -1e9, 1.0)[1] == pytest.approx(1e-9, rel=1e-15)
    assert quadratic(1.0, -2.0, 1.0) == (2, 1.0, 1.0)
    assert trigonometric(0.0, 0.0, 0.0, 0.0, 0.0)[0] == -1
    count, angles = trigonometric(1.0, 1.0, 0.0, 0.0, 0.0)  # touches zero at half a turn
    assert count == 2
    assert angles[:2] == pytest.approx([np.pi, np.pi])
    assert trigonometric(1.0, 0.9, 0.0, 0.0, 0.0)[0] == 0
    count, angles = trigonometric(0.0, 0.0, 0.0, 0.0, 1.0)
    assert angles == pytest.approx([-np.pi / 2, 0.0, np.pi / 2, np.pi])
