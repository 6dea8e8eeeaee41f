/* SPDX-License-Identifier: MIT */
/* nearest.c - which known name a mistyped one was meant to be. */
#include "base/nearest.h"

#include <ctype.h>
#include <string.h>

#include "base/size.h"

/* Longer names are not looked at. */
#define NAME_MAX_BYTES 64
#define EDITS_MAX      3

/*
 * The least number of insertions, deletions and substitutions that turn a, in lower case, into b.
 * row[j] is that of the first i bytes of a and the first j of b. Both are at most NAME_MAX_BYTES
 * long.
 *
 * Source    Wagner and Fischer 1974, "The String-to-String Correction Problem".
 */
static size_t edits(const char *a, size_t na, const char *b, size_t nb)
{
    size_t row[NAME_MAX_BYTES + 1];
    for (size_t j = 0; j <= nb; j++)
        row[j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            const size_t changed = diagonal + (tolower((unsigned char)a[i - 1]) != b[j - 1]);
            diagonal = row[j];
            row[j] = pe_size_min(changed, pe_size_min(row[j], row[j - 1]) + 1);
        }
    }
    return row[nb];
}

const char *pe_nearest_name(const char *name, const char *const *names, size_t n)
{
    const size_t length = strlen(name);
    const char *nearest = NULL;
    size_t fewest = EDITS_MAX + 1;
    if (length > NAME_MAX_BYTES)
        return NULL;
    for (size_t k = 0; k < n; k++) {
        const size_t known = strlen(names[k]);
        if (known > NAME_MAX_BYTES)
            continue;
        const size_t distance = edits(name, length, names[k], known);
        if (distance < fewest && distance <= length / 2) {
            fewest = distance;
            nearest = names[k];
        }
    }
    return nearest;
}

bool pe_nearest_is_name(const char *name, const char *const *names, size_t n)
{
    size_t i = 0;
    while (i < n && strcmp(names[i], name) != 0)
        i++;
    return i < n;
}
