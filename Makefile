# One command per wish. Every target is one line over a documented Python command.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin

.PHONY: demo test test-unit native-test native-verify backends fuzz parity-deps check format bench clean

demo: $(VENV)/.installed  ## build, download, prove, activate, ask: the main job on a local hub
	$(BIN)/eliza-agent demo --dir .demo

test: $(VENV)/.test-installed  ## every test that runs on this machine
	$(BIN)/python -m pytest

test-unit: $(VENV)/.test-installed  ## the quick ones, Python only
	$(BIN)/python -m pytest -m "not slow and not parity"

native-test: $(VENV)/.test-installed  ## the C++ tests, with address, leak and undefined-behaviour checks
	$(BIN)/python -m pytest tests/native/test_cpp.py tests/native/test_configure.py

native-verify: $(VENV)/bin/python  ## the kernels against recorded blocks and the true dot product: N/N PASS
	cmake -S native -B build/native-verify -DELIZA_BUILD_TESTS=ON -DPython3_EXECUTABLE=$(abspath $(BIN)/python) > /dev/null
	cmake --build build/native-verify --target native_verify -j > /dev/null
	build/native-verify/kernels/native_verify native/kernels/fixtures/golden.json

backends: $(VENV)/.test-installed  ## the library as modules for every processor, with Vulkan: built and run
	$(BIN)/python -m pytest -m backends

fuzz: $(VENV)/.test-installed  ## a minute of libFuzzer for every reader of foreign bytes; needs clang
	$(BIN)/python native/fuzz/run.py

parity-deps: $(VENV)/.parity-installed  ## the official implementations, for the tests that compare with them

check: $(VENV)/.lint-installed  ## lint, format, types, import walls, C++ format
	$(BIN)/python tests/house/check.py

format: $(VENV)/.lint-installed
	$(BIN)/ruff format . && $(BIN)/ruff check --fix . && $(BIN)/python tests/house/check.py --format

bench: $(VENV)/.parity-installed  ## speed, as ratios against a peer in the same run
	$(BIN)/python -m tests.bench

clean:
	rm -rf build .demo $(VENV)

SOURCES := $(shell find agent capabilities catalog native -type f -not -path '*/__pycache__/*' 2>/dev/null)

$(VENV)/bin/python:
	$(PYTHON) packaging/bootstrap.py $(VENV)

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml $(SOURCES)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check ".[publisher]"
	@touch $@

$(VENV)/.test-installed: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $$($(BIN)/python packaging/extras.py test)
	@touch $@

$(VENV)/.lint-installed: $(VENV)/.test-installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $$($(BIN)/python packaging/extras.py lint)
	@touch $@

$(VENV)/.parity-installed: $(VENV)/.test-installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $$($(BIN)/python packaging/extras.py parity)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps "kokoro==0.9.4"
	@touch $@
