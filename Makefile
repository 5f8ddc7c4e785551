PREFIX  ?= /usr/local
DESTDIR ?=
JOBS    ?= $(shell nproc)
ARGS    ?=

RELEASE  := build/release
HOLDFAST := $(RELEASE)/bin/holdfast

.PHONY: help run build test e2e bench install check format clean setup
.DEFAULT_GOAL := help

help:
	@echo "make run      build and start the server (ARGS= for its flags)"
	@echo "make build    leave the server in $(HOLDFAST)"
	@echo "make test     build with address and undefined-behaviour sanitizers, run every test"
	@echo "make e2e      run published codex clients, fetched by npm once, against the server (CLIENTS= SCENARIOS=)"
	@echo "make check    format, tidy, layers, sizes, docs"
	@echo "make bench    leave the benchmarks in $(RELEASE)/bin"
	@echo "make install  PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)"
	@echo "make format   rewrite the sources in house format"
	@echo "make clean    remove build/"
	@echo "Each installs the Debian packages it lacks (tools/packages.txt)."

setup:
	@tools/setup

run: build
	@echo "To try the server, in a second terminal, with the URL it prints below:" >&2
	@echo "  echo '{\"id\":1,\"method\":\"initialize\",\"params\":{\"clientName\":\"me\"}}' | tools/ws-cat URL" >&2
	@echo "  README.md goes on from there; $(HOLDFAST) exec-server --help lists the flags (make run ARGS='...')" >&2
	@exec $(HOLDFAST) exec-server $(ARGS)

build: setup
	@cmake --preset release
	@cmake --build --preset release -j $(JOBS) --target holdfast

test: setup
	@cmake --preset asan
	@cmake --build --preset asan -j $(JOBS)
	@ctest --preset asan --output-on-failure -j $(JOBS)

e2e: build
	@tests/e2e/run.py --server $(HOLDFAST) --clients "$(CLIENTS)" --scenarios "$(SCENARIOS)"

bench: setup
	@cmake --preset release
	@cmake --build --preset release -j $(JOBS) --target benchmarks
	@echo "$(RELEASE)/bin/server_bench           the server as a client sees it: --rounds N, --only NAME, --json"
	@echo "$(RELEASE)/bin/{base64,spawn}_bench   parts of it, by google-benchmark: --benchmark_filter=REGEX"

install: build
	@DESTDIR="$(DESTDIR)" cmake --install $(RELEASE) --prefix "$(PREFIX)"

# Every check runs, so that one round shows all there is to mend.
check: setup
	@failed=; for check in format layers sizes docs tidy; do tools/check_$$check || failed="$$failed $$check"; done; \
	if [ -n "$$failed" ]; then echo "make check: failed:$$failed" >&2; exit 1; fi

format: setup
	@tools/check_format --fix

clean:
	@rm -rf build
