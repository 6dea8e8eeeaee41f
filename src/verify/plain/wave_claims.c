/* SPDX-License-Identifier: MIT */
/* wave_claims.c - which coordinates and frequencies a table of waves by place is claimed to have. */
#include <math.h>
#include <string.h>

#include "plan/resource.h"
#include "verify/plain/plain_waves.h"

/* Frequencies are read off the claimed numbers, and hold where they give all of them again. */
static void read_frequencies(const pe_sequence *p)
{
    pe_waves *t = p->state;
    while (t->next + 1 < t->rows && t->height == 1 &&
           pe_waves_turn(p, p->of->claimed, t->next, 0) == 0)
        t->next++;
    for (size_t i = 0; i < t->pairs; i++) {
        const double across = t->width > 1 ? pe_waves_turn(p, p->of->claimed, t->next, i) : 0;
        const double down = t->height > 1 ? pe_waves_turn(p, p->of->claimed, t->below, i) : 0;
        t->axis[i] = fabs(across) >= fabs(down) ? (size_t)PE_ACROSS : (size_t)PE_DOWN;
        t->claimed.frequency[i] = fmax(fabs(across), fabs(down));
    }
}

/* 0: the claim has none. */
static double number_of(const pe_sequence *p, const char *name)
{
    return fmax(pe_slip_number(p, name), 0);
}

/* Beyond how many patches of an axis there is padding, or where distances end. */
static double end_of(const pe_sequence *p, const char *name)
{
    const double n = number_of(p, name);
    return n > 0 ? n : HUGE_VAL;
}

/* Of axes and pairs; the fastest frequency is 1 of patches, but for those whose coordinates are
 * centred. */
static void name_claim(const pe_sequence *p)
{
    pe_waves *t = p->state;
    const size_t half = t->pairs / 2;
    const double *w = t->claimed.frequency;
    const bool one = t->is.tensors != 0 && t->is.centred == 0;
    const bool shared = one && half > 0 && fabs(w[0] / w[half] - 1) > 1e-9;
    t->is.ladder = (double)(t->is.tensors != 0 && !shared ? half : t->pairs / t->blocks);
    t->is.grid = t->height > 1 && t->width > 1;
    t->is.timing = strcmp(p->of->resource, "sinusoidal/timing") == 0;
    t->side[PE_ACROSS] = (double)t->width;
    t->side[PE_DOWN] = (double)t->height;
    t->unit[PE_ACROSS] = t->unit[PE_DOWN] = one ? 1 : 0;
    for (size_t i = 0; i < t->pairs && !one; i++) {
        double *unit = &t->unit[t->axis[i]];
        *unit = fmax(*unit, w[i]);
    }
}

/* Frequencies from turns are as exact as sines of small angles are; coordinates may begin anywhere
 * that some value of the claim names, or have their zero in the middle. */
static bool finds_claim(const pe_sequence *p)
{
    pe_waves *t = p->state;
    const double firsts[] = {0,
                             1,
                             number_of(p, "offset"),
                             number_of(p, "start_index"),
                             number_of(p, "key_length"),
                             number_of(p, "key_length") - 1};
    for (size_t f = 0; f < (t->is.centred != 0 ? 1 : PE_LEN(firsts)); f++) {
        for (size_t i = 0; i < PE_GRID_AXES * t->rows; i++) {
            const size_t axis = i / t->rows;
            const double steps = pe_waves_steps(t, i % t->rows, axis, t->width, false);
            t->first[axis] = t->is.centred != 0 ? (1 - t->side[axis]) / 2 : firsts[f];
            t->claimed.coordinate[i] = t->first[axis] + (t->is.backward != 0 ? -steps : steps);
        }
        if (pe_waves_give_claim(p))
            return true;
    }
    return false;
}

/* Where the claim has a layout of rows. */
static void find_layout(const pe_sequence *p)
{
    pe_waves *t = p->state;
    const char *layout = pe_geometry_choice_text(p->values, "layout");
    const pe_value *normal = pe_values_find(p->values, "normalize");
    t->interleaved = strcmp(layout, "interleaved") == 0 || pe_slip_has(p, "variant", "conformer");
    t->cosine_first = strcmp(layout, "cos_sin") == 0;
    t->is.centred = pe_slip_has(p, "convention", "dinov3");
    t->is.normalized = t->is.centred != 0 || (normal != NULL && normal->present && normal->truth);
}

static bool is_of_coordinates(const pe_upload *upload)
{
    return strcmp(upload->name, "row_col") == 0;
}

static bool set_shape(const pe_sequence *p)
{
    pe_waves *t = p->state;
    const pe_upload_view *view = p->of->view;
    const char *name = view->claim->resource->name;
    const pe_upload *upload = view->claim->uploads, *main = upload;
    const bool grid = strstr(name, "/grid") != NULL, tensors = strcmp(name, "rope/grid") == 0;
    while (main + 1 < upload + view->n_tensors && is_of_coordinates(main))
        main++;
    const size_t columns = main->array.shape.dim[main->array.shape.ndim - 1];
    t->is.tensors = tensors;
    t->is.backward = strcmp(name, "sinusoidal/relative") == 0;
    t->blocks = grid && !tensors ? 2 : 1;
    t->columns = columns;
    t->axes = PE_GRID_AXES;
    t->pairs = tensors ? columns : columns / 2;
    t->extra = (size_t)number_of(p, "extra_tokens");
    t->rows = main->array.elements / columns - t->extra;
    t->width = grid ? (size_t)number_of(p, "width") : t->rows;
    t->height = grid ? (size_t)number_of(p, "height") : 1;
    t->valid[PE_ACROSS] = end_of(p, "valid_width");
    t->valid[PE_DOWN] = end_of(p, "valid_height");
    t->merge = tensors ? (size_t)fmax(number_of(p, "spatial_merge_size"), 1) : 1;
    t->next = 1;
    t->below = t->merge > 1 ? t->merge : t->width;
    for (size_t u = 0; u < view->n_tensors; u++)
        if (upload[u].array.elements != (t->extra + t->rows) * columns &&
            !(tensors && is_of_coordinates(&upload[u])))
            return false;
    return t->rows > 1 && t->pairs > 0 && t->height * t->width > 0 &&
           t->rows % (t->height * t->width) == 0 && t->width % t->merge == 0 &&
           (tensors || t->blocks == 1 || columns % 2 == 0) && t->pairs % t->blocks == 0;
}

pe_status pe_waves_of_places(pe_sequence *p, pe_problem *why)
{
    pe_waves *t = p->state;
    if (!set_shape(p))
        return PE_OK;
    PE_TRY(pe_waves_make_room(p, why));
    t->claimed.clamp = end_of(p, "clamp_len");
    find_layout(p);
    read_frequencies(p);
    name_claim(p);
    p->n = finds_claim(p) ? t->axes * t->rows : 0;
    return PE_OK;
}
