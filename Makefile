# make demo: set up and run the main job.  make test: set up, lint and run the tests.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test lint bench bench-theory bench-curves clean

$(VENV)/run: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[plot,tables]'
	touch $@

$(VENV)/dev: $(VENV)/run
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

demo: $(VENV)/run
	$(BIN)/aced run digits --strategy aced --strategy passive --strategy margin --plot demo.png

test: $(VENV)/dev lint
	$(BIN)/python -m pytest

lint: $(VENV)/dev
	$(BIN)/ruff check src tests benchmarks
	$(BIN)/ruff format --check src tests benchmarks
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/run
	$(BIN)/python benchmarks/engine.py

bench-theory: $(VENV)/run
	$(BIN)/python benchmarks/theory.py

bench-curves: $(VENV)/run
	$(BIN)/python benchmarks/curves.py

clean:
	rm -rf $(VENV) demo.png
