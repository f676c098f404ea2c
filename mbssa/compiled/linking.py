"""One optimisation for a compiled kernel and all that it calls."""

# Numba optimises every function with all that it calls, and emits code, before it does so for its callers.
# Here kernels that others call (*inner* ones) stop at their intermediate code; an entry links those that it
# reaches, each once. This rests on Numba's code libraries, not documented, from 0.62 on.

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def compilers() -> tuple[type[Any], type[Any]]:
    """Numba's ``pipeline_class`` of entries and of inner kernels."""
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import CompilerBase, DefaultPassBuilder

    library_of_codegen: Any = JITCodeLibrary

    class Inner(library_of_codegen):  # type: ignore[misc]
        """The intermediate code of one kernel, and the libraries of those that it calls."""

        def finalize(self) -> None:
            self._raise_if_finalized()
            self._finalized = True

        def get_pointer_to_function(self, name: str) -> int:
            return 0

        @property
        def codegen(self) -> Any:
            return _WithoutEnvironments(self._codegen)

    class Entry(library_of_codegen):  # type: ignore[misc]
        """A kernel with all that it reaches."""

        def finalize(self) -> None:
            reached: dict[Any, None] = {}

            def reach(library: Any) -> None:
                if library not in reached and (library is self or isinstance(library, Inner)):
                    for callee in dict.fromkeys(library._linking_libraries):
                        reach(callee)
                reached.setdefault(library)

            reach(self)
            # Callers first: the linker drops what no code before it calls.
            self._linking_libraries = [library for library in reversed(reached) if library is not self]
            super().finalize()

    def compiler(library: type[Any]) -> type[Any]:
        class Compiler(CompilerBase):
            def define_pipelines(self) -> list[Any]:
                codegen = self.state.targetctx.codegen()
                self.state.library = library(codegen, self.state.func_id.func_qualname)
                self.state.library.enable_object_caching()
                builder: Any = DefaultPassBuilder
                return [builder.define_nopython_pipeline(self.state)]

        return Compiler

    return compiler(Entry), compiler(Inner)


def for_any_value(dispatcher: Any) -> Any:
    """Let Numba compile a kernel once, and not anew for every constant that callers hand it."""
    from numba.core.types import unliteral

    resolve = dispatcher.get_call_template
    dispatcher.get_call_template = lambda args, kws: resolve(tuple(map(unliteral, args)), kws)
    return dispatcher


class _WithoutEnvironments:
    """A code generator that sets no environment: kernels in nopython mode read none."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, environment: Any) -> None:
        """Leave the environment unset."""
