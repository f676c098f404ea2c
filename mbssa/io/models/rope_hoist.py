"""The rope of the model ``rope_hoist``: the function of its joint of type USER."""

from typing import Any

import numpy as np
import numpy.typing as npt

#: Radii of the drum and of the trolley's pulley, to the middle of the rope, m.
DRUM, PULLEY = 0.3, 0.1

#: Of the rope where the model has it at the reference: its straight part from the drum to the pulley, m; its
#: direction, rad; and how far the load hangs below the pulley, m.
STRAIGHT, DIRECTION, HANGING = 10.0, np.arctan(0.75), 4.0


def rope(q: npt.NDArray[Any]) -> Any:
    """Length of the path from drum to load less that of the rope wound off (m); q: x, y (m), angle (rad)."""
    # ``q`` (3, 3) is of the drum, the trolley and the load: their origins are the drum's centre, the pulley's
    # centre and the end of the rope. The rope leaves the drum at its top to the right and lies over the
    # pulley, a tangent of both; behind the pulley it hangs down.
    drum, pulley, load = q[0], q[1], q[2]
    x, y = pulley[0] - drum[0], pulley[1] - drum[1]
    straight = np.sqrt(x**2 + y**2 - (DRUM - PULLEY) ** 2)
    direction = np.arctan(y / x) - np.arctan((DRUM - PULLEY) / straight)
    way = straight + PULLEY * direction + pulley[1] - load[1]
    at_reference = STRAIGHT + PULLEY * DIRECTION + HANGING
    wound_off = DRUM * (direction - DIRECTION) - DRUM * drum[2]
    return way - at_reference - wound_off
