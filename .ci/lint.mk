# lint.mk - what `make lint` checks. Each file's stamp under $(B)/lint keeps what is clean from being checked again.
L := $(B)/lint
C_FILES = $(wildcard $(foreach depth,*.[ch] */*.[ch] */*/*.[ch] */*/*/*.[ch],src/$(depth)) tests/*/*.[ch] tests/*/level/*.[ch])
LINT_SRC := $(filter-out $(LEVEL_SRC),$(filter src/%.c,$(C_FILES)))
LINT_TESTS := $(filter-out $(TEST_LEVEL_SRC),$(filter tests/%.c,$(C_FILES)))
LINT_LEVELS := $(LEVEL_SRC) $(TEST_LEVEL_SRC)
LINT_SCRIPTS = $(shell grep -rlIE --exclude-dir=build --exclude-dir=.git -m 1 '^#!/bin/(ba)?sh' .)
BANNED := strcpy|strcat|sprintf|vsprintf|strtok|atoi|atol|atof|gets
# What keeps its result or its state where other threads find it.
BANNED_SRC := asctime|ctime|gmtime|localtime|rand|setenv|putenv|tmpnam|getpwnam|gethostbyname|inet_ntoa
LINT_FLAGS := $(BASE_CFLAGS) -Itests -O2 -Werror -MMD -MP

LINT_STAMPS := $(LINT_SRC:%.c=$(L)/analyzer/%.o) $(LINT_TESTS:%.c=$(L)/gcc/%.o) \
	$(patsubst %.c,$(L)/tidy/%.ok,$(LINT_SRC) $(LINT_TESTS)) \
	$(foreach l,$(LEVELS),$(LINT_LEVELS:%.c=$(L)/gcc/%.$(l).o) $(LINT_LEVELS:%.c=$(L)/clang/%.$(l).o)) \
	$(LINT_LEVELS:%.c=$(L)/tidy/%.baseline.ok)

.PHONY: lint lint-all lint-format lint-includes lint-version lint-banned lint-shell lint-cppcheck lint-web
lint: ## formatting, warnings of gcc and clang, static analysis, include directions, scripts
	@$(DEPS) build test lint
	@$(MAKE) --no-print-directory --keep-going --output-sync=target -j $(shell nproc) lint-all
	@echo 'lint: clean'

lint-all: lint-format lint-includes lint-version lint-banned lint-shell lint-cppcheck lint-web $(LINT_STAMPS)

lint-format:
	@echo clang-format; clang-format --dry-run -Werror $(C_FILES)

lint-includes:
	@echo include directions; .ci/check-includes

# The version is written in the Makefile; two files have to repeat it.
lint-version:
	@echo version; grep -qxF '  version: $(VERSION)' openapi.yaml && grep -qF 'image.version="$(VERSION)"' docker/Dockerfile

lint-banned:
	@echo banned calls; ! grep -nE '\<($(BANNED)) ?\(' $(C_FILES) \
		&& ! grep -nE '\<($(BANNED_SRC)) ?\(' $(filter src/%,$(C_FILES))

lint-shell:
	@echo shellcheck; shellcheck -x $(LINT_SCRIPTS)

# Building needs no Node, and so linting all else does not either.
lint-web:
	@if command -v npm >/dev/null; then echo the page; tests/web/lint build/web; \
		else echo 'the page: not linted, since there is no npm'; fi

lint-cppcheck: | $(GEN)
	@mkdir -p $(L)/cppcheck
	@echo cppcheck; cppcheck --quiet --error-exitcode=1 --enable=warning,performance,portability \
		--std=c11 --library=posix --library=gnu --inline-suppr --suppressions-list=.ci/cppcheck.txt \
		--cppcheck-build-dir=$(L)/cppcheck -j $(shell nproc) -D_GNU_SOURCE -DPE_LEVEL=baseline -DPE_LEVEL_baseline=1 \
		-Isrc -Itests -I$(B)/gen $(filter %.c,$(C_FILES))

# gcc 12 loses sight of what is stored through a pointer and calls it leaked or never written; clang does not. It
# takes a shift of vectors for one of single bits, so that the levels go without its analyzer.
# The rules of one level's variant; $(1) is its suffix, $(2) its flags.
define LINT_RULES
$(L)/gcc/%$(1).o: %.c $(B)/gen/flags | $(GEN)
	@mkdir -p $$(@D); echo gcc $$<$(1)
	@gcc $(LINT_FLAGS) $(2) -c -o $$@ $$<

$(L)/analyzer/%$(1).o: %.c $(B)/gen/flags | $(GEN)
	@mkdir -p $$(@D); echo gcc -fanalyzer $$<$(1)
	@gcc $(LINT_FLAGS) -fanalyzer -Wno-analyzer-malloc-leak -Wno-analyzer-use-of-uninitialized-value $(2) -c -o $$@ $$<

$(L)/clang/%$(1).o: %.c $(B)/gen/flags | $(GEN)
	@mkdir -p $$(@D); echo clang $$<$(1)
	@clang $(LINT_FLAGS) $(2) -c -o $$@ $$<

$(call TIDY_RULE,,clang,$(1),$(2))
endef

# It also gives the warnings of clang. The object of $(2) stands for the headers.
define TIDY_RULE
$(L)/tidy/$(1)%$(3).ok: $(L)/$(2)/$(1)%$(3).o .clang-tidy
	@mkdir -p $$(@D); echo clang-tidy $(1)$$*.c$(3)
	@clang-tidy --quiet $(1)$$*.c -- $(BASE_CFLAGS) -Itests $(4) > $$@.log 2>&1 \
		|| { cat $$@.log; exit 1; }
	@touch $$@
endef
$(eval $(call TIDY_RULE,src/,analyzer))
$(eval $(call TIDY_RULE,tests/,gcc))
$(eval $(call LINT_RULES,,))
$(foreach l,$(LEVELS),$(eval $(call LINT_RULES,.$(l),$(LEVEL_FLAGS_$(l)) -DPE_LEVEL=$(l) -DPE_LEVEL_$(l)=1)))
