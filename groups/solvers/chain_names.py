"""Names of a group's graph: its chains of joints, as ``R-R-R``."""

from __future__ import annotations

from collections import Counter

from mbssa import Group, Mechanism


def chain_of(group: Group) -> str:
    """Graph of the bodies and joints of a group."""
    mechanism = group.structure.mechanism
    own = set(group.body_indices.tolist())
    at: dict[int, list[int]] = {body: [] for body in sorted(own)}
    ends = {j: mechanism.joint_bodies(j)[:2] for j in group.joint_indices.tolist()}
    for j, bodies in ends.items():
        for body in bodies:
            if body in own:
                at[body].append(j)
    hubs = {body for body in own if len(at[body]) != 2}
    code = {j: _marked(mechanism, j) for j in ends}
    best = max if mechanism.space == "planar" else min
    left = dict(ends)
    chains: Counter[str] = Counter()
    # Chains begin at a joint of a hub or of a body that is solved already; a ring has no such joint.
    for first in sorted(ends, key=lambda j: all(b in own - hubs for b in ends[j])):
        if first not in left:
            continue
        a, b = left.pop(first)
        body = b if a in hubs or a not in own else a
        codes = [code[first]]
        while body in own - hubs and (following := [j for j in at[body] if j in left]):
            ahead = left.pop(following[0])
            codes.append(code[following[0]])
            body = ahead[1] if ahead[0] == body else ahead[0]
        chains["-".join(best(codes, codes[::-1]))] += 1
    held = [f"{count} × {chain}" if count > 1 else chain for chain, count in sorted(chains.items())]
    solid = [body for body in hubs if len(at[body]) > 2]
    if not solid:
        return ", ".join(held)
    return f"{len(solid)} {'body' if len(solid) == 1 else 'bodies'} on {', '.join(held)}"


def _marked(mechanism: Mechanism, joint: int) -> str:
    """A joint's code; a star behind it if it is driven, or which of its coordinates are."""
    view = mechanism.joints[joint]
    if len(view.driven) == view.type.grade:
        return f"{view.type.code}*"
    return f"{view.type.code}[{', '.join(view.driven)}]" if view.driven else view.type.code
