/* SPDX-License-Identifier: MIT */
/* accept_encoding.c - the content codings that a client takes. */
#include "http/request/accept_encoding.h"

#include <string.h>
#include <strings.h>

#include "base/array.h"

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
