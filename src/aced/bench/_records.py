"""Records of finished runs. Each is one line of JSON, on disk before the next run is recorded.

A process killed in the middle of a line leaves half a line at the end of the file. This half is
dropped when the next record is written, and its run is repeated.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from aced._errors import InvalidInput

FILE = "records.jsonl"
NEEDED = {"dataset", "seed", "rows", "features", "all_labels", "curve", "job", "label", "timing"}
"""The fields that a report reads."""


class Records:
    """The records of one output folder."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE
        self.found: dict[str, dict[str, Any]] = {}
        self._whole = 0
        lines = self.path.read_bytes().splitlines(keepends=True) if self.path.exists() else []
        for number, line in enumerate(lines, start=1):
            if not line.endswith(b"\n"):
                break
            try:
                record = json.loads(line)
                self.found[str(record["key"])] = record
            except (ValueError, KeyError, TypeError):
                raise InvalidInput(self.path, f"line {number} is no record") from None
            self._whole += len(line)

    def __contains__(self, key: str) -> bool:
        return key in self.found

    def append(self, record: dict[str, Any]) -> None:
        """Append one record; it is on disk on return."""
        with self.path.open("ab") as file:
            file.truncate(self._whole)
            line = json.dumps(record, sort_keys=True).encode() + b"\n"
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        self._whole += len(line)
        self.found[record["key"]] = record

    def all(self) -> list[dict[str, Any]]:
        """All records, in the order of their keys, so that the order of finishing does not matter."""
        for key, record in self.found.items():
            if missing := NEEDED - set(record):
                raise InvalidInput(self.path, f"the record {key!r} has no field {sorted(missing)[0]!r}")
        return [self.found[key] for key in sorted(self.found)]
