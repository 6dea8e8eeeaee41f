/* SPDX-License-Identifier: MIT */
/* coding.c - content codings: of whole bytes, of a stream in pieces, and whether it is worth it. */
#include "http/reply/coding.h"

#include <endian.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#define ZLIB_CONST
#include <zlib.h>
#include <zstd.h>

#include "base/array.h"
#include "base/size.h"
#include "base/yield.h"
#include "plan/price.h"

/* Levels at which coding costs about what sending the bytes over a gigabit link does. */
#define GZIP_LEVEL 4
#define ZSTD_LEVEL 3

#define GZIP_WINDOW 15 /* zlib: 32 KiB */
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
    if (bytes > UINT_MAX || deflateInit2(&stream, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW + 16,
                                         GZIP_MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
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

/* ---- a stream, piece by piece ---- */

/*
 * Hundreds of stalled readers may hold a coder each. Gzip's knows nothing from one piece to the
 * next but the checksum: a piece is coded by itself, with a whole window that belongs to the
 * thread. Pieces of 64 KiB cost half a percent of the size. Zstandard cannot do that within one
 * frame (which is what many clients stop after), so its state is kept, and small: 40 KB. Numbers as
 * text do not mind, since they repeat digits, not phrases (0.42 of the size, 0.44 with a window of
 * 16 KiB and four times the memory); biases, whose rows repeat, do (raw, 400 keys: 0.28, not 0.04).
 */
#define PIECE_LEVEL 1
#define GZIP_PIECE  65536
#define ZSTD_WINDOW 11
#define ZSTD_HASH   9
#define ZSTD_CHAIN  6
#define ZSTD_MATCH  5
#define ZSTD_PIECE  16384

/* Pieces are coded until they make this much, or are so many: about a millisecond of work. */
#define ENOUGH_BYTES 6144
#define PIECES_MAX   16

/* What is read at once: a piece at most, or a block of text, of which the stream then keeps
 * nothing. And what may be made of it when nothing in it can be coded. */
#define ROOM_BYTES   81920
#define INPUT_BYTES  (GZIP_PIECE + ROOM_BYTES)
#define OUTPUT_BYTES (INPUT_BYTES + INPUT_BYTES / 8 + ENOUGH_BYTES)

/* Samples: parts of a prime number, so that they fall on other columns of wide rows, too; shorter
 * ones of numbers that take long. */
#define SAMPLES                11
#define SAMPLE_PARTS           97
#define SAMPLE_PART(s)         (3 + 9 * (s))
#define SAMPLE_BYTES           32768
#define SAMPLE_BYTES_EXPENSIVE 2048

/* What the numbers of all samples may cost, some milliseconds. Where they cost more, the kind
 * decides: text is coded to half of its size, and binary numbers hardly to less than they are. */
#define SAMPLES_WORK ((uint64_t)1 << 19)

/* A thread's. */
typedef struct bench {
    z_stream gzip;
    char input[INPUT_BYTES], output[OUTPUT_BYTES];
} bench;

struct pe_coder {
    pe_coding coding;
    pe_stream *stream;
    uint64_t left;     /* of the stream to be read; UINT64_MAX: all */
    uint64_t taken;    /* of it */
    bool equal_pieces; /* see read_piece */
    bool begun, last, ended;
    uLong sum; /* gzip: the checksum so far */
    ZSTD_CCtx *zstd;
};

/** Code a whole piece, and with the last one the end; the room suffices. False when the library
 * fails, which it does for want of memory. */
typedef bool code_piece(pe_coder *coder, bench *at, size_t bytes, char *out, size_t room,
                        size_t *used);

/* ---- what threads keep ---- */

static pthread_key_t bench_key;
static pthread_once_t bench_once = PTHREAD_ONCE_INIT;

static atomic_size_t benches;

/* By zlib's own account (zconf.h): of its states this is the most. */
#define GZIP_BYTES ((1 << (GZIP_WINDOW + 2)) + (1 << (GZIP_MEMORY + 9)) + 8192)

size_t pe_coder_kept_bytes(void)
{
    return atomic_load_explicit(&benches, memory_order_relaxed) * (sizeof(bench) + GZIP_BYTES);
}

static void free_bench(void *data)
{
    bench *at = data;
    deflateEnd(&at->gzip);
    free(at);
    atomic_fetch_sub(&benches, 1);
}

static void make_bench_key(void)
{
    pthread_key_create(&bench_key, free_bench);
}

/* The calling thread's, or NULL. */
static bench *bench_of_thread(void)
{
    pthread_once(&bench_once, make_bench_key);
    bench *at = pthread_getspecific(bench_key);
    if (at != NULL)
        return at;
    at = calloc(1, sizeof *at);
    if (at == NULL)
        return NULL;
    atomic_fetch_add(&benches, 1);
    if (deflateInit2(&at->gzip, PIECE_LEVEL, Z_DEFLATED, -GZIP_WINDOW, GZIP_MEMORY,
                     Z_DEFAULT_STRATEGY) != Z_OK ||
        pthread_setspecific(bench_key, at) != 0) {
        free_bench(at);
        return NULL;
    }
    return at;
}

/* ---- gzip ---- */

/*
 * One member: its header, blocks of all pieces, of which each ends at a whole byte, and the
 * trailer.
 *
 * Source  RFC 1952, section 2.3.
 */
static bool piece_gzip(pe_coder *coder, bench *at, size_t bytes, char *out, size_t room,
                       size_t *used)
{
    static const char header[] = {0x1f, (char)0x8b, 8, 0, 0, 0, 0, 0, 4, 3}; /* fast; Unix */
    z_stream *gzip = &at->gzip;
    char *to = out;
    if (!coder->begun) {
        memcpy(to, header, sizeof header);
        to += sizeof header;
    }
    deflateReset(gzip);
    gzip->next_in = (const unsigned char *)at->input;
    gzip->avail_in = (unsigned)bytes;
    gzip->next_out = (unsigned char *)to;
    gzip->avail_out = (unsigned)(room - (size_t)(to - out));
    const int wanted = coder->last ? Z_STREAM_END : Z_OK;
    if (deflate(gzip, coder->last ? Z_FINISH : Z_SYNC_FLUSH) != wanted || gzip->avail_out < 8)
        return false;
    to = (char *)gzip->next_out;
    coder->sum = crc32(coder->sum, (const unsigned char *)at->input, (unsigned)bytes);
    const uint32_t trailer[] = {htole32((uint32_t)coder->sum), htole32((uint32_t)coder->taken)};
    if (coder->last)
        to = (char *)memcpy(to, trailer, sizeof trailer) + sizeof trailer;
    *used = (size_t)(to - out);
    return true;
}

/* ---- zstd ---- */

static bool piece_zstd(pe_coder *coder, bench *at, size_t bytes, char *out, size_t room,
                       size_t *used)
{
    ZSTD_inBuffer from = {at->input, bytes, 0};
    ZSTD_outBuffer to = {out, room, 0};
    const ZSTD_EndDirective how = coder->last ? ZSTD_e_end : ZSTD_e_continue;
    size_t left;
    do
        left = ZSTD_compressStream2(coder->zstd, &to, &from, how);
    while (!ZSTD_isError(left) && to.pos < room && (from.pos < bytes || (coder->last && left > 0)));
    *used = to.pos;
    return !ZSTD_isError(left) && to.pos < room;
}

/* ---- the codings ---- */

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
    size_t piece;
    code_piece *code_piece;
    const char *(*maker)(void);
} codings[PE_CODINGS] = {
    [PE_CODING_IDENTITY] = {.name = NULL},
    [PE_CODING_GZIP] = {"gzip", code_gzip, {18, 9, 20}, GZIP_PIECE, piece_gzip, zlibVersion},
    [PE_CODING_ZSTD] = {"zstd", code_zstd, {8, 7, 4}, ZSTD_PIECE, piece_zstd, ZSTD_versionString},
};

const char *pe_coding_name(pe_coding coding)
{
    return codings[coding].name;
}

const char *pe_coding_maker(pe_coding coding)
{
    return codings[coding].maker != NULL ? codings[coding].maker() : "";
}

uint64_t pe_coding_work(pe_coding coding, pe_coding_way way, uint64_t bytes)
{
    return pe_price_times(bytes, codings[coding].work[way]) / 8;
}

pe_status pe_coding_apply(pe_coding coding, const char *data, size_t bytes, pe_buffer *out,
                          pe_problem *why)
{
    if (coding == PE_CODING_IDENTITY || bytes < BYTES_MIN)
        return PE_OK;
    const size_t room = bytes - bytes / 5;
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

/* ---- a coder ---- */

pe_status pe_coder_make(pe_coding coding, pe_stream *stream, pe_coder **out, pe_problem *why)
{
    static const struct {
        ZSTD_cParameter name;
        int value;
    } parameters[] = {
        {ZSTD_c_compressionLevel, PIECE_LEVEL},
        {ZSTD_c_windowLog, ZSTD_WINDOW},
        {ZSTD_c_hashLog, ZSTD_HASH},
        {ZSTD_c_chainLog, ZSTD_CHAIN},
        {ZSTD_c_minMatch, ZSTD_MATCH},
        {ZSTD_c_strategy, ZSTD_fast},
    };
    pe_coder *coder = calloc(1, sizeof *coder);
    if (coder == NULL)
        return pe_fail_memory(why);
    coder->coding = coding;
    coder->stream = stream;
    coder->equal_pieces = pe_stream_facts_of(stream)->expensive;
    coder->left = UINT64_MAX;
    coder->zstd = coding == PE_CODING_ZSTD ? ZSTD_createCCtx() : NULL;
    bool ready = coding != PE_CODING_ZSTD || coder->zstd != NULL;
    for (size_t i = 0; coder->zstd != NULL && i < PE_LEN(parameters); i++)
        ready = ready && !ZSTD_isError(ZSTD_CCtx_setParameter(coder->zstd, parameters[i].name,
                                                              parameters[i].value));
    if (ready)
        *out = coder;
    else
        pe_coder_free(coder);
    return ready ? PE_OK : pe_fail_memory(why);
}

void pe_coder_free(pe_coder *coder)
{
    if (coder == NULL)
        return;
    ZSTD_freeCCtx(coder->zstd);
    free(coder);
}

/* A piece, or what is left. It depends on nothing but the stream, so the coded bytes are always the
 * same: blocks of an expensive stream grow by the clock, so that its pieces have one size; other
 * streams hold no text back when a block of theirs may go beyond the piece. */
static pe_status read_piece(pe_coder *coder, char *input, size_t *have, pe_problem *why)
{
    *have = 0;
    while (*have < codings[coder->coding].piece && !coder->last) {
        size_t got = 0;
        const size_t left = codings[coder->coding].piece - *have;
        const size_t block = pe_size_min(pe_stream_facts_of(coder->stream)->room, ROOM_BYTES);
        const size_t some = coder->equal_pieces || left > block ? left : block;
        const size_t wanted = coder->left < some ? (size_t)coder->left : some;
        PE_TRY(pe_stream_read(coder->stream, input + *have, wanted, &got, why));
        *have += got;
        coder->taken += got;
        if (coder->left != UINT64_MAX)
            coder->left -= got;
        coder->last = got == 0 || coder->left == 0;
    }
    return PE_OK;
}

pe_status pe_coder_read(pe_coder *coder, pe_buffer *out, pe_problem *why)
{
    bench *at = bench_of_thread();
    size_t made = 0, have, used;
    if (at == NULL)
        return pe_fail_memory(why);
    for (int n = 0; !coder->ended && made < ENOUGH_BYTES && (made == 0 || n < PIECES_MAX); n++) {
        pe_status status = read_piece(coder, at->input, &have, why);
        if (status == PE_OK && !codings[coder->coding].code_piece(
                                   coder, at, have, at->output + made, OUTPUT_BYTES - made, &used))
            status = pe_fail_memory(why);
        PE_TRY(status);
        made += used;
        coder->begun = true;
        coder->ended = coder->last;
    }
    pe_buffer_add(out, at->output, made);
    return out->failed ? pe_fail_memory(why) : PE_OK;
}

pe_status pe_coder_apply(pe_coding coding, pe_stream *stream, uint64_t *most, pe_buffer *out,
                         pe_problem *why)
{
    pe_coder *coder;
    pe_status status = pe_coder_make(coding, stream, &coder, why);
    PE_TRY(status);
    coder->left = *most;
    while (!coder->ended && status == PE_OK)
        status = pe_coder_read(coder, out, why);
    *most = coder->taken;
    pe_coder_free(coder);
    return status;
}

pe_status pe_coder_share(pe_coding coding, pe_stream *stream, double *out, pe_problem *why)
{
    uint64_t plain = 0;
    pe_buffer coded = {0};
    pe_status status = PE_OK;
    *out = 1;
    if (coding == PE_CODING_IDENTITY || pe_stream_reduces(stream))
        return PE_OK;
    const pe_stream_facts *facts = pe_stream_facts_of(stream);
    const size_t most = facts->expensive ? SAMPLE_BYTES_EXPENSIVE : SAMPLE_BYTES;
    if (SAMPLES * pe_stream_work(stream, most) > SAMPLES_WORK) {
        *out = facts->room > 0 ? 0.5 : 1;
        return PE_OK;
    }
    for (size_t s = 0; s < SAMPLES && status == PE_OK; s++) {
        uint64_t taken = most;
        pe_stream_sample(stream, SAMPLE_PART(s), SAMPLE_PARTS);
        status = pe_coder_apply(coding, stream, &taken, &coded, why);
        plain += taken;
    }
    pe_stream_restart(stream);
    if (status == PE_OK && plain > 0)
        *out = (double)coded.bytes / (double)plain;
    pe_buffer_free(&coded);
    return status;
}
