# `make run` shows the project at work, `make test` and `make check` are what CI runs.
# Nothing has to be installed first but Python 3.11 or newer, git and make.

SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help setup debian run test check clean

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install -qq
READY := $(VENV)/.ready
DEBIAN := bubblewrap chromium fonts-dejavu-core fonts-liberation
APT := apt-get update && apt-get install -y --no-install-recommends

# Another Python: `make setup PYTHON=/path/to/python`.
PYTHON ?= python3.11 python3.12 python3.13 python3.14 python3 python
# The model of `make run`, if not the default one: `make run MODEL='http://127.0.0.1:8080/v1#NAME'`.
MODEL ?=
# More words for pytest: `make test PYTEST='tests/llm -x'`.
PYTEST ?=

help:  ## Say what there is to make
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 14

setup: $(READY)  ## Make .venv with all that running, testing and checking need

$(READY): pyproject.toml
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || { $(FIND_PYTHON); $(NEED_VENV); \
	  echo "Making $(VENV) with $$("$$python" --version)"; "$$python" -m venv --clear $(VENV); }
	@echo "Installing what pyproject.toml names into $(VENV); the first time takes some minutes"
	@$(PIP) --upgrade 'pip>=25.1'
	@$(PIP) --editable '.[local,optimizers,drift,data,ds1000,server]' --group dev
	@touch $@

# Sets $python to the first that is new enough.
define FIND_PYTHON
python=; for name in $(PYTHON); do \
  python=$$(command -v $$name) || continue; \
  "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && break; \
  python=; \
done; \
if [ -z "$$python" ]; then \
  echo "make: no Python 3.11 or newer among: $(PYTHON); give one with make setup PYTHON=PATH" >&2; \
  exit 1; \
fi
endef

# Debian keeps the part that makes virtual environments in a package of its own.
define NEED_VENV
if ! "$$python" -c 'import ensurepip' 2>/dev/null; then \
  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
    { $(APT) python3-venv; } >/dev/null || exit 1; \
  else \
    echo "make: $$python cannot make virtual environments; as root: $(APT) python3-venv" >&2; \
    exit 1; \
  fi; \
fi
endef

debian:  # Chromium and bubblewrap are there, were installed, or how to was said; the tests decide.
	@if command -v chromium >/dev/null && command -v bwrap >/dev/null; then \
	  :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  export DEBIAN_FRONTEND=noninteractive; \
	  { $(APT) $(DEBIAN); } >/dev/null || echo "chromium and bubblewrap could not be installed with: $(APT) $(DEBIAN)"; \
	else \
	  echo "The tests of pages need chromium, those of the sandbox bubblewrap. As root: $(APT) $(DEBIAN)"; \
	fi

run: setup  ## Three methods on one stream with a real model, and a report to look at
	@[ -n "$(MODEL)$$OPENAI_API_KEY" ] || $(BIN)/learnloop models get local
	@$(BIN)/learnloop quickstart $(if $(MODEL),--model '$(MODEL)')

test: setup debian  ## Tests and doctests; with CI=true nothing may be skipped
	@$(BIN)/learnloop models get local || echo "Without the local model its tests skip (CI=true: fail)."
	@$(BIN)/python -m pytest $(PYTEST)

check: setup  ## Lint, format, types, import direction
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

clean:  ## Remove what these commands made, apart from runs and models
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
