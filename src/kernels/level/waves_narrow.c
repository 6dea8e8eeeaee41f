/* SPDX-License-Identifier: MIT */
/* waves_narrow.c - rows of sines and cosines in float32, float16 and bfloat16. */
#include "kernels/level/waves.h"

/*
 * Anchors are evaluated between two rows, the rows around them are rotations of them by half
 * steps, one complex product each, in double. That is off, in units of 2^-53 * amplitude, by at
 * most
 *
 *     anchor, as a distance (turn.h)                                              2.4
 *     amplitude other than 1: what its double leaves out, 1; its products, 1      2
 *     offset, as a distance: 1/2 and 1/2 at a right angle                         0.72
 *     two products, of together at most 1 (Cauchy), and their sum                 2
 *
 * Distances count once: they are multiplied by vectors of length 1. That is less than 5.2, and with
 * an amplitude 7.2: less than 8, or 2^-50.
 *
 * A value of at least 2^-13 has double places of at least 2^-65, so 2^15 of them make 2^-50. One of
 * at least 2^-12 * amplitude has places above 2^-65 * amplitude (they are above 2^-53 of the
 * value), so 2^15 of them cover the error as well. A float16 or bfloat16 lies on one side of a
 * midpoint, which is a float, if half a place of float covers the error: 2^28 places of double,
 * 2^-49 * amplitude for values of at least 2^-24 * amplitude.
 *
 * What that leaves open (2 in 10000) is evaluated directly, with an error of 3.6 * 2^-53 of the
 * value itself (turn.h), or 5.6 * 2^-53 with an amplitude. That is less than 8 places; a window of
 * 2^5 places is left open, and what falls in it is marked.
 */
typedef struct narrow {
    const pe_plan_of_rows *plan;
    pe_rounding_margin margin; /* of what is rotated */
    double amplitude, small;
} narrow;

/* Anchors of a tile. */
typedef struct anchors {
    _Alignas(64) double first[PE_TILE], second[PE_TILE];
} anchors;

/* Vectors that rotation leaves open, or that nobody rotated: row from the group's first, and
 * frequency from the tile's first. */
typedef struct spot_list {
    size_t n;
    struct {
        uint16_t row, i;
    } at[2 * PE_REACH * (PE_TILE / PE_LANES) + 1];
} spot_list;

/* Last places that a rotation's error covers, as a power of two. */
#define WINDOW 15

/* Bytes of a vector in memory, of the first sequence or of both. */
PE_INLINE size_t bytes_of(pe_row_kind kind, size_t count)
{
    const size_t item = kind.dtype == PE_FLOAT32 ? sizeof(float) : sizeof(uint16_t);
    return (kind.shape == PE_ROW_INTERLEAVED ? 2 : 1) * count * item;
}

PE_INLINE pe_sincos evaluate(const narrow *job, size_t i, uint64_t half_step)
{
    const pe_sincos v = pe_turn_sincos(pe_turn_at(job->plan->run, i, half_step));
    const pe_vd first = job->plan->cosine_first ? v.c : v.s;
    const pe_vd second = job->plan->cosine_first ? v.s : v.c;
    return (pe_sincos){first * job->amplitude, second * job->amplitude};
}

/*
 * Lanes of v whose rounding is open, as ones; v is off by less than 2^-50 of itself, which is 8
 * places, and 32 are left open. Where float16 is subnormal, its places are 2^-24 apart wherever v's
 * lie. What rounds to zero is open too: the sign of that zero is not wanted.
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
PE_INLINE void settle(pe_row_kind kind, const narrow *job, size_t r, size_t i)
{
    const pe_plan_of_rows *plan = job->plan;
    const size_t left = plan->run->n - i, count = left < PE_LANES ? left : PE_LANES;
    const pe_sincos v = evaluate(job, i, 2 * r);
    *plan->direct += count;
    const pe_vd first = v.s, second = kind.single ? v.s : v.c;
    const bool odd = kind.dtype != PE_FLOAT32;
    const pe_spot to = pe_spot_of(plan, r, i);
    char room[2][2 * PE_LANES * sizeof(float)];
    (void)pe_emit(kind, &job->margin, odd ? round_to_odd(first) : first,
                  odd ? round_to_odd(second) : second, (pe_spot){room[0], room[1]});
    memcpy(to.first, room[0], bytes_of(kind, count));
    if (kind.shape == PE_ROW_PLANES && !kind.single)
        memcpy(to.second, room[1], bytes_of(kind, count));
    const pe_vu open =
        open_lanes(kind.dtype, first, job->small) | open_lanes(kind.dtype, second, job->small);
    pe_mark(plan, r, i, pe_lanes_set(open));
}

/* One vector of frequencies, turned by an offset either way. */
typedef struct turned {
    pe_vd first_plus, second_plus, first_minus, second_minus;
} turned;

/* Vectors of pairs of rows that are open: the offset's number in the upper half, the frequency from
 * the tile's first in the lower. */
typedef struct open_list {
    size_t n;
    uint32_t at[PE_REACH * (PE_TILE / PE_LANES)];
} open_list;

/* Anchors of a tile, what turns them, offset number k, and where it is noted what stays open. */
typedef struct rotation {
    const narrow *job;
    const anchors *at;
    const double *cosines, *sines;
    size_t k;
    open_list *open;
} rotation;

PE_INLINE rotation rotation_of(const narrow *job, const anchors *at, size_t first, size_t k,
                               open_list *open)
{
    const size_t padded = pe_kernels_padded(job->plan->run->n);
    const double *cosines = job->plan->run->offsets + 2 * k * padded + first;
    return (rotation){job, at, cosines, cosines + padded, k, open};
}

PE_INLINE turned turn(const rotation *by, size_t i)
{
    const pe_vd first = pe_load_d(by->at->first + i), second = pe_load_d(by->at->second + i);
    const pe_vd c = pe_load_d(by->cosines + i), s = pe_load_d(by->sines + i);
    const pe_vd p = first * c, q = second * c;
    return (turned){pe_fma(second, s, p), pe_fnma(first, s, q), pe_fnma(second, s, p),
                    pe_fma(first, s, q)};
}

/*
 * Frequencies [i, end) of two rows, in whole vectors. Notes what is open. (Without the branch the
 * list's address would hang on every proof: slower by a sixth. A call in this loop would cost it
 * its registers.)
 */
PE_INLINE void sweep(pe_row_kind kind, const rotation *by, size_t i, size_t end, pe_spots to)
{
    const ptrdiff_t bytes = (ptrdiff_t)bytes_of(kind, PE_LANES);
    const pe_rounding_margin margin = {1U << WINDOW, by->job->margin.small};
    size_t n = by->open->n;
    for (; i < end; i += PE_LANES) {
        const turned v = turn(by, i);
        pe_seen f, g;
        if (kind.single) {
            const pe_spot both = {to.plus.first, to.minus.first};
            f = g = pe_emit(kind, &margin, v.first_plus, v.first_minus, both);
        } else {
            f = pe_emit(kind, &margin, v.first_plus, v.second_plus, to.plus);
            g = pe_emit(kind, &margin, v.first_minus, v.second_minus, to.minus);
        }
        if (__builtin_expect(pe_doubt(kind.dtype, &margin, f, g), false))
            by->open->at[n++] = (uint32_t)(by->k << 16 | i);
        to = pe_spots_after(to, bytes);
    }
    by->open->n = n;
}

/* The same for the last vector of a tile, which has room for `count` lanes only. */
PE_INLINE void sweep_rest(pe_row_kind kind, const rotation *by, size_t i, size_t count, pe_spots to)
{
    char room[4][2 * PE_LANES * sizeof(float)];
    const size_t bytes = bytes_of(kind, count);
    sweep(kind, by, i, i + PE_LANES, (pe_spots){{room[0], room[1]}, {room[2], room[3]}});
    memcpy(to.plus.first, room[0], bytes);
    memcpy(to.minus.first, room[2], bytes);
    if (kind.shape == PE_ROW_PLANES && !kind.single) {
        memcpy(to.plus.second, room[1], bytes);
        memcpy(to.minus.second, room[3], bytes);
    }
}

/* Whether one row's half of turned values is open by itself. */
PE_INLINE bool is_open(pe_row_kind kind, const narrow *job, pe_vd first, pe_vd second)
{
    char room[2][PE_LANES * sizeof(float)];
    const pe_row_kind planes = {kind.dtype, PE_ROW_PLANES, false};
    const pe_seen f = pe_emit(planes, &job->margin, first, second, (pe_spot){room[0], room[1]});
    return pe_doubt(kind.dtype, &job->margin, f, f);
}

PE_INLINE void list_spot(spot_list *list, size_t row, size_t i, bool really)
{
    list->at[list->n].row = (uint16_t)row;
    list->at[list->n].i = (uint16_t)i;
    list->n += really;
}

PE_INLINE void find_anchors(const narrow *job, pe_tile tile, uint64_t half_step, anchors *at)
{
    for (size_t i = 0; i < tile.count; i += PE_LANES) {
        const pe_sincos v = evaluate(job, tile.first + i, half_step);
        pe_store_d(at->first + i, v.s);
        pe_store_d(at->second + i, v.c);
    }
}

/* Whole vectors of a tile of two rows, then the rest. */
PE_INLINE void row_pair(pe_row_kind kind, const rotation *by, size_t count, pe_spots to)
{
    const size_t whole = count - count % PE_LANES;
    const ptrdiff_t done = (ptrdiff_t)bytes_of(kind, whole);
    sweep(kind, by, 0, whole, to);
    if (whole < count)
        sweep_rest(kind, by, whole, count - whole, pe_spots_after(to, done));
}

/* A tile of rows around one anchor; single rows' vectors that are open go to list. With the cosine
 * first, offsets count backwards. */
PE_INLINE void group(pe_row_kind kind, const narrow *job, pe_tile tile, pe_group rows,
                     spot_list *list)
{
    const size_t reach = rows.reach, middle = rows.first + reach;
    const bool back = job->plan->cosine_first;
    const ptrdiff_t row = (ptrdiff_t)job->plan->row, up = back ? -row : row;
    pe_spots to = {pe_spot_of(job->plan, middle - back, tile.first),
                   pe_spot_of(job->plan, middle - !back, tile.first)};
    anchors at;
    open_list open;
    open.n = 0;
    find_anchors(job, tile, 2 * middle - 1, &at);
    for (size_t k = 0; k < reach; k++) {
        const rotation by = rotation_of(job, &at, tile.first, k, &open);
        row_pair(kind, &by, tile.count, to);
        to = (pe_spots){pe_spot_after(to.plus, up), pe_spot_after(to.minus, -up)};
    }
    for (size_t n = 0; n < open.n; n++) {
        const size_t i = open.at[n] & 0xffff, k = open.at[n] >> 16;
        const size_t above = reach + k, below = reach - 1 - k;
        const rotation by = rotation_of(job, &at, tile.first, k, &open);
        const turned v = turn(&by, i);
        const pe_vd second_plus = kind.single ? v.first_plus : v.second_plus;
        const pe_vd second_minus = kind.single ? v.first_minus : v.second_minus;
        list_spot(list, back ? below : above, i, is_open(kind, job, v.first_plus, second_plus));
        list_spot(list, back ? above : below, i, is_open(kind, job, v.first_minus, second_minus));
    }
}

PE_INLINE void rows_of(pe_row_kind kind, const narrow *job)
{
    const pe_run *run = job->plan->run;
    spot_list list;
    for (size_t first = 0; first < run->n; first += PE_TILE) {
        const pe_tile tile = pe_tile_at(run, first);
        for (size_t r = 0, rows; r < run->rows; r += rows) {
            const size_t reach = pe_reach(run, r);
            list.n = 0;
            rows = reach != 0 ? 2 * reach : 1;
            if (reach != 0)
                group(kind, job, tile, (pe_group){r, reach}, &list);
            for (size_t i = 0; reach == 0 && i < tile.count; i += PE_LANES)
                list_spot(&list, 0, i, true);
            for (size_t k = 0; k < list.n; k++)
                settle(kind, job, r + list.at[k].row, first + list.at[k].i);
        }
    }
}

PE_INLINE void shapes(pe_dtype dtype, const narrow *job)
{
    if (job->plan->single)
        rows_of((pe_row_kind){dtype, PE_ROW_PLANES, true}, job);
    else if (job->plan->interleaved)
        rows_of((pe_row_kind){dtype, PE_ROW_INTERLEAVED, false}, job);
    else
        rows_of((pe_row_kind){dtype, PE_ROW_PLANES, false}, job);
}

/* Below these the error could reach a midpoint of float (see above). float16 has fewer bits below
 * 2^-14; the direct way knows, and marks what would round to zero. */
static float small_of(pe_dtype dtype, double amplitude)
{
    const double covered = amplitude == 1 ? 0x1.00001p-13 : 0x1.00001p-12;
    const double small = amplitude * (dtype == PE_FLOAT32 ? covered : 0x1.00001p-24);
    return (float)(dtype == PE_FLOAT16 && small < 0x1p-14 ? 0x1p-14 : small);
}

void PE_LEVEL_NAME(pe_waves_narrow)(const pe_plan_of_rows *plan, pe_dtype dtype)
{
    const double amplitude = plan->run->amplitude_hi, size = pe_abs(amplitude);
    const narrow job = {
        .plan = plan,
        .amplitude = amplitude,
        .small = size * 0x1p-40,
        .margin = {1U << WINDOW, small_of(dtype, size)},
    };
    if (dtype == PE_FLOAT32)
        shapes(PE_FLOAT32, &job);
    else if (dtype == PE_FLOAT16)
        shapes(PE_FLOAT16, &job);
    else
        shapes(PE_BFLOAT16, &job);
}
