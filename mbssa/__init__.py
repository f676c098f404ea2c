from mbssa.search import decompose
from mbssa.gathering import from_pairs, from_adjacency, ModelError, load, builtin_names
