"""Real roots of quadratics, quartics and trigonometric polynomials of degree two, on numbers alone."""

from __future__ import annotations

import math

#: The share of a polynomial's size that counts as rounding.
TOUCH = 1e-14

Roots = tuple[float, float, float, float]
_EIGHTH = math.sqrt(0.5)


def quadratic(a: float, b: float, c: float) -> tuple[int, float, float]:
    """Number of real roots of a x² + b x + c (0, 1, 2; -1: every number), and the roots, ascending."""
    size = abs(a) + abs(b) + abs(c)
    if abs(a) <= TOUCH * size:
        if abs(b) <= TOUCH * size:
            return (0 if size > 0.0 else -1), 0.0, 0.0
        return 1, -c / b, 0.0
    square, product = b * b, 4.0 * a * c
    discriminant = square - product
    if discriminant < 0.0:
        if discriminant < -TOUCH * (square + abs(product)):
            return 0, 0.0, 0.0
        discriminant = 0.0
    far = -0.5 * (b + math.copysign(math.sqrt(discriminant), b))
    first, second = far / a, (c / far if far != 0.0 else 0.0)
    return 2, min(first, second), max(first, second)


def quartic(a: float, b: float, c: float, d: float, e: float) -> tuple[int, Roots]:
    """Number of real roots of a x⁴ + b x³ + c x² + d x + e (-1: every number), and the roots, ascending."""
    negligible = TOUCH * max(abs(a), abs(b), abs(c), abs(d), abs(e))
    if abs(a) <= negligible and abs(b) <= negligible:
        count, low, high = quadratic(c, d, e)
        return count, (low, high, 0.0, 0.0)
    count, tangents, cosine, sine = half_tangents(
        0.375 * (a + e) + 0.125 * c,
        0.5 * (e - a),
        0.25 * (d + b),
        0.125 * (a + e - c),
        0.125 * (d - b),
    )
    kept, roots = 0, (0.0, 0.0, 0.0, 0.0)
    for k in range(count):
        # tan(q / 2) of the turned angle, by its half angle: no digits are lost near q = π.
        share = math.sqrt(0.5 * (1.0 + abs(cosine)))
        near, far = (share, 0.5 * sine / share) if cosine >= 0.0 else (0.5 * sine / share, share)
        above, below = far + near * tangents[k], near - far * tangents[k]
        if abs(above) > 1e7 * abs(below):
            continue
        x = above / below
        for _ in range(2):
            slope = ((4.0 * a * x + 3.0 * b) * x + 2.0 * c) * x + d
            value = (((a * x + b) * x + c) * x + d) * x + e
            if slope == 0.0:
                break
            better = x - value / slope
            if abs((((a * better + b) * better + c) * better + d) * better + e) >= abs(value):
                break
            x = better
        roots = put(roots, kept, x)
        kept += 1
    return kept, ascending(roots, kept)


def trigonometric(a0: float, a1: float, b1: float, a2: float, b2: float) -> tuple[int, Roots]:
    """Angles where a0 + a1 cos q + b1 sin q + a2 cos 2q + b2 sin 2q = 0: how many, and which."""
    count, tangents, cosine, sine = half_tangents(a0, a1, b1, a2, b2)
    angles = (0.0, 0.0, 0.0, 0.0)
    for k in range(count):
        c, s = turned(tangents[k], cosine, sine)
        angles = put(angles, k, angle(c, s))
    return count, ascending(angles, count)


def half_tangents(a0: float, a1: float, b1: float, a2: float, b2: float) -> tuple[int, Roots, float, float]:
    """Roots of :func:`trigonometric` as tangents of half an angle, counted from a direction."""
    if max(abs(a0), abs(a1), abs(b1), abs(a2), abs(b2)) == 0.0:
        return -1, (0.0, 0.0, 0.0, 0.0), 1.0, 0.0
    # The largest of eight values round the circle; its direction becomes q = π.
    cosine, sine, most = 1.0, 0.0, -1.0
    for x, y in ((1.0, 0.0), (_EIGHTH, _EIGHTH), (0.0, 1.0), (-_EIGHTH, _EIGHTH)):
        even = a0 + a2 * (x * x - y * y) + b2 * (2.0 * x * y)
        odd = a1 * x + b1 * y
        value = abs(even) + abs(odd)
        if value > most:
            most = value
            turn = -1.0 if even * odd >= 0.0 else 1.0
            cosine, sine = turn * x, turn * y
    c2, s2 = cosine * cosine - sine * sine, 2.0 * cosine * sine
    a1, b1 = a1 * cosine + b1 * sine, b1 * cosine - a1 * sine
    a2, b2 = a2 * c2 + b2 * s2, b2 * c2 - a2 * s2
    share = 1.0 / (a0 - a1 + a2)
    count, roots = _monic(
        (2.0 * b1 - 4.0 * b2) * share,
        (2.0 * a0 - 6.0 * a2) * share,
        (2.0 * b1 + 4.0 * b2) * share,
        (a0 + a1 + a2) * share,
    )
    return count, roots, cosine, sine


def turned(tangent: float, cosine: float, sine: float) -> tuple[float, float]:
    """Cosine and sine of the angle that lies 2 atan(``tangent``) ahead of a direction."""
    share = 1.0 / (1.0 + tangent * tangent)
    c, s = (1.0 - tangent * tangent) * share, 2.0 * tangent * share
    return c * cosine - s * sine, s * cosine + c * sine


def angle(c: float, s: float) -> float:
    """Angle in (-π, π] of the direction (``c``, ``s``) (rad)."""
    value = math.atan2(s, c)
    return value if value > -math.pi else math.pi


def put(roots: Roots, k: int, x: float) -> Roots:
    """``roots`` with ``x`` in place ``k``."""
    return (
        x if k == 0 else roots[0],
        x if k == 1 else roots[1],
        x if k == 2 else roots[2],
        x if k == 3 else roots[3],
    )


def ascending(roots: Roots, count: int) -> Roots:
    """``roots`` with the first ``count`` in rising order."""
    a, b, c, d = roots
    if count > 1 and b < a:
        a, b = b, a
    if count > 2:
        d = d if count > 3 else math.inf
        if d < c:
            c, d = d, c
        if c < a:
            a, c = c, a
        if d < b:
            b, d = d, b
        if c < b:
            b, c = c, b
        d = d if count > 3 else 0.0
    return a, b, c, d


def _monic(a: float, b: float, c: float, d: float) -> tuple[int, Roots]:
    """Real roots of x⁴ + a x³ + b x² + c x + d, coefficients of the order of one, unordered."""
    shift = 0.25 * a
    square = shift * shift
    p = b - 6.0 * square
    r = c + 2.0 * shift * (4.0 * square - b)
    s = d + shift * (shift * (b - 3.0 * square) - c)
    top = max(_largest_root(2.0 * p, p * p - 4.0 * s, -r * r), 0.0)
    gap = (p + top) * (p + top) - 4.0 * s
    if top * (abs(p) + math.sqrt(abs(s))) >= gap:
        g = math.sqrt(top)
        difference = r / g if g > 0.0 else 0.0
    else:
        difference = math.sqrt(gap)
        g = r / difference
    total = p + g * g
    m, n = 0.5 * (total - difference), 0.5 * (total + difference)
    if abs(n) > abs(m):
        m = s / n
    elif m != 0.0:
        n = s / m
    count, roots = 0, (0.0, 0.0, 0.0, 0.0)
    for side in range(2):
        half, own, other = (0.5 * g, m, n) if side == 0 else (-0.5 * g, n, m)
        discriminant = half * half - own
        middle = -half - shift
        if discriminant < 0.0:
            # By how much the polynomial would have to change in order to make this pair real.
            apart = math.sqrt(-discriminant)
            factor = abs(3.0 * half * half + other) + apart * (4.0 * abs(half) + apart)
            size = 1.0 + middle * middle
            if -discriminant * factor > TOUCH * size * size:
                continue
            discriminant = 0.0
        step = math.sqrt(discriminant)
        for sign in (-1.0, 1.0):
            roots = put(roots, count, _polished(middle + sign * step, a, b, c, d))
            count += 1
    return count, roots


def _polished(x: float, a: float, b: float, c: float, d: float) -> float:
    """A root of the monic quartic after up to two Newton steps, each only if it helps."""
    value = (((x + a) * x + b) * x + c) * x + d
    for _ in range(2):
        slope = ((4.0 * x + 3.0 * a) * x + 2.0 * b) * x + c
        if slope == 0.0:
            break
        better = x - value / slope
        now = (((better + a) * better + b) * better + c) * better + d
        if abs(now) >= abs(value):
            break
        x, value = better, now
    return x


def _largest_root(b: float, c: float, d: float) -> float:
    """The largest real root of x³ + b x² + c x + d."""
    centre = -b / 3.0
    bend = centre * centre - c / 3.0  # x = centre + u: u³ - 3 bend u + 2 level = 0
    level = 0.5 * (((centre + b) * centre + c) * centre + d)
    cube = bend * bend * bend
    if cube > 0.0 and level * level <= cube:
        reach = math.sqrt(bend)
        ratio = min(1.0, max(-1.0, -level / (bend * reach)))
        x = centre + 2.0 * reach * math.cos(math.acos(ratio) / 3.0)
    else:
        size = (abs(level) + math.sqrt(level * level - cube)) ** (1.0 / 3.0)
        u = size + bend / size if size > 0.0 else 0.0
        x = centre - u if level > 0.0 else centre + u
    slope = (3.0 * x + 2.0 * b) * x + c
    if slope == 0.0:
        return x
    value = ((x + b) * x + c) * x + d
    better = x - value / slope
    return better if abs(((better + b) * better + c) * better + d) < abs(value) else x
