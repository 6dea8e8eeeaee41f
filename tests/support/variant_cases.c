/* SPDX-License-Identifier: MIT */
/* variant_cases.c - cases that tell which variants a test ran, and skip themselves where some are
 * missing. */
#include "support/check.h"
#include "support/variant_cases.h"

#include <string.h>

#include "kernels/kernels.h"
#include "text/blocks.h"

#if defined(__x86_64__)
static const char *const known[] = {"baseline", "v3", "v4", "vbmi2"};
enum { KERNELS = 3, TEXT = 4 };
#else
static const char *const known[] = {"baseline"};
enum { KERNELS = 1, TEXT = 1 };
#endif

static bool has_kernels(const char *name)
{
    for (const pe_kernels *const *k = pe_kernels_all(); *k != NULL; k++)
        if (strcmp((*k)->name, name) == 0)
            return true;
    return false;
}

static bool has_text(const char *name)
{
    for (const pe_blocks *const *v = pe_blocks_all(); *v != NULL; v++)
        if (strcmp((*v)->name, name) == 0)
            return true;
    return false;
}

static void tell(bool (*has)(const char *name), size_t n)
{
    size_t absent = 0;
    for (size_t k = 0; k < n; k++) {
        const bool here = has(known[k]);
        print_message("%s: %s\n", known[k], here ? "ran" : "SKIPPED, not on this CPU");
        absent += !here;
    }
    if (absent > 0)
        skip();
}

void every_variant_of_kernels_ran(void **state)
{
    tell(has_kernels, KERNELS);
}

void every_variant_of_text_ran(void **state)
{
    tell(has_text, TEXT);
}
