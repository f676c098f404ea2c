"""Threads of this process: machine code runs without the GIL, and all threads share the arrays."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from routes.executors.base import ExecutorCosts, ExecutorType

EXECUTOR = ExecutorType(
    "threads", ThreadPoolExecutor, "shared", ExecutorCosts(5e-4, 0.0, 2e-5, 5e-5, assumed=True)
)
