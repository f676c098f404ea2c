"""What a search is called in the store: by what decides its verdicts, whatever things are named."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal

from mbssa.mechanism import Mechanism
from mbssa.transformations.canonical import canonical, judging_version
from mbssa.transformations.question import Question, coordinates_of, with_terminals

#: How a search goes: block by block over all distributions, or from best to best.
Way = Literal["all", "best-first"]


def key_of(
    mechanism: Mechanism,
    question: Question,
    n_inputs: int,
    library: Collection[str],
    costs: Mapping[str, float],
    way: Way = "all",
) -> str:
    """Under which key a search is kept: what is asked of what, and what the verdicts depend on.

    Other names of the same bodies and joints, another title or motion make no other key, nor do criteria.

    Parameters
    ----------
    n_inputs : coordinates that are driven, where the question leaves that open too
    library : types of groups that have a closed form
    costs : µs an instant, by type

    Examples
    --------
    >>> import mbssa
    >>> from mbssa.transformations.question import ask
    >>> one, same, other = (mbssa.load(name) for name in ("rotor", "rotor_transformed", "stewart"))
    >>> key_of(one, ask(one), 3, ["1R3D"], {}) == key_of(same, ask(same, inputs=3), 3, ["1R3D"], {})
    True
    >>> key_of(one, ask(one), 3, ["1R3D"], {}) == key_of(one, ask(one, per_joint=1), 3, ["1R3D"], {})
    False
    """
    told = [
        canonical(mechanism), _by_place(mechanism, question), n_inputs, sorted(library),
        sorted(costs.items()), way, judging_version(),
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:32]


def _by_place(mechanism: Mechanism, question: Question) -> dict[str, Any]:
    """The question without names; pairs that only another choice for a multiple joint has keep theirs."""
    extended = with_terminals(mechanism, question.terminals)

    def places(names: Sequence[str]) -> list[Any]:
        found = [coordinates_of(extended, name) or name for name in names]
        return sorted(found, key=str)

    lists = {"allow": question.allow, "forbid": question.forbid, "require": question.require}
    return {key: places(names) for key, names in lists.items()} | {
        "per_joint": question.per_joint,
        "terminals": list(question.terminals),
        "precision": question.precision,
        "spanning": question.spanning and bool(mechanism.multiple_joints),
    }


def in_words(question: Question, n_inputs: int) -> str:
    """A question in the words of the command line.

    >>> from mbssa.transformations.question import Question
    >>> in_words(Question(forbid=("1-2", "1-3"), per_joint=1), 3)
    '3 inputs, forbid 1-2,1-3, per joint 1'
    """
    parts = [f"{n_inputs} input{'' if n_inputs == 1 else 's'}"]
    for key in ("allow", "forbid", "require"):
        names = getattr(question, key)
        parts += [f"{key} {','.join(names)}"] if names else []
    parts += [] if question.per_joint is None else [f"per joint {question.per_joint}"]
    parts += [f"terminal {','.join(map(str, question.terminals))}"] if question.terminals else []
    parts += [] if question.precision is None else [f"precision {question.precision:g} m"]
    parts += [] if question.spanning else ["pairs as they are"]
    return ", ".join(parts)
