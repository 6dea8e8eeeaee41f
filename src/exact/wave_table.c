/* SPDX-License-Identifier: MIT */
/* wave_table.c - rows of correctly rounded sines and cosines: by the kernel, and element by element
 * where it does not prove the rounding. */
#include "exact/wave_set.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Elements of a chunk of rows: their bit map has 8 KiB, and the rows pay for the start phases. */
#define CHUNK PE_WAVE_MAX

/* Rows of a list that a run takes at once. Digits pay for so many, offsets of a step that the set
 * keeps for so many. */
#define LIST           256
#define ROWS_BY_DIGITS 32
#define ROWS_BY_STEP   64

/* Whether a run can list a position. */
static bool is_near(const pe_wave *wave, double position)
{
    const double size = fabs(position);
    return size < 0x1p26 && size != 0 &&
           (size == trunc(size) || (!wave->whole_turns && size >= 0x1p-11));
}

static void put(const pe_wave_job *job, char *row, size_t i, double sine, double cosine)
{
    const pe_wave_layout *at = job->layout;
    char *first = row + (ptrdiff_t)i * at->stride * (ptrdiff_t)job->item;
    if (at->sin_at >= 0)
        pe_dtype_store(job->dtype, sine, first + at->sin_at * (ptrdiff_t)job->item);
    if (at->cos_at >= 0)
        pe_dtype_store(job->dtype, cosine, first + at->cos_at * (ptrdiff_t)job->item);
}

/* Sine and cosine in 128-bit arithmetic, and which of them are proven. */
static void by_fixed128(const pe_wave_job *job, double position, size_t i, double value[2],
                        bool known[2])
{
    const pe_wave *wave = job->wave;
    uint64_t phase[PE_PHASE_WORDS];
    pe_fixed128 fixed[2];
    const int err = pe_phase_at(&wave->turns[job->from + i], position, phase);
    pe_fixed128_sincos(phase, err, &fixed[0], &fixed[1]);
    for (int k = 0; k < 2; k++) {
        if (!job->bare && !wave->unit)
            fixed[k] = pe_fixed128_mul(&fixed[k], &wave->amplitude_fixed);
        known[k] = pe_fixed128_round(&fixed[k], job->dtype, &value[k]);
    }
}

/* Write element i of the row at `position`: as it is known, by 128-bit arithmetic or by MPFR. */
static void settle(pe_wave_job *job, double position, size_t i, char *row)
{
    const pe_wave *wave = job->wave;
    double value[2] = {0, 0};
    bool known[2] = {false, false};
    const bool naught = !job->bare && wave->amplitude_hi == 0;
    if (naught || (!wave->unfit && position == 0) || pe_wave_theta_is_zero(wave, job->from + i)) {
        put(job, row, i, 0, job->bare ? 1 : wave->amplitude[job->dtype]);
        job->counts[PE_PATH_EXACT]++;
        return;
    }
    if (!wave->unfit)
        by_fixed128(job, position, i, value, known);
    job->counts[known[0] && known[1] ? PE_PATH_FIXED128 : PE_PATH_MPFR]++;
    for (int k = 0; k < 2; k++)
        if (!known[k]) {
            const pe_element element = {wave, position, job->from + i, k == 1, job->bare};
            value[k] = pe_exact_round(job->dtype, pe_element_eval, &element, 0);
        }
    put(job, row, i, value[0], value[1]);
}

/* Write the elements that the bit map marks. */
static void settle_marked(pe_wave_job *job, const uint64_t *doubtful, size_t first, size_t rows,
                          char *out)
{
    const size_t n = job->live;
    uint64_t settled = 0;
    for (size_t w = 0; w < (rows * n + 63) / 64; w++) {
        for (uint64_t word = doubtful[w]; word != 0; word &= word - 1) {
            const size_t k = w * 64 + (size_t)__builtin_ctzll(word);
            if (k >= rows * n)
                break;
            const size_t r = k / n;
            settle(job, pe_positions_at(job->positions, first + r), k % n,
                   out + r * job->layout->row * job->item);
            settled++;
        }
    }
    job->counts[PE_PATH_KERNEL] -= settled;
}

/* Frequencies [i, n) of rows at position zero, or of frequency zero: 0 and the amplitude. */
static void put_still(pe_wave_job *job, size_t i, size_t rows, char *out)
{
    const size_t n = job->n, item = job->item;
    const ptrdiff_t sin_at = job->layout->sin_at, cos_at = job->layout->cos_at;
    char zero[sizeof(double)], one[sizeof(double)];
    pe_dtype_store(job->dtype, 0, zero);
    pe_dtype_store(job->dtype, job->bare ? 1 : job->wave->amplitude[job->dtype], one);
    for (size_t r = 0; r < rows; r++) {
        char *row = out + r * job->layout->row * item;
        for (size_t k = i; k < n; k++) {
            char *at = row + (ptrdiff_t)k * job->layout->stride * (ptrdiff_t)item;
            if (sin_at >= 0)
                memcpy(at + sin_at * (ptrdiff_t)item, zero, item);
            if (cos_at >= 0)
                memcpy(at + cos_at * (ptrdiff_t)item, one, item);
        }
    }
    job->counts[PE_PATH_EXACT] += rows * (n - i);
}

/* What is the same for all runs of a call: planes of phases, and offsets for their step. */
typedef struct run_phases {
    uint64_t *start_hi, *start_lo;
    const uint64_t *step_hi, *step_lo;
    const double *offsets;
    size_t offset_rows;
    size_t rows_max; /* that one run can hold */
    bool own_step;   /* step is not that of the set */
    uint64_t row_steps;
    bool spaced; /* rows are */
    const double *digits;
} run_phases;

/* Rows [first, first + rows), none of them at position zero: equally spaced as `phases` says,
 * near, or a single one. */
static void chunk(pe_wave_job *job, const run_phases *phases, size_t first, size_t rows, char *out)
{
    const pe_wave *wave = job->wave;
    uint64_t doubtful[CHUNK / 64];
    memset(doubtful, 0, (rows * job->live + 63) / 64 * sizeof doubtful[0]);
    const double position = pe_positions_at(job->positions, first);
    const bool counted =
        !phases->own_step && position == trunc(position) && position >= 0 && position < 0x1p26;
    const bool listed = !phases->spaced && is_near(wave, position);
    double list[LIST];
    for (size_t r = 0; listed && r < rows; r++)
        list[r] = pe_positions_at(job->positions, first + r);
    if (!counted && !listed)
        pe_phases_at(wave->turns + job->from, job->live, position, phases->start_hi,
                     phases->start_lo);
    const bool one = job->bare || wave->unit;
    const pe_run run = {
        .n = job->live,
        .rows = rows,
        .first = counted ? (uint64_t)position : 0,
        .row_steps = phases->row_steps,
        .start_hi = counted ? NULL : phases->start_hi,
        .start_lo = counted ? NULL : phases->start_lo,
        .step_hi = phases->step_hi,
        .step_lo = phases->step_lo,
        .list = listed ? list : NULL,
        .amplitude_hi = one ? 1 : wave->amplitude_hi,
        .amplitude_lo = one ? 0 : wave->amplitude_lo,
        .offsets = phases->offsets,
        .offset_rows = phases->offset_rows,
        .digits = phases->digits,
        .direct = &job->counts[PE_PATH_DIRECT],
    };
    job->counts[PE_PATH_KERNEL] += rows * job->live;
    if (pe_kernels_get()->waves(&run, job->layout, job->dtype, out, doubtful))
        settle_marked(job, doubtful, first, rows, out);
    if (job->live < job->n)
        put_still(job, job->live, rows, out);
}

/* Whether one run can hold the rows: the step must be an exact double. */
static bool is_spaced(const pe_positions *positions)
{
    return positions->list == NULL && positions->places == 0 && positions->step > -(1LL << 53) &&
           positions->step < 1LL << 53;
}

/* Rows from `first` on, at most `most`: up to one at position zero; of a list one, or those that
 * are near. */
static size_t rows_before_zero(const pe_wave *wave, const pe_positions *positions, size_t first,
                               size_t most)
{
    const double at = pe_positions_at(positions, first), step = (double)positions->step;
    if (!is_spaced(positions)) {
        size_t rows = at != 0;
        while (rows != 0 && rows < most &&
               is_near(wave, pe_positions_at(positions, first + rows - 1)) &&
               is_near(wave, pe_positions_at(positions, first + rows)))
            rows++;
        return rows;
    }
    if (at == 0 || step == 0 || (at > 0) == (step > 0))
        return at == 0 ? 0 : most;
    const double zero = -at / step; /* below 2^53, so exact when it is an integer */
    return zero < (double)most && zero == floor(zero) ? (size_t)zero : most;
}

static void rows_by_chunks(pe_wave_job *job, const run_phases *phases, size_t first, size_t rows,
                           char *out)
{
    const size_t bytes = job->layout->row * job->item;
    for (size_t r = 0, some; r < rows; r += some) {
        const size_t left = rows - r < phases->rows_max ? rows - r : phases->rows_max;
        some = rows_before_zero(job->wave, job->positions, first + r, left);
        if (some != 0)
            chunk(job, phases, first + r, some, out + r * bytes);
        else
            put_still(job, 0, some = 1, out + r * bytes);
    }
}

/* Rows are so many steps of the set apart, or have a step of their own. For one step it is always
 * the same: offsets are kept, and half of 7 steps is not half of what 7 steps leave of a turn. */
#define ROW_STEPS_MAX (1 << 14)

/* Steps of a run: phases are multiples of steps by less than 2^28. */
#define STEPS_MAX (1 << 26)

static pe_status rows_fit(pe_wave_job *job, size_t first, size_t rows, char *out, pe_problem *why)
{
    const pe_wave *wave = job->wave;
    const size_t n = job->live, most = CHUNK / job->n; /* n is not zero here */
    const bool spaced = is_spaced(job->positions);
    const int64_t step = spaced ? job->positions->step : 1;
    const bool by_steps = step > 0 && step < ROW_STEPS_MAX;
    const uint64_t row_steps = by_steps ? (uint64_t)step : 1;
    const size_t padded = n + PE_PAD;
    uint64_t *memory = malloc((4 * padded + 1) * sizeof *memory);
    if (memory == NULL)
        return pe_fail_memory(why);
    run_phases phases = {.start_hi = memory,
                         .start_lo = memory + padded,
                         .step_hi = wave->step_hi + job->from,
                         .step_lo = wave->step_lo + job->from,
                         .rows_max = spaced || most < LIST ? most : LIST,
                         .row_steps = row_steps,
                         .spaced = spaced};
    const bool split = job->dtype == PE_FLOAT64;
    const bool whole = n == wave->live;
    double *offsets = NULL;
    if (phases.rows_max > STEPS_MAX / row_steps)
        phases.rows_max = STEPS_MAX / row_steps;
    if (!by_steps && most > 1 && rows > 1) {
        /* Two planes for the step from row to row. */
        uint64_t *hi = memory + 2 * padded, *lo = hi + padded;
        phases.own_step = true;
        phases.step_hi = hi;
        phases.step_lo = lo;
        pe_phases_at(wave->turns + job->from, n, (double)job->positions->step, hi, lo);
    }
    pe_offsets wanted = {
        n, wave->offset_rows, row_steps, 2 * row_steps, phases.step_hi, phases.step_lo, split};
    if (spaced ? most > 1 && rows > 1 : whole && rows >= ROWS_BY_DIGITS) {
        if (whole && (step == 1 || (step != 0 && rows >= ROWS_BY_STEP)))
            phases.offsets = pe_wave_shared_offsets(
                wave, step == 1 ? PE_WAVE_OFFSETS : PE_WAVE_STEP, step, &wanted);
        if (phases.offsets == NULL && spaced)
            phases.offsets = offsets = pe_wave_own_offsets(rows, &wanted);
        if (!spaced)
            phases.digits = pe_wave_shared_offsets(wave, PE_WAVE_DIGITS, 1, &wanted);
        phases.offset_rows = phases.offsets != NULL ? wanted.rows : 0;
    }
    rows_by_chunks(job, &phases, first, rows, out);
    free(offsets);
    free(memory);
    return PE_OK;
}

/* Whether the kernel writes such rows. */
static bool is_plain(const pe_wave_layout *layout)
{
    const bool both = layout->sin_at >= 0 && layout->cos_at >= 0;
    const ptrdiff_t apart = layout->sin_at - layout->cos_at;
    return layout->stride == 1 || (layout->stride == 2 && both && (apart == 1 || apart == -1));
}

static void scatter(const pe_wave_job *job, const char *dense, size_t rows, ptrdiff_t at, char *out)
{
    const size_t n = job->n, item = job->item;
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < n; i++)
            memcpy(out +
                       (r * job->layout->row + i * (size_t)job->layout->stride + (size_t)at) * item,
                   dense + (2 * r * n + i) * item, item);
}

/* Any other layout: dense rows first, then each element to its place. */
static pe_status rows_scattered(pe_wave_job *job, size_t first, size_t rows, char *out,
                                pe_problem *why)
{
    const pe_wave_layout *wanted = job->layout;
    const size_t n = job->n, most = n < CHUNK ? CHUNK / n : 1;
    const pe_wave_layout dense = {1, 0, (ptrdiff_t)n, 2 * n};
    char *memory = malloc((rows < most ? rows : most) * 2 * n * job->item + 1);
    if (memory == NULL)
        return pe_fail_memory(why);
    pe_status status = PE_OK;
    for (size_t r = 0; status == PE_OK && r < rows; r += most) {
        const size_t some = rows - r < most ? rows - r : most;
        char *to = out + r * wanted->row * job->item;
        job->layout = &dense;
        status = rows_fit(job, first + r, some, memory, why);
        job->layout = wanted;
        if (status == PE_OK && wanted->sin_at >= 0)
            scatter(job, memory, some, wanted->sin_at, to);
        if (status == PE_OK && wanted->cos_at >= 0)
            scatter(job, memory + n * job->item, some, wanted->cos_at, to);
    }
    free(memory);
    return status;
}

/* Rows of a range or a list. */
static pe_status fill_part(pe_wave_job *job, size_t first, size_t rows, void *out, pe_problem *why)
{
    pe_status status = PE_OK;
    const size_t live = job->wave->live;
    job->live = live <= job->from ? 0 : live - job->from < job->n ? live - job->from : job->n;
    if (job->wave->spec.float32)
        status = pe_wave_rows32(job, first, rows, out, why);
    else if (job->wave->unfit) /* no frequency has a fixed point: settle writes every element */
        for (size_t k = 0; k < rows * job->n; k++)
            settle(job, pe_positions_at(job->positions, first + k / job->n), k % job->n,
                   (char *)out + k / job->n * job->layout->row * job->item);
    else if (is_plain(job->layout))
        status = rows_fit(job, first, rows, out, why);
    else
        status = rows_scattered(job, first, rows, out, why);
    return status;
}

static pe_status fill(pe_wave_job *job, size_t first, size_t rows, void *out, pe_problem *why)
{
    const pe_positions *all = job->positions;
    const size_t parts = pe_positions_parts(all), n = all->count / parts;
    assert(first + rows <= all->count);
    pe_status status = PE_OK;
    job->item = pe_dtype_bytes(job->dtype);
    if (job->n == 0)
        return PE_OK;
    for (size_t done = 0, some; done < rows && status == PE_OK; done += some) {
        const size_t k = (first + done) / n, at = (first + done) % n;
        const pe_positions part = pe_positions_part(all, k, parts);
        some = rows - done < n - at ? rows - done : n - at;
        job->positions = parts == 1 ? all : &part;
        status = fill_part(job, at, some, (char *)out + done * job->layout->row * job->item, why);
    }
    job->positions = all;
    pe_wave *wave;
    memcpy(&wave, &job->wave, sizeof wave); /* the counts are all that changes in a set */
    for (int k = 0; k < PE_PATHS; k++)
        if (job->counts[k] != 0)
            atomic_fetch_add_explicit(&wave->paths[k], job->counts[k], memory_order_relaxed);
    return status;
}

static pe_wave_job job_of(const pe_wave_table *table)
{
    return (pe_wave_job){.wave = table->wave,
                         .positions = table->positions,
                         .layout = table->layout,
                         .dtype = table->dtype,
                         .n = table->wave->spec.n};
}

pe_status pe_wave_table_rows(const pe_wave_table *table, size_t first, size_t rows, void *out,
                             pe_problem *why)
{
    pe_wave_job job = job_of(table);
    return fill(&job, first, rows, out, why);
}

pe_status pe_wave_bare_tile(const pe_wave_table *table, const pe_wave_tile *tile, void *out,
                            pe_problem *why)
{
    pe_wave_job job = job_of(table);
    job.bare = true;
    job.from = tile->from;
    job.n = tile->n;
    return fill(&job, tile->first, tile->rows, out, why);
}

/* The first frequency whose element, i * stride + at, does not lie before `column`. */
static size_t frequency_from(const pe_wave_job *job, ptrdiff_t at, size_t column)
{
    const size_t stride = (size_t)job->layout->stride, begin = (size_t)at;
    const size_t i = column <= begin ? 0 : (column - begin + stride - 1) / stride;
    return i < job->wave->spec.n ? i : job->wave->spec.n;
}

/* Where frequency `from` of those at `at` is, counted from `column`; not wanted stays so. */
static ptrdiff_t place(const pe_wave_layout *layout, ptrdiff_t at, size_t from, size_t column)
{
    return at < 0 ? at : at + (ptrdiff_t)from * layout->stride - (ptrdiff_t)column;
}

pe_status pe_wave_table_part(const pe_wave_table *table, size_t row, size_t column, size_t columns,
                             void *out, pe_problem *why)
{
    pe_status status = PE_OK;
    const pe_wave_layout *layout = table->layout;
    const ptrdiff_t at[] = {layout->sin_at, layout->cos_at};
    size_t from[2], n[2];
    pe_wave_job job = job_of(table);
    for (int k = 0; k < 2; k++) {
        from[k] = at[k] < 0 ? 0 : frequency_from(&job, at[k], column);
        n[k] = at[k] < 0 ? 0 : frequency_from(&job, at[k], column + columns) - from[k];
    }
    const bool together = at[0] >= 0 && at[1] >= 0 && from[0] == from[1] && n[0] == n[1];
    for (int k = 0; k < 2 - together && status == PE_OK; k++) {
        const pe_wave_layout part = {
            .stride = layout->stride,
            .sin_at = k == 0 ? place(layout, at[0], from[0], column) : -1,
            .cos_at = k == 1 || together ? place(layout, at[1], from[k], column) : -1,
            .row = columns};
        job.layout = &part;
        job.from = from[k];
        job.n = n[k];
        status = fill(&job, row, 1, out, why);
        memset(job.counts, 0, sizeof job.counts);
    }
    return status;
}
