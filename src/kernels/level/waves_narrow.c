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
    pe_limits limits; /* of what is rotated */
    double amplitude, small;
} narrow;

/* Anchors of a tile. */
typedef struct anchors {
    double first[PE_TILE], second[PE_TILE];
} anchors;

/* Last places that a rotation's error covers, as a power of two. */
#define WINDOW 15

/* pe_dtype_bytes, known to the compiler. */
PE_INLINE size_t item_of(pe_dtype dtype)
{
    return dtype == PE_FLOAT32 ? sizeof(float) : sizeof(uint16_t);
}

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

/*
 * Lanes of v whose rounding is open, as ones; v is off by less than 2^-50 of itself, which is 8
 * places. Where float16 is subnormal, its places are 2^-24 apart wherever v's lie. What rounds to
 * zero is open too: the sign of that zero is not wanted.
 */
PE_INLINE pe_vu open_lanes(pe_dtype dtype, pe_vd v, double small)
{
    const int dropped = dtype == PE_FLOAT32 ? 29 : dtype == PE_FLOAT16 ? 42 : 45;
    const uint64_t half = 1ULL << (dropped - 1);
    const pe_vu bits = (pe_vu)v;
    const pe_vd size = (pe_vd)(bits & INT64_MAX);
    const pe_vu near = (pe_vu)(((bits + (half + 32)) & (2 * half - 64)) == 0);
    const pe_vu low = (pe_vu)(size < small);
    if (dtype != PE_FLOAT16)
        return near | low;
    const pe_vd rest = size - ((size + 0x1.8p28) - 0x1.8p28);
    const pe_vd rest_size = (pe_vd)((pe_vu)rest & INT64_MAX);
    const pe_vu tie = (pe_vu)(rest_size > 0x1p-25 - 0x1p-64);
    const pe_vu subnormal = (pe_vu)(size < 0x1p-14);
    const pe_vu zero = (pe_vu)(size < 0x1.00001p-25);
    return (near & ~subnormal) | (tie & subnormal) | zero | low;
}

/* Cut to a float whose last bit is set when anything was cut off: it rounds further as v does. */
PE_INLINE pe_vd round_to_odd(pe_vd v)
{
    const uint64_t rest = PE_DROPPED;
    const pe_vu bits = (pe_vu)v;
    return (pe_vd)((bits | ((bits & rest) + rest)) & ~rest);
}

/* One vector of row r evaluated directly; marked where even that leaves it open. */
PE_INLINE void settle(pe_dtype dtype, bool interleaved, bool single, const narrow *job, size_t r,
                      size_t i)
{
    const pe_plan_of_rows *plan = job->plan;
    const size_t left = plan->run->n - i, count = left < PE_LANES ? left : PE_LANES;
    const pe_sincos v = evaluate(job, i, 2 * r);
    const pe_vd second = single ? v.s : v.c;
    const bool odd = dtype != PE_FLOAT32;
    pe_spot to = pe_spot_of(plan, r, i);
    char unused[PE_LANES * sizeof(float)];
    if (single)
        to.second = unused;
    pe_ok ok = PE_ALL_OK;
    (void)emit_some(dtype, interleaved, &job->limits, odd ? round_to_odd(v.s) : v.s,
                    odd ? round_to_odd(second) : second, count, plan->item, to, &ok);
    const pe_vu open = open_lanes(dtype, v.s, job->small) | open_lanes(dtype, second, job->small);
    pe_mark(plan, r, i, pe_lanes_set(open));
}

/* One vector of frequencies, turned by an offset either way. */
typedef struct turned {
    pe_vd first_plus, second_plus, first_minus, second_minus;
} turned;

PE_INLINE turned turn(const anchors *at, const double *cosines, const double *sines, size_t i)
{
    const pe_vd first = pe_load_d(at->first + i), second = pe_load_d(at->second + i);
    const pe_vd c = pe_load_d(cosines + i), s = pe_load_d(sines + i);
    const pe_vd p = first * c, q = second * c;
    return (turned){pe_fma(second, s, p), pe_fnma(first, s, q), pe_fnma(second, s, p),
                    pe_fma(first, s, q)};
}

/* Frequencies [i, end) of two rows, whole vectors. Lists where anything is open; returns how many.
 */
PE_INLINE size_t sweep(pe_dtype dtype, bool interleaved, bool single, const pe_limits *given,
                       const anchors *at, const double *cosines, const double *sines, size_t i,
                       size_t end, pe_spot plus, pe_spot minus, uint16_t *open)
{
    const pe_shape_of_row shape = interleaved ? PE_ROW_INTERLEAVED : PE_ROW_PLANES;
    const size_t bytes = (interleaved ? 2U : 1U) * PE_LANES * item_of(dtype);
    const pe_limits limits = {1U << WINDOW, given->small};
    size_t n_open = 0;
    for (; i < end; i += PE_LANES) {
        const turned v = turn(at, cosines, sines, i);
        pe_ok ok = PE_ALL_OK;
        pe_floats f, g;
        if (single) {
            f = g = pe_emit(dtype, PE_ROW_PLANES, &limits, v.first_plus, v.first_minus, plus.first,
                            minus.first, &ok);
        } else {
            f = pe_emit(dtype, shape, &limits, v.first_plus, v.second_plus, plus.first, plus.second,
                        &ok);
            g = pe_emit(dtype, shape, &limits, v.first_minus, v.second_minus, minus.first,
                        minus.second, &ok);
        }
        if (__builtin_expect(pe_doubt(&limits, ok, f, g), false))
            open[n_open++] = (uint16_t)i;
        plus = pe_spot_after(plus, bytes);
        minus = pe_spot_after(minus, bytes);
    }
    return n_open;
}

/* The same for the last vector of a tile, which has room for `count` lanes. */
PE_INLINE size_t sweep_rest(pe_dtype dtype, bool interleaved, bool single, const pe_limits *limits,
                            const anchors *at, const double *cosines, const double *sines, size_t i,
                            size_t count, pe_spot plus, pe_spot minus, uint16_t *open)
{
    char room[4][2 * PE_LANES * sizeof(float)];
    const size_t bytes = (interleaved ? 2 : 1) * count * item_of(dtype);
    const size_t n_open =
        sweep(dtype, interleaved, single, limits, at, cosines, sines, i, i + PE_LANES,
              (pe_spot){room[0], room[1]}, (pe_spot){room[2], room[3]}, open);
    memcpy(plus.first, room[0], bytes);
    memcpy(minus.first, room[2], bytes);
    if (!interleaved && !single) {
        memcpy(plus.second, room[1], bytes);
        memcpy(minus.second, room[3], bytes);
    }
    return n_open;
}

/* Whether a row's half of turned values is open by itself. */
PE_INLINE bool row_open(pe_dtype dtype, const pe_limits *limits, pe_vd first, pe_vd second)
{
    char room[2][PE_LANES * sizeof(float)];
    pe_ok ok = PE_ALL_OK;
    const pe_floats f = pe_emit(dtype, PE_ROW_PLANES, limits, first, second, room[0], room[1], &ok);
    return pe_doubt(limits, ok, f, f);
}

/* The rows `plus` and `minus` of a tile, then again what was left open. */
PE_INLINE void row_pair(pe_dtype dtype, bool interleaved, bool single, const narrow *job,
                        const anchors *at, const double *cosines, const double *sines, size_t tile,
                        size_t count, size_t plus, size_t minus)
{
    const pe_limits *limits = &job->limits;
    const size_t whole = count - count % PE_LANES;
    const size_t bytes = whole * (interleaved ? 2 : 1) * item_of(dtype);
    const pe_spot to_plus = pe_spot_of(job->plan, plus, tile);
    const pe_spot to_minus = pe_spot_of(job->plan, minus, tile);
    uint16_t open[PE_TILE / PE_LANES];
    size_t n_open = sweep(dtype, interleaved, single, limits, at, cosines, sines, 0, whole, to_plus,
                          to_minus, open);
    if (whole < count)
        n_open += sweep_rest(dtype, interleaved, single, limits, at, cosines, sines, whole,
                             count - whole, pe_spot_after(to_plus, bytes),
                             pe_spot_after(to_minus, bytes), open + n_open);
    for (size_t k = 0; k < n_open; k++) {
        const turned v = turn(at, cosines, sines, open[k]);
        if (row_open(dtype, limits, v.first_plus, single ? v.first_plus : v.second_plus))
            settle(dtype, interleaved, single, job, plus, tile + open[k]);
        if (row_open(dtype, limits, v.first_minus, single ? v.first_minus : v.second_minus))
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
static float small_of(pe_dtype dtype, double amplitude)
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
        .small = size * 0x1p-40,
        .limits = {1U << WINDOW, small_of(dtype, size)},
    };
    if (dtype == PE_FLOAT32)
        shapes(PE_FLOAT32, &job);
    else if (dtype == PE_FLOAT16)
        shapes(PE_FLOAT16, &job);
    else
        shapes(PE_BFLOAT16, &job);
}
