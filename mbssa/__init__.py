from mbssa.search import decompose
from mbssa.gathering.pairs import from_pairs, from_adjacency
from mbssa.gathering.faults import ModelError
