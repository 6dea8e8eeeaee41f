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
 *       (where products are fused, as the anchor's, which is 1.84 then)
 *     two products, of together at most 1 (Cauchy), and their sum                 2
 *
 * Distances count once: they are multiplied by vectors of length 1. That is less than 5.7, and with
 * an amplitude 7.7: less than 8, or 2^-50. A listed row is reached by a rotation more, which makes
 * less than 12, and its window is twice as wide; one that is evaluated by itself has less.
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
    pe_rounding_margin margin; /* of what is rotated; of a listed row */
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

/* `near`: of a listed row, and with a rotation's margin. */
PE_INLINE pe_sincos evaluate(const narrow *job, size_t i, const pe_when *when, bool near)
{
    const pe_run *run = job->plan->run;
    const pe_turn at =
        near ? (pe_turn){pe_turn_near(run, i, when), pe_all_u(0)} : pe_turn_at(run, i, when);
    const pe_sincos v = pe_turn_sincos(at);
    const pe_vd first = job->plan->cosine_first ? v.c : v.s;
    const pe_vd second = job->plan->cosine_first ? v.s : v.c;
    return (pe_sincos){first * job->amplitude, second * job->amplitude};
}

/* pe_emit of as many lanes as there is room for. */
PE_INLINE pe_seen emit_some(pe_row_kind kind, const pe_rounding_margin *margin, pe_sincos v,
                            size_t count, pe_spot to)
{
    char room[2][2 * PE_LANES * sizeof(float)];
    if (kind.single)
        to.second = room[1];
    if (count >= PE_LANES)
        return pe_emit(kind, margin, v.s, v.c, to);
    const pe_seen seen = pe_emit(kind, margin, v.s, v.c, (pe_spot){room[0], room[1]});
    memcpy(to.first, room[0], bytes_of(kind, count));
    if (kind.shape == PE_ROW_PLANES && !kind.single)
        memcpy(to.second, room[1], bytes_of(kind, count));
    return seen;
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

/* One vector of row r evaluated directly, after a rotation or once more; marked where even that
 * leaves it open. */
PE_INLINE void settle(pe_row_kind kind, const narrow *job, size_t r, size_t i, bool rotated)
{
    const pe_plan_of_rows *plan = job->plan;
    const size_t left = plan->run->n - i, count = left < PE_LANES ? left : PE_LANES;
    const pe_when when = pe_when_of(plan->run, 2 * r);
    const pe_sincos v = evaluate(job, i, &when, false);
    *plan->direct += rotated ? count : 0;
    const pe_vd first = v.s, second = kind.single ? v.s : v.c;
    const bool odd = kind.dtype != PE_FLOAT32;
    const pe_sincos w = {odd ? round_to_odd(first) : first, odd ? round_to_odd(second) : second};
    (void)emit_some(kind, &job->margin, w, count, pe_spot_of(plan, r, i));
    const pe_vu open =
        open_lanes(kind.dtype, first, job->small) | open_lanes(kind.dtype, second, job->small);
    pe_mark(plan, r, i, pe_lanes_set(open));
}

/* One vector of frequencies, turned by an offset either way: both sequences of the row above and of
 * the row below. Of the first alone: both rows, and those of the next offset. */
typedef struct turned {
    pe_vd one[2], other[2];
} turned;

/* Anchors of a tile, offsets number k and next (k again, if it is the last), their tables, and where
 * it is noted what stays open. */
typedef struct rotation {
    const narrow *job;
    const anchors *at;
    size_t k, next, padded;
    const double *offset, *offset_next;
    pe_open_list *open;
} rotation;

PE_INLINE rotation rotation_of(const narrow *job, const anchors *at, size_t first, pe_group rows,
                               size_t k, pe_open_list *open)
{
    const pe_run *run = job->plan->run;
    const size_t padded = pe_kernels_padded(run->n), next = pe_offset_after(rows, k);
    const double *offsets = run->offsets + first;
    return (rotation){
        job, at, k, next, padded, offsets + 2 * k * padded, offsets + 2 * next * padded, open};
}

PE_INLINE turned turn(pe_row_kind kind, const rotation *by, size_t i)
{
    const pe_vd first = pe_load_d(by->at->first + i), second = pe_load_d(by->at->second + i);
    const pe_vd c = pe_load_d(by->offset + i), s = pe_load_d(by->offset + by->padded + i);
    const pe_vd p = first * c;
    if (kind.single) {
        const pe_vd d = pe_load_d(by->offset_next + i),
                    t = pe_load_d(by->offset_next + by->padded + i);
        const pe_vd q = first * d;
        return (turned){{pe_fma(second, s, p), pe_fnma(second, s, p)},
                        {pe_fma(second, t, q), pe_fnma(second, t, q)}};
    }
    const pe_vd q = second * c;
    return (turned){{pe_fma(second, s, p), pe_fnma(first, s, q)},
                    {pe_fnma(second, s, p), pe_fma(first, s, q)}};
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
        const turned v = turn(kind, by, i);
        const pe_seen f = pe_emit(kind, &margin, v.one[0], v.one[1], to.one);
        const pe_seen g = pe_emit(kind, &margin, v.other[0], v.other[1], to.other);
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
    memcpy(to.one.first, room[0], bytes);
    memcpy(to.other.first, room[2], bytes);
    if (kind.shape == PE_ROW_PLANES) {
        memcpy(to.one.second, room[1], bytes);
        memcpy(to.other.second, room[3], bytes);
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
    const pe_when when = pe_when_of(job->plan->run, half_step);
    for (size_t i = 0; i < tile.count; i += PE_LANES) {
        const pe_sincos v = evaluate(job, tile.first + i, &when, false);
        pe_store_d(at->first + i, v.s);
        pe_store_d(at->second + i, v.c);
    }
}

/* One vector of a row by itself. */
PE_INLINE void put_one(pe_row_kind kind, const narrow *job, pe_tile tile, pe_sincos v, size_t i,
                       pe_spot row, spot_list *list)
{
    const pe_rounding_margin margin = {2U << WINDOW, job->margin.small};
    const pe_spot to = pe_spot_after(row, (ptrdiff_t)bytes_of(kind, i));
    const pe_sincos w = {v.s, kind.single ? v.s : v.c};
    const pe_seen f = emit_some(kind, &margin, w, tile.count - i, to);
    if (__builtin_expect(pe_doubt(kind.dtype, &margin, f, f), false))
        list_spot(list, 0, i, true);
}

/* A row evaluated directly. */
PE_INLINE void direct(pe_row_kind kind, const narrow *job, pe_tile tile, size_t r, spot_list *list)
{
    const pe_run *run = job->plan->run;
    const pe_when when = pe_when_of(run, 2 * r);
    const pe_spot to = pe_spot_of(job->plan, r, tile.first);
    *job->plan->direct += tile.count;
    for (size_t i = 0; i < tile.count; i += PE_LANES) {
        const pe_sincos v = evaluate(job, tile.first + i, &when, run->list != NULL);
        put_one(kind, job, tile, v, i, to, list);
    }
}

/* A listed row: an anchor turned twice. */
PE_INLINE void listed(pe_row_kind kind, const narrow *job, pe_tile tile, size_t r,
                      const pe_reached *by, spot_list *list)
{
    const size_t padded = pe_kernels_padded(job->plan->run->n);
    const pe_spot to = pe_spot_of(job->plan, r, tile.first);
    const bool cosine_first = job->plan->cosine_first;
    const double *first = by->anchor + (cosine_first ? 0 : padded) + tile.first;
    const double *second = by->anchor + (cosine_first ? padded : 0) + tile.first;
    const double *far = by->far + tile.first, *near = by->near + tile.first;
    for (size_t i = 0; i < tile.count; i += PE_LANES) {
        const pe_vd f = pe_load_d(first + i), g = pe_load_d(second + i);
        const pe_vd far_c = pe_load_d(far + i), c = pe_load_d(near + i);
        const pe_vd far_s = pe_signed(pe_load_d(far + padded + i), by->far_sign);
        const pe_vd s = pe_signed(pe_load_d(near + padded + i), by->near_sign);
        const pe_vd x = pe_fma(g, far_s, f * far_c) * job->amplitude;
        const pe_vd y = pe_fnma(f, far_s, g * far_c) * job->amplitude;
        const pe_sincos v = {pe_fma(y, s, x * c), pe_fnma(x, s, y * c)};
        put_one(kind, job, tile, v, i, to, list);
    }
}

/* Whole vectors of a tile of the rows that an offset makes, then the rest. */
PE_INLINE void rows_at(pe_row_kind kind, const rotation *by, size_t count, pe_spots to)
{
    const size_t whole = count - count % PE_LANES;
    const ptrdiff_t done = (ptrdiff_t)bytes_of(kind, whole);
    sweep(kind, by, 0, whole, to);
    if (whole < count)
        sweep_rest(kind, by, whole, count - whole, pe_spots_after(to, done));
}

/* Of what vectors leave open, the single rows; `rows` count from 0. */
PE_INLINE void list_open(pe_row_kind kind, const rotation *by, pe_group rows, size_t i,
                         spot_list *list)
{
    const pe_plan_of_rows *plan = by->job->plan;
    const turned v = turn(kind, by, i);
    for (int k = 0; k < (kind.single && by->next == by->k ? 1 : 2); k++) {
        const pe_vd *x = k == 0 ? v.one : v.other;
        const size_t offset = kind.single && k == 1 ? by->next : by->k;
        const size_t above = pe_row_of(plan, rows, offset, true);
        const size_t below = pe_row_of(plan, rows, offset, false);
        if (!kind.single) {
            list_spot(list, k == 0 ? above : below, i, is_open(kind, by->job, x[0], x[1]));
        } else {
            list_spot(list, above, i, is_open(kind, by->job, x[0], x[0]));
            list_spot(list, below, i, is_open(kind, by->job, x[1], x[1]));
        }
    }
}

/* A tile of rows around one anchor; single rows' vectors that are open go to list. */
PE_INLINE void group(pe_row_kind kind, const narrow *job, pe_tile tile, pe_group rows,
                     spot_list *list)
{
    anchors at;
    pe_open_list open;
    open.n = 0;
    find_anchors(job, tile, 2 * (rows.first + rows.reach) - 1, &at);
    for (size_t k = 0; k < rows.reach; k += kind.single ? 2 : 1) {
        const rotation by = rotation_of(job, &at, tile.first, rows, k, &open);
        rows_at(kind, &by, tile.count, pe_spots_of(kind.single, job->plan, rows, k, tile.first));
    }
    for (size_t n = 0; n < open.n; n++) {
        const size_t i = open.at[n] & 0xffff, k = open.at[n] >> 16;
        const rotation by = rotation_of(job, &at, tile.first, rows, k, &open);
        list_open(kind, &by, (pe_group){0, rows.reach}, i, list);
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
            pe_reached by;
            const bool reached = pe_reach_listed(job->plan, r, 2, &by);
            if (reach != 0)
                group(kind, job, tile, (pe_group){r, reach}, &list);
            else if (reached)
                listed(kind, job, tile, r, &by, &list);
            else
                direct(kind, job, tile, r, &list);
            for (size_t k = 0; k < list.n; k++)
                settle(kind, job, r + list.at[k].row, first + list.at[k].i, reach != 0 || reached);
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
