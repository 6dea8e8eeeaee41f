/* SPDX-License-Identifier: MIT */
/* offsets.c - the rotations by which a kernel turns anchors: those of a set, or of one call. */
#include "exact/wave_set.h"

#include <stdlib.h>
#include <string.h>

/* Room for wave_offsets: whole cache lines, since a vector that lies across two is loaded twice. */
static double *allocate_offsets(size_t n, size_t rows, bool split)
{
    return aligned_alloc(64, rows * (split ? 4 : 2) * pe_kernels_padded(n) * sizeof(double));
}

const double *pe_wave_shared_offsets(const pe_wave *wave, bool split)
{
    _Atomic(double *) *slot;
    const _Atomic(double *) *from = &wave->offsets[split];
    memcpy(&slot, &from, sizeof slot); /* only this and the counts of a set change */
    double *offsets = atomic_load_explicit(slot, memory_order_acquire);
    if (offsets != NULL)
        return offsets;
    offsets = allocate_offsets(wave->live, wave->offset_rows, split);
    if (offsets == NULL)
        return NULL;
    pe_kernels_get()->wave_offsets(wave->live, wave->step_hi, wave->step_lo, wave->offset_rows,
                                   split, offsets);
    double *expected = NULL;
    if (atomic_compare_exchange_strong(slot, &expected, offsets))
        return offsets;
    free(offsets);
    return expected;
}

/* An anchor serves 64 rows, fewer where rows are so long that few of them are asked for at once and
 * offsets would not fit the second-level cache. */
size_t pe_wave_offset_rows(size_t n)
{
    return n <= 512 ? 32 : n <= 8192 ? 16384 / n : 2;
}

double *pe_wave_own_offsets(const pe_wave_offsets *wanted, size_t *count)
{
    const size_t rows = wanted->rows;
    *count = 1;
    while (4 * *count * *count < rows && *count < wanted->most)
        ++*count;
    double *offsets = rows < 16 ? NULL : allocate_offsets(wanted->n, *count, wanted->split);
    if (offsets != NULL)
        pe_kernels_get()->wave_offsets(wanted->n, wanted->step_hi, wanted->step_lo, *count,
                                       wanted->split, offsets);
    return offsets;
}
