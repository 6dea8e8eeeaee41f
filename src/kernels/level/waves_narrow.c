/* SPDX-License-Identifier: MIT */
/* waves_narrow.c - rows of sines and cosines in float32, float16 and bfloat16. */
#include "kernels/level/waves.h"

/*
 * Anchors are evaluated between two rows, the rows around them are rotations of them by half
 * steps, one complex product each, in double:
 *
 *     errors in units of 2^-53 * amplitude: anchor 3.3, offset 0.7, two products and sums 1.5,
 *     amplitude 2; together less than 8, that is 2^-50.
 *
 * A float32 of at least 2^-12 * amplitude has double places above 2^-65 * amplitude, so 2^15 of
 * them cover the error. What that leaves open (3 in 10000) is evaluated directly, with an error of
 * 2^-50 of the value itself, which 2^5 places cover; what remains is marked.
 */
typedef struct narrow {
    const pe_plan_of_rows *plan;
    pe_limits fast, direct;
    double amplitude;
} narrow;

/* Anchors of a tile. */
typedef struct anchors {
    double first[PE_TILE], second[PE_TILE];
} anchors;

PE_INLINE pe_sincos evaluate(const narrow *job, size_t i, uint64_t half_step)
{
    const pe_sincos v = pe_turn_sincos(pe_turn_at(job->plan->run, i, half_step));
    const pe_vd first = job->plan->cosine_first ? v.c : v.s;
    const pe_vd second = job->plan->cosine_first ? v.s : v.c;
    return (pe_sincos){first * job->amplitude, second * job->amplitude};
}

/* Two vectors to a place with room for `count` lanes of each. */
PE_INLINE pe_floats emit_some(pe_dtype dtype, bool interleaved, const pe_limits *limits, pe_vd a,
                              pe_vd b, size_t count, size_t item, pe_spot to, pe_ok *ok)
{
    const pe_shape_of_row shape = interleaved ? PE_ROW_INTERLEAVED : PE_ROW_PLANES;
    if (count >= PE_LANES)
        return pe_emit(dtype, shape, limits, a, b, to.first, to.second, ok);
    char first[2 * PE_LANES * sizeof(float)], second[PE_LANES * sizeof(float)];
    const pe_floats f = pe_emit(dtype, shape, limits, a, b, first, second, ok);
    memcpy(to.first, first, (interleaved ? 2 : 1) * count * item);
    if (!interleaved)
        memcpy(to.second, second, count * item);
    return f;
}

/* One vector of row r evaluated directly; marked where even that leaves it open. */
PE_INLINE void settle(pe_dtype dtype, bool interleaved, bool single, const narrow *job, size_t r,
                      size_t i)
{
    const pe_plan_of_rows *plan = job->plan;
    const size_t left = plan->run->n - i, count = left < PE_LANES ? left : PE_LANES;
    const pe_sincos v = evaluate(job, i, 2 * r);
    pe_spot to = pe_spot_of(plan, r, i);
    char unused[PE_LANES * sizeof(float)];
    if (single)
        to.second = unused;
    pe_ok ok = PE_ALL_OK;
    const pe_floats f = emit_some(dtype, interleaved, &job->direct, v.s, single ? v.s : v.c, count,
                                  plan->item, to, &ok);
    if (pe_doubt(&job->direct, ok, f, f))
        pe_mark(plan, r, i, PE_ALL_LANES);
}

/* Rows above and below the anchors, for one vector of frequencies. Returns whether any is open. */
PE_INLINE bool rotate(pe_dtype dtype, bool interleaved, bool single, const narrow *job,
                      const anchors *at, const double *cosines, const double *sines, size_t i,
                      size_t count, pe_spot plus, pe_spot minus)
{
    const size_t item = job->plan->item;
    const pe_vd first = pe_load_d(at->first + i), second = pe_load_d(at->second + i);
    const pe_vd c = pe_load_d(cosines + i), s = pe_load_d(sines + i);
    const pe_vd p = first * c;
    const pe_vd first_plus = pe_fma(second, s, p), first_minus = pe_fnma(second, s, p);
    pe_ok ok = PE_ALL_OK;
    if (single) {
        const pe_floats f = emit_some(dtype, false, &job->fast, first_plus, first_minus, count,
                                      item, (pe_spot){plus.first, minus.first}, &ok);
        return pe_doubt(&job->fast, ok, f, f);
    }
    const pe_vd q = second * c;
    const pe_vd second_plus = pe_fnma(first, s, q), second_minus = pe_fma(first, s, q);
    const pe_floats f =
        emit_some(dtype, interleaved, &job->fast, first_plus, second_plus, count, item, plus, &ok);
    const pe_floats g = emit_some(dtype, interleaved, &job->fast, first_minus, second_minus, count,
                                  item, minus, &ok);
    return pe_doubt(&job->fast, ok, f, g);
}

/* The rows `plus` and `minus` of a tile, then again what was left open. */
PE_INLINE void row_pair(pe_dtype dtype, bool interleaved, bool single, const narrow *job,
                        const anchors *at, const double *cosines, const double *sines, size_t tile,
                        size_t count, size_t plus, size_t minus)
{
    const size_t wide = (interleaved ? 2 : 1) * job->plan->item;
    const pe_spot to_plus = pe_spot_of(job->plan, plus, tile);
    const pe_spot to_minus = pe_spot_of(job->plan, minus, tile);
    uint16_t open[PE_TILE / PE_LANES];
    size_t n_open = 0, i = 0;
    for (; i + PE_LANES <= count; i += PE_LANES)
        if (__builtin_expect(rotate(dtype, interleaved, single, job, at, cosines, sines, i,
                                    PE_LANES, pe_spot_after(to_plus, i * wide),
                                    pe_spot_after(to_minus, i * wide)),
                             false))
            open[n_open++] = (uint16_t)i;
    if (i < count && rotate(dtype, interleaved, single, job, at, cosines, sines, i, count - i,
                            pe_spot_after(to_plus, i * wide), pe_spot_after(to_minus, i * wide)))
        open[n_open++] = (uint16_t)i;
    for (size_t k = 0; k < n_open; k++) {
        settle(dtype, interleaved, single, job, plus, tile + open[k]);
        settle(dtype, interleaved, single, job, minus, tile + open[k]);
    }
}

PE_INLINE void find_anchors(const narrow *job, size_t tile, size_t count, uint64_t half_step,
                            anchors *at)
{
    for (size_t i = 0; i < count; i += PE_LANES) {
        const pe_sincos v = evaluate(job, tile + i, half_step);
        pe_store_d(at->first + i, v.s);
        pe_store_d(at->second + i, v.c);
    }
}

/* Rows [r, r + 2 * reach) of a tile around one anchor. */
PE_INLINE void group(pe_dtype dtype, bool interleaved, bool single, const narrow *job, size_t tile,
                     size_t count, size_t r, size_t reach)
{
    const size_t padded = pe_wave_padded(job->plan->run->n);
    anchors at;
    find_anchors(job, tile, count, 2 * (r + reach) - 1, &at);
    for (size_t k = 0; k < reach; k++) {
        const double *cosines = job->plan->run->offsets + 2 * k * padded + tile;
        const size_t above = r + reach + k, below = r + reach - 1 - k;
        const bool back = job->plan->cosine_first;
        row_pair(dtype, interleaved, single, job, &at, cosines, cosines + padded, tile, count,
                 back ? below : above, back ? above : below);
    }
}

PE_INLINE void rows_of(pe_dtype dtype, bool interleaved, bool single, const narrow *job)
{
    const pe_run *run = job->plan->run;
    for (size_t tile = 0; tile < run->n; tile += PE_TILE) {
        const size_t count = run->n - tile < PE_TILE ? run->n - tile : PE_TILE;
        size_t r = 0, reach;
        while ((reach = pe_reach(run, r)) != 0) {
            group(dtype, interleaved, single, job, tile, count, r, reach);
            r += 2 * reach;
        }
        for (; r < run->rows; r++)
            for (size_t i = 0; i < count; i += PE_LANES)
                settle(dtype, interleaved, single, job, r, tile + i);
    }
}

PE_INLINE void shapes(pe_dtype dtype, const narrow *job)
{
    if (job->plan->single)
        rows_of(dtype, false, true, job);
    else if (job->plan->interleaved)
        rows_of(dtype, true, false, job);
    else
        rows_of(dtype, false, false, job);
}

/* Below these the error could reach a midpoint of float (see above). float16 has fewer bits below
 * 2^-14; the direct way knows, and marks what would round to zero. */
static float fast_small(pe_dtype dtype, double amplitude)
{
    const double small = amplitude * (dtype == PE_FLOAT32 ? 0x1.00001p-12 : 0x1.00001p-24);
    return (float)(dtype == PE_FLOAT16 && small < 0x1p-14 ? 0x1p-14 : small);
}

void PE_LEVEL_NAME(pe_waves_narrow)(const pe_plan_of_rows *plan, pe_dtype dtype)
{
    const double amplitude = plan->run->amplitude_hi, size = pe_abs(amplitude);
    const narrow job = {
        .plan = plan,
        .amplitude = amplitude,
        .fast = {1U << 15, fast_small(dtype, size), false},
        .direct = {1U << 5, (float)(size * 0x1p-40), true},
    };
    if (dtype == PE_FLOAT32)
        shapes(PE_FLOAT32, &job);
    else if (dtype == PE_FLOAT16)
        shapes(PE_FLOAT16, &job);
    else
        shapes(PE_BFLOAT16, &job);
}
