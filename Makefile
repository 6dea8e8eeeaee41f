# posenc - positional encodings as a service.  `make help` lists the targets.
VERSION := 0.1.0
REVISION ?= $(or $(shell git describe --always --dirty --abbrev=12 2>/dev/null),unknown)

BUILD ?= release
B := build/$(BUILD)
PREFIX ?= /usr/local
DESTDIR ?=
ifeq ($(origin CC),default)
CC := gcc
endif
CFLAGS ?=
LDFLAGS ?=
# V=1 shows the commands in full.
say = $(if $(V),,@echo $(1) &&)
# What installs missing packages; DEPS=true leaves the machine as it is.
DEPS ?= .ci/deps
# For what follows once the packages are there: the compiler is asked again, and all cores work unless -j says else.
AGAIN = $(MAKE) --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j $(shell nproc))

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wdouble-promotion \
	-Wstrict-prototypes -Wmissing-prototypes -Wcast-qual -Wundef -Wvla -Wformat=2 -Wswitch-enum \
	-Werror=implicit-function-declaration
ifdef WERROR
WARN += -Werror
endif
# Results must not depend on the compiler, so nothing is contracted and nothing is "fast".
FP := -ffp-contract=off -fno-math-errno -fno-trapping-math

MODE_release := -O3 -DNDEBUG -g
# Locals that nothing was stored in hold a pattern, so that a read of one fails in every run and not by accident.
PATTERN := -ftrivial-auto-var-init=pattern
# Without optimisation some of the compiler's own intrinsics are macros, which -Wsign-conversion warns about.
MODE_debug := -O0 -g3 $(PATTERN) -Wno-sign-conversion
# Reports need functions and lines, no variables: -g1 compiles in four fifths of the time.
MODE_asan := -O1 -g1 $(PATTERN) -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
MODE_tsan := -O1 -g1 -fsanitize=thread
MODE_fuzz := -O1 -g $(PATTERN) -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
# Libraries are not built with MemorySanitizer: tests/fuzz/unhunted.c says what they write.
MODE_msan := -O1 -g -fsanitize=fuzzer-no-link,memory -fsanitize-memory-track-origins -fno-omit-frame-pointer -fsanitize-ignorelist=tests/fuzz/unhunted.txt
# Kernels read nothing that a client wrote, and clang needs minutes to instrument them.
UNHUNTED_fuzz_kernels := -fno-sanitize=all
MODE_coverage := -O0 -g $(PATTERN) -DPE_COVERAGE --coverage -fprofile-update=atomic -Wno-sign-conversion
ifndef MODE_$(BUILD)
$(error BUILD=$(BUILD) is none of release, debug, asan, tsan, coverage, fuzz, msan)
endif

BASE_CFLAGS := -std=c17 -D_GNU_SOURCE -Isrc -I$(B)/gen $(WARN) $(FP) -pthread
ALL_CFLAGS := $(BASE_CFLAGS) $(MODE_$(BUILD)) $(CFLAGS)
ALL_LDFLAGS := $(MODE_$(BUILD)) -pthread $(LDFLAGS)
LIBS := -lmicrohttpd -lgnutls -ljansson -lmpfr -lgmp -lnettle -lzstd -lpng -lz -lseccomp -lm
TEST_LIBS := -lcmocka -lcurl

# level/*.c of src/kernels, src/text and tests/kernels are compiled once per instruction-set level, with -DPE_LEVEL=name
ARCH := $(shell $(CC) -dumpmachine 2>/dev/null | cut -d- -f1)
ifeq ($(ARCH),x86_64)
LEVELS := baseline v3 v4
LEVEL_FLAGS_baseline := -march=x86-64
LEVEL_FLAGS_v3 := -march=x86-64-v3
LEVEL_FLAGS_v4 := -march=x86-64-v4 -mprefer-vector-width=512
else
LEVELS := baseline
endif

LEVEL_SRC := $(wildcard src/kernels/level/*.c src/text/level/*.c)
SRC := $(filter-out $(LEVEL_SRC),$(wildcard src/*/*.c src/*/*/*.c src/*/*/*/*.c))
OBJ := $(SRC:src/%.c=$(B)/%.o) $(B)/http/pages/openapi_data.o $(B)/http/pages/explorer_data.o $(B)/models/catalogue_data.o $(B)/packs/packs_data.o \
	$(foreach l,$(LEVELS),$(patsubst src/%.c,$(B)/%.o,$(subst /level/,/$(l)/,$(LEVEL_SRC))))
GEN := $(B)/gen/version.h $(B)/gen/openapi.yaml $(B)/gen/openapi.json $(B)/gen/models.inc $(B)/gen/packs.inc $(B)/gen/faults.inc $(B)/gen/letters.inc \
	$(B)/gen/facts.inc $(B)/gen/settings.inc $(B)/gen/settings_synonyms.inc \
	$(patsubst %,$(B)/gen/synonyms_%.inc,parameters absent choices paths formats)
WEB_SRC := $(sort $(filter-out src/web/pictures/%,$(wildcard src/web/*.* src/web/*/*.*)))
PACKS := $(sort $(patsubst config/packs/%.json,%,$(wildcard config/packs/*.json)))
MODELS := $(sort $(patsubst config/models/%.json,%,$(wildcard config/models/*.json)))
TEST_FOLDERS := unit kernels properties golden http
# TEST='properties/test_rope http/*' names some of the tests; without it all are run.
TEST ?= */*
TEST_SRC := $(filter $(TEST_FOLDERS:%=tests/%/%),$(wildcard $(TEST:%=tests/%.c)))
# ThreadSanitizer finds nothing where one thread runs: of such programs it runs those that TEST names.
ifeq ($(BUILD) $(TEST),tsan */*)
TEST_SRC := $(filter-out tests/unit/% tests/kernels/% tests/properties/%,$(TEST_SRC)) tests/unit/test_watchdog.c \
	$(shell grep -l '<pthread.h>' tests/unit/*.c tests/kernels/*.c tests/properties/*.c)
endif
TEST_BIN := $(TEST_SRC:tests/%.c=$(B)/tests/%)
TEST_SCRIPT := $(wildcard $(TEST:%=tests/%.test))
TEST_LEVEL_SRC := $(wildcard tests/kernels/level/*.c)
BENCH_OBJ := $(patsubst tests/%.c,$(B)/tests/%.o,$(wildcard tests/bench/*.c))
PROOF_BIN := $(patsubst tests/%.c,$(B)/tests/%,$(wildcard tests/proof/proof_*.c))
FUZZ_OBJ := $(patsubst tests/%.c,$(B)/tests/%.o,$(filter-out %/fuzz.c,$(wildcard tests/fuzz/*.c)))
SUPPORT_OBJ := $(patsubst tests/%.c,$(B)/tests/%.o,$(wildcard tests/support/*.c))

.DELETE_ON_ERROR:
.SECONDARY:
.SUFFIXES:
.DEFAULT_GOAL := all
.PHONY: help all ready run test models-report rope-utils figures draw-figures test-aarch64 test-calls test-debian13 test-ubuntu24 coverage proof bench \
	bench-http prices soak doctor-score doctor-times faults fuzz format install uninstall deps clean openapi settings openapi-lint \
	clients schemathesis test-web test-cluster test-container sizing deb test-deb run-tests \
	run-calls run-coverage FORCE

help: ## list the targets
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1|/p' $(MAKEFILE_LIST) | while IFS='|' read -r target text; do \
		printf '  %-14s %s\n' "$$target" "$$text"; done
	@echo '  BUILD=release|debug|asan|tsan|coverage chooses the flavour; each has its own build/$$BUILD'

all: $(B)/posenc ## build the program, build/release/posenc

# A machine without the packages is told so, before a compiler fails.
ready:
	@test -e $(B)/posenc || $(DEPS) --check build
$(B)/gen/flags $(GEN) $(B)/gen/assets.inc $(B)/gen/web.list: | ready

run: ## build and serve; ARGS="--port 9000" are its flags
	@$(DEPS) build
	+@$(AGAIN) all
	$(B)/posenc serve $(ARGS)

test: ## build and run the tests, in parallel; TEST='unit/* http/readme' some, SEEDS=200 those that draw numbers so often
	@$(DEPS) build test
	+@$(AGAIN) run-tests

# What another CPU or another compiler could compute otherwise: kernels, exact numbers, their texts, figures, packs,
# and the golden vectors of RoPE and sinusoidal tables from the request to the bytes. About sockets the emulator would be
# tested.
TEST_AARCH64 := kernels/* unit/test_exact* unit/test_number_* unit/test_softmax unit/test_figure \
	golden/test_rope_http golden/test_rope_turned_http golden/test_sinusoidal_http golden/test_pack_digests
test-aarch64: ## build for aarch64 and run emulated the tests whose numbers a CPU could change; TEST='properties/*' others
	@$(DEPS) build test aarch64
	+@$(AGAIN) run-tests CC=aarch64-linux-gnu-gcc B=build/aarch64 EMULATOR=qemu-aarch64 \
		TEST_FOLDERS='unit kernels properties golden' TEST_SCRIPT= TEST='$(or $(filter-out */*,$(TEST)),$(TEST_AARCH64))'

test-calls: ## run the HTTP tests under strace and compare the servers' system calls with those of the sandbox
	@$(DEPS) build test bench
	+@$(AGAIN) run-calls TEST='$(if $(filter-out */*,$(TEST)),$(TEST),http/*)'

test-debian13: ## build in a Debian 13, on libmicrohttpd 1.0, and run the tests there; TEST=... some (root; debootstrap)
test-ubuntu24: ## the same in an Ubuntu 24.04
test-debian13 test-ubuntu24:
	@.ci/elsewhere $(@:test-%=%)

coverage: ## run the tests and print the lines, functions and branches of src that they reach, by folder
	@$(DEPS) build test coverage
	+@$(AGAIN) BUILD=coverage run-coverage

proof: ## the long mode: tables and ramps against MPFR, all float32 texts against strtof; SHARD=i/n, SAMPLES=n, PROOF=exact|ramp|text
	@$(DEPS) build test
	+@$(AGAIN) $(PROOF_BIN)
	@set -e; for proof in $(filter %proof_$(PROOF),$(PROOF_BIN)) $(if $(PROOF),,$(PROOF_BIN)); do \
		echo "== $$proof"; nice $$proof; done

bench: export BENCH_JSON ?= $(if $(BENCH_COMPARE),$(B)/bench.json)
bench: ## kernels and text beside yardsticks (proof is its long mode); BENCH=glob, BENCH_ROUNDS=n, BENCH_JSON=file, BENCH_COMPARE=old
	@$(DEPS) build test yardsticks
	+@$(AGAIN) $(B)/tests/bench/bench $(B)/posenc
	@$(if $(BENCH_JSON),: > $(BENCH_JSON);) $(B)/tests/bench/bench && tests/bench/tables $(B)/tests/bench/bench
	@tests/bench/first $(B)/posenc
	@$(if $(BENCH_COMPARE),tests/bench/compare $(BENCH_COMPARE) $(BENCH_JSON))

bench-http: ## compare the server with nginx and a Python service; BENCH_ROUNDS=n, BENCH_JSON=file
	@$(DEPS) build bench
	+@$(AGAIN) $(B)/posenc
	@tests/bench/http/bench $(B)/posenc build/bench

prices: ## hold what three times N=100 dear random requests take of a core against their prices; SEED=n
	@$(DEPS) build
	+@$(AGAIN) $(B)/posenc
	@tests/prices/prices $(B)/posenc $(or $(N),100) $(or $(SEED),1)

SECONDS ?= $(if $(MINUTES),$(shell expr $(MINUTES) \* 60),600)
soak: ## mixed load for MINUTES=10; BUILD=asan|tsan, or in little memory: SOAK_ADDRESS_SPACE=256, SOAK_CGROUP=128 (MiB)
	@$(DEPS) build
	+@$(AGAIN) $(B)/posenc
	@$(TEST_ENV_$(BUILD)) POSENC_BUILD=$(BUILD) tests/bench/http/soak $(B)/posenc $(SECONDS)

# libFuzzer is clang's; the optimiser is that of BUILD=asan.
FUZZ_BUILD := $(if $(filter msan,$(BUILD)),msan,fuzz)
fuzz: ## mutate inputs of every parser under sanitizers for TIME=3 seconds each; FUZZ='query json' some; BUILD=msan
	@$(DEPS) build fuzz
	+@$(AGAIN) BUILD=$(FUZZ_BUILD) CC="$(filter %ccache,$(CC)) clang" build/$(FUZZ_BUILD)/fuzz
	@tests/fuzz/run build/$(FUZZ_BUILD)/fuzz build/$(FUZZ_BUILD)/runs $(FUZZ)

doctor-score: ## how well POST /v1/verify names mistakes; DOCTOR='T5|yarn' some kinds, VERBOSE=1 lists what fails
	@$(DEPS) build doctor
	+@$(AGAIN) $(B)/posenc
	@tests/doctor/score $(B)/posenc $(if $(DOCTOR),--only '$(DOCTOR)') $(if $(PART),--part $(PART))

doctor-times: ## how long POST /v1/verify searches tables that nothing explains; fails where an aim is missed
	@$(DEPS) build doctor
	+@$(AGAIN) $(B)/posenc
	@tests/doctor/times $(B)/posenc

faults: ## every allocation of every kind of request fails, one after the other
	@$(DEPS) build test
	+@FAULTS=all TEST_TIMEOUT=7200 $(AGAIN) run-tests TEST=http/test_memory_faults

# The release of transformers; empty: the newest.
REPORT_TRANSFORMERS ?=
MEASURED = $(foreach shard,0 1,build/models-report/measured.$(shard))

# The environment in which configuration classes and modules are made.
define MODELS_PYTHON
	@test -x build/models-report/bin/python || python3 -m venv build/models-report
	$(call say,PIP transformers $(REPORT_TRANSFORMERS)) build/models-report/bin/pip install -q -U transformers$(addprefix ==,$(REPORT_TRANSFORMERS))
	@build/models-report/bin/pip install -q torch parameterized
endef

models-report: $(B)/posenc ## compare models/resolve with the newest transformers, new and changed classes, or with ALL=1 each; writes tests/models/verdicts.tsv
	$(MODELS_PYTHON)
	@test -z '$(ALL)' || for shard in 0 1; do build/models-report/bin/python tests/models/report.py measure $$shard/2 build/models-report/measured.$$shard \
	    2>build/models-report/log.$$shard & done; wait
	@POSENC_BINARY=$(CURDIR)/$(B)/posenc build/models-report/bin/python tests/models/report.py verdicts $(if $(ALL),$(MEASURED))
	@POSENC_BINARY=$(CURDIR)/$(B)/posenc build/models-report/bin/python tests/models/report.py variants 3000
	@POSENC_BINARY=$(CURDIR)/$(B)/posenc build/models-report/bin/python tests/models/tables.py

rope-utils: $(B)/posenc ## run transformers' own test of its rope functions with this program in their place
	$(MODELS_PYTHON)
	@for what in steps build/models-report; do \
		POSENC_BINARY=$(CURDIR)/$(B)/posenc build/models-report/bin/python tests/models/rope_utils.py $$what || exit 1; done

figures: ## draw the figures of README.md into src/web/pictures
	@$(DEPS) build
	+@$(AGAIN) $(B)/posenc
	+@$(MAKE) --no-print-directory draw-figures

# README.md names each file, and the address that it is of.
PICTURES ?= src/web/pictures
draw-figures:
	@sed -n 's|.*(src/web/pictures/\([a-z.]*\))\](http://127.0.0.1:8080/v1/\([a-z/]*\)?\(.*\))$$|\1 \2 \&\3|p' README.md | \
	while read -r file table query; do \
		$(PROGRAM) table $$table $$(echo "$$query" | sed 's/&\([a-z_]*\)=/ --\1 /g') -o $(PICTURES)/$$file; done

openapi: ## write what the program lists of resources, parameters and formats into openapi.yaml
	@$(DEPS) build
	+@$(AGAIN) $(B)/posenc
	@tests/openapi/describe $(B)/posenc openapi.yaml

settings: ## write every setting at its default into config/posenc.json and docker/README.md
	@$(DEPS) build
	+@$(AGAIN) $(B)/posenc
	@env -i $(B)/posenc print-config --settings= | sed 's/ "source": "default",//' > config/posenc.json
	@.ci/settings-table

deps: ## install what building, running and testing need (Debian packages)
	@$(DEPS) build test

# --- objects and programs ---

$(B)/libposenc.a: $(OBJ)
	@rm -f $@
	$(call say,AR $@) $(AR) qcs $@ $(OBJ)

$(B)/posenc: $(B)/main.o $(B)/allocator.o $(B)/libposenc.a
	$(call say,LD $@) $(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

$(B)/%.o: src/%.c $(B)/gen/flags | $(GEN)
	@mkdir -p $(@D)
	$(call say,CC $<) $(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

define LEVEL_RULE
$(B)/$(2)/$(1)/%.o: $(3)$(2)/level/%.c $(B)/gen/flags | $(GEN)
	@mkdir -p $$(@D)
	$$(call say,CC $$< for $(1)) $$(CC) $$(ALL_CFLAGS) $(if $(3),,-Itests) $$(LEVEL_FLAGS_$(1)) $(UNHUNTED_$(BUILD)_$(2)) -DPE_LEVEL=$(1) -DPE_LEVEL_$(1)=1 -MMD -MP -c -o $$@ $$<
endef
$(foreach l,$(LEVELS),$(foreach d,kernels text,$(eval $(call LEVEL_RULE,$(l),$(d),src/))))
$(foreach l,$(LEVELS),$(eval $(call LEVEL_RULE,$(l),tests/kernels,)))

# .incbin names files that -MMD does not see, and would look for them in folders of -I.
DATA_OBJ := $(patsubst src/%.S,$(B)/%.o,$(wildcard src/*/*_data.S src/*/*/*_data.S))
$(B)/http/pages/openapi_data.o: $(B)/gen/openapi.yaml $(B)/gen/openapi.json
$(B)/http/pages/explorer_data.o: $(B)/gen/assets.inc
$(B)/models/catalogue_data.o: $(B)/gen/models.inc $(MODELS:%=config/models/%.json) config/model_types.json config/renamings.json config/engines.json
$(B)/packs/packs_data.o: $(B)/gen/packs.inc $(PACKS:%=config/packs/%.json)
$(DATA_OBJ): $(B)/%.o: src/%.S src/base/file_table.inc
	@mkdir -p $(@D)
	$(call say,AS $<) $(CC) -c -o $@ -iquote src -Wa,-I$(B)/gen $<

$(B)/tests/%.o: tests/%.c $(B)/gen/flags | $(GEN)
	@mkdir -p $(@D)
	$(call say,CC $<) $(CC) $(ALL_CFLAGS) -Itests -MMD -MP -c -o $@ $<

$(B)/tests/%: $(B)/tests/%.o $(SUPPORT_OBJ) $(B)/libposenc.a
	$(call say,LD $@) $(CC) $(ALL_LDFLAGS) -o $@ $(filter-out %.a,$^) $(filter %.a,$^) $(TEST_LIBS) $(LIBS)

$(B)/tests/faults.so: tests/faults/preload.c tests/support/fault_plan.h $(B)/gen/flags
	@mkdir -p $(@D)
	$(call say,LD $@) $(CC) $(BASE_CFLAGS) -O1 -Itests -shared -fPIC -o $@ $< -ldl

$(PROOF_BIN): $(B)/tests/proof/proof.o
$(B)/tests/kernels/test_waves: $(LEVELS:%=$(B)/tests/kernels/%/anchors.o)
$(B)/tests/kernels/test_emits: $(LEVELS:%=$(B)/tests/kernels/%/emits.o)

$(B)/tests/unit/test_fuzz_corpora: $(FUZZ_OBJ)

$(B)/fuzz: $(B)/tests/fuzz/fuzz.o $(FUZZ_OBJ) $(B)/libposenc.a
	$(call say,LD $@) $(CC) $(ALL_LDFLAGS) -fsanitize=fuzzer -o $@ $^ $(LIBS)

$(B)/tests/bench/bench: $(BENCH_OBJ) $(B)/tests/support/random.o $(B)/libposenc.a
	$(call say,LD $@) $(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS) -ldl

# --- generated files: rewritten only when they change, so that nothing is rebuilt in vain ---

, := ,
define WRITE_IF_CHANGED
@mkdir -p $(@D)
@printf '%s\n' $(1) > $@.new; cmp -s $@.new $@ && rm $@.new || mv $@.new $@
endef

$(B)/gen/flags: FORCE
	$(call WRITE_IF_CHANGED,'$(CC) $(ALL_CFLAGS)')

$(B)/gen/version.h: FORCE
	$(call WRITE_IF_CHANGED,'#define PE_VERSION "$(VERSION)"' '#define PE_REVISION "$(REVISION)"')

$(B)/gen/openapi.yaml $(B)/gen/openapi.json &: src/http/pages/contract openapi.yaml config/faults.json
	@mkdir -p $(@D)
	@$(call PYTHON_WITH,yaml) $< $(B)/gen/openapi < openapi.yaml

$(B)/gen/models.inc: FORCE
	$(call WRITE_IF_CHANGED,$(foreach m,$(MODELS),'file $m$(,) "config/models/$m.json"'))

$(B)/gen/packs.inc: FORCE
	$(call WRITE_IF_CHANGED,$(foreach p,$(PACKS),'file $p$(,) "config/packs/$p.json"'))

# "name.of": another sentence of that name.
$(B)/gen/faults.inc: config/faults.json
	@mkdir -p $(@D)
	@python3 -c 'import json, sys; text = lambda row, key: json.dumps(row[key]) if key in row else "NULL"; \
	rows = json.load(sys.stdin); of = lambda name: name.split(".")[0]; \
	[print("FAULT(%s, \"%s\", %s, %s)" % (name.replace(".", "_"), of(name), text(row, "rule"), text({**rows[of(name)], **row}, "remedy"))) \
	for name, row in rows.items()]' \
	< $< > $@

$(B)/gen/facts.inc: config/facts.json
	@mkdir -p $(@D)
	@python3 -c 'import json, sys; text = lambda word: json.dumps(word) if word else "NULL"; \
	[print("FACT(%s, %s, %s, %s, %s, %s)" % (name, row["kind"], row["min"], row["max"], text(row["becomes"]), \
	", ".join(map(text, row["keys"])))) for name, row in json.load(sys.stdin).items()]' < $< > $@

$(B)/gen/settings.inc: config/settings.json
	@mkdir -p $(@D)
	@python3 -c 'import json, sys; text = json.dumps; \
	[print("SETTING(%s, %s, %s, %s, %s, %s, %s)" % (name, row["kind"], text(row["default"]), row.get("min", 0), row.get("max", 0), \
	text(row.get("unit", row.get("choices", ""))), text(row["help"]))) for name, row in json.load(sys.stdin)["settings"].items()]' < $< > $@

$(B)/gen/settings_synonyms.inc: config/settings.json
	@mkdir -p $(@D)
	@python3 -c 'import json, sys; \
	[print("{%s}," % ", ".join(map(json.dumps, row)) if len(row) > 2 else "{\"%s\", \"%s\", NULL}," % tuple(row)) \
	for row in json.load(sys.stdin)["synonyms"]]' < $< > $@

$(B)/gen/synonyms_%.inc: config/synonyms.json Makefile
	@mkdir -p $(@D)
	@python3 -c 'import json, sys; data = json.load(sys.stdin); text = json.dumps; \
	names = lambda row: sum((data["lengths"] if name == "@lengths" else [name] for name in row[0]), []); \
	more = lambda row, name: ", %s, %s" % ("NULL" if len(row) == 2 else text(row[2]), text(name[0] == "?")) \
	if "$*" == "parameters" else ""; \
	[print("{%s, %s%s}," % (text(name.lstrip("?")), text(row[1]), more(row, name))) \
	for row in data["$*"] for name in names(row)]' < $< > $@

# The first Python that has a module: one in the PATH may shadow Debian's.
PYTHON_WITH = $$(for python in python3 /usr/bin/python3; do $$python -c 'import $(1)' 2>/dev/null && break; done; echo $$python)

$(B)/gen/letters.inc: src/formats/figure/outlines
	@mkdir -p $(@D)
	@$(call PYTHON_WITH,fontTools) $< > $@.new && mv $@.new $@

# So that a file that is gone is gone from the page, too.
$(B)/gen/web.list: FORCE
	$(call WRITE_IF_CHANGED,$(WEB_SRC))

$(B)/gen/assets.inc: src/web/pack $(B)/gen/web.list $(WEB_SRC)
	@rm -rf $(B)/gen/web
	$(call say,PACK src/web) src/web/pack $(B)/gen/web > $@

# --- tests ---

SAN := detect_leaks=1:halt_on_error=1:abort_on_error=0:detect_stack_use_after_return=1
# The sanitizer, not cmocka, shall explain a crash.
SAN_SIGNALS := handle_segv=2:handle_sigbus=2:handle_sigfpe=2:handle_sigill=2:handle_abort=1
TEST_ENV_asan := ASAN_OPTIONS=$(SAN):$(SAN_SIGNALS) UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 LSAN_OPTIONS=suppressions=$(CURDIR)/.ci/lsan.txt:print_suppressions=0
TEST_ENV_tsan := TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:$(SAN_SIGNALS)

# The prefix that runs programs for another CPU.
EMULATOR ?=
PROGRAM := $(B)/posenc$(if $(EMULATOR),-emulated)
$(B)/posenc-emulated: $(B)/posenc
	@printf '#!/bin/sh\nexec $(EMULATOR) $(abspath $<) "$$@"\n' > $@ && chmod +x $@

$(filter %/test_memory_faults,$(TEST_BIN)): $(B)/tests/faults.so

run-tests: $(PROGRAM) $(TEST_BIN)
	@$(TEST_ENV_$(BUILD)) POSENC_BINARY=$(abspath $(PROGRAM)) POSENC_ROOT=$(CURDIR) POSENC_BUILD=$(BUILD) \
		TEST_COMMAND="make $(if $(EMULATOR),test-aarch64,test)$(if $(filter release,$(BUILD)),, BUILD=$(BUILD))" \
		TEST_EMULATOR="$(EMULATOR)" tests/run $(B)/tests $(TEST_BIN) $(TEST_SCRIPT)

build-tests: $(TEST_BIN)

run-calls: $(PROGRAM) $(TEST_BIN)
	@tests/calls $(PROGRAM) build/calls $(TEST_BIN)

# What earlier runs reached does not count; what failing tests reached does.
run-coverage: $(PROGRAM) $(TEST_BIN)
	@find $(B) -name '*.gcda' -delete
	+@status=0; $(MAKE) --no-print-directory run-tests || status=$$?; .ci/coverage $(B) && exit $$status

openapi-lint: ## lint openapi.yaml with Redocly and Spectral
	@$(DEPS) openapi
	@tests/openapi/lint build/openapi

schemathesis: ## test the running server against openapi.yaml
	@$(DEPS) build openapi
	+@$(AGAIN) all
	@tests/openapi/schemathesis build/openapi $(B)/posenc

clients: ## generate clients of openapi.json, compile them and use each against the server; CLIENTS='go java' some
	@$(DEPS) build clients
	+@$(AGAIN) $(B)/posenc
	@nice tests/clients/run build/clients $(B)/posenc $(CLIENTS)

# WEB=core is what .ci/run runs; WEB='address keyboard' names some.
test-web: ## test the explorer page in Chromium; WEB='keyboard speed' some
	@$(DEPS) build web
	+@$(AGAIN) $(B)/posenc
	@tests/web/run build/web $(B)/posenc $(WEB)

test-cluster: ## run three replicas behind nginx, Varnish and HAProxy; hold the files of docker/ against their schemas
	@$(DEPS) build cluster
	+@$(AGAIN) $(B)/posenc
	@tests/cluster/run build/cluster $(B)/posenc

sizing: ## what a core, a reader and a byte of cache are worth, and what binds a cluster of 1 to 1000 nodes
	@$(DEPS) build cluster bench
	+@$(AGAIN) $(B)/posenc
	@tests/cluster/sizing.py build/sizing $(B)/posenc

test-container: ## build the image and run it (root)
	@$(DEPS) container
	@tests/container/run build/container

test-deb: deb ## install the package in a bare Debian 12, and start it there (root; debootstrap)
	@tests/container/deb build/test-deb $$(ls -t build/posenc_$(VERSION)_*.deb | head -n 1)

# --- lint ---

format: ## rewrite the sources with clang-format
	@$(DEPS) lint
	clang-format -i $(C_FILES)

include .ci/lint.mk

# --- installation ---

SHARE := $(DESTDIR)$(PREFIX)/share
UNITS := $(DESTDIR)$(PREFIX)/lib/systemd/system
# The program writes these of its own tables.
WRITTEN := $(SHARE)/man/man1/posenc.1 $(SHARE)/bash-completion/completions/posenc \
	$(SHARE)/zsh/site-functions/_posenc $(SHARE)/fish/vendor_completions.d/posenc.fish
INSTALLED := $(DESTDIR)$(PREFIX)/bin/posenc $(SHARE)/doc/posenc/posenc.json $(UNITS)/posenc.service $(UNITS)/posenc.socket \
	$(WRITTEN)

install: all ## install the program, its manual page, completions, units and settings file under $(DESTDIR)$(PREFIX)
	install -D -m 755 $(B)/posenc $(DESTDIR)$(PREFIX)/bin/posenc
	install -D -m 644 config/posenc.json $(SHARE)/doc/posenc/posenc.json
	install -D -m 644 -t $(UNITS) docker/systemd/posenc.service docker/systemd/posenc.socket
	sed -i 's|/usr/|$(PREFIX)/|' $(UNITS)/posenc.service
	mkdir -p $(dir $(WRITTEN))
	$(PROGRAM) help --man > $(word 1,$(WRITTEN))
	$(PROGRAM) completions bash > $(word 2,$(WRITTEN))
	$(PROGRAM) completions zsh > $(word 3,$(WRITTEN))
	$(PROGRAM) completions fish > $(word 4,$(WRITTEN))

deb: ## build a Debian package, build/posenc_$(VERSION)_ARCHITECTURE.deb
	@$(DEPS) build deb
	+@$(AGAIN) all
	@rm -rf build/deb
	+@$(MAKE) --no-print-directory DEPS=true install DESTDIR=build/deb/root PREFIX=/usr
	@.ci/deb build/deb $(VERSION)

uninstall: ## remove what install put there
	rm -f $(INSTALLED)
	-rmdir $(SHARE)/doc/posenc 2>/dev/null

clean: ## remove everything built
	rm -rf build

-include $(shell find $(B) -name '*.d' 2>/dev/null)
