"""The rules of the house that can be checked by reading it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "src" / "aced"
FILES = sorted(ROOT.rglob("*.py"))


def package_of(path):
    """The folder below aced that a file belongs to, or "" for aced itself."""
    parts = path.relative_to(ROOT).parts
    return parts[0] if len(parts) > 1 else ""


def imported(path):
    """Modules of aced that a file names in its imports, as tuples without the leading aced."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "aced":
            base = tuple(node.module.split(".")[1:])
            yield base
            yield from ((*base, name.name) for name in node.names if name.name.startswith("_"))


def test_every_module_begins_with_an_underscore_and_no_package_does():
    assert [path for path in FILES if not path.name.startswith("_")] == []
    packages = [path.parent for path in FILES if path.name == "__init__.py"]
    assert [package for package in packages if package.name.startswith("_")] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nobody_imports_a_module_of_another_package(path):
    """What others may use stands in a package's __init__; modules of aced itself serve everybody."""
    foreign = [
        names
        for names in imported(path)
        if len(names) > 1 and names[0] != package_of(path) and any(n.startswith("_") for n in names)
    ]
    assert foreign == [] or path.name == "_torch_kernels.py"  # it is their kernels, written anew


def test_settings_are_read_as_attributes_and_events_dispatched_by_name():
    text = {path: path.read_text(encoding="utf-8") for path in FILES}
    assert [path for path, code in text.items() if ".settings[" in code] == []
    assert [path for path, code in text.items() if 'getattr(self, f"' in code] == []


def test_nobody_asks_whether_a_strategy_is_aced():
    others = [path for path in FILES if package_of(path) != "strategies"]
    assert [path for path in others if ", Aced)" in path.read_text(encoding="utf-8")] == []


PAGE = Path(__file__).parents[1] / "docs" / "security.md"


def test_every_threat_names_a_test_of_its_own_that_exists():
    page = PAGE.read_text(encoding="utf-8").split("## Threats")[1].split("\n## ")[0]
    rows = [line for line in page.splitlines() if re.match(r"\| (?!threat |---)", line)]
    named = [re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", row) for row in rows]
    assert [row for row, tests in zip(rows, named, strict=True) if len(tests) != 1] == []
    tests = [test for (test,) in named]
    assert len(set(tests)) == len(tests) > 40
    code = {path: (PAGE.parents[1] / path).read_text(encoding="utf-8") for path, _ in tests}
    assert [name for path, name in tests if f"def {name}(" not in code[path]] == []
