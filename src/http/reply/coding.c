/* SPDX-License-Identifier: MIT */
/* coding.c - content codings: coded bytes, and whether they are worth it. */
#include "http/reply/coding.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#define ZLIB_CONST
#include <zlib.h>
#include <zstd.h>

#include "base/array.h"
#include "base/yield.h"
#include "plan/price.h"

/* Levels at which coding costs about what sending the bytes over a gigabit link does. */
#define GZIP_LEVEL 4
#define ZSTD_LEVEL 3

#define GZIP_WINDOW (15 + 16) /* zlib: 32 KiB, and a gzip header */
#define GZIP_MEMORY 8

/* Coded before others may have their turn. */
#define AT_ONCE_BYTES ((size_t)65536)

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
    stream.next_out = (unsigned char *)out;
    stream.avail_out = (unsigned)room;
    int status = Z_OK;
    for (size_t left = bytes; status == Z_OK && stream.avail_out > 0;) {
        stream.avail_in = (unsigned)(left < AT_ONCE_BYTES ? left : AT_ONCE_BYTES);
        left -= stream.avail_in;
        pe_yield_spend(pe_coding_work(PE_CODING_GZIP, PE_CODING_WHOLE, stream.avail_in));
        status = deflate(&stream, left > 0 ? Z_NO_FLUSH : Z_FINISH);
    }
    deflateEnd(&stream);
    return status == Z_STREAM_END ? room - stream.avail_out : 0;
}

/* The encoder knows the length, and chooses by it as one that is made at once. */
static size_t code_zstd(const char *data, size_t bytes, char *out, size_t room)
{
    ZSTD_outBuffer to = {out, room, 0};
    ZSTD_CCtx *zstd = ZSTD_createCCtx();
    const bool ready =
        zstd != NULL &&
        !ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL)) &&
        !ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(zstd, bytes));
    size_t at = 0, waits = 1;
    while (ready && at < bytes && to.pos < to.size && !ZSTD_isError(waits)) {
        const size_t left = bytes - at, some = left < AT_ONCE_BYTES ? left : AT_ONCE_BYTES;
        ZSTD_inBuffer from = {data + at, some, 0};
        pe_yield_spend(pe_coding_work(PE_CODING_ZSTD, PE_CODING_WHOLE, some));
        waits = ZSTD_compressStream2(zstd, &to, &from, some == left ? ZSTD_e_end : ZSTD_e_continue);
        at += from.pos;
    }
    ZSTD_freeCCtx(zstd);
    return waits == 0 && at == bytes ? to.pos : 0;
}

/*
 * work: units for eight bytes. Measured beside the unit, an element of a plain table with its text
 * (9 ns): nanoseconds for a byte of float16 to float64 as JSON and CSV, and of base64.
 *
 *                   gzip        zstd
 *     whole         17 to 26    6 to 14
 *     stream, text  9 to 14     6 to 12
 *     base64        26          5
 *
 * Integers and rows that repeat each other take less, down to a tenth.
 */
static const struct {
    const char *name;
    code *code;
    uint64_t work[PE_CODING_WAYS];
} codings[PE_CODINGS] = {
    [PE_CODING_IDENTITY] = {NULL, NULL, {0}},
    [PE_CODING_GZIP] = {"gzip", code_gzip, {18, 9, 20}},
    [PE_CODING_ZSTD] = {"zstd", code_zstd, {8, 7, 4}},
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

uint64_t pe_coding_work(pe_coding coding, pe_coding_way way, uint64_t bytes)
{
    return pe_price_times(bytes, codings[coding].work[way]) / 8;
}

size_t pe_coding_room(size_t bytes)
{
    return bytes - bytes / 5;
}

pe_status pe_coding_apply(pe_coding coding, const char *data, size_t bytes, pe_buffer *out,
                          pe_problem *why)
{
    if (coding == PE_CODING_IDENTITY || bytes < BYTES_MIN)
        return PE_OK;
    const size_t room = pe_coding_room(bytes);
    char *coded = malloc(room);
    if (coded == NULL)
        return pe_fail_memory(why);
    const size_t used = codings[coding].code(data, bytes, coded, room);
    if (used == 0) {
        free(coded);
        return PE_OK;
    }
    *out = (pe_buffer){.data = coded, .bytes = used, .capacity = room};
    pe_buffer_fit(out);
    return PE_OK;
}
