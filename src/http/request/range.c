/* SPDX-License-Identifier: MIT */
/* range.c - which bytes of a representation a client wants. */
#include "http/request/range.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Digits at *at into *out, saturating; false when there are none. */
static bool read_number(const char **at, uint64_t *out)
{
    const size_t digits = strspn(*at, "0123456789");
    *out = digits > 0 ? strtoull(*at, NULL, 10) : 0;
    *at += digits;
    return digits > 0;
}

/* "a-b", "a-" or "-n": positions, or the last n bytes. */
static void read_one(const char *at, uint64_t length, pe_range *out)
{
    uint64_t first = 0, last = UINT64_MAX;
    bool has_first = read_number(&at, &first);
    if (*at++ != '-')
        return;
    bool has_last = read_number(&at, &last);
    if (at[strspn(at, " \t")] != '\0' || (!has_first && !has_last) ||
        (has_first && has_last && last < first))
        return;
    if (!has_first) {
        first = last < length ? length - last : 0;
        first = last == 0 ? length : first; /* the last no bytes: nowhere */
        last = UINT64_MAX;
    }
    if (first >= length) {
        out->kind = PE_RANGE_NOWHERE;
        snprintf(out->text, sizeof out->text, "bytes */%" PRIu64, length);
        return;
    }
    last = has_first && has_last && last < length ? last : length - 1;
    out->kind = PE_RANGE_PART;
    out->first = first;
    out->bytes = last - first + 1;
    snprintf(out->text, sizeof out->text, "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64, first, last,
             length);
}

void pe_range_read(const char *range, const char *if_range, const char *etag, uint64_t length,
                   pe_range *out)
{
    *out = (pe_range){.kind = PE_RANGE_WHOLE};
    if (range == NULL || strncasecmp(range, "bytes=", 6) != 0)
        return;
    if (if_range != NULL && strcmp(if_range, etag) != 0)
        return;
    range += 6;
    read_one(range + strspn(range, " \t"), length, out);
}
