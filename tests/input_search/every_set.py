"""Oracle: the sets of coordinates of a scheme, one by one."""

from itertools import combinations, product


def sets_of_row(base, places):
    """Sets of coordinate numbers that a scheme allows, in lexicographic order."""
    choices = []
    for j in dict.fromkeys(places.tolist()):
        mine = slice(base.start[j], base.start[j + 1])
        bits, required = base.allowed[mine].nonzero()[0], set(base.required[mine].nonzero()[0])
        sets = combinations(bits.tolist(), int((places == j).sum()))
        choices.append([each for each in sets if required <= set(each)])
    for chosen in product(*choices):
        yield tuple(bit for bits in chosen for bit in bits)
