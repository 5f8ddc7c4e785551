PREFIX  ?= /usr/local
DESTDIR ?=
JOBS    ?= $(shell nproc)
# The number of tests that run at once. It is above the number of processors, because tests wait more than they compute.
TEST_JOBS ?= $(shell echo $$((2 * $(JOBS))))
ARGS    ?=

RELEASE  := build/release
HOLDFAST := $(RELEASE)/bin/holdfast
# The file with the URL of the server that `make run` starts; empty if the server is to print the URL.
URL_FILE ?= build/url.txt

.PHONY: help run build test e2e bench install npm-package patched-bash check format clean setup
.DEFAULT_GOAL := help

help:
	@echo "make run           build and start the server (ARGS='...' passes flags to it)"
	@echo "make build         build $(HOLDFAST) and all else that make install installs"
	@echo "make test          build with the address and undefined-behaviour sanitizers, and run every test"
	@echo "make e2e           test the server with published codex clients, which npm fetches once (CLIENTS= and SCENARIOS= select some)"
	@echo "make check         check format, layers, sizes and documents, and run clang-tidy"
	@echo "make bench         build the benchmarks into $(RELEASE)/bin"
	@echo "make install       build and install (PREFIX=$(PREFIX) DESTDIR=$(DESTDIR))"
	@echo "make patched-bash  build build/patched-bash/bash, a shell for --intercept wrapper, from the source of Debian's bash"
	@echo "make npm-package   pack build/npm/holdfast-shell-tool-mcp-npm-VERSION.tgz, with the patched shell if there is one"
	@echo "make format        format the C++ sources"
	@echo "make setup         install the Debian packages that are missing (tools/packages.txt); all targets above do so first"
	@echo "make clean         remove build/"

setup:
	@tools/setup

run: build
	@echo "To try the server, run this in a second terminal:" >&2
	@echo "  export PATH=$(CURDIR)/$(RELEASE)/bin:\$$PATH HOLDFAST_SERVER=\$$(cat $(CURDIR)/$(URL_FILE))" >&2
	@echo "  holdfast run -- make --version        runs a command as if it ran here" >&2
	@echo "  holdfast run -t bash                  opens a shell; Ctrl-] d leaves it running" >&2
	@echo "  holdfast ps                           lists what runs; holdfast attach NAME comes back" >&2
	@echo "  holdfast cp README.md :/tmp/          copies a file to the server" >&2
	@echo "README.md continues from there. holdfast --help lists all commands, and $(HOLDFAST) exec-server --help" >&2
	@echo "lists the flags for make run ARGS='...'." >&2
	@exec $(HOLDFAST) exec-server $(if $(URL_FILE),--url-file $(URL_FILE)) $(ARGS)

# The default target of the build has everything that is installed: CMake sees to it.
build: setup
	@cmake --preset release
	@cmake --build --preset release -j $(JOBS)
	@tools/check_program $(RELEASE)

# Sandboxed commands may write /tmp, and holdfast does not run a command that could change holdfast's own programs.
test: setup
	@case "$(CURDIR)/" in /tmp/*) echo "make test: move this tree out of /tmp, where sandboxed commands may write" >&2; exit 1;; esac
	@cmake --preset asan
	@cmake --build --preset asan -j $(JOBS)
	@ctest --preset asan --output-on-failure -j $(TEST_JOBS)

e2e: build
	@tests/e2e/run.py --server $(HOLDFAST) --clients "$(CLIENTS)" --scenarios "$(SCENARIOS)"
	@tests/e2e/mcp/run.py --server $(HOLDFAST)
	@tests/e2e/npm_cache.py
	@tools/typescript_types --check

bench: setup
	@cmake --preset release
	@cmake --build --preset release -j $(JOBS) --target benchmarks
	@echo "$(RELEASE)/bin/server_bench                 measures the server as a client sees it: --rounds N, --only NAME, --json"
	@echo "$(RELEASE)/bin/rendezvous_load              loads a rendezvous with executors and clients: --pairs N, --rounds N, --only NAME, --json"
	@echo "$(RELEASE)/bin/*_bench                      measure parts of it with google-benchmark: --benchmark_filter=REGEX"

install: build
	@DESTDIR="$(DESTDIR)" cmake --install $(RELEASE) --prefix "$(PREFIX)"

# Tests use the shell if it is there.
patched-bash: setup
	@JOBS=$(JOBS) tools/patched_bash/build build/patched-bash

npm-package: build
	@tools/npm_package $(RELEASE) build/npm

# Every check runs even if an earlier one has failed, so that one run shows everything that has to be fixed.
check: setup
	@failed=; for check in format layers sizes docs tidy; do tools/check_$$check || failed="$$failed $$check"; done; \
	if [ -n "$$failed" ]; then echo "make check: failed:$$failed" >&2; exit 1; fi

format: setup
	@tools/check_format --fix

clean:
	@rm -rf build
