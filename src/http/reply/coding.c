/* SPDX-License-Identifier: MIT */
/* coding.c - content codings: which one a client gets, and the coded bytes. */
#include "http/reply/coding.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#define ZLIB_CONST
#include <zlib.h>
#include <zstd.h>

#include "base/array.h"

/* Levels at which coding costs about what sending the bytes over a gigabit link does. */
#define GZIP_LEVEL 4
#define ZSTD_LEVEL 3

#define GZIP_WINDOW (15 + 16) /* zlib: 32 KiB, and a gzip header */
#define GZIP_MEMORY 8

/* Below this the header fields would outweigh what is saved. */
#define BYTES_MIN 256

/*
 * Write the coded bytes to out, room for `room`; 0 when they do not fit (or memory ran out: what
 * cannot be coded goes out as it is).
 */
typedef size_t code(const char *data, size_t bytes, char *out, size_t room);

static size_t code_gzip(const char *data, size_t bytes, char *out, size_t room)
{
    z_stream stream = {0};
    if (bytes > UINT_MAX || deflateInit2(&stream, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
                                         Z_DEFAULT_STRATEGY) != Z_OK)
        return 0;
    stream.next_in = (const unsigned char *)data;
    stream.avail_in = (unsigned)bytes;
    stream.next_out = (unsigned char *)out;
    stream.avail_out = (unsigned)room;
    size_t coded = deflate(&stream, Z_FINISH) == Z_STREAM_END ? room - stream.avail_out : 0;
    deflateEnd(&stream);
    return coded;
}

static size_t code_zstd(const char *data, size_t bytes, char *out, size_t room)
{
    size_t coded = ZSTD_compress(out, room, data, bytes, ZSTD_LEVEL);
    return ZSTD_isError(coded) ? 0 : coded;
}

static const struct {
    const char *name;
    code *code;
} codings[PE_CODINGS] = {
    [PE_CODING_IDENTITY] = {NULL, NULL},
    [PE_CODING_GZIP] = {"gzip", code_gzip},
    [PE_CODING_ZSTD] = {"zstd", code_zstd},
};

const char *pe_coding_name(pe_coding coding)
{
    return codings[coding].name;
}

const char *pe_coding_maker(pe_coding coding)
{
    return coding == PE_CODING_GZIP   ? zlibVersion()
           : coding == PE_CODING_ZSTD ? ZSTD_versionString()
                                      : "";
}

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

static bool is_name(const char *text, size_t bytes, const char *name)
{
    return bytes == strlen(name) && strncasecmp(text, name, bytes) == 0;
}

/* The weight of each coding; -1: not named. */
static void read_weights(const char *accept_encoding, int weight[PE_CODINGS])
{
    int star = -1;
    for (int coding = 0; coding < PE_CODINGS; coding++)
        weight[coding] = -1;
    for (const char *at = accept_encoding; at != NULL && *at != '\0';) {
        at += strspn(at, ", \t");
        size_t bytes = strcspn(at, ","), name = strcspn(at, ",; \t");
        int given = weight_of(at + name, bytes - name);
        if (is_name(at, name, "*"))
            star = given;
        else if (is_name(at, name, "zstd"))
            weight[PE_CODING_ZSTD] = given;
        else if (is_name(at, name, "gzip") || is_name(at, name, "x-gzip"))
            weight[PE_CODING_GZIP] = given;
        else if (is_name(at, name, "identity"))
            weight[PE_CODING_IDENTITY] = given;
        at += bytes;
    }
    if (weight[PE_CODING_GZIP] < 0)
        weight[PE_CODING_GZIP] = star;
}

pe_coding pe_coding_choose(const char *accept_encoding)
{
    int weight[PE_CODINGS];
    read_weights(accept_encoding, weight);
    pe_coding best = PE_CODING_IDENTITY;
    for (int coding = PE_CODING_GZIP; coding < PE_CODINGS; coding++)
        if (weight[coding] > 0 && weight[coding] >= weight[best])
            best = (pe_coding)coding;
    return best;
}

size_t pe_coding_room(size_t bytes)
{
    return bytes - bytes / 5;
}

bool pe_coding_as_welcome(const char *accept_encoding, pe_coding coding, pe_coding other)
{
    int weight[PE_CODINGS];
    read_weights(accept_encoding, weight);
    return weight[other] > 0 && weight[other] >= weight[coding];
}

pe_status pe_coding_apply(pe_coding coding, const char *data, size_t bytes, char **out,
                          size_t *out_bytes, pe_problem *why)
{
    *out = NULL;
    *out_bytes = 0;
    if (coding == PE_CODING_IDENTITY || bytes < BYTES_MIN)
        return PE_OK;
    size_t room = pe_coding_room(bytes);
    char *coded = malloc(room);
    if (coded == NULL)
        return pe_fail_memory(why);
    size_t used = codings[coding].code(data, bytes, coded, room);
    if (used == 0) {
        free(coded);
        return PE_OK;
    }
    char *fitting = realloc(coded, used);
    *out = fitting != NULL ? fitting : coded;
    *out_bytes = used;
    return PE_OK;
}
