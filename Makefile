# Every target sets itself up: the first call makes .venv, later calls skip what is done.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt

.DEFAULT_GOAL := help
.PHONY: help setup demo app test quick lint format bench thesis screenshots clean

help:  ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

setup: $(STAMP)  ## create .venv with the pinned dependencies

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11"; exit 2; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { echo "python3 -m venv failed; on Debian: apt-get install python3-venv"; exit 2; }
	@echo "Installing the pinned dependencies into $(VENV) (about a minute) ..."
	@$(BIN)/pip install --quiet --editable '.[dev,planners,foreign,cluster,app]'
	@# dlplan checks our exports in tests; what it depends on is not needed for that and takes long to compile.
	@$(BIN)/pip install --quiet --no-deps dlplan || echo "dlplan has no wheel for this machine; the tests that need it will be skipped."
	@touch $@

demo: $(STAMP)  ## Gripper: labelled states, what looks the same, a trained network, and what it becomes in logic
	$(BIN)/distill data gripper --figure artifacts/runs/demo/gripper-labels.png
	$(BIN)/distill quotient gripper
	$(BIN)/distill evaluate artifacts/checkpoints/gripper.safetensors gripper --figure artifacts/runs/demo/gripper-network.png
	$(BIN)/distill run configs/runs/gripper.yaml --out artifacts/runs
	@echo "Now look at it in the browser: make app"

app: $(STAMP)  ## open the workbench in the browser
	$(BIN)/distill app

test: $(STAMP) browser  ## run all tests
	$(BIN)/pytest -n auto -q

quick: $(STAMP)  ## run the tests but the slow ones: browsers, documents, whole distillations, large sets of cases
	$(BIN)/pytest -n auto -q -m 'not slow' --hypothesis-profile=quick

# The workbench is tested in a real browser, where Debian's packages have one or it is there already.
.PHONY: browser
browser:
	@command -v chromium chromium-browser google-chrome >/dev/null || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && apt-get install -y -qq chromium >/dev/null; } || \
	  echo "There is no chromium and it may not be installed here: the tests in a browser will be SKIPPED."

lint: $(STAMP)  ## ruff, mypy, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(STAMP)  ## format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(STAMP)  ## run the benchmarks: us and the peer side by side
	@$(BIN)/pip install --quiet --editable '.[bench]'
	@set -e; for script in $(filter-out %/comparing.py %/published.py %/chapter5.py,$(wildcard benchmarks/*.py)); do echo "== $$script"; $(BIN)/python $$script; done

thesis: $(STAMP)  ## repeat chapter 5 of the thesis: its tables and figures, into artifacts/runs/thesis/chapter5
	$(BIN)/distill batch configs/sweeps/chapter5.yaml --out artifacts/runs/thesis
	$(BIN)/distill batch configs/sweeps/chapter5-readable.yaml --out artifacts/runs/thesis
	$(BIN)/python benchmarks/chapter5.py

screenshots: $(STAMP) browser  ## take a picture of every page of the workbench, into docs/screenshots
	$(BIN)/python -m tests.app.screenshots

clean:  ## remove .venv and caches
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache
