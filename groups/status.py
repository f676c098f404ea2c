"""Status of a group at an instant: the numbers of ``status``, and their texts."""

#: Texts of a status, by its number.
STATUS = (
    "ok",
    "not converged",  # Newton stopped short, or a length that should fit does not: the residual is the gap
    "singular",  # a dead point: the position is met but the rates have no answer
    "predecessor group failed",  # a body that the group hangs on has no answer
    "out of reach",  # no real solution: points too far apart or too near
    "branch jump",  # the assembly mode could not be followed
    "dropped equations violated",  # solved, but an equation that was left out is not
    "gimbal",  # two axes of a universal joint line up so that a spin is left open
    "not computed",  # the run was stopped before it
    "lifted off",  # a contact has ended: its place is outside its limits, or its bodies are apart
    "penetrates",  # a contact's bodies would go into one another
    "passed a singular position",  # since the instant before: it may be on another branch
)
OK, NOT_CONVERGED, SINGULAR, PREDECESSOR_FAILED, OUT_OF_REACH, BRANCH_JUMP, DROPPED = range(7)
GIMBAL, NOT_COMPUTED, CONTACT_LOST, INTERPENETRATION, PASSED_SINGULAR = range(7, 12)
#: A contact has ended; a group's loop stays open, or does not close in its mode or with rates.
CONTACT_ENDED = CONTACT_LOST, INTERPENETRATION
OPEN = NOT_CONVERGED, SINGULAR, OUT_OF_REACH, BRANCH_JUMP
