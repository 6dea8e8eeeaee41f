/* SPDX-License-Identifier: MIT */
/* waves.c - rows of sines and cosines: which kind of rows a layout asks for. */
#include "kernels/level/waves.h"

/* Far from 1 the narrow types' bits would run out in places that the proofs do not look at. */
static bool usual_amplitude(const pe_run *run)
{
    const double size = pe_abs(run->amplitude_hi);
    return size > 0x1p-40 && size < 0x1p40;
}

static bool mark_all(const pe_run *run, uint64_t *doubtful)
{
    for (size_t k = 0; k < run->rows * run->n; k++)
        doubtful[k / 64] |= 1ULL << (k % 64);
    return run->rows * run->n != 0;
}

static bool is_any_marked(const pe_run *run, const uint64_t *doubtful)
{
    uint64_t any = 0;
    for (size_t w = 0; w < (run->rows * run->n + 63) / 64; w++)
        any |= doubtful[w];
    return any != 0;
}

bool PE_LEVEL_NAME(pe_waves)(const pe_run *run, const pe_wave_layout *layout, pe_dtype dtype,
                             void *out, uint64_t *doubtful)
{
    const ptrdiff_t sin_at = layout->sin_at, cos_at = layout->cos_at;
    const bool single = sin_at < 0 || cos_at < 0;
    const bool interleaved = layout->stride == 2;
    assert(interleaved ? !single && (sin_at - cos_at == 1 || cos_at - sin_at == 1)
                       : layout->stride == 1 && (sin_at >= 0 || cos_at >= 0));
    assert((run->start_hi != NULL ? 0 : run->first) + run->rows * run->row_steps < 1U << 27);
    if (!usual_amplitude(run))
        return mark_all(run, doubtful);
    const bool cosine_first = single ? sin_at < 0 : interleaved && cos_at < sin_at;
    const size_t item = pe_dtype_bytes(dtype);
    const ptrdiff_t first = cosine_first ? cos_at : sin_at, second = cosine_first ? sin_at : cos_at;
    uint64_t direct = 0;
    const pe_plan_of_rows plan = {
        .run = run,
        .out = out,
        .item = item,
        .row = layout->row * item,
        .first_at = first * (ptrdiff_t)item,
        .second_at = (single ? first : second) * (ptrdiff_t)item,
        .cosine_first = cosine_first,
        .single = single,
        .interleaved = interleaved,
        .doubtful = doubtful,
        .direct = &direct,
    };
    if (dtype == PE_FLOAT64)
        PE_LEVEL_NAME(pe_waves_double)(&plan);
    else
        PE_LEVEL_NAME(pe_waves_narrow)(&plan, dtype);
    if (run->direct != NULL)
        *run->direct += direct;
    return is_any_marked(run, doubtful);
}
