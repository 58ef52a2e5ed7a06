# kueue-dra-conformance: `make` prints this menu.
#
# Every target installs what it needs into .venv, from the locked versions in locks/.
# Needs git, make and Python >= 3.11 with venv; uv is used when it is there.

SHELL := /bin/bash
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)
CORES := $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
GIGABYTES := $(shell echo $$(( $$(getconf _PHYS_PAGES 2>/dev/null || echo 4194304) * $$(getconf PAGE_SIZE 2>/dev/null || echo 4096) >> 30 )))
# Real Kueues at once: a case often waits, so three for each core; each takes a gigabyte or two, so no more than there is room for.
WORKERS ?= $(shell printf '%s\n' $$((3 * $(CORES))) $$(($(GIGABYTES) / 2 + 1)) 8 | sort -n | head -n 1)
# Processes that run cases on the reference at once, forked after collection: one for each core, at most four.
FORKS ?= $(shell echo $$(( $(CORES) < 4 ? $(CORES) : 4 )))
TARGET ?= kueue
# The minor of Kueue that `make live` runs; and those of `make matrix`, all pinned ones unless some are named.
KUEUE ?= 0.19
MINORS ?=
# A checkout of Kueue that `make live` and `make differential` build and run instead; KUEUE=0.20 names what it should do.
KUEUE_SRC ?=
# With KUEUE_SRC: the release to compare the checkout with, such as AGAINST=kueue-0.19.
AGAINST ?=
# Where `make conformance` writes its report, which `make compare` compares with that of a real Kueue.
REFERENCE ?= out/reference
# For how long `make differential` starts new scenarios, and the seed that generates them; a random one by default.
BUDGET ?= 10m
SEED ?=
# Where the parts of `make e2e` come from: source (built here, nothing pulled; takes root) or released (published images).
IMAGES ?= source
NODES ?= 1
# Cases at once on the one cluster: one for each core, at most six, because more only slow each other down.
E2E_WORKERS ?= $(shell echo $$(( $(CORES) < 6 ? $(CORES) : 6 )))
CLUSTER ?= kueue-dra-dev
PYTEST := $(BIN)/python -m pytest
# Folders with packages; a .pth file in .venv makes them importable before the project is installed.
ROOMS := . suites fixtures clusters reports controls differential vendor audit cli
# Without compiled files each start of the suite takes four seconds longer.
unexport PYTHONDONTWRITEBYTECODE
# The suites use no hypothesis, and its plugin takes a second to import.
CASES := -q -p no:hypothesispytest suites/kueue_dra_suites/conformance
SUITE := $(PYTEST) $(CASES)
# A run on the reference needs none of these plugins; without them it starts faster.
ALONE := $(addprefix -p no:,logging warnings unraisableexception threadexception faulthandler doctest unittest subtests \
  setuponly setupplan stepwise pastebin recwarn tmpdir legacypath pytest-kind-ng)

ifdef UV
MAKE_VENV := $(UV) venv --quiet --python '>=3.11' $(VENV)
INSTALL := VIRTUAL_ENV=$(VENV) $(UV) pip install --quiet --compile-bytecode
else
MAKE_VENV := $(PYTHON) -m venv $(VENV)
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
endif

.PHONY: help
help: ## print this menu
	@awk 'BEGIN {FS = ":.*## "} /^[a-z][a-z0-9-]*:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed, this is " + sys.version.split()[0] + "; set PYTHON=/path/to/python3")'
	@$(MAKE_VENV)
	@touch $@

$(VENV)/.run: $(VENV)/.made locks/run.txt
	@echo "installing the locked packages into $(VENV) ..."
	@$(INSTALL) --require-hashes -r locks/run.txt
	@touch $@

$(VENV)/.rooms: $(VENV)/.run Makefile
	@printf '%s\n' $(abspath $(ROOMS)) > "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/kueue-dra-rooms.pth"
	@touch $@

$(VENV)/.dev: $(VENV)/.rooms locks/dev.txt pyproject.toml
	@echo "installing the locked development packages into $(VENV) ..."
	@$(INSTALL) --require-hashes -r locks/dev.txt
	@$(INSTALL) --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.e2e: $(VENV)/.dev locks/e2e.txt
	@echo "installing the locked packages of the e2e extra into $(VENV) ..."
	@$(INSTALL) --require-hashes -r locks/e2e.txt
	@touch $@

$(VENV)/.mutants: $(VENV)/.dev locks/mutants.txt
	@echo "installing the locked packages of the mutants extra into $(VENV) ..."
	@$(INSTALL) --require-hashes -r locks/mutants.txt
	@touch $@

.PHONY: install
install: $(VENV)/.dev ## set up .venv with everything, and the kueue-dra command in it

.PHONY: conformance
conformance: $(VENV)/.rooms ## the whole suite against the reference in memory; report in out/reference
	@$(BIN)/python -m kueue_dra_controls.with_suite $(REFERENCE) $(CASES) $(ALONE) --forks $(FORKS) $(ARGS)

.PHONY: conformance-all
conformance-all: $(VENV)/.rooms ## the same for each behaviour (KEP text or Kueue release), two at a time; reports in out/reference-NAME
	@$(BIN)/python -m kueue_dra_reports.all_behaviours $(CASES) $(ALONE) $(ARGS)

.PHONY: live
live: $(VENV)/.dev ## the same suite against a real Kueue KUEUE=0.19, built once, or KUEUE_SRC=../kueue AGAINST=kueue-0.19; report in out/kueue
ifneq ($(KUEUE_SRC),)
	@$(BIN)/kueue-dra run --target kueue --behaviour kueue-$(KUEUE) --kueue-src $(KUEUE_SRC) $(if $(AGAINST),--against $(AGAINST)) \
	  -n $(WORKERS) --report-dir out/own $(ARGS)
else
	@$(BIN)/python -m kueue_dra_clusters.binaries $(KUEUE)
	@$(SUITE) --target kueue --behaviour kueue-$(KUEUE) -n $(WORKERS) --report-dir=out/kueue $(ARGS)
	@$(BIN)/python -m kueue_dra_cli controls --target kueue --behaviour kueue-$(KUEUE) --report-dir=out/kueue
endif

.PHONY: live-core
live-core: $(VENV)/.dev ## only cases that prove what the KEP asks for, against a real Kueue, in a minute; report in out/kueue-core
	@$(BIN)/python -m kueue_dra_clusters.binaries $(KUEUE)
	@$(SUITE) --core --target kueue --behaviour kueue-$(KUEUE) -n $(WORKERS) --report-dir=out/kueue-core $(ARGS)

.PHONY: controls
controls: $(VENV)/.dev ## negative controls: misconfigure TARGET=kueue (or reference), exactly the listed cases have to fail; out/controls
	@[ $(TARGET) != kueue ] || $(BIN)/python -m kueue_dra_clusters.binaries $(KUEUE)
	@$(BIN)/python -m kueue_dra_cli controls --target $(TARGET) --behaviour kueue-$(KUEUE) --report-dir=out/controls

.PHONY: matrix
matrix: $(VENV)/.dev ## the suite against every pinned Kueue, or MINORS="0.18 0.19", and one table of all results in out/matrix
	@[ $(TARGET) != kueue ] || $(BIN)/python -m kueue_dra_clusters.binaries $(or $(MINORS),--all)
	@$(BIN)/kueue-dra matrix $(MINORS) --target $(TARGET) -n $(WORKERS) $(ARGS)

.PHONY: differential
differential: $(VENV)/.dev ## generated scenarios on the reference and a real Kueue KUEUE=0.19 for BUDGET=10m; SEED=7 repeats a run
	@$(if $(KUEUE_SRC),,$(BIN)/python -m kueue_dra_clusters.binaries $(KUEUE))
	@$(BIN)/kueue-dra differential --kueue $(KUEUE) $(if $(KUEUE_SRC),--kueue-src $(KUEUE_SRC)) --budget $(BUDGET) $(if $(SEED),--seed $(SEED)) $(ARGS)

.PHONY: moments
moments: $(VENV)/.dev ## dumps of a real Kueue KUEUE=0.19 in generated scenarios: explain, audit and going on, compared, for BUDGET=10m; SEED=7
	@$(BIN)/python -m kueue_dra_clusters.binaries $(KUEUE)
	@$(BIN)/python -m tests.moments --kueue $(KUEUE) --budget $(BUDGET) $(if $(SEED),--seed $(SEED)) $(ARGS)

.PHONY: test-live
test-live: $(VENV)/.dev ## the project's own tests of its clusters, on the real programs
	@$(BIN)/python -m kueue_dra_clusters.binaries
	@$(PYTEST) -q tests -m "live and not releases and not pods" $(ARGS)

.PHONY: image
image: $(VENV)/.e2e ## build the container images without pulling one, with the Kueues of MINORS="0.18 0.19"; takes root
	@$(BIN)/python -m kueue_dra_clusters.kind.packages
	@$(BIN)/python -m tests.container_image $(or $(MINORS),$(KUEUE))

.PHONY: test-pods
test-pods: $(VENV)/.e2e ## build the images and run the suite in pods of a kind cluster: shards, killed pods, queues; takes root
	@$(BIN)/python -m kueue_dra_clusters.kind.packages
	@$(PYTEST) -q tests/on_cluster $(ARGS)

.PHONY: test-releases
test-releases: $(VENV)/.dev ## the same scenario on every pinned Kueue (builds each release once)
	@$(BIN)/python -m kueue_dra_clusters.binaries $(or $(MINORS),--all)
	@$(PYTEST) -q tests -m releases $(ARGS)

.PHONY: e2e
e2e: $(VENV)/.e2e ## pods get devices: kind, the DRA example driver and a real Kueue; IMAGES=released NODES=3 KUEUE=0.18 DRIVER=FILE
	@[ $(IMAGES) != source ] || $(BIN)/python -m kueue_dra_clusters.kind.packages
	@$(PYTEST) -q suites/kueue_dra_suites/e2e --images $(IMAGES) $(if $(DRIVER),--driver $(DRIVER)) --nodes $(NODES) --kueue $(KUEUE) -n $(E2E_WORKERS) --maxschedchunk 1 \
	  --e2e-report out/e2e $(ARGS)

.PHONY: e2e-matrix
e2e-matrix: $(VENV)/.rooms ## the end-to-end suite on each Kueue that has a profile, one after another; reports in out/e2e-MINOR
	@for minor in $$($(BIN)/python -m kueue_dra_clusters.kind.profiles); do $(MAKE) --no-print-directory e2e KUEUE=$$minor ARGS="--e2e-report out/e2e-$$minor $(ARGS)" || exit 1; done

.PHONY: cluster-up
cluster-up: $(VENV)/.e2e ## create a kind cluster with Kueue and the driver: CLUSTER=kueue-dra-dev
	@$(BIN)/kueue-dra cluster up --name $(CLUSTER) --images $(IMAGES) $(if $(DRIVER),--driver $(DRIVER)) --nodes $(NODES) --kueue $(KUEUE)

.PHONY: cluster-down
cluster-down: $(VENV)/.e2e ## delete it, and what a killed run left behind
	@$(BIN)/kueue-dra cluster down

.PHONY: compare
compare: $(VENV)/.dev ## check that the reports of `make conformance` and `make live`, or of REFERENCE=DIR, differ in target and durations only
	@$(BIN)/kueue-dra report diff $(REFERENCE)/report.json out/kueue/report.json

.PHONY: test
test: $(VENV)/.dev ## the project's own tests; they also prove that the suite can fail
	@$(PYTEST) -q tests -m "not live" -n auto $(ARGS)

.PHONY: check
check: $(VENV)/.dev ## format, lint, types, import contracts, density, words, generated pages
	@$(BIN)/ruff format --check --quiet . || { echo "run: make format"; exit 1; }
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/python -m tests.density
	@$(BIN)/python -m tests.words
	@$(BIN)/python -m tests.requirements_page | diff -q - docs/reference/requirements.md >/dev/null || { echo "docs/reference/requirements.md is stale; run: make docs"; exit 1; }
	@$(BIN)/python -m kueue_dra_reports.changes_page | diff -q - docs/reference/texts.md >/dev/null || { echo "docs/reference/texts.md is stale; run: make docs"; exit 1; }
	@$(BIN)/python -m kueue_dra_reports.upgrade_page | diff -q - docs/how-to/upgrade-kueue.md >/dev/null || { echo "docs/how-to/upgrade-kueue.md is stale; run: make docs"; exit 1; }
	@$(BIN)/python -m kueue_dra_reports.behaviour_pages --check docs/behaviours
	@$(BIN)/python -m tests.selectors_page | diff -q - docs/reference/selectors.md >/dev/null || { echo "docs/reference/selectors.md is stale; run: make docs"; exit 1; }
	@$(BIN)/python -m tests.not_decided_page | diff -q - docs/reference/not-decided.md >/dev/null || { echo "docs/reference/not-decided.md is stale; run: make docs"; exit 1; }
	@echo "check: clean"

.PHONY: words
words: $(VENV)/.dev ## find words that are not plain Kubernetes English, with suggestions (tests/words.py)
	@$(BIN)/python -m tests.words $(ARGS)

.PHONY: density
density: $(VENV)/.dev ## list modules and functions that hold too much for a line, or that are too long (tests/density.py)
	@$(BIN)/python -m tests.density $(ARGS)

.PHONY: symbols
symbols: $(VENV)/.dev ## write the symbols of Kueue that docstrings may cite again, from the pinned releases (needs Go)
	@$(BIN)/python -m tests.kueue_symbols

.PHONY: format
format: $(VENV)/.dev ## rewrite the sources in the project's format
	@$(BIN)/ruff format --quiet . && $(BIN)/ruff check --quiet --fix .

.PHONY: docs
docs: $(VENV)/.dev ## regenerate the pages that are made from the reference and its catalogue
	@$(BIN)/python -m tests.requirements_page > docs/reference/requirements.md
	@$(BIN)/python -m kueue_dra_reports.changes_page > docs/reference/texts.md
	@$(BIN)/python -m kueue_dra_reports.upgrade_page > docs/how-to/upgrade-kueue.md
	@$(BIN)/python -m kueue_dra_reports.behaviour_pages docs/behaviours
	@$(BIN)/python -m tests.selectors_page > docs/reference/selectors.md
	@$(BIN)/python -m tests.not_decided_page > docs/reference/not-decided.md

.PHONY: bench
bench: $(VENV)/.dev ## measure how the cost of a decision grows, and the cost of a selector over many devices
	@$(BIN)/python -m tests.bench

.PHONY: bench-size
bench-size: $(VENV)/.dev ## measure the cost of a Job among 1,000 and among 50,000 (or ARGS="1000 10000")
	@$(BIN)/python -m tests.bench_size $(ARGS)

.PHONY: mutants
mutants: $(VENV)/.mutants ## change SAMPLE=100 expressions of the reference (or of MODULES="scheduler dra"), one at a time; list what no case notices; SEED=7
	@$(BIN)/python -m tests.mutants $(MODULES) $(if $(SAMPLE),--sample $(SAMPLE)) $(if $(SEED),--seed $(SEED)) -n $(CORES) $(ARGS)

.PHONY: lock
lock: ## resolve locks/ again (needs uv)
	@uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --quiet -o locks/run.txt
	@uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --quiet -c locks/run.txt -o locks/dev.txt
	@echo hypothesis | uv pip compile - --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --quiet -c locks/dev.txt -o locks/differential.txt
	@uv pip compile pyproject.toml --extra dev --extra e2e --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --quiet -c locks/dev.txt -o locks/e2e.txt
	@uv pip compile pyproject.toml --extra dev --extra mutants --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --quiet -c locks/dev.txt -o locks/mutants.txt

.PHONY: clean
clean: ## remove .venv and out/; the cache of built binaries stays (see docs/how-to/run-on-a-real-kueue.md)
	@rm -rf $(VENV) out .mypy_cache .ruff_cache .pytest_cache .hypothesis
