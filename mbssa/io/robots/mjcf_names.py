"""Names and places of what MuJoCo has compiled: it keeps no lines, and lets bodies and joints go nameless."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from mbssa.io.robots.mjcf_source import Source

#: Elements that MuJoCo compiles to each kind of object.
_TAGS = {
    "body": ("body",),
    "joint": ("joint", "freejoint"),
    "equality": ("connect", "weld", "joint", "tendon"),
    "actuator": (
        "motor",
        "position",
        "velocity",
        "intvelocity",
        "damper",
        "cylinder",
        "muscle",
        "adhesion",
        "general",
    ),
}


class Names:
    """Unique names of bodies and joints, and where each object stands in the file."""

    def __init__(self, mujoco: ModuleType, model: Any, source: Source) -> None:
        self._mujoco, self._model = mujoco, model
        self._places = {
            (kind, line.element.name()): line.where
            for kind, tags in _TAGS.items()
            for line in source.all(*tags)
            if line.element.name()
        }
        self._links = self._unique([self.given("body", k) or f"body {k}" for k in range(model.nbody)])
        self._joints = self._unique([self._joint(k) for k in range(model.njnt)])

    def given(self, kind: str, number: int) -> str:
        """The name that the file gives, or nothing."""
        of = getattr(self._mujoco.mjtObj, f"mjOBJ_{kind.upper()}")
        return self._mujoco.mj_id2name(self._model, of, number) or ""

    def link(self, body: int) -> str:
        """Name of a body, its own or by its number."""
        return self._links[body]

    def joint(self, number: int) -> str:
        """Name of a joint, its own or by its body."""
        return self._joints[number]

    def place(self, kind: str, number: int) -> str:
        """Line and name where the file has one for it, else kind and name alone."""
        name = self.given(kind, number)
        own = {"body": self._links, "joint": self._joints}.get(kind)
        shown = own[number] if own is not None else name or str(number + 1)
        return self._places.get((kind, name), f"{kind} {shown!r}")

    def _joint(self, number: int) -> str:
        body = int(self._model.jnt_bodyid[number])
        count = int(self._model.body_jntnum[body])
        which = f" {number - int(self._model.body_jntadr[body]) + 1}" if count > 1 else ""
        return self.given("joint", number) or f"{self._links[body]} joint{which}"

    @staticmethod
    def _unique(names: list[str]) -> list[str]:
        taken: dict[str, None] = {}
        for name in names:
            while name in taken:
                name += "'"
            taken[name] = None
        return list(taken)
