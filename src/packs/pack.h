/* SPDX-License-Identifier: MIT */
/* pack.h - golden packs: numbers of several resources in one safetensors file, for tests of others. */
#ifndef PE_PACKS_PACK_H
#define PE_PACKS_PACK_H

#include "base/buffer.h"
#include "plan/price.h"

/** A recipe of config/packs/, as it was when the program was built. */
typedef struct pe_pack_recipe {
    const char *name; /* "llama3" */
    const char *text; /* JSON: title, items; ends with a zero byte */
    size_t bytes;
} pe_pack_recipe;

const pe_pack_recipe *pe_pack_recipes(size_t *n);
/** The recipe of that name, `bytes` long; NULL: there is none. */
const pe_pack_recipe *pe_pack_find(const char *name, size_t bytes);

/** "sha256-", 64 hexadecimal digits, and a NUL. */
#define PE_PACK_DIGEST_BYTES 72

/** What a recipe makes. */
typedef struct pe_pack {
    char title[128];
    char digest[PE_PACK_DIGEST_BYTES]; /* of names, types, shapes and numbers of all tensors */
    size_t tensors;
    pe_buffer file; /* owned: safetensors */
} pe_pack;

/**
 * Make a pack: each item is a resource with its parameters, whose tensors go by the item's name
 * ("table/cos"), "wrong/MISTAKE/..." being those of a mistake; rotated vectors come with their
 * inputs. The same bytes on every machine.
 * Errors  OVERLOADED (memory), INTERNAL (a recipe that is refused, which the tests rule out).
 */
pe_status pe_pack_make(const pe_pack_recipe *recipe, struct pe_tables *tables,
                       const pe_limits *limits, pe_pack *out, pe_problem *why) PE_MUST_CHECK;
void pe_pack_free(pe_pack *pack);

#endif
