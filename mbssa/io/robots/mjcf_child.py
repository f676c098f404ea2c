"""Compilation of an MJCF by MuJoCo in a process of its own, which its limits end: run as a script."""

# Text on standard input, the compiled model on standard output; arguments: CPU seconds, bytes of memory, and
# bytes of the model. Ends with REFUSED and MuJoCo's words on standard output where the text is no model.

from __future__ import annotations

import sys

#: Exit codes: MuJoCo refuses the text; the model is too large.
REFUSED, TOO_LARGE = 3, 4


def main() -> int:
    """Compile standard input."""
    seconds, memory, size = map(int, sys.argv[1:])
    try:
        import resource
    except ModuleNotFoundError:  # Windows, where the caller's clock is all
        pass
    else:
        for what, limit in ((resource.RLIMIT_CPU, seconds), (resource.RLIMIT_AS, memory)):
            _, most = resource.getrlimit(what)
            resource.setrlimit(what, (limit if most == resource.RLIM_INFINITY else min(limit, most), most))
    import mujoco
    import numpy as np

    mujoco.set_mju_user_warning(lambda _: None)  # by default into a file of the working folder
    text = sys.stdin.buffer.read().decode()
    try:
        model = mujoco.MjModel.from_xml_string(text)
    except MemoryError:
        return TOO_LARGE
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        sys.stdout.buffer.write(str(error).encode())
        return TOO_LARGE if "allocate" in str(error) or "unknown exception" in str(error) else REFUSED
    if mujoco.mj_sizeModel(model) > size:
        return TOO_LARGE
    data = np.zeros(mujoco.mj_sizeModel(model), dtype=np.uint8)
    mujoco.mj_saveModel(model, None, data)
    sys.stdout.buffer.write(data.tobytes())
    return 0


if __name__ == "__main__":
    sys.exit(main())
