/* SPDX-License-Identifier: MIT */
/* wanted.c - what a client wants of a representation: in which coding, and which bytes. */
#include "http/request/wanted.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "formats/format.h"

/* ---- content codings ---- */

void pe_accept_encoding_read(const char *accept_encoding, bool plain, pe_accepted_codings *out)
{
    *out = (pe_accepted_codings){0};
    int star = -1, *weight = out->weight;
    const struct {
        const char *name;
        int *weight;
    } rows[] = {{"*", &star},
                {"zstd", &weight[PE_CODING_ZSTD]},
                {"gzip", &weight[PE_CODING_GZIP]},
                {"x-gzip", &weight[PE_CODING_GZIP]},
                {"identity", &weight[PE_CODING_IDENTITY]}};
    for (int coding = 0; coding < PE_CODINGS; coding++)
        weight[coding] = -1;
    pe_slice list = pe_slice_of(accept_encoding != NULL ? accept_encoding : ""), name;
    for (int q; pe_accept_next(&list, &name, &q);)
        for (size_t i = 0; i < PE_LEN(rows); i++)
            if (strlen(rows[i].name) == name.bytes &&
                strncasecmp(name.text, rows[i].name, name.bytes) == 0)
                *rows[i].weight = q > 0 ? q : 0; /* what cannot be read is not taken */
    if (weight[PE_CODING_GZIP] < 0)
        weight[PE_CODING_GZIP] = star;
    if (weight[PE_CODING_IDENTITY] < 0 && star == 0)
        weight[PE_CODING_IDENTITY] = 0;
    out->best = PE_CODING_IDENTITY;
    for (int coding = PE_CODING_GZIP; coding < PE_CODINGS; coding++) {
        weight[coding] = plain ? 0 : weight[coding];
        if (weight[coding] > 0 && weight[coding] >= weight[out->best])
            out->best = (pe_coding)coding;
    }
    out->none = out->best == PE_CODING_IDENTITY && weight[PE_CODING_IDENTITY] == 0;
}

bool pe_accept_encoding_takes(const pe_accepted_codings *codings, pe_coding other)
{
    return codings->weight[other] > 0 && codings->weight[other] >= codings->weight[codings->best];
}

/* ---- ranges ---- */

/* Digits at *at into *out, saturating; false when there are none. */
static bool read_number(const char **at, uint64_t *out)
{
    const size_t digits = strspn(*at, "0123456789");
    *out = digits > 0 ? strtoull(*at, NULL, 10) : 0;
    *at += digits;
    return digits > 0;
}

/* "a-b", "a-" or "-n": positions, or the last n bytes. */
void pe_range_read(const char *range, const char *if_range, const char *etag, uint64_t length,
                   pe_range *out)
{
    uint64_t first = 0, last = UINT64_MAX;
    *out = (pe_range){.kind = PE_RANGE_WHOLE};
    if (range == NULL || strncasecmp(range, "bytes=", 6) != 0 ||
        (if_range != NULL && strcmp(if_range, etag) != 0))
        return;
    const char *at = range + 6 + strspn(range + 6, " \t");
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
