"""Motion of one body of a trajectory, and of its points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from groups.results.joints import body_motion, carried, kept_level
from groups.rotations import plane_rotation, rotation_of
from mbssa.arrays import Floats

if TYPE_CHECKING:
    from groups.trajectory import Trajectory


@dataclass(frozen=True, eq=False)
class BodyMotion:
    """View of one body of a trajectory; arrays as there, without the axis of the bodies.

    Points of the body are names of the model, or world coordinates at the reference configuration.

    >>> import groups, mbssa
    >>> crank = mbssa.load("planar_four_bar")
    >>> trajectory = groups.build(mbssa.decompose(crank)).solve(groups.constant_speed(crank, steps=5))
    >>> coupler = trajectory.body("coupler")
    >>> coupler.point("tracer").shape, coupler.point_velocity("tracer").shape, coupler.rotation.shape
    ((5, 2), (5, 2), (5, 3, 3))
    """

    trajectory: Trajectory
    index: int
    place: int

    @property
    def position(self) -> Floats:
        """(T, 3) or (T, 2) m, of the body's own origin."""
        return self.trajectory.position[:, self.place]

    @property
    def orientation(self) -> Floats:
        """(T, 4) unit quaternion w, x, y, z; planar: (T,) rad."""
        return self.trajectory.orientation[:, self.place]

    @property
    def velocity(self) -> Floats:
        """(T, 6) or (T, 3), m/s and rad/s; a ValueError where velocities were not kept."""
        return kept_level(self.trajectory.velocity, "velocity")[:, self.place]

    @property
    def acceleration(self) -> Floats:
        """(T, 6) or (T, 3), m/s² and rad/s²; a ValueError where accelerations were not kept."""
        return kept_level(self.trajectory.acceleration, "acceleration")[:, self.place]

    @property
    def rotation(self) -> Floats:
        """(T, 3, 3) rotation matrices: columns are the body's axes in the world's."""
        return (plane_rotation if self.trajectory.planar else rotation_of)(self.orientation)

    def point(self, at: str | Sequence[float]) -> Floats:
        """(T, 3) or (T, 2) path of a point of the body, m; a KeyError where it has none of that name."""
        return self.point_levels(at)[0]

    def point_velocity(self, at: str | Sequence[float]) -> Floats:
        """(T, 3) or (T, 2) m/s: v + ω × r; raises as :meth:`point` and :attr:`velocity`."""
        kept_level(self.trajectory.velocity, "velocity")
        return self.point_levels(at)[1]

    def point_acceleration(self, at: str | Sequence[float]) -> Floats:
        """(T, 3) or (T, 2) m/s²: a + α × r + ω × (ω × r); raises as :meth:`point`, :attr:`acceleration`."""
        kept_level(self.trajectory.acceleration, "acceleration")
        return self.point_levels(at)[2]

    def point_levels(self, at: str | Sequence[float]) -> list[Floats]:
        """Path of a point, its velocity and acceleration, as many as were kept."""
        trajectory, reference = self.trajectory, self.trajectory.reference
        if isinstance(at, str):
            geometry = trajectory.mechanism.body_geometry.get(self.index)
            points = geometry.points if geometry is not None else {}
            if at not in points:
                raise KeyError(f"no point {at!r}; the body has {', '.join(points) or 'none'}")
            at = points[at]
        local = reference.on_body(self.index, tuple(at))
        levels = carried(body_motion(trajectory, self.index), local, is_place=True)
        return [level[:, :2] if trajectory.planar else level for level in levels]
