/* SPDX-License-Identifier: MIT */
/* rope_axes.c - rotations whose pairs turn by positions on several axes. */
#include "encodings/rope/rope_axes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/size.h"

pe_rope_axes *pe_rope_axes_make(size_t n, size_t pairs, const unsigned char *axis,
                                const uint32_t *at)
{
    pe_rope_axes *axes = calloc(1, sizeof *axes + pairs * sizeof axes->run[0]);
    if (axes == NULL)
        return NULL;
    axes->n = n;
    axes->pairs = pairs;
    axes->own = true;
    for (size_t p = 0; p < pairs; p++) {
        const uint32_t from = at != NULL ? at[p] : (uint32_t)p;
        pe_rope_axis_run *last = axes->n_runs != 0 ? &axes->run[axes->n_runs - 1] : NULL;
        axes->own &= from == p;
        if (last != NULL && last->axis == axis[p] && last->at + last->count == from)
            last->count++;
        else
            axes->run[axes->n_runs++] = (pe_rope_axis_run){axis[p], from, (uint32_t)p, 1};
    }
    return axes;
}

pe_status pe_rope_axes_check(const pe_rope_axes *axes, const char *name,
                             const pe_positions *positions, pe_problem *why)
{
    if (positions->shape.ndim < 2)
        return PE_OK;
    if (axes == NULL)
        return pe_fail(why, PE_INVALID_PARAMETER, name,
                       "%s must be one for each token, [n], unless mrope_section or axes_dims "
                       "names the pairs of each axis",
                       name);
    if (positions->shape.dim[0] == axes->n)
        return PE_OK;
    return pe_fail(why, PE_INVALID_PARAMETER, name,
                   "%s must be [n] or have a row for each of the %zu axes, got %zu", name, axes->n,
                   positions->shape.dim[0]);
}

/* ---- tables ---- */

/* A chunk has at most so many rows and so many frequencies: some hundred KiB of scratch. */
#define CHUNK_ROWS 256
#define CHUNK      16384

/* One call: what it was asked for, and scratch that its chunks share. */
typedef struct mixer {
    const pe_rope_axes *axes;
    const pe_wave *wave;
    const pe_wave_layout *layout;
    pe_dtype dtype;
    size_t n, item;   /* frequencies, bytes of an element */
    size_t most;      /* rows of a chunk */
    double *at;       /* [axes, most] */
    char *dense;      /* cosines and sines [most, 2 n] */
    uint32_t *source; /* [most]: the dense row of each */
} mixer;

static void copy_run(const mixer *m, const pe_rope_axis_run *run, const char *from, ptrdiff_t at,
                     char *row)
{
    const size_t item = m->item, stride = (size_t)m->layout->stride;
    from += run->at * item;
    row += (run->first * stride + (size_t)at) * item;
    if (stride == 1) {
        memcpy(row, from, run->count * item);
        return;
    }
    for (size_t i = 0; i < run->count; i++)
        memcpy(row + i * stride * item, from + i * item, item);
}

/* The elements of one axis, from dense rows to their places. */
static void place(const mixer *m, size_t axis, size_t rows, char *out)
{
    const pe_wave_layout *layout = m->layout;
    for (size_t r = 0; r < rows; r++, out += layout->row * m->item) {
        const char *from = m->dense + m->source[r] * 2 * m->n * m->item;
        for (size_t k = 0; k < m->axes->n_runs; k++) {
            const pe_rope_axis_run *run = &m->axes->run[k];
            if (run->axis != axis)
                continue;
            if (layout->cos_at >= 0)
                copy_run(m, run, from, layout->cos_at, out);
            if (layout->sin_at >= 0)
                copy_run(m, run, from + m->n * m->item, layout->sin_at, out);
        }
    }
}

/* The positions to make dense rows of. Integers that lie near each other, as on the rows of an
 * image, become the range that holds them: its rows are made faster, and each once. source says
 * which dense row each token takes. */
static pe_positions gather(const mixer *m, const double *at, size_t rows)
{
    double least = at[0], most = at[0];
    bool whole = true;
    for (size_t r = 0; r < rows; r++) {
        least = fmin(least, at[r]);
        most = fmax(most, at[r]);
        whole &= at[r] == floor(at[r]);
    }
    if (whole && most - least < (double)rows) {
        for (size_t r = 0; r < rows; r++)
            m->source[r] = (uint32_t)(at[r] - least);
        return pe_positions_range((int64_t)least, 1, (size_t)(most - least) + 1);
    }
    for (size_t r = 0; r < rows; r++)
        m->source[r] = (uint32_t)r;
    pe_positions list = {.count = rows, .shape = {1, {rows}}, .fractional = !whole};
    memcpy(&list.list, &at, sizeof at); /* borrowed: nobody frees or changes it */
    return list;
}

static bool all_equal(const mixer *m, size_t rows)
{
    for (size_t axis = 1; axis < m->axes->n; axis++)
        if (memcmp(m->at, m->at + axis * m->most, rows * sizeof *m->at) != 0)
            return false;
    return true;
}

static pe_status mix_chunk(const mixer *m, size_t rows, char *out, pe_problem *why)
{
    const pe_wave_layout dense = {
        .stride = 1, .cos_at = 0, .sin_at = (ptrdiff_t)m->n, .row = 2 * m->n};
    if (m->axes->own && all_equal(m, rows)) {
        /* Tokens of text have one position for all axes: the plain rotation. */
        pe_positions positions = gather(m, m->at, rows);
        bool in_order = positions.list == NULL;
        for (size_t r = 0; r < rows; r++)
            in_order &= m->source[r] == r;
        if (!in_order)
            positions = (pe_positions){.count = rows, .shape = {1, {rows}}, .list = m->at};
        const pe_wave_table table = {m->wave, &positions, m->layout, m->dtype};
        return pe_wave_table_rows(&table, 0, rows, out, why);
    }
    for (size_t axis = 0; axis < m->axes->n; axis++) {
        const pe_positions positions = gather(m, m->at + axis * m->most, rows);
        const pe_wave_table table = {m->wave, &positions, &dense, m->dtype};
        PE_TRY(pe_wave_table_rows(&table, 0, positions.count, m->dense, why));
        place(m, axis, rows, out);
    }
    return PE_OK;
}

pe_status pe_rope_axes_table(const pe_rope_axes_spec *table, size_t first, size_t rows, void *out,
                             pe_problem *why)
{
    mixer m = {.axes = table->axes,
               .wave = table->wave,
               .layout = table->layout,
               .dtype = table->dtype,
               .n = pe_wave_count(table->wave),
               .item = pe_dtype_bytes(table->dtype)};
    m.most = m.n < CHUNK / CHUNK_ROWS ? CHUNK_ROWS : m.n < CHUNK ? CHUNK / m.n : 1;
    m.most = pe_size_min(m.most, rows);
    m.at = calloc(m.axes->n * m.most, sizeof *m.at);
    m.dense = calloc(m.most * 2 * m.n, m.item);
    m.source = calloc(m.most, sizeof *m.source);
    pe_status status = PE_OK;
    if (m.at == NULL || m.dense == NULL || m.source == NULL)
        status = pe_fail_memory(why);
    char *to = out;
    for (size_t done = 0, some; done < rows && status == PE_OK; done += some) {
        some = rows - done < m.most ? rows - done : m.most;
        for (size_t axis = 0; axis < m.axes->n; axis++)
            for (size_t r = 0; r < some; r++)
                m.at[axis * m.most + r] = table->position(table->context, axis, first + done + r);
        status = mix_chunk(&m, some, to, why);
        to += some * m.layout->row * m.item;
    }
    free(m.at);
    free(m.dense);
    free(m.source);
    return status;
}
