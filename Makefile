# make demo: set up and run the main job.  make test: set up, lint and run the tests.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
unexport PYTHONDONTWRITEBYTECODE  # compiled once, not by every process that the tests start

.PHONY: demo test lint chromium bench bench-theory bench-curves bench-serve bench-scale bench-fuzz clean

$(VENV)/run: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[plot,tables]'
	touch $@

$(VENV)/dev: $(VENV)/run
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

demo: $(VENV)/run
	$(BIN)/aced run digits --strategy blend --strategy passive --strategy margin --plot demo.png

# The pages are tested in a real browser; where it cannot be had, those tests are skipped.
chromium:
	@if [ ! -x /usr/bin/chromium ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		{ apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium; } >/dev/null \
		|| echo "no chromium: the browser tests will be skipped"; fi

test: $(VENV)/dev lint chromium
	$(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder

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

bench-serve: $(VENV)/dev
	$(BIN)/python benchmarks/serve.py

bench-scale: $(VENV)/dev
	$(BIN)/python benchmarks/scale.py
	$(BIN)/python benchmarks/peers.py

bench-fuzz: $(VENV)/dev
	$(BIN)/python benchmarks/fuzz.py

clean:
	rm -rf $(VENV) demo.png
