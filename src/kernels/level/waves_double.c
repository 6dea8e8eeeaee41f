/* SPDX-License-Identifier: MIT */
/* waves_double.c - rows of sines and cosines in float64. */
#include "kernels/level/waves.h"

/*
 * Anchors and offsets are heads and tails (turn.h). Heads of a row are exact. Its tail is off, in
 * units of 2^-80 of the amplitude's binade and with products not fused, by at most
 *
 *     anchor, as a distance                                                      27.8
 *     amplitude: its tail                                                         1
 *       product with sine and cosine, as a distance (tails below 1.53 * 2^-25):
 *       sqrt(2) times 1/2 for the sum of x, 4 for the product of its tail, 1/2
 *       for the other, 4 and 4 for sums                                          18.4
 *     offset, as a distance                                                      27.8
 *     rotation: 4 for each of four products of a tail below 2^-24; 4 for the
 *       first sum with the error; 2.1 for each of the anchor's sums; 8 for each
 *       of the sums p_tail, q_tail, p_tail +- q_tail (below 2^-23, as a vector's
 *       product with one of length 1) and for taking the error off again         56.2
 *                                                                               131.2
 *
 * Distances count once: they are multiplied by vectors of length 1. A row without rotation has less
 * to add. A double is proven when adding and subtracting the error gives the same.
 *
 * A listed row is reached by a rotation more: 27.8 and 56.2 on top, and 4 for the tail of what is
 * split again. That is less than 220.
 */
#define ERROR        0x1.2p-73 /* 144 units */
#define ERROR_LISTED 0x1.cp-73 /* 224 units */

typedef struct wide {
    const pe_plan_of_rows *plan;
    double error;      /* ERROR, or that of a list, * scale */
    double head, tail; /* the amplitude is (head + tail) * scale, 1/2 <= head + tail <= 1 */
    double scale;      /* a power of two */
} wide;

/* Anchors of a tile: heads, tails and their sums. */
typedef struct anchors {
    _Alignas(64) double head[2][PE_TILE], tail[2][PE_TILE], sum[2][PE_TILE];
} anchors;

PE_INLINE pe_split amplified(const wide *job, pe_split x)
{
    if (job->head != 1 || job->tail != 0)
        x = pe_split_mul(x, (pe_split){pe_all(job->head), pe_all(job->tail)});
    return (pe_split){x.head * job->scale, x.tail * job->scale};
}

PE_INLINE void evaluate(const wide *job, size_t i, const pe_when *when, pe_split *first,
                        pe_split *second)
{
    pe_split s, c;
    pe_turn_sincos_split(pe_turn_at(job->plan->run, i, when), &s, &c);
    *first = amplified(job, job->plan->cosine_first ? c : s);
    *second = amplified(job, job->plan->cosine_first ? s : c);
}

/* head + tail rounded, where tail has been raised by the error already. */
PE_INLINE pe_vd proven(const wide *job, pe_vd head, pe_vd tail, pe_ok_double *ok)
{
    const pe_vd value = head + tail;
    *ok = pe_same(value, head + (tail - 2 * job->error), *ok);
    return value;
}

PE_INLINE void emit_some(pe_row_kind kind, pe_vd a, pe_vd b, size_t count, pe_spot to)
{
    const bool interleaved = kind.shape == PE_ROW_INTERLEAVED;
    if (count >= PE_LANES) {
        pe_emit_double(kind.shape, a, b, to);
        return;
    }
    double first[2 * PE_LANES], second[PE_LANES];
    pe_emit_double(kind.shape, a, b, (pe_spot){first, second});
    memcpy(to.first, first, (interleaved ? 2 : 1) * count * sizeof(double));
    if (!interleaved)
        memcpy(to.second, second, count * sizeof(double));
}

/* One vector of row r by itself. */
PE_INLINE void put_one(pe_row_kind kind, const wide *job, size_t r, size_t i, pe_split first,
                       pe_split second)
{
    const pe_plan_of_rows *plan = job->plan;
    const size_t left = plan->run->n - i, count = left < PE_LANES ? left : PE_LANES;
    pe_spot to = pe_spot_of(plan, r, i);
    double unused[PE_LANES];
    if (kind.single) {
        second = first;
        to.second = unused;
    }
    pe_ok_double ok = PE_ALL_OK_DOUBLE;
    const pe_vd a = proven(job, first.head, first.tail + job->error, &ok);
    const pe_vd b = proven(job, second.head, second.tail + job->error, &ok);
    emit_some(kind, a, b, count, to);
    if (__builtin_expect(pe_open_lanes(ok) != 0, false))
        pe_mark(plan, r, i, pe_open_lanes(ok));
}

PE_INLINE void direct(pe_row_kind kind, const wide *job, pe_tile tile, size_t r)
{
    const pe_when when = pe_when_of(job->plan->run, 2 * r);
    *job->plan->direct += tile.count;
    for (size_t i = tile.first; i < tile.first + tile.count; i += PE_LANES) {
        pe_split first, second;
        evaluate(job, i, &when, &first, &second);
        put_one(kind, job, r, i, first, second);
    }
}

PE_INLINE pe_split load_split(const double *from, size_t padded, uint64_t sign)
{
    return (pe_split){pe_signed(pe_load_d(from), sign), pe_signed(pe_load_d(from + padded), sign)};
}

/* x c + y s */
PE_INLINE pe_split turn_split(pe_split x, pe_split y, pe_split c, pe_split s)
{
    const pe_vd x_tail = pe_fma(x.head + x.tail, c.tail, x.tail * c.head);
    const pe_vd y_tail = pe_fma(y.head + y.tail, s.tail, y.tail * s.head);
    return (pe_split){pe_fma(y.head, s.head, x.head * c.head), x_tail + y_tail};
}

/* A listed row: an anchor turned twice. */
PE_INLINE void listed(pe_row_kind kind, const wide *job, pe_tile tile, size_t r,
                      const pe_reached *by)
{
    const size_t padded = pe_kernels_padded(job->plan->run->n), sine = 2 * padded;
    const bool cosine_first = job->plan->cosine_first;
    const double *first = by->anchor + (cosine_first ? 0 : sine);
    const double *second = by->anchor + (cosine_first ? sine : 0);
    for (size_t i = tile.first; i < tile.first + tile.count; i += PE_LANES) {
        const pe_split f = load_split(first + i, padded, 0), g = load_split(second + i, padded, 0);
        const pe_split far_c = load_split(by->far + i, padded, 0);
        const pe_split far_s = load_split(by->far + sine + i, padded, by->far_sign);
        const pe_split c = load_split(by->near + i, padded, 0);
        const pe_split s = load_split(by->near + sine + i, padded, by->near_sign);
        const pe_split x = turn_split(f, g, far_c, far_s);
        const pe_split y = turn_split(g, f, far_c, (pe_split){-far_s.head, -far_s.tail});
        const pe_split a = amplified(job, pe_split_again(x));
        const pe_split b = amplified(job, pe_split_again(y));
        put_one(kind, job, r, i, turn_split(a, b, c, s),
                turn_split(b, a, c, (pe_split){-s.head, -s.tail}));
    }
}

/* Anchors of a tile, and what turns them: planes of heads and tails of cosines and sines. */
typedef struct rotation {
    const wide *job;
    const anchors *at;
    const double *cos_head, *cos_tail, *sin_head, *sin_tail;
} rotation;

PE_INLINE rotation rotation_of(const wide *job, const anchors *at, size_t first, size_t k)
{
    const size_t padded = pe_kernels_padded(job->plan->run->n);
    const double *from = job->plan->run->offsets + 4 * k * padded + first;
    return (rotation){job, at, from, from + padded, from + 2 * padded, from + 3 * padded};
}

/* Heads and tails, raised by the error, of x*c + y*s and x*c - y*s. */
typedef struct turned {
    pe_split plus, minus;
} turned;

PE_INLINE turned turn(const rotation *by, int x, int y, size_t i)
{
    const anchors *at = by->at;
    const pe_vd x_head = pe_load_d(at->head[x] + i), y_head = pe_load_d(at->head[y] + i);
    const pe_vd c = pe_load_d(by->cos_head + i), s = pe_load_d(by->sin_head + i);
    const pe_vd p = x_head * c;
    const pe_vd p_tail = pe_fma(pe_load_d(at->sum[x] + i), pe_load_d(by->cos_tail + i),
                                pe_fma(pe_load_d(at->tail[x] + i), c, pe_all(by->job->error)));
    const pe_vd q_tail = pe_fma(pe_load_d(at->sum[y] + i), pe_load_d(by->sin_tail + i),
                                pe_load_d(at->tail[y] + i) * s);
    return (turned){{pe_fma(y_head, s, p), p_tail + q_tail},
                    {pe_fnma(y_head, s, p), p_tail - q_tail}};
}

/* What one vector of two rows leaves open. */
typedef struct proofs {
    pe_ok_double plus, minus;
} proofs;

/* Rows above and below the anchors, for one vector of frequencies; of one sequence alone, those of
 * the next offset, too. */
PE_INLINE proofs rotate(pe_row_kind kind, const rotation *by, const rotation *next, size_t i,
                        size_t count, pe_spots to)
{
    const wide *job = by->job;
    proofs ok = {PE_ALL_OK_DOUBLE, PE_ALL_OK_DOUBLE};
    const turned first = turn(by, 0, 1, i);
    const pe_vd up = proven(job, first.plus.head, first.plus.tail, &ok.plus);
    const pe_vd down = proven(job, first.minus.head, first.minus.tail, &ok.minus);
    if (kind.single) {
        const turned second = turn(next, 0, 1, i);
        const pe_vd up2 = proven(job, second.plus.head, second.plus.tail, &ok.plus);
        const pe_vd down2 = proven(job, second.minus.head, second.minus.tail, &ok.minus);
        emit_some(kind, up, down, count, to.one);
        emit_some(kind, up2, down2, count, to.other);
        return ok;
    }
    const turned second = turn(by, 1, 0, i);
    const pe_vd up2 = proven(job, second.minus.head, second.minus.tail, &ok.plus);
    const pe_vd down2 = proven(job, second.plus.head, second.plus.tail, &ok.minus);
    emit_some(kind, up, up2, count, to.one);
    emit_some(kind, down, down2, count, to.other);
    return ok;
}

/* Marks in the loop cost it its registers, but for two marks where there are 32. */
PE_INLINE void rows_at(pe_row_kind kind, const rotation *by, const rotation *next, pe_tile tile,
                       pe_group rows, size_t k, pe_open_list *open)
{
    const pe_plan_of_rows *plan = by->job->plan;
    const size_t each = (kind.shape == PE_ROW_INTERLEAVED ? 2 : 1) * sizeof(double);
    const pe_spots to = pe_spots_of(kind.single, plan, rows, k, tile.first);
    for (size_t i = 0; i < tile.count; i += PE_LANES) {
        const size_t some = tile.count - i < PE_LANES ? tile.count - i : PE_LANES;
        const proofs ok =
            rotate(kind, by, next, i, some, pe_spots_after(to, (ptrdiff_t)(i * each)));
        const unsigned plus = pe_open_lanes(ok.plus), minus = pe_open_lanes(ok.minus);
        if (__builtin_expect((plus | minus) != 0, false)) {
            if (kind.single || PE_LANES < 8) {
                open->at[open->n++] = (uint32_t)(k << 24 | i << 16) | plus << 8 | minus;
            } else {
                pe_mark(plan, pe_row_of(plan, rows, k, true), tile.first + i, plus);
                pe_mark(plan, pe_row_of(plan, rows, k, false), tile.first + i, minus);
            }
        }
    }
}

PE_INLINE void find_anchors(const wide *job, pe_tile tile, uint64_t half_step, anchors *at)
{
    const pe_when when = pe_when_of(job->plan->run, half_step);
    for (size_t i = 0; i < tile.count; i += PE_LANES) {
        pe_split v[2];
        evaluate(job, tile.first + i, &when, &v[0], &v[1]);
        for (int k = 0; k < 2; k++) {
            pe_store_d(at->head[k] + i, v[k].head);
            pe_store_d(at->tail[k] + i, v[k].tail);
            pe_store_d(at->sum[k] + i, v[k].head + v[k].tail);
        }
    }
}

/* A tile of rows around one anchor. */
PE_INLINE void group(pe_row_kind kind, const wide *job, pe_tile tile, pe_group rows)
{
    anchors at;
    pe_open_list open;
    open.n = 0;
    find_anchors(job, tile, 2 * (rows.first + rows.reach) - 1, &at);
    for (size_t k = 0; k < rows.reach; k += kind.single ? 2 : 1) {
        const size_t next = kind.single ? pe_offset_after(rows, k) : k;
        const rotation by = rotation_of(job, &at, tile.first, k);
        const rotation by_next = rotation_of(job, &at, tile.first, next);
        rows_at(kind, &by, &by_next, tile, rows, k, &open);
    }
    for (size_t n = 0; n < open.n; n++) {
        const size_t k = open.at[n] >> 24, i = tile.first + (open.at[n] >> 16 & 0xff);
        const size_t last = kind.single ? pe_offset_after(rows, k) : k;
        for (size_t next = k; next <= last; next++) {
            pe_mark(job->plan, pe_row_of(job->plan, rows, next, true), i, open.at[n] >> 8 & 0xff);
            pe_mark(job->plan, pe_row_of(job->plan, rows, next, false), i, open.at[n] & 0xff);
        }
    }
}

PE_INLINE void rows_of(pe_row_kind kind, const wide *job)
{
    const pe_run *run = job->plan->run;
    for (size_t first = 0; first < run->n; first += PE_TILE) {
        const pe_tile tile = pe_tile_at(run, first);
        size_t r = 0, reach;
        while ((reach = pe_reach(run, r)) != 0) {
            group(kind, job, tile, (pe_group){r, reach});
            r += 2 * reach;
        }
        for (; r < run->rows; r++) {
            pe_reached by;
            if (pe_reach_listed(job->plan, r, 4, &by))
                listed(kind, job, tile, r, &by);
            else
                direct(kind, job, tile, r);
        }
    }
}

/* The amplitude as head and tail times a power of two. */
static wide wide_of(const pe_plan_of_rows *plan)
{
    const double hi = plan->run->amplitude_hi, lo = plan->run->amplitude_lo;
    const double error = plan->run->list != NULL ? ERROR_LISTED : ERROR;
    if (hi == 1 && lo == 0)
        return (wide){plan, error, 1, 0, 1};
    int exponent;
    const double mantissa = __builtin_frexp(hi, &exponent);
    const double scale = __builtin_ldexp(1, exponent);
    const double head = (mantissa + 0x1.8p26) - 0x1.8p26;
    return (wide){plan, error * scale, head, (mantissa - head) + lo / scale, scale};
}

void PE_LEVEL_NAME(pe_waves_double)(const pe_plan_of_rows *plan)
{
    const pe_shape_of_row shape = plan->interleaved ? PE_ROW_INTERLEAVED : PE_ROW_PLANES;
    const wide job = wide_of(plan);
    if (plan->single)
        rows_of((pe_row_kind){PE_FLOAT64, PE_ROW_PLANES, true}, &job);
    else
        rows_of((pe_row_kind){PE_FLOAT64, shape, false}, &job);
}
