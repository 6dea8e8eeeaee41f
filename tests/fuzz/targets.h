/* SPDX-License-Identifier: MIT */
/*
 * targets.h - parsers as functions over bytes, for libFuzzer and for the replay of the corpora.
 *
 * A target aborts when a promise is broken: a sanitizer sees the others. Inputs are text wherever
 * that is possible; FORMAT below says of what each consists.
 */
#ifndef PE_TESTS_FUZZ_TARGETS_H
#define PE_TESTS_FUZZ_TARGETS_H

#include <stddef.h>
#include <stdint.h>

#include "base/slice.h"
#include "base/status.h"

typedef struct fuzz_target {
    const char *name; /* its corpus is tests/fuzz/NAME */
    void (*run)(pe_slice input);
    /** Token k that mutations put into an input; NULL past the last. */
    const char *(*token)(size_t k);
    const char *format; /* of inputs */
} fuzz_target;

/** Ends with a target without a name. */
extern const fuzz_target fuzz_targets[];
/** NULL: there is none. */
const fuzz_target *fuzz_target_find(const char *name);

/* ---- for the targets ---- */

/** Abort unless a promise is kept, and say which. */
#define FUZZ_PROMISE(kept)                                                                         \
    do {                                                                                           \
        if (!(kept))                                                                               \
            fuzz_break(__FILE__, __LINE__, #kept);                                                 \
    } while (0)
_Noreturn void fuzz_break(const char *file, int line, const char *promise);

/** A copy that ends with a zero byte, and with its allocation: to be freed. */
char *fuzz_copy(pe_slice text);
/** A problem that was found reads as JSON, and explains itself. */
void fuzz_check_problem(const pe_problem *why, const char *instance, bool from_json);

/** A file in memory that holds the text; its path is written. To be closed. */
#define FUZZ_PATH_BYTES 32
int fuzz_file(pe_slice text, char path[FUZZ_PATH_BYTES]);

/** The parts of a whole request: its parameters, its plan, its bytes, parts of them. */
void fuzz_request(pe_slice input);
/** Bytes of a connection, however they are cut. */
void fuzz_framing(pe_slice input);
void fuzz_inlet(pe_slice input);
void fuzz_proxy_header(pe_slice input);
void fuzz_forwarded(pe_slice input);
void fuzz_keys(pe_slice input);

/** Tokens of the registry: "&name=value", and ",\"name\":value". */
const char *fuzz_token_query(size_t k);
const char *fuzz_token_json(size_t k);
const char *fuzz_token_wire(size_t k);
const char *fuzz_token_key(size_t k);

#endif
