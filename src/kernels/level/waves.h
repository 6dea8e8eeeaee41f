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

/** Where two rows go, as far above the anchors as below them. */
typedef struct pe_spots {
    pe_spot plus, minus;
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
    return (pe_spots){pe_spot_after(spots.plus, bytes), pe_spot_after(spots.minus, bytes)};
}

PE_INLINE pe_tile pe_tile_at(const pe_run *run, size_t first)
{
    const size_t left = run->n - first;
    return (pe_tile){first, left < PE_TILE ? left : PE_TILE};
}

/* How many rows the next anchor serves on either side, from row r on; 0: none, at most one is
 * left or there are no offsets. */
PE_INLINE size_t pe_reach(const pe_run *run, size_t r)
{
    const size_t half = (run->rows - r) / 2;
    const size_t most = run->offset_rows < PE_REACH ? run->offset_rows : PE_REACH;
    return half < most ? half : most;
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
