# cftrag: build, install, try, test. `make help` lists the targets.
#
# Promises: `make install` needs cargo, a C library's headers, libclang and a PostgreSQL 15..18 with its headers, and
# nothing else (no cargo-pgrx); tools/setup makes what the tests need, in a cache outside this directory;
# a target whose input is missing fails.

PG_CONFIG ?= pg_config
PROFILE ?= release
DESTDIR ?=
PG ?= 15 17
# The server whose headers are used, if not the one to install into; changing this path recompiles pgrx.
BUILD_PG_CONFIG ?= $(PG_CONFIG)

VERSION := $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
# Expanded lazily: targets that need no server do not run pg_config.
MAJOR = $(shell $(PG_CONFIG) --version | sed -E 's/^[^0-9]*([0-9]+).*/\1/')
LIBDIR = $(DESTDIR)$(shell $(PG_CONFIG) --pkglibdir)
EXTDIR = $(DESTDIR)$(shell $(PG_CONFIG) --sharedir)/extension
# One target directory per major, so that switching majors does not recompile everything.
BUILD_DIR = $(or $(CARGO_TARGET_DIR),target/pg$(MAJOR))
LIB = $(BUILD_DIR)/$(if $(filter dev,$(PROFILE)),debug,$(PROFILE))/libcftrag.so

export PG SEED STEPS CHECKS CALLS STATEMENTS FUZZ_SECONDS VERSION

.PHONY: help build all install uninstall installcheck deb image dist demo demo-stop test test-all freeze clean check-pg bench \
	core-test asan valgrind races miri fuzz lint bench-core schema-check pgspot regress isolation exact exact-long inject hostile cost cancels sqlsmith pgrx-test docs-test demo-test life pg-regress upgrade quality recognise methods clients python
.DEFAULT_GOAL := build

help:
	@echo 'make                      build for the server of PG_CONFIG=... (15..18; default: the pg_config on the PATH)'
	@echo 'make install              build and install there; PROFILE=dev for a debug build; honours DESTDIR'
	@echo 'make uninstall            remove it from that server'
	@echo 'make installcheck         SQL tests against the running server that libpq finds (PGHOST, PGPORT, ...)'
	@echo 'make deb                  Debian packages under target/deb, PG="15 17" or all majors whose headers are installed'
	@echo '                          SUITE=trixie (17) or forky (18): built in that Debian, target/deb-SUITE'
	@echo 'make image                OCI images under target/image, without Docker, from the package of PG=17 or 18'
	@echo 'make dist                 the release for PGXN, target/dist/cftrag-$(VERSION).zip, and its bill of materials'
	@echo 'make demo                 answer a question in a throw-away server; make demo-stop stops it'
	@echo 'make test                 what every change runs, on one PostgreSQL, in a few minutes: lint, core in release, regress (preloaded),'
	@echo '                          isolation, exact in 5,000 steps, the README, the data of the demo; ends with "N passed, N failed"'
	@echo '                          PG_CONFIG=... for your own server, PG="15 17" for both majors; see tests/README.md'
	@echo 'make test-all             everything below in full, on PostgreSQL 15 and 17; four hours'
	@echo '  make lint               formatting, clippy, shell syntax, layers, wording'
	@echo '  make core-test          the core without a server, debug and release'
	@echo '  make asan | valgrind | miri    the core under AddressSanitizer, valgrind, miri'
	@echo '  make races              readers of the core beside its writer, under ThreadSanitizer'
	@echo '  make fuzz               fuzz targets of the core, FUZZ_SECONDS=20 each'
	@echo '  make schema-check       the install script is what pgrx would generate'
	@echo '  make pgspot             the install script under pgspot: whose function or table a name means'
	@echo '  make regress            SQL tests                         PG=15 or PG=17 for one major'
	@echo '  make isolation          interleaved sessions              PG='
	@echo '  make exact              random concurrent sessions, compared with the reference query   PG= SEED= STEPS='
	@echo '  make hostile            hostile calls to every SQL function   PG= SEED= CALLS= (10000 is a long run)'
	@echo '  make cost               what calls and writes cost at n and at 4n, as a ratio   PG='
	@echo '  make cancels            every function is cancelled, over a million entities   PG= CFTRAG_SHORT=1 for 100,000'
	@echo '  make sqlsmith           random nested statements over every function, on PostgreSQL 15   SEED= STATEMENTS='
	@echo '  make pgrx-test          tests inside a server (src/pg_tests.rs), by cargo-pgrx   PG='
	@echo '  make docs-test          the SQL of README and docs                          PG='
	@echo '  make demo-test          the demo and its data'
	@echo '  make life               restart, crash, standby           PG='
	@echo '  make pg-regress         PostgreSQL'"'"'s own regression suite beside an attached table   PG='
	@echo '  make upgrade            ALTER EXTENSION UPDATE, pg_upgrade        PG='
	@echo 'make inject               every use of shared memory fails once, on PostgreSQL 17'
	@echo 'make exact-long           300,000 checks with crashes, promotions, memory limits   PG= SEED= CHECKS='
	@echo 'make python               the Python package: its wheel, its tests against a server, mypy, ruff'
	@echo 'make clients              the examples of docs/clients on the demo'"'"'s data, with libraries from PyPI and npm'
	@echo 'make quality              what each mode of cft_retrieve finds, in how many words and how fast (CFTRAG_DATA)'
	@echo 'make methods              the methods of docs/methods.md on the Disease Ontology and DART (CFTRAG_DATA)'
	@echo 'make recognise            whether cft_entities finds every name, and how fast (CFTRAG_DATA)'
	@echo 'make bench                cftrag against its peers, with a report under bench/results/    FULL=1 ONLY=small,medium SEED='
	@echo 'make bench-core           the core'"'"'s lookup of a name, against hashbrown (criterion)   SIZES="3000 1000000"'
	@echo 'make clean                remove target/ (not the cache of tools/setup)'

# ---- build and install ----------------------------------------------------------------------------------------

check-pg:
	@case '$(MAJOR)' in 15|16|17|18) ;; \
	*) echo "PG_CONFIG=$(PG_CONFIG): needs the pg_config of PostgreSQL 15 to 18, got '$(MAJOR)'" >&2; exit 1;; esac
	@test -r "$$($(PG_CONFIG) --includedir-server)/postgres.h" || \
	{ echo "no server headers for $(PG_CONFIG): install them (Debian: postgresql-server-dev-$(MAJOR))" >&2; exit 1; }

# What pgxn and Debian's pg_buildext ask for.
all: build

# Under `sudo make install` cargo may not be on the PATH: then the earlier build of `make` is installed.
build: check-pg
	@if command -v cargo >/dev/null; then \
	    echo 'PGRX_PG_CONFIG_PATH=$(BUILD_PG_CONFIG) CARGO_TARGET_DIR=$(BUILD_DIR) cargo build --profile $(PROFILE) --no-default-features --features pg$(MAJOR)'; \
	    PGRX_PG_CONFIG_PATH="$$(command -v $(BUILD_PG_CONFIG))" CARGO_TARGET_DIR='$(BUILD_DIR)' \
	    cargo build -p cftrag --profile $(PROFILE) --no-default-features --features pg$(MAJOR); \
	else \
	    test -r $(LIB) || { echo 'no cargo found, and nothing built: install Rust (rustup) or run make as the user who has it' >&2; exit 1; }; \
	fi

install: build
	install -d '$(LIBDIR)' '$(EXTDIR)'
	install -m 755 $(LIB) '$(LIBDIR)/cftrag.so'
	sed 's/@CARGO_VERSION@/$(VERSION)/' cftrag.control >'$(BUILD_DIR)/cftrag.control'
	install -m 644 '$(BUILD_DIR)/cftrag.control' '$(EXTDIR)/cftrag.control'
	tools/install-script >'$(BUILD_DIR)/cftrag--$(VERSION).sql'
	install -m 644 '$(BUILD_DIR)/cftrag--$(VERSION).sql' $(filter-out sql/cftrag--$(VERSION).sql,$(wildcard sql/cftrag--*.sql)) '$(EXTDIR)'

uninstall: check-pg
	rm -f '$(LIBDIR)/cftrag.so' '$(EXTDIR)/cftrag.control' '$(EXTDIR)'/cftrag--*.sql

installcheck: check-pg
	tools/test installcheck '$(PG_CONFIG)'

# What others install, from the last commit: docs/operations.md, "Packages".
deb image:
	$(if $(filter-out file default undefined,$(origin PG)),PG='$(PG)',env -u PG) tools/package $@
dist:
	tools/package dist

# For a release: writes sql/cftrag--VERSION.sql, which never changes again (RELEASING.md).
freeze:
	tools/install-script >'sql/cftrag--$(VERSION).sql.new' && mv 'sql/cftrag--$(VERSION).sql.new' 'sql/cftrag--$(VERSION).sql'

# ---- try ------------------------------------------------------------------------------------------------------

demo:
	@test -x demo/run || { echo 'demo/run is missing' >&2; exit 1; }
	@config=$$(tools/setup demo) && demo/run "$$config"

demo-stop:
	@test -x demo/stop || { echo 'demo/stop is missing' >&2; exit 1; }
	@demo/stop

# ---- measure --------------------------------------------------------------------------------------------------

# On PostgreSQL 15, of tools/setup or of PG_CONFIG_15; takes minutes and two idle CPUs.
bench:
	@tools/setup test
	@tools/test bench $(if $(FULL),--full) $(if $(SEED),--seed $(SEED)) $(if $(ONLY),--only $(ONLY))

# Needs no server; compiles criterion the first time. A size of 10 million takes 4 GiB and a few minutes.
bench-core:
	cd crates/core/bench && SIZES='$(or $(SIZES),3000 20000 200000 1000000 10000000)' cargo bench --target-dir '$(CURDIR)/target/bench-core'

# ---- test -----------------------------------------------------------------------------------------------------

# PG and PG_CONFIG are passed on only if the caller set them, not with the defaults above.
test:
	$(if $(filter-out file default undefined,$(origin PG)),PG='$(PG)',env -u PG) $(if $(filter-out file,$(origin PG_CONFIG)),PG_CONFIG='$(PG_CONFIG)',env -u PG_CONFIG) tools/test

test-all:
	tools/setup test
	tools/test all

lint schema-check pgspot regress isolation exact exact-long inject hostile cost cancels sqlsmith pgrx-test life fuzz asan valgrind races miri pg-regress upgrade quality recognise methods clients python:
	tools/test $@
test-long:
	tools/setup test
	tools/test long
demo-test:
	tools/test demo
core-test:
	tools/test core
docs-test:
	tools/test docs

clean:
	rm -rf target
