"""Status of a group at an instant: the numbers of ``status``."""

OK = 0
#: Newton stopped short, or a length that should fit does not: the residual is the gap.
NOT_CONVERGED = 1
#: A dead point: the position is met but the rates have no answer.
SINGULAR = 2
#: A body that the group hangs on has no answer.
PREDECESSOR_FAILED = 3
#: No real solution: points too far apart or too near.
OUT_OF_REACH = 4
#: The assembly mode could not be followed.
BRANCH_JUMP = 5
#: Solved, but an equation that was left out is violated.
DROPPED = 6
#: Two axes of a universal joint line up so that a spin is left open.
GIMBAL = 7
#: The run was stopped before it.
NOT_COMPUTED = 8
#: A contact has ended: its place is outside its limits, or its bodies are apart.
CONTACT_LOST = 9
#: A contact's bodies would go into one another.
INTERPENETRATION = 10
#: Solved, but a singular position lies between it and the instant before: it may be on another branch.
PASSED_SINGULAR = 11
