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
 */
#define ERROR 0x1.2p-73 /* 144 units */

typedef struct wide {
    const pe_plan_of_rows *plan;
    double error;      /* ERROR * scale */
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

PE_INLINE void evaluate(const wide *job, size_t i, uint64_t half_step, pe_split *first,
                        pe_split *second)
{
    pe_split s, c;
    pe_turn_sincos_split(pe_turn_at(job->plan->run, i, half_step), &s, &c);
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

PE_INLINE void emit_some(bool interleaved, pe_vd a, pe_vd b, size_t count, pe_spot to)
{
    const pe_shape_of_row shape = interleaved ? PE_ROW_INTERLEAVED : PE_ROW_PLANES;
    if (count >= PE_LANES) {
        pe_emit_double(shape, a, b, to.first, to.second);
        return;
    }
    double first[2 * PE_LANES], second[PE_LANES];
    pe_emit_double(shape, a, b, first, second);
    memcpy(to.first, first, (interleaved ? 2 : 1) * count * sizeof(double));
    if (!interleaved)
        memcpy(to.second, second, count * sizeof(double));
}

/* One vector of row r without rotation. */
PE_INLINE void direct(bool interleaved, bool single, const wide *job, size_t r, size_t i)
{
    const pe_plan_of_rows *plan = job->plan;
    const size_t left = plan->run->n - i, count = left < PE_LANES ? left : PE_LANES;
    pe_spot to = pe_spot_of(plan, r, i);
    double unused[PE_LANES];
    pe_split first, second;
    evaluate(job, i, 2 * r, &first, &second);
    *plan->direct += count;
    if (single) {
        second = first;
        to.second = (char *)unused;
    }
    pe_ok_double ok = PE_ALL_OK_DOUBLE;
    const pe_vd a = proven(job, first.head, first.tail + job->error, &ok);
    const pe_vd b = proven(job, second.head, second.tail + job->error, &ok);
    emit_some(interleaved, a, b, count, to);
    if (pe_open_lanes(ok) != 0)
        pe_mark(plan, r, i, pe_open_lanes(ok));
}

/* Offsets of a row of frequencies: planes of heads and tails of cosine and sine. */
typedef struct offsets {
    const double *cos_head, *cos_tail, *sin_head, *sin_tail;
} offsets;

/* Heads and tails, raised by the error, of x*c + y*s and x*c - y*s. */
typedef struct turned {
    pe_split plus, minus;
} turned;

PE_INLINE turned turn(const wide *job, const anchors *at, int x, int y, const offsets *by, size_t i)
{
    const pe_vd x_head = pe_load_d(at->head[x] + i), y_head = pe_load_d(at->head[y] + i);
    const pe_vd c = pe_load_d(by->cos_head + i), s = pe_load_d(by->sin_head + i);
    const pe_vd p = x_head * c;
    const pe_vd p_tail = pe_fma(pe_load_d(at->sum[x] + i), pe_load_d(by->cos_tail + i),
                                pe_fma(pe_load_d(at->tail[x] + i), c, pe_all(job->error)));
    const pe_vd q_tail = pe_fma(pe_load_d(at->sum[y] + i), pe_load_d(by->sin_tail + i),
                                pe_load_d(at->tail[y] + i) * s);
    return (turned){{pe_fma(y_head, s, p), p_tail + q_tail},
                    {pe_fnma(y_head, s, p), p_tail - q_tail}};
}

/* What one vector of two rows leaves open. */
typedef struct proofs {
    pe_ok_double plus, minus;
} proofs;

/* Rows above and below the anchors, for one vector of frequencies. */
PE_INLINE proofs rotate(bool interleaved, bool single, const wide *job, const anchors *at,
                        const offsets *by, size_t i, size_t count, pe_spot plus, pe_spot minus)
{
    proofs ok = {PE_ALL_OK_DOUBLE, PE_ALL_OK_DOUBLE};
    const turned first = turn(job, at, 0, 1, by, i);
    const pe_vd up = proven(job, first.plus.head, first.plus.tail, &ok.plus);
    const pe_vd down = proven(job, first.minus.head, first.minus.tail, &ok.minus);
    if (single) {
        emit_some(false, up, down, count, (pe_spot){plus.first, minus.first});
        return ok;
    }
    const turned second = turn(job, at, 1, 0, by, i);
    const pe_vd up2 = proven(job, second.minus.head, second.minus.tail, &ok.plus);
    const pe_vd down2 = proven(job, second.plus.head, second.plus.tail, &ok.minus);
    emit_some(interleaved, up, up2, count, plus);
    emit_some(interleaved, down, down2, count, minus);
    return ok;
}

PE_INLINE void row_pair(bool interleaved, bool single, const wide *job, const anchors *at,
                        const offsets *by, size_t tile, size_t count, size_t plus, size_t minus)
{
    const pe_plan_of_rows *plan = job->plan;
    const size_t each = (interleaved ? 2 : 1) * sizeof(double);
    const pe_spot to_plus = pe_spot_of(plan, plus, tile), to_minus = pe_spot_of(plan, minus, tile);
    for (size_t i = 0; i < count; i += PE_LANES) {
        const size_t some = count - i < PE_LANES ? count - i : PE_LANES;
        const pe_spot up = pe_spot_after(to_plus, (ptrdiff_t)(i * each));
        const pe_spot down = pe_spot_after(to_minus, (ptrdiff_t)(i * each));
        const proofs ok = rotate(interleaved, single, job, at, by, i, some, up, down);
        const unsigned open_plus = pe_open_lanes(ok.plus), open_minus = pe_open_lanes(ok.minus);
        if (__builtin_expect((open_plus | open_minus) != 0, false)) {
            pe_mark(plan, plus, tile + i, open_plus);
            pe_mark(plan, minus, tile + i, open_minus);
        }
    }
}

PE_INLINE void find_anchors(const wide *job, size_t tile, size_t count, uint64_t half_step,
                            anchors *at)
{
    for (size_t i = 0; i < count; i += PE_LANES) {
        pe_split v[2];
        evaluate(job, tile + i, half_step, &v[0], &v[1]);
        for (int k = 0; k < 2; k++) {
            pe_store_d(at->head[k] + i, v[k].head);
            pe_store_d(at->tail[k] + i, v[k].tail);
            pe_store_d(at->sum[k] + i, v[k].head + v[k].tail);
        }
    }
}

/* Rows [r, r + 2 * reach) of a tile around one anchor. */
PE_INLINE void group(bool interleaved, bool single, const wide *job, size_t tile, size_t count,
                     size_t r, size_t reach)
{
    const size_t padded = pe_kernels_padded(job->plan->run->n);
    const bool back = job->plan->cosine_first;
    anchors at;
    find_anchors(job, tile, count, 2 * (r + reach) - 1, &at);
    for (size_t k = 0; k < reach; k++) {
        const double *from = job->plan->run->offsets + 4 * k * padded + tile;
        const offsets by = {from, from + padded, from + 2 * padded, from + 3 * padded};
        const size_t above = r + reach + k, below = r + reach - 1 - k;
        row_pair(interleaved, single, job, &at, &by, tile, count, back ? below : above,
                 back ? above : below);
    }
}

PE_INLINE void rows_of(bool interleaved, bool single, const wide *job)
{
    const pe_run *run = job->plan->run;
    for (size_t tile = 0; tile < run->n; tile += PE_TILE) {
        const size_t count = run->n - tile < PE_TILE ? run->n - tile : PE_TILE;
        size_t r = 0, reach;
        while ((reach = pe_reach(run, r)) != 0) {
            group(interleaved, single, job, tile, count, r, reach);
            r += 2 * reach;
        }
        for (; r < run->rows; r++)
            for (size_t i = 0; i < count; i += PE_LANES)
                direct(interleaved, single, job, r, tile + i);
    }
}

/* The amplitude as head and tail times a power of two. */
static wide wide_of(const pe_plan_of_rows *plan)
{
    const double hi = plan->run->amplitude_hi, lo = plan->run->amplitude_lo;
    if (hi == 1 && lo == 0)
        return (wide){plan, ERROR, 1, 0, 1};
    int exponent;
    const double mantissa = __builtin_frexp(hi, &exponent);
    const double scale = __builtin_ldexp(1, exponent);
    const double head = (mantissa + 0x1.8p26) - 0x1.8p26;
    return (wide){plan, ERROR * scale, head, (mantissa - head) + lo / scale, scale};
}

void PE_LEVEL_NAME(pe_waves_double)(const pe_plan_of_rows *plan)
{
    const wide job = wide_of(plan);
    if (plan->single)
        rows_of(false, true, &job);
    else
        rows_of(plan->interleaved, false, &job);
}
