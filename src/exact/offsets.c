/* SPDX-License-Identifier: MIT */
/* offsets.c - the rotations by which a kernel turns anchors: those of a set, or of one call. */
#include "exact/wave_set.h"

#include <stdlib.h>
#include <string.h>

static size_t bytes_of(size_t n, size_t rows, bool split)
{
    return rows * (split ? 4 : 2) * pe_kernels_padded(n) * sizeof(double);
}

/* Room for wave_offsets: whole cache lines, since a vector that lies across two is loaded twice. */
static double *allocate_offsets(size_t n, size_t rows, bool split)
{
    return aligned_alloc(64, bytes_of(n, rows, split));
}

/* ---- of a set ---- */

/* Bytes that all sets count and have not allocated. */
static atomic_size_t unmade;

size_t pe_wave_unmade_bytes(void)
{
    return atomic_load_explicit(&unmade, memory_order_relaxed);
}

size_t pe_wave_offsets_bytes(const pe_wave *wave)
{
    return bytes_of(wave->live, wave->offset_rows, false) +
           bytes_of(wave->live, wave->offset_rows, true);
}

static void note_made(const pe_wave *wave, bool split)
{
    atomic_fetch_sub(&unmade, bytes_of(wave->live, wave->offset_rows, split));
}

void pe_wave_offsets_begin(const pe_wave *wave)
{
    atomic_fetch_add(&unmade, pe_wave_offsets_bytes(wave));
}

void pe_wave_offsets_free(pe_wave *wave)
{
    for (int split = 0; split <= 1; split++) {
        double *offsets = atomic_load(&wave->offsets[split]);
        if (offsets == NULL)
            note_made(wave, split);
        free(offsets);
    }
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
    if (atomic_compare_exchange_strong(slot, &expected, offsets)) {
        note_made(wave, split);
        return offsets;
    }
    free(offsets);
    return expected;
}

/* ---- of a call ---- */

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
