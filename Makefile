# `make run` starts the engine and `make test` runs the tests: both first set up what they need in .venv.
# PYTHON=python3.12 chooses the interpreter. ARGS="..." is passed on by run, test and bench.

# OpenBench gives the interpreter that it has found as CC.
PYTHON ?= $(if $(findstring python,$(notdir $(CC))),$(CC),python3)
VENV := .venv
BIN := $(VENV)/bin

# Some images of containers set it. Then each of the tests' hundreds of processes would compile all modules anew.
unexport PYTHONDONTWRITEBYTECODE

ifdef EXE
.DEFAULT_GOAL := exe
else
.DEFAULT_GOAL := help
endif

.PHONY: help run test test-tools bench bench-table lint fmt docs coverage executable ci clean exe
.DELETE_ON_ERROR:

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

# Debian leaves ensurepip out of its plain python3, so `-m venv` can fail where Python and pip are both there:
# then uv makes the environment, or else the system's pip puts a pip into an environment made without one.
define make-venv
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Knightadder needs Python 3.11 or newer; choose one with: make PYTHON=python3.12" >&2; exit 1; }
	@echo "Making an environment in $(1)" >&2
	@$(PYTHON) -m venv --clear "$(1)" >/dev/null 2>&1 \
	  || uv venv --quiet --clear --seed --python "$(PYTHON)" "$(1)" 2>/dev/null \
	  || { $(PYTHON) -m venv --clear --without-pip "$(1)" \
	       && $(PYTHON) -m pip --python "$(1)/bin/python" install --quiet pip; } \
	  || { rm -rf "$(1)"; echo "Cannot make a virtual environment: install python3-venv, or uv." >&2; exit 1; }
endef

PIP_INSTALL := -m pip install --quiet --disable-pip-version-check

# The stamp carries the interpreter's name and version, so that another PYTHON, or a newer one of the same name, makes
# the environment anew.
PYTHON_VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)
VENV_STAMP := $(VENV)/.made-by-$(notdir $(PYTHON))-$(PYTHON_VERSION)

$(VENV_STAMP):
	$(call make-venv,$(VENV))
	@touch $@

# Installing compiles the core, so a changed core is installed anew. Not so with the development tools: Numba is one of
# them, so that the engine itself compiles what has changed.
CORE := $(shell find src/knightadder/core -name '*.py')
INSTALLED := $(VENV)/$(if $(wildcard $(VENV)/.installed-dev),.installed-dev,.installed)

$(VENV)/.installed: pyproject.toml hatch_build.py $(CORE) $(VENV_STAMP)
	@echo "Installing Knightadder in $(VENV), which compiles its core (up to a minute)" >&2
	@$(BIN)/python $(PIP_INSTALL) --editable .
	@touch $@

# Only some of ten thousand modules are ever imported, so it is quicker to let Python compile those.
$(VENV)/.installed-dev: pyproject.toml hatch_build.py $(VENV_STAMP)
	@echo "Installing Knightadder and its development tools in $(VENV)" >&2
	@$(BIN)/python $(PIP_INSTALL) --no-compile --editable '.[dev]'
	@touch $@ $(VENV)/.installed

run: $(INSTALLED) ## set up and start the engine, which then speaks UCI
	@$(BIN)/knightadder $(ARGS)

# The core is compiled before, so that no test waits for it. Each file of tests runs in one process, for what its tests
# share; in the order of the files, so that the long ones do not come last.
test: $(VENV)/.installed-dev ## set up and run the tests of the program, on all processors
	@$(BIN)/python -c "from knightadder.engine.loader import compile_core; compile_core()"
	@$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder --ignore=tests/tools $(ARGS)

test-tools: $(VENV)/.installed-dev ## set up and run the tests of the scripts in tools/
	@$(BIN)/python -m pytest -n auto tests/tools $(ARGS)

bench: $(INSTALLED) ## search the fixed positions: nodes, and nodes per second
	@$(BIN)/knightadder bench $(ARGS)

bench-table: $(VENV)/.installed-dev ## time the core's parts, into the tables of docs/speed.md and docs/evaluation.md
	@$(BIN)/python benchmarks/microbench.py --write $(ARGS)

lint: $(VENV)/.installed-dev ## check style and types
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

fmt: $(VENV)/.installed-dev ## format the code
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

docs: $(VENV)/.installed-dev ## build the documents as a site in docs/_build, and check their links
	@$(BIN)/python -m sphinx --fresh-env --fail-on-warning --keep-going --nitpicky --quiet docs docs/_build
	@$(BIN)/python -m pytest --quiet tests/test_project.py -k links

coverage: $(VENV)/.installed-dev ## show which lines of the core no test reaches, by the tests of the interpreted core
	@KNIGHTADDER_INTERPRET=1 $(BIN)/python -m coverage run -m pytest -m nojit tests/core tests/native
	@$(BIN)/python -m coverage report

# From an environment of its own, because what is installed there goes into it.
executable: ## build the program for those without Python, for this system, in dist
	$(call make-venv,build/executable)
	@echo "Installing Knightadder in build/executable, which compiles its core (up to a minute)" >&2
	@build/executable/bin/python $(PIP_INSTALL) '.[annotate,lichess,executable]'
	@build/executable/bin/python tools/build_executable.py dist

ci: ## everything that has to pass before a change goes in
	@PYTHON="$(PYTHON)" .ci/run

clean: ## remove the environment, the compiled core and all caches in this folder
	rm -rf $(VENV) __pycache__ build dist src/knightadder/core/*.image* docs/_build docs/jupyter_execute .mypy_cache .pytest_cache .ruff_cache .hypothesis .coverage
	find src tests benchmarks tools docs -name __pycache__ -type d -prune -exec rm -rf {} +

# OpenBench calls `make EXE=name CC=compiler EVALFILE=network`, keeps the file `name` and deletes the folder it was made
# in. So what the launcher runs is put elsewhere: an environment with what the engine and its installation need for each
# pyproject.toml, and an installation for each state of the sources and each network. ENVIRONMENT=folder uses a ready
# environment instead.
ifdef EXE
BUILDS ?= $(or $(XDG_DATA_HOME),$(HOME)/.local/share)/knightadder/openbench
DIGEST = $(PYTHON) -c 'import hashlib, sys; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest()[:16])'
EXE_VENV := $(or $(ENVIRONMENT),$(BUILDS)/venv-$(shell { echo $(PYTHON) $(PYTHON_VERSION); cat pyproject.toml; } | $(DIGEST)))
EXE_CORE := $(BUILDS)/source-$(shell { find src -type f ! -name '*.py[co]' ! -name '*.image*' | LC_ALL=C sort; \
  echo pyproject.toml; echo hatch_build.py; } | xargs tail -n +1 | $(DIGEST))
EXE_SOURCE := $(EXE_CORE)$(if $(EVALFILE),-$(or $(shell $(DIGEST) 2>/dev/null < "$(EVALFILE)"),missing))
EXE_NEEDS := import tomllib; all = tomllib.load(open("pyproject.toml", "rb")); project = all["project"]; \
  print(*all["build-system"]["requires"], *project["dependencies"], *project["optional-dependencies"]["compile"], sep="\n")
EXE_CHECK := import sys; from knightadder.cli import exit_status; from knightadder.engine.evaluator import Evaluator; \
  sys.exit(exit_status("EVALFILE", lambda: Evaluator(file=sys.argv[1]) and 0))

$(BUILDS)/venv-%/.installed:
	@mkdir -p "$(BUILDS)"
	$(call make-venv,$(EXE_VENV))
	@"$(EXE_VENV)/bin/python" -c '$(EXE_NEEDS)' > "$(EXE_VENV)/requirements.txt"
	@"$(EXE_VENV)/bin/python" $(PIP_INSTALL) --requirement "$(EXE_VENV)/requirements.txt"
	@touch "$@"

$(EXE_CORE): | $(if $(ENVIRONMENT),,$(EXE_VENV)/.installed)
	@rm -rf "$@.new"
	@"$(EXE_VENV)/bin/python" $(PIP_INSTALL) --no-deps --no-build-isolation --target "$@.new" .
	@mv "$@.new" "$@"

$(EXE_CORE)-%: | $(EXE_CORE)
	@PYTHONPATH="$(EXE_CORE)" "$(EXE_VENV)/bin/python" -P -c '$(EXE_CHECK)' "$(EVALFILE)"
	@rm -rf "$@.new"
	@cp -R "$(EXE_CORE)" "$@.new"
	@cp "$(EVALFILE)" "$@.new/knightadder/data/default.nnue"
	@mv "$@.new" "$@"

# The launcher names itself in an otherwise unused -X option because OpenBench stops engines by the name of their file.
# -P keeps Python from importing what lies in the working directory.
exe: | $(EXE_SOURCE)
	@printf '#!/bin/sh\nPYTHONPATH="%s" exec "%s" -P -X launcher="$$0" -m knightadder "$$@"\n' \
	  "$(EXE_SOURCE)" "$(abspath $(EXE_VENV))/bin/python" > "$(EXE)"
	@chmod +x "$(EXE)"
endif
