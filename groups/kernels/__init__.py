"""Compiled solvers of one group over a block of instants, and the small vector kernels that they share.

Kernels are plain functions of floats, integers, arrays and tuples; :func:`mbssa.compiled.compiled` compiles
them and whatever kernels they call. The states of all bodies in a block are one array ``S``, (bodies,
numbers, instants). In space the numbers are 24: position of the body's origin (m), rotation row by row
(columns: the body's axes in the world), velocity (linear of the origin, then angular, world axes), and
acceleration, laid out alike. In the plane they are 11: x, y, cosine, sine, unwrapped angle, then x, y, angle
of velocity and of acceleration. A body without an answer at an instant has NaN in all its numbers up to the
level.

A group kernel is called as ``kernel(group, ints, floats, S, first, count, inputs, time, memory, work,
quality, level)``: the group's row in ``quality`` (status, residual, iterations, condition; groups by
instants), its own data in ``ints`` and ``floats`` as its encoder packed them, the block (instants ``first``
to ``first + count - 1`` of the motion), ``inputs`` (value, rate, second; drives by instants), ``time`` (T,),
``memory`` (the group's own state from one instant to the next, such as the signs of its mode), ``work``
(room, for this group alone) and ``level`` (0 position, 1 velocity, 2 acceleration).
"""
