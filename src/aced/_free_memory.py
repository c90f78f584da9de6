"""How much memory there is, and an error where it is not enough."""

from __future__ import annotations

import os
from pathlib import Path

from aced._errors import InvalidInput

GIB = 1024**3
_GROUPS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def in_words(size: float) -> str:
    """Bytes as people say them.

    >>> in_words(16), in_words(3.2e8), in_words(2.5 * GIB), in_words(41 * GIB)
    ('16 bytes', '305 MiB', '2.5 GiB', '41 GiB')
    """
    unit, name = next(
        ((unit, name) for unit, name in ((GIB, "GiB"), (2**20, "MiB"), (2**10, "KiB")) if size >= unit),
        (1, "bytes"),
    )
    return f"{size / unit:.{int(unit == GIB and size < 10 * GIB)}f} {name}"


def total_memory() -> int:
    """The bytes of memory of this machine, or of its container if that has less."""
    known = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    limits = [Path(name).read_text().strip() for name in _GROUPS if Path(name).is_file()]
    return min(known + [int(limit) for limit in limits if limit.isdigit()])


def available_memory() -> int:
    """The bytes that are free now, with those that the kernel's caches would give up."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return total_memory()
    free = next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable")), None)
    return total_memory() if free is None else min(free, total_memory())


def room_for(need: int, what: str) -> None:
    """Refuse ``what`` if it needs more bytes than are free: the kernel would kill the process."""
    free = available_memory()
    if need > 0.9 * free:
        raise InvalidInput(what, f"{need / GIB:.1f} GiB, and {free / GIB:.1f} GiB are free")
