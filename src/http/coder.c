/* SPDX-License-Identifier: MIT */
/* coder.c - a content coding applied to a stream, block by block. */
#include "http/coder.h"

#include <stdlib.h>
#include <string.h>
#define ZLIB_CONST
#include <zlib.h>
#include <zstd.h>

/* Tables repeat digits, not phrases: small windows cost a few percent of what is saved. Biases
 * repeat rows of some kilobytes, and shrink half as much where the window is smaller than these. */
#define GZIP_LEVEL  1
#define GZIP_WINDOW (14 + 16) /* zlib: 16 KiB, and a gzip header */
#define GZIP_MEMORY 5
#define ZSTD_LEVEL  1
#define ZSTD_WINDOW 14

/* What is read from the stream at once; always full but at the end, so that the coded bytes are the
 * same whoever reads them. */
#define INPUT_BYTES 16384

struct pe_coder {
    const struct coder_ops *ops;
    pe_stream *stream;
    z_stream gzip;
    ZSTD_CCtx *zstd;
    size_t at, have; /* input not coded yet: [at, have) */
    bool last;       /* the stream has ended: what is in input is all */
    bool ended;      /* the last coded byte has been given out */
    char input[INPUT_BYTES];
};

/**
 * Code input into out until one of them is used up; moves coder->at. Sets coder->ended once all has
 * been written after the last input. False when the library fails, which it does for want of
 * memory.
 */
typedef bool code(pe_coder *coder, char *out, size_t room, size_t *used);

typedef struct coder_ops {
    bool (*start)(pe_coder *coder);
    code *code;
    void (*stop)(pe_coder *coder);
} coder_ops;

/* ---- gzip ---- */

static bool start_gzip(pe_coder *coder)
{
    return deflateInit2(&coder->gzip, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
                        Z_DEFAULT_STRATEGY) == Z_OK;
}

static bool code_gzip(pe_coder *coder, char *out, size_t room, size_t *used)
{
    z_stream *gzip = &coder->gzip;
    gzip->next_in = (const unsigned char *)coder->input + coder->at;
    gzip->avail_in = (unsigned)(coder->have - coder->at);
    gzip->next_out = (unsigned char *)out;
    gzip->avail_out = (unsigned)room;
    const int status = deflate(gzip, coder->last ? Z_FINISH : Z_NO_FLUSH);
    coder->at = coder->have - gzip->avail_in;
    coder->ended = status == Z_STREAM_END;
    *used = room - gzip->avail_out;
    return status != Z_STREAM_ERROR;
}

static void stop_gzip(pe_coder *coder)
{
    deflateEnd(&coder->gzip);
}

/* ---- zstd ---- */

static bool start_zstd(pe_coder *coder)
{
    coder->zstd = ZSTD_createCCtx();
    return coder->zstd != NULL &&
           !ZSTD_isError(
               ZSTD_CCtx_setParameter(coder->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL)) &&
           !ZSTD_isError(ZSTD_CCtx_setParameter(coder->zstd, ZSTD_c_windowLog, ZSTD_WINDOW));
}

static bool code_zstd(pe_coder *coder, char *out, size_t room, size_t *used)
{
    ZSTD_inBuffer from = {coder->input, coder->have, coder->at};
    ZSTD_outBuffer to = {out, room, 0};
    const size_t left =
        ZSTD_compressStream2(coder->zstd, &to, &from, coder->last ? ZSTD_e_end : ZSTD_e_continue);
    coder->at = from.pos;
    coder->ended = coder->last && left == 0;
    *used = to.pos;
    return !ZSTD_isError(left);
}

static void stop_zstd(pe_coder *coder)
{
    ZSTD_freeCCtx(coder->zstd);
}

static const coder_ops all_ops[PE_CODINGS] = {
    [PE_CODING_GZIP] = {start_gzip, code_gzip, stop_gzip},
    [PE_CODING_ZSTD] = {start_zstd, code_zstd, stop_zstd},
};

/* ---- any ---- */

pe_status pe_coder_make(pe_coding coding, pe_stream *stream, pe_coder **out, pe_problem *why)
{
    pe_coder *coder = calloc(1, sizeof *coder);
    if (coder == NULL)
        return pe_fail_memory(why);
    coder->ops = &all_ops[coding];
    coder->stream = stream;
    if (!coder->ops->start(coder)) {
        pe_coder_free(coder);
        return pe_fail_memory(why);
    }
    *out = coder;
    return PE_OK;
}

void pe_coder_free(pe_coder *coder)
{
    if (coder == NULL)
        return;
    coder->ops->stop(coder);
    free(coder);
}

static pe_status fill_input(pe_coder *coder, pe_problem *why)
{
    pe_status status = PE_OK;
    coder->at = coder->have = 0;
    while (coder->have < INPUT_BYTES && !coder->last && status == PE_OK) {
        size_t got = 0;
        status = pe_stream_read(coder->stream, coder->input + coder->have,
                                INPUT_BYTES - coder->have, &got, why);
        coder->have += got;
        coder->last = got == 0;
    }
    return status;
}

pe_status pe_coder_read(pe_coder *coder, void *out, size_t bytes, size_t *got, pe_problem *why)
{
    *got = 0;
    while (*got == 0 && !coder->ended) {
        pe_status status = PE_OK;
        if (coder->at == coder->have && !coder->last)
            status = fill_input(coder, why);
        if (status == PE_OK && !coder->ops->code(coder, out, bytes, got))
            status = pe_fail_memory(why);
        if (status != PE_OK)
            return status;
    }
    return PE_OK;
}
