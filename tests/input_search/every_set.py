"""Oracle: the sets of coordinates of a scheme, one by one."""

from itertools import combinations, product


def sets_of_row(base, places):
    """Sets of coordinate numbers that a scheme allows, in lexicographic order."""
    choices = []
    for j in dict.fromkeys(places.tolist()):
        allowed, required = int(base.allowed[j]), int(base.required[j])
        bits = [bit for bit in range(int(base.mechanism.grade[j])) if allowed >> bit & 1]
        sets = combinations(bits, int((places == j).sum()))
        choices.append([each for each in sets if sum(1 << bit for bit in each) & required == required])
    for chosen in product(*choices):
        yield tuple(bit for bits in chosen for bit in bits)
