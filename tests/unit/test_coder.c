/* SPDX-License-Identifier: MIT */
/* test_coder.c - coded streams: what they decode to, and when they are worth it. */
#include "support/check.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/clock.h"
#include "encodings/registry.h"
#include "http/reply/coding.h"
#include "support/encode.h"
#include "support/fake.h"
#include "support/render.h"

static const pe_coding codings[] = {PE_CODING_GZIP, PE_CODING_ZSTD};

/* All of a stream, coded. */
static void code(const pe_plan *plan, const pe_rendering *rendering, pe_coding coding,
                 pe_buffer *out)
{
    pe_stream *stream;
    pe_coder *coder;
    pe_problem why;
    size_t before;
    assert_int_equal(pe_stream_make(plan, rendering, &stream, &why), PE_OK);
    assert_int_equal(pe_coder_make(coding, stream, &coder, &why), PE_OK);
    do {
        before = out->bytes;
        assert_int_equal(pe_coder_read(coder, out, &why), PE_OK);
    } while (out->bytes > before);
    pe_coder_free(coder);
    pe_stream_free(stream);
}

/* One gzip member, or one frame, and nothing behind it. */
static void assert_decodes(const char *name, pe_coding coding, const pe_buffer *coded,
                           const pe_buffer *wanted)
{
    char *got = malloc(wanted->bytes + 1);
    size_t bytes = 0, taken = 0;
    if (coding == PE_CODING_GZIP) {
        z_stream gzip = {.next_in = (unsigned char *)coded->data,
                         .avail_in = (unsigned)coded->bytes,
                         .next_out = (unsigned char *)got,
                         .avail_out = (unsigned)wanted->bytes + 1};
        assert_int_equal(inflateInit2(&gzip, 15 + 16), Z_OK);
        assert_int_equal(inflate(&gzip, Z_FINISH), Z_STREAM_END); /* and the checksum is right */
        bytes = wanted->bytes + 1 - gzip.avail_out;
        taken = coded->bytes - gzip.avail_in;
        inflateEnd(&gzip);
    } else {
        bytes = ZSTD_decompress(got, wanted->bytes + 1, coded->data, coded->bytes);
        taken = ZSTD_findFrameCompressedSize(coded->data, coded->bytes);
    }
    assert_int_equal(taken, coded->bytes);
    if (bytes != wanted->bytes || memcmp(got, wanted->data, bytes) != 0)
        fail_msg("%s: %zu bytes decode to %zu, not to the %zu wanted", name, coded->bytes, bytes,
                 wanted->bytes);
    free(got);
}

/* Numbers and text that shrink to anything between a hundredth and all of it; many near four
 * fifths, where coding begins to be worth it. */
static const struct {
    const pe_resource *resource;
    const char *query, *format;
    bool base64;
} cases[] = {
    {&pe_sinusoidal, "d_model=512&positions=0:3000", "json", false},
    {&pe_sinusoidal, "d_model=512&positions=0:3000&dtype=float64", "csv", false},
    {&pe_sinusoidal, "d_model=512&positions=0:4000", "raw", false},
    {&pe_sinusoidal, "d_model=512&positions=0:4000", "json", true},
    {&pe_sinusoidal, "d_model=512&positions=0:4000&dtype=float16", "npy", false},
    {&pe_sinusoidal, "d_model=512&positions=0:4000&dtype=bfloat16", "raw", false},
    {&pe_sinusoidal, "d_model=512&positions=100000:104000&dtype=float16", "json", true},
    {&pe_sinusoidal, "d_model=512&positions=1000000:1004000&base=2&dtype=bfloat16", "raw", false},
    {&pe_sinusoidal, "d_model=64&positions=0:32000&dtype=float16", "raw", false},
    {&pe_sinusoidal, "d_model=65536&positions=0:30&dtype=bfloat16", "raw", false},
    {&pe_sinusoidal, "d_model=65536&positions=0:30&dtype=float16", "raw", false},
    {&pe_sinusoidal, "d_model=65536&positions=0:30", "raw", false},
    {&pe_alibi_bias, "num_heads=4&query_length=700", "raw", false},
    {&pe_alibi_bias, "num_heads=4&query_length=700&form=causal", "json", false},
    {&pe_t5_buckets, "query_length=1000", "npy", false},
    {&pe_rope_table, "head_dim=128&positions=0:8000&cache_layout=hf", "safetensors", false},
    {&pe_rope_table, "head_dim=128&positions=0:8000&cache_layout=hf&dtype=bfloat16", "safetensors",
     false},
    {&pe_sinusoidal, "d_model=3&positions=0:3", "json", false},
    {&pe_sinusoidal, "d_model=3&positions=0:3", "raw", false},
};

/* ---- blocks whose sizes the clock decides ---- */

enum { COSTLY_ELEMENTS = 1 << 17, COSTLY_WORK = 4096 };

/* Every so many blocks take long; 0: none. */
static int slow_every;

/* As long as a slow block takes, by the thread's own clock. */
static void burn(void)
{
    const int64_t end = pe_clock_of_thread() + 13 * (int64_t)PE_NANOSECONDS_PER_MS;
    while (pe_clock_of_thread() < end)
        ;
}

static pe_status fill_slowly(const pe_plan *plan, const pe_region *region, void *out,
                             pe_problem *why)
{
    static size_t blocks; /* few, so that the test is quick */
    if (slow_every > 0 && blocks < 40 && ++blocks % (size_t)slow_every == 0)
        burn();
    float *to = out;
    for (size_t u = 0; u < region->units; u++)
        to[u] = (float)((region->first + u) * 2654435761U % 1000) / 8;
    return PE_OK;
}

/* Blocks of expensive elements grow while they are quick; a coded stream has one tag, so its bytes
 * must be the same however quick they were. */
static void coded_bytes_do_not_depend_on_the_time_that_blocks_take(void **state)
{
    static const char *const formats[] = {"json", "raw"};
    pe_plan plan;
    fake_plan(&plan, 1, PE_FLOAT32, &(pe_shape){1, {COSTLY_ELEMENTS}}, 1);
    plan.tensors[0].work = COSTLY_WORK;
    plan.fill = fill_slowly;
    for (size_t f = 0; f < PE_LEN(formats); f++) {
        const pe_rendering rendering = render_as(formats[f], false, NULL);
        for (size_t c = 0; c < PE_LEN(codings); c++) {
            pe_buffer quick = {0}, slow = {0};
            slow_every = 0;
            code(&plan, &rendering, codings[c], &quick);
            slow_every = 3;
            code(&plan, &rendering, codings[c], &slow);
            assert_int_equal(quick.bytes, slow.bytes);
            assert_memory_equal(quick.data, slow.data, quick.bytes);
            pe_buffer_free(&quick);
            pe_buffer_free(&slow);
        }
    }
    pe_plan_free(&plan);
}

static void assert_stands_at_the_beginning(pe_stream *stream, const pe_buffer *plain)
{
    static char data[4096];
    size_t got = 0, read = 0;
    pe_problem why;
    do {
        assert_int_equal(pe_stream_read(stream, data + read, sizeof data - read, &got, &why),
                         PE_OK);
        read += got;
    } while (got > 0);
    assert_int_equal(read, plain->bytes < sizeof data ? plain->bytes : sizeof data);
    assert_memory_equal(data, plain->data, read);
}

/* The whole is coded, decoded, and coded again. Samples decide about all but the smallest as the
 * whole would. */
static void coded_streams_decode_and_samples_foretell_their_size(void **state)
{
    for (size_t i = 0; i < PE_LEN(cases); i++) {
        encoded e = encode(cases[i].resource, "%s", cases[i].query);
        pe_rendering rendering = render_as(cases[i].format, cases[i].base64, NULL);
        pe_buffer plain = {0};
        if (e.status != PE_OK)
            fail_msg("%s: %s", cases[i].query, e.why.detail);
        render(&e.plan, &rendering, 0, 65536, &plain);
        for (size_t c = 0; c < PE_LEN(codings); c++) {
            pe_buffer coded = {0}, again = {0};
            pe_problem why;
            double foretold;
            code(&e.plan, &rendering, codings[c], &coded);
            code(&e.plan, &rendering, codings[c], &again);
            assert_int_equal(coded.bytes, again.bytes);
            assert_memory_equal(coded.data, again.data, coded.bytes);
            assert_decodes(cases[i].query, codings[c], &coded, &plain);
            pe_stream *stream;
            assert_int_equal(pe_stream_make(&e.plan, &rendering, &stream, &why), PE_OK);
            assert_int_equal(pe_coder_share(codings[c], stream, &foretold, &why), PE_OK);
            assert_stands_at_the_beginning(stream, &plain);
            pe_stream_free(stream);
            const double share = (double)coded.bytes / (double)plain.bytes;
            print_message("%.3f, foretold %.3f: %s %s %s\n", share, foretold,
                          pe_coding_name(codings[c]), cases[i].format, cases[i].query);
            if (plain.bytes > 65536)
                assert_true((foretold <= 0.8) == (share <= 0.8));
            pe_buffer_free(&coded);
            pe_buffer_free(&again);
        }
        pe_buffer_free(&plain);
        encoded_free(&e);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coded_bytes_do_not_depend_on_the_time_that_blocks_take),
        cmocka_unit_test(coded_streams_decode_and_samples_foretell_their_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
