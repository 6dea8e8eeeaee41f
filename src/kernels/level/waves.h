/* SPDX-License-Identifier: MIT */
/* waves.h - what the files of the waves kernel share: tiles of frequencies, and where rows go. */
#ifndef PE_KERNELS_LEVEL_WAVES_H
#define PE_KERNELS_LEVEL_WAVES_H

#include "kernels/level/emit.h"
#include "kernels/level/turn.h"

/** Frequencies handled together: their anchors fit the first-level cache. */
#define PE_TILE 256

/** Most rows an anchor serves on either side. */
#define PE_REACH 32

/*
 * A row holds two sequences, first and second. They are the sine and the cosine, or the other way
 * round where the cosine comes first in memory or stands alone; only the first is wanted then.
 *
 *     sine first:    first(a + o) = S(a) C(o) + C(a) S(o),  second(a + o) = C(a) C(o) - S(a) S(o)
 *     cosine first:  the same with S and C of a exchanged and o negated
 */
typedef struct pe_plan_of_rows {
    const pe_run *run;
    char *out;
    size_t item, row;   /* bytes of an element and from row to row */
    ptrdiff_t first_at; /* byte of the row where frequency 0 of each sequence is */
    ptrdiff_t second_at;
    bool cosine_first, single, interleaved;
    uint64_t *doubtful;
    uint64_t *direct; /* elements that were not left at a rotation */
} pe_plan_of_rows;

/** Frequencies [first, first + count), at most PE_TILE. */
typedef struct pe_tile {
    size_t first, count;
} pe_tile;

/** A group's rows, [first, first + 2 * reach), around one anchor. */
typedef struct pe_group {
    size_t first, reach;
} pe_group;

/** Vectors around an anchor that are open, as each kernel writes them: the offset's number, the
 * frequency from the tile's first, lanes. */
typedef struct pe_open_list {
    size_t n;
    uint32_t at[PE_REACH * (PE_TILE / PE_LANES)];
} pe_open_list;

/** Which rotations reach a listed position: planes of the digits' and of the offsets' tables. */
typedef struct pe_reached {
    const double *anchor, *far, *near;
    uint64_t far_sign, near_sign; /* bits that turn the sines */
} pe_reached;

/** Where two rows go, as far above the anchors as below them. Of a sequence alone: where both rows
 * of an offset go, and both of the next. */
typedef struct pe_spots {
    pe_spot one, other;
} pe_spots;

/** Rows of a layout that waves_narrow and waves_double know: dense, or sine and cosine by turns. */
void PE_LEVEL_NAME(pe_waves_narrow)(const pe_plan_of_rows *plan, pe_dtype dtype);
void PE_LEVEL_NAME(pe_waves_double)(const pe_plan_of_rows *plan);

PE_INLINE pe_spot pe_spot_of(const pe_plan_of_rows *plan, size_t r, size_t i)
{
    const size_t stride = plan->interleaved ? 2 * plan->item : plan->item;
    char *row = plan->out + r * plan->row + i * stride;
    return (pe_spot){row + plan->first_at, row + plan->second_at};
}

PE_INLINE pe_spot pe_spot_after(pe_spot spot, ptrdiff_t bytes)
{
    return (pe_spot){(char *)spot.first + bytes, (char *)spot.second + bytes};
}

PE_INLINE pe_spots pe_spots_after(pe_spots spots, ptrdiff_t bytes)
{
    return (pe_spots){pe_spot_after(spots.one, bytes), pe_spot_after(spots.other, bytes)};
}

/* The row of an offset above the anchor or below it. With the cosine first, they count backwards. */
PE_INLINE size_t pe_row_of(const pe_plan_of_rows *plan, pe_group rows, size_t k, bool above)
{
    const size_t middle = rows.first + rows.reach;
    return above != plan->cosine_first ? middle + k : middle - 1 - k;
}

/* The offset behind k; k, if that is the last. */
PE_INLINE size_t pe_offset_after(pe_group rows, size_t k)
{
    return k + 1 < rows.reach ? k + 1 : k;
}

/* `single` is the plan's, as a constant. */
PE_INLINE pe_spots pe_spots_of(bool single, const pe_plan_of_rows *plan, pe_group rows, size_t k,
                               size_t i)
{
    const pe_spot above = pe_spot_of(plan, pe_row_of(plan, rows, k, true), i);
    const pe_spot below = pe_spot_of(plan, pe_row_of(plan, rows, k, false), i);
    if (!single)
        return (pe_spots){above, below};
    const size_t next = pe_offset_after(rows, k);
    return (pe_spots){{above.first, below.first},
                      {pe_spot_of(plan, pe_row_of(plan, rows, next, true), i).first,
                       pe_spot_of(plan, pe_row_of(plan, rows, next, false), i).first}};
}

PE_INLINE pe_tile pe_tile_at(const pe_run *run, size_t first)
{
    const size_t left = run->n - first;
    return (pe_tile){first, left < PE_TILE ? left : PE_TILE};
}

/* How many rows the next anchor serves on either side, from row r on; 0: none, at most one is
 * left, there are no offsets, or positions are listed. */
PE_INLINE size_t pe_reach(const pe_run *run, size_t r)
{
    const size_t half = (run->rows - r) / 2;
    const size_t most = run->offset_rows < PE_REACH ? run->offset_rows : PE_REACH;
    return run->list != NULL ? 0 : half < most ? half : most;
}

/* Whether rotations reach a listed position, and by which; `planes` as in the tables. With the
 * cosine first, they are turned the other way. */
PE_INLINE bool pe_reach_listed(const pe_plan_of_rows *plan, size_t r, size_t planes, pe_reached *to)
{
    const pe_run *run = plan->run;
    const size_t half = run->offset_rows, digit = 2 * half;
    if (run->list == NULL || run->digits == NULL)
        return false;
    const double position = run->list[r];
    if (!(position >= 0 && position < (double)(digit * digit * digit)))
        return false;
    const size_t whole = (size_t)position, near = whole % digit, far = whole / digit % digit;
    const size_t row = planes * pe_kernels_padded(run->n);
    const uint64_t sign = 1ULL << 63;
    to->anchor = run->digits + (half + whole / (digit * digit)) * row;
    to->far = run->digits + (far < half ? half - 1 - far : far - half) * row;
    to->near = run->offsets + (near < half ? half - 1 - near : near - half) * row;
    to->far_sign = (far < half) != plan->cosine_first ? sign : 0;
    to->near_sign = (near < half) != plan->cosine_first ? sign : 0;
    return (double)whole == position;
}

PE_INLINE pe_vd pe_signed(pe_vd v, uint64_t sign)
{
    return (pe_vd)((pe_vu)v ^ sign);
}

/* Mark lanes of the vector of frequencies from i on in row r. Lanes beyond the last frequency are
 * padding, whose numbers are nobody's. */
PE_INLINE void pe_mark(const pe_plan_of_rows *plan, size_t r, size_t i, unsigned lanes)
{
    for (; lanes != 0 && i < plan->run->n; lanes >>= 1, i++) {
        const size_t k = r * plan->run->n + i;
        plan->doubtful[k / 64] |= (uint64_t)(lanes & 1) << (k % 64);
    }
}

#endif
