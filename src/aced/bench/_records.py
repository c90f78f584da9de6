"""Records of finished runs. Each is one line of JSON, on disk before the next run is recorded.

A process killed in the middle of a line leaves half a line at the end of the file. This half is
dropped when the next record is written, and its run is repeated.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from aced._errors import InvalidInput
from aced._tables import read_bytes

RECORDS = "records.jsonl"
NEEDED = {
    "dataset": str,
    "seed": int,
    "rows": int,
    "features": int,
    "all_labels": dict,
    "curve": list,
    "job": dict,
    "label": str,
    "timing": dict,
}
"""The fields that a report reads, and what they hold."""
SAID = {str: "a text", int: "a whole number", dict: "an object", list: "a list"}


class Records:
    """The records of one output folder."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / RECORDS
        self.found: dict[str, dict[str, Any]] = {}
        self._whole = 0
        content = read_bytes(self.path, str(self.path)) if self.path.exists() else b""
        lines = content.splitlines(keepends=True)
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
        line = json.dumps(record, sort_keys=True).encode() + b"\n"
        try:
            self._write(line)
        except OSError as error:
            with suppress(OSError):
                os.truncate(self.path, self._whole)
            held = f"the {len(self.found)} records there are whole" if self.found else "nothing is lost"
            raise InvalidInput(
                self.path,
                f"cannot be written ({error.strerror or error}); {held}; make room, then add --resume",
            ) from error
        self._whole += len(line)
        self.found[record["key"]] = record

    def _write(self, line: bytes) -> None:
        with self.path.open("ab") as file:
            file.truncate(self._whole)
            file.write(line)
            file.flush()
            os.fsync(file.fileno())

    def all(self) -> list[dict[str, Any]]:
        """All records, in the order of their keys, so that the order of finishing does not matter."""
        for key, record in self.found.items():
            self._check(key, record)
        return [self.found[key] for key in sorted(self.found)]

    def _check(self, key: str, record: dict[str, Any]) -> None:
        if missing := set(NEEDED) - set(record):
            raise InvalidInput(self.path, f"the record {key!r} has no field {sorted(missing)[0]!r}")
        for name, kind in NEEDED.items():
            if not isinstance(record[name], kind):
                raise InvalidInput(
                    self.path, f"the field {name!r} of the record {key!r} must hold {SAID[kind]}"
                )
