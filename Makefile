# Two commands do everything on a fresh machine with Python 3.11 or newer and make:
#   make report   builds the report of the demo record set
#   make test     runs every test
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
DEMO := demo
STAMP := $(VENV)/.installed
PARAMS ?=

.DEFAULT_GOAL := help
.PHONY: help setup demo report test lab bench check lock clean

help: ## show this list
	@awk -F':.*## ' '/^[a-z]+:.*## /{printf "make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(STAMP): requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "medgauge needs Python 3.11 or newer; set PYTHON=…")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes --requirement requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $(STAMP)

setup: $(STAMP) ## set up .venv with the locked dependencies; gives .venv/bin/medgauge

demo: $(STAMP) ## make the synthetic demo record set in demo/
	$(BIN)/medgauge demo $(DEMO)

report: demo ## build the report of the demo set, or of PARAMS=params/x.yaml
	$(BIN)/medgauge report $(PARAMS)

test: $(STAMP) ## run every test
	$(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder

lab: demo ## open the notebooks in JupyterLab
	$(BIN)/jupyter lab --notebook-dir=. notebooks

bench: $(STAMP) ## print speed and memory as ratios within one run
	$(BIN)/python -m benchmarks

check: $(STAMP) ## lint, types, notebooks without outputs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/test_notebooks.py -k committed

lock: ## write requirements.lock anew from pyproject.toml (needs uv)
	uv pip compile pyproject.toml --all-extras --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --custom-compile-command "make lock" --output-file requirements.lock

clean: ## remove .venv, demo/ and caches; reports/ stay
	rm -rf $(VENV) $(DEMO) .pytest_cache .mypy_cache .ruff_cache .hypothesis
