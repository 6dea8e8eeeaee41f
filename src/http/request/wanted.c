/* SPDX-License-Identifier: MIT */
/* wanted.c - what a client wants of a representation: in which coding, and which bytes. */
#include "http/request/wanted.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"

/* ---- content codings ---- */

/* The weight of a list's member in thousandths (RFC 9110, 12.4.2); 0 when it cannot be read. */
static int weight_of(const char *parameters, size_t bytes)
{
    const char *end = parameters + bytes;
    const char *q = parameters;
    while (q < end && (*q == ';' || *q == ' ' || *q == '\t'))
        q++;
    if (q == end)
        return 1000;
    if (end - q < 3 || (*q | 32) != 'q' || q[1] != '=' || (q[2] != '0' && q[2] != '1'))
        return 0;
    int weight = (q[2] - '0') * 1000, digit = 100;
    q += 3;
    if (q < end && *q == '.')
        for (q++; q < end && *q >= '0' && *q <= '9' && digit > 0; q++, digit /= 10)
            weight += (*q - '0') * digit;
    return weight <= 1000 ? weight : 0;
}

/* The weight of each coding; -1: not named. */
static void read_weights(const char *accept_encoding, int weight[PE_CODINGS])
{
    int star = -1;
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
    for (const char *at = accept_encoding; at != NULL && *at != '\0';) {
        at += strspn(at, ", \t");
        const size_t bytes = strcspn(at, ","), name = strcspn(at, ",; \t");
        for (size_t i = 0; i < PE_LEN(rows); i++)
            if (strlen(rows[i].name) == name && strncasecmp(at, rows[i].name, name) == 0)
                *rows[i].weight = weight_of(at + name, bytes - name);
        at += bytes;
    }
    if (weight[PE_CODING_GZIP] < 0)
        weight[PE_CODING_GZIP] = star;
    if (weight[PE_CODING_IDENTITY] < 0 && star == 0)
        weight[PE_CODING_IDENTITY] = 0;
}

void pe_accept_encoding_read(const char *accept_encoding, pe_accepted_codings *out)
{
    read_weights(accept_encoding, out->weight);
    out->best = PE_CODING_IDENTITY;
    for (int coding = PE_CODING_GZIP; coding < PE_CODINGS; coding++)
        if (out->weight[coding] > 0 && out->weight[coding] >= out->weight[out->best])
            out->best = (pe_coding)coding;
    out->none = out->best == PE_CODING_IDENTITY && out->weight[PE_CODING_IDENTITY] == 0;
}

void pe_accept_encoding_offer_identity(pe_accepted_codings *codings)
{
    for (int coding = PE_CODING_GZIP; coding < PE_CODINGS; coding++)
        codings->weight[coding] = 0;
    codings->best = PE_CODING_IDENTITY;
    codings->none = codings->weight[PE_CODING_IDENTITY] == 0;
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
