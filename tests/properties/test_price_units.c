/* SPDX-License-Identifier: MIT */
/* test_price_units.c - what is counted while an answer is planned and made is what its price says. Units
 * are counted, never time; `make prices` holds them against time. */
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "base/yield.h"
#include "encodings/registry.h"
#include "formats/stream.h"
#include "plan/price.h"
#include "support/encode.h"
#include "support/random.h"
#include "support/render.h"

/* Beside what a price reckons with: amplitudes, anchors, the place of a row. */
#define SLACK ((uint64_t)65536)

/* Each with a width or a height, and then a length. */
static const struct {
    const pe_resource *resource;
    const char *width, *length, *more;
    size_t widest;
} cases[] = {
    {&pe_sinusoidal, "d_model", "positions=0:", "", 4096},
    {&pe_sinusoidal, "d_model", "positions=0:", "&freq_shift=0.3", 512},
    {&pe_sinusoidal, "d_model", "positions=0:", "&dtype=float64", 4096},
    {&pe_sinusoidal_timing, "d_model", "length=", "", 4096},
    {&pe_rope_table, "head_dim", "positions=0:", "", 4096},
    {&pe_rope_table, "head_dim", "positions=0:", "&cache_layout=meta&dtype=float64", 512},
    {&pe_rope_xpos_table, "head_dim", "positions=0:", "", 64},
    {&pe_rope_decay, "head_dim", "offsets=0:", "", 4096},
    {&pe_rope_attention_scale, "original_max_position_embeddings", "positions=0:", "", 4096},
    {&pe_swin_coordinates, "window_height", "window_width=", "", 64},
    {&pe_swin_index, "window_height", "window_width=", "", 16},
};

static const char *const formats[] = {"json", "csv", "npy", "svg"};

/* As http/answer reckons it. */
static uint64_t price_of(const encoded *e, const pe_stream *stream)
{
    uint64_t work = pe_stream_facts_of(stream)->reduced_work;
    if (work == 0)
        work = pe_stream_work_left(stream);
    return pe_price_plus(pe_price_estimate(&e->ask.values).planning,
                         pe_price_plus(work, pe_stream_facts_of(stream)->text_work));
}

static void read_all(pe_stream *stream)
{
    static char room[1 << 20];
    pe_problem why;
    for (size_t got = 1; got > 0 || pe_stream_reduces(stream);)
        assert_int_equal(pe_stream_read(stream, room, sizeof room, &got, &why), PE_OK);
}

static void what_is_counted_is_the_price(void **state)
{
    random_source random = random_make("prices");
    size_t refused = 0; /* too narrow, or too large a window */
    for (size_t i = 0; i < PE_LEN(cases); i++)
        for (size_t f = 0; f < PE_LEN(formats); f++) {
            char query[256];
            pe_problem why;
            pe_stream *stream;
            pe_meter meter = {0};
            const size_t width = 2 * (size_t)random_magnitude(&random, (double)cases[i].widest / 2);
            const size_t length = (size_t)random_magnitude(&random, 2e5 / (double)(width + 1)) + 1;
            snprintf(query, sizeof query, "%s=%zu&%s%zu%s", cases[i].width, width, cases[i].length,
                     length < 512 || width < 64 ? length : 512, cases[i].more);
            pe_meter_begin(&meter);
            encoded e = encode(cases[i].resource, "%s", query);
            pe_rendering rendering = render_as(formats[f], false, e.plan.tensors[0].name);
            refused += e.status != PE_OK;
            if (e.status == PE_OK)
                rendering.figure = pe_query_rendering(&e.ask).figure;
            rendering.resource = cases[i].resource;
            rendering.values = &e.ask.values;
            if (e.status == PE_OK && pe_stream_make(&e.plan, &rendering, &stream, &why) == PE_OK) {
                const uint64_t price = price_of(&e, stream);
                read_all(stream);
                if (meter.units > 2 * price + SLACK)
                    fail_msg("seed %llu: %s?%s as %s: %llu units, price %llu",
                             (unsigned long long)random.seed, cases[i].resource->name, query,
                             formats[f], (unsigned long long)meter.units,
                             (unsigned long long)price);
                pe_stream_free(stream);
            }
            pe_meter_end();
            encoded_free(&e);
        }
    assert_in_range(refused, 0, PE_LEN(cases) * PE_LEN(formats) / 4);
}

/* Each has a row of its own, and no block of rows that nobody asked for. */
static void what_lies_far_apart_costs_no_more_than_its_rows(void **state)
{
    static const char *const positions[] = {"0:576460752303423:9007199254741", "7:2000007:31250"};
    for (size_t i = 0; i < PE_LEN(positions); i++) {
        pe_meter meter = {0};
        pe_buffer vectors = {0};
        for (size_t v = 0; v < 64; v++)
            pe_buffer_str(&vectors, v == 0 ? "[1,2,3,4,5,6,7,8]" : ",[1,2,3,4,5,6,7,8]");
        pe_meter_begin(&meter);
        encoded e = encode_json(&pe_rope_rotate, "{\"vectors\":[%s],\"positions\":\"%s\"}",
                                pe_buffer_text(&vectors), positions[i]);
        assert_int_equal(e.status, PE_OK);
        free(encoded_all(&e, 0));
        pe_meter_end();
        assert_true(meter.units <= 64 * 8 * e.plan.tensors[0].work + SLACK / 16);
        encoded_free(&e);
        pe_buffer_free(&vectors);
    }
}

static void count_turn(void *context)
{
    ++*(uint64_t *)context;
}

/* However much is asked for at once, others have their turns meanwhile. */
static void work_comes_round(void **state)
{
    pe_problem why;
    uint64_t turns = 0;
    const pe_yield_ways ways = {.wait = count_turn, .context = &turns};
    encoded e = encode(&pe_rope_decay, "head_dim=65536&offsets=0:1024&dtype=float64");
    const pe_tensor *tensor = &e.plan.tensors[0];
    const pe_region all = pe_plan_units(&e.plan, 0, 0, tensor->units);
    double *room = calloc(tensor->units, sizeof *room);
    const pe_yield_ways *before = pe_yield_set(&ways);
    assert_int_equal(pe_plan_make_region(&e.plan, &all, room, &why), PE_OK);
    pe_yield_set(before);
    assert_true(turns >= tensor->units * tensor->work / (2 * PE_YIELD_WORK));
    free(room);
    encoded_free(&e);
}

/* Doubles of small sines are proven by 128 bits, and float32 arithmetic rounds each step. */
static void what_the_kernel_does_not_make_costs_more(void **state)
{
    static const struct {
        const pe_resource *resource;
        const char *query;
        size_t work;
    } rows[] = {
        {&pe_sinusoidal, "d_model=948&positions=0:10000&dtype=float64", 1},
        {&pe_sinusoidal, "d_model=948&positions=0:10000&base=1e12", 1},
        {&pe_sinusoidal, "d_model=948&positions=0:10000&dtype=float64&base=1e12", 4},
        {&pe_sinusoidal, "d_model=948&positions=100000000:100010000&dtype=float64&base=1e12", 1},
        {&pe_sinusoidal_timing, "d_model=948&length=9999&dtype=float64&max_timescale=1e12", 4},
        {&pe_sinusoidal_grid, "d_model=512&height=500&width=40&dtype=float64", 1},
        {&pe_sinusoidal_grid, "d_model=512&height=500&width=40&dtype=float64&base=1e12", 5},
        {&pe_rope_table, "head_dim=948&positions=0:10000&dtype=float64&rope_theta=1e12", 4},
        {&pe_rope_table, "head_dim=948&positions=0:10000&dtype=float64", 1},
        {&pe_rope_table, "head_dim=948&positions=0:10000&numerics=float32", 3},
        {&pe_sinusoidal, "d_model=948&positions=0:10000&numerics=float32", 3},
    };
    for (size_t r = 0; r < PE_LEN(rows); r++) {
        encoded e = encode(rows[r].resource, "%s", rows[r].query);
        assert_int_equal(e.status, PE_OK);
        for (size_t t = 0; t < e.plan.n_tensors; t++)
            if (e.plan.tensors[t].work != rows[r].work)
                fail_msg("%s: %zu units, wanted %zu", rows[r].query, e.plan.tensors[t].work,
                         rows[r].work);
        encoded_free(&e);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_counted_is_the_price),
        cmocka_unit_test(what_lies_far_apart_costs_no_more_than_its_rows),
        cmocka_unit_test(work_comes_round),
        cmocka_unit_test(what_the_kernel_does_not_make_costs_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
