"""JSON as every program and every browser can read it."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import JSONResponse

from aced.project import finite


class Json(JSONResponse):
    """JSON in ASCII only, so that half a surrogate pair in an item cannot break it. NaN becomes null."""

    def render(self, content: Any) -> bytes:
        try:
            text = json.dumps(content, allow_nan=False, separators=(",", ":"))
        except ValueError:
            text = json.dumps(finite(content), allow_nan=False, separators=(",", ":"))
        return text.encode()
