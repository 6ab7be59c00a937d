# The two commands of the README, `make demo` and `make test`, need Python 3.11 or later and a
# C++ compiler, and make everything else.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --constraint constraints.txt --editable
CORE := CMakeLists.txt pyproject.toml constraints.txt $(wildcard src/core/* src/core/cuda/*)

# The tests start hundreds of processes, each of which would compile all of the library again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-long bench data docs lint clean

demo: $(VENV)/.installed
	$(BIN)/python examples/demo.py

# A process of tests for each core: NumPy must not use all cores in each.
test: $(VENV)/.installed-dev data
	$(MAKE) --jobs 2 lint docs
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -m "not long" -n auto --dist loadfile

test-long: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -m long

lint: $(VENV)/.installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright --pythonpath $(BIN)/python
	$(BIN)/lint-imports

# MNIST, fetched once into the cache; without it the tests that read it are skipped, and say so.
data: $(VENV)/.installed-dev
	@$(BIN)/torchalu data mnist --quiet || echo "MNIST could not be fetched: its tests are skipped" >&2

docs: $(VENV)/.installed-dev
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build/html

bench: $(VENV)/.installed-dev
	$(BIN)/python -m benchmarks

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "torchalu needs Python 3.11 or later; set PYTHON=python3.12, say")'
	$(PYTHON) -m venv $(VENV)

# Compiling the core needs a C++20 compiler; one sentence is better than a page from CMake.
$(VENV)/.compiler:
	@command -v $${CXX:-c++} >/dev/null 2>&1 || command -v g++ >/dev/null 2>&1 || command -v clang++ >/dev/null 2>&1 || \
	  { echo "torchalu needs a C++20 compiler (GCC 11, Clang 14 or later): install one, or point CXX at it" >&2; exit 1; }

$(VENV)/.installed: $(VENV)/bin/python $(CORE) | $(VENV)/.compiler
	$(INSTALL) ".[all]"
	touch $@

$(VENV)/.installed-dev: $(VENV)/bin/python $(CORE) | $(VENV)/.compiler
	$(INSTALL) ".[dev]" \
	  --config-settings=cmake.define.TORCHALU_EMULATED=ON
	touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) build docs/_build demo
