# posenc - positional encodings as a service.  `make help` lists the targets.
BUILD ?= release
B := build/$(BUILD)

CC ?= gcc
CFLAGS ?=
LDFLAGS ?=

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wdouble-promotion \
	-Wstrict-prototypes -Wmissing-prototypes -Wcast-qual -Wundef -Wvla -Wformat=2 -Wswitch-enum
ifdef WERROR
WARN += -Werror
endif
FP := -ffp-contract=off -fno-math-errno -fno-trapping-math

MODE_release := -O3 -DNDEBUG -g
MODE_debug := -O0 -g3
MODE_asan := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
MODE_tsan := -O1 -g -fsanitize=thread
MODE_coverage := -O0 -g --coverage

ALL_CFLAGS := -std=c17 -D_GNU_SOURCE -Isrc -I$(B)/gen $(WARN) $(FP) $(MODE_$(BUILD)) -pthread $(CFLAGS)
ALL_LDFLAGS := $(MODE_$(BUILD)) -pthread $(LDFLAGS)
LIBS := -lmicrohttpd -ljansson -lmpfr -lgmp -lm
TEST_LIBS := -lcmocka -lcurl

# src/kernels/level/*.c are compiled once per instruction-set level, with -DPE_LEVEL=name
ARCH := $(shell $(CC) -dumpmachine | cut -d- -f1)
ifeq ($(ARCH),x86_64)
LEVELS := baseline v3 v4
else
LEVELS := baseline
endif
LEVEL_FLAGS_baseline :=
ifeq ($(ARCH),x86_64)
LEVEL_FLAGS_baseline := -march=x86-64
endif
LEVEL_FLAGS_v3 := -march=x86-64-v3
LEVEL_FLAGS_v4 := -march=x86-64-v4 -mprefer-vector-width=512

SRC := $(filter-out src/main.c,$(wildcard src/*/*.c))
LEVEL_SRC := $(wildcard src/kernels/level/*.c)
OBJ := $(SRC:src/%.c=$(B)/%.o) \
	$(foreach l,$(LEVELS),$(LEVEL_SRC:src/kernels/level/%.c=$(B)/kernels/$(l)/%.o))
TEST_SRC := $(wildcard tests/unit/*.c tests/kernels/*.c tests/properties/*.c tests/golden/*.c tests/http/*.c)
TEST_BIN := $(TEST_SRC:tests/%.c=$(B)/tests/%)
SUPPORT_OBJ := $(patsubst tests/%.c,$(B)/tests/%.o,$(wildcard tests/support/*.c))

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all test clean

all: $(B)/posenc

$(B)/libposenc.a: $(OBJ)
	@rm -f $@
	ar rcs $@ $(OBJ)

$(B)/posenc: $(B)/main.o $(B)/libposenc.a
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

$(B)/%.o: src/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

define LEVEL_RULE
$(B)/kernels/$(1)/%.o: src/kernels/level/%.c
	@mkdir -p $$(@D)
	$$(CC) $$(ALL_CFLAGS) $$(LEVEL_FLAGS_$(1)) -DPE_LEVEL=$(1) -DPE_LEVEL_$(1)=1 -MMD -MP -c -o $$@ $$<
endef
$(foreach l,$(LEVELS),$(eval $(call LEVEL_RULE,$(l))))

$(B)/tests/%.o: tests/%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -Itests -MMD -MP -c -o $@ $<

$(B)/tests/%: $(B)/tests/%.o $(SUPPORT_OBJ) $(B)/libposenc.a
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(TEST_LIBS) $(LIBS)

clean:
	rm -rf build

-include $(shell find $(B) -name '*.d' 2>/dev/null)
