/* SPDX-License-Identifier: MIT */
/* offsets.c - the rotations by which a kernel turns anchors: those of a set, or of one call. */
#include "exact/wave_set.h"

#include <stdlib.h>
#include <string.h>

/* Room for wave_offsets is whole cache lines: a vector that lies across two is loaded twice. */
static size_t bytes_of(size_t n, size_t rows, bool split)
{
    return rows * (split ? 4 : 2) * pe_kernels_padded(n) * sizeof(double);
}

/* ---- of a set ---- */

/* Bytes that all sets count and have not allocated. */
static atomic_size_t unmade;

size_t pe_wave_unmade_bytes(void)
{
    return atomic_load_explicit(&unmade, memory_order_relaxed);
}

/* Digits have three rows for each of the offsets. */
static size_t shared_bytes(const pe_wave *wave, pe_wave_kept kept, bool split)
{
    return bytes_of(wave->live, (kept == PE_WAVE_DIGITS ? 3 : 1) * wave->offset_rows, split);
}

size_t pe_wave_offsets_bytes(const pe_wave *wave)
{
    size_t bytes = 0;
    for (pe_wave_kept kept = 0; kept < PE_WAVE_KEPT; kept++)
        bytes += shared_bytes(wave, kept, false) + shared_bytes(wave, kept, true);
    return bytes;
}

void pe_wave_offsets_begin(const pe_wave *wave)
{
    atomic_fetch_add(&unmade, pe_wave_offsets_bytes(wave));
}

void pe_wave_offsets_free(pe_wave *wave)
{
    for (pe_wave_kept kept = 0; kept < PE_WAVE_KEPT; kept++)
        for (int split = 0; split < 2; split++) {
            double *made = atomic_load(&wave->kept[kept][split]);
            if (made == NULL)
                atomic_fetch_sub(&unmade, shared_bytes(wave, kept, split));
            free(made);
        }
}

void pe_wave_digits(const pe_offsets *near, double *out)
{
    const size_t digit = 2 * near->rows, planes = near->split ? 4 : 2;
    pe_offsets wanted = *near;
    wanted.first = digit;
    wanted.stride = 2 * digit;
    pe_kernels_get()->wave_offsets(&wanted, out);
    wanted.first = digit * digit - 1;
    wanted.stride = 2 * digit * digit;
    wanted.rows = digit;
    pe_kernels_get()->wave_offsets(&wanted, out + near->rows * planes * pe_kernels_padded(near->n));
}

const double *pe_wave_shared_offsets(const pe_wave *of, pe_wave_kept kept, int64_t step,
                                     const pe_offsets *wanted)
{
    pe_wave *wave;
    memcpy(&wave, &of, sizeof wave); /* only these and the counts of a set change */
    _Atomic(double *) *slot = &wave->kept[kept][wanted->split];
    int64_t none = 0;
    if (kept == PE_WAVE_STEP && !atomic_compare_exchange_strong(&wave->step, &none, step) &&
        none != step)
        return NULL;
    double *made = atomic_load_explicit(slot, memory_order_acquire), *expected = NULL;
    if (made != NULL)
        return made;
    const size_t bytes = shared_bytes(wave, kept, wanted->split);
    made = aligned_alloc(64, bytes);
    if (made == NULL)
        return NULL;
    (kept == PE_WAVE_DIGITS ? pe_wave_digits : pe_kernels_get()->wave_offsets)(wanted, made);
    if (atomic_compare_exchange_strong(slot, &expected, made)) {
        atomic_fetch_sub(&unmade, bytes);
        return made;
    }
    free(made);
    return expected;
}

/* ---- of a call ---- */

/* An anchor serves 64 rows, fewer where rows are so long that few of them are asked for at once and
 * offsets would not fit the second-level cache. */
size_t pe_wave_offset_rows(size_t n)
{
    return n <= 512 ? 32 : n <= 8192 ? 16384 / n : 2;
}

double *pe_wave_own_offsets(size_t rows, pe_offsets *wanted)
{
    const size_t most = pe_wave_offset_rows(wanted->n);
    size_t count = 1;
    while (2 * count * count < rows && count < most)
        count++;
    wanted->rows = count;
    double *offsets =
        rows < 16 ? NULL : aligned_alloc(64, bytes_of(wanted->n, count, wanted->split));
    if (offsets != NULL)
        pe_kernels_get()->wave_offsets(wanted, offsets);
    return offsets;
}
