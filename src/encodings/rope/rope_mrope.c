/* SPDX-License-Identifier: MIT */
/* rope_mrope.c - which pairs of a rotation by several axes turn by which, and by which frequencies. */
#include "encodings/rope/rope_mrope.h"

#include <assert.h>
#include <stdlib.h>

#include "plan/plan.h"

/* The sections of a request. */
typedef struct sections {
    size_t n, pairs;
    size_t of[PE_ROPE_AXES_MAX];
} sections;

/* ---- layouts ---- */

static void one_after_the_other(const sections *s, unsigned char *axis)
{
    size_t p = 0;
    for (size_t a = 0; a < s->n; a++)
        for (size_t i = 0; i < s->of[a]; i++)
            axis[p++] = (unsigned char)a;
}

/* What no section takes goes to axis 0, of four sections (ggml) to the fourth. */
static void interleaved(const sections *s, unsigned char *axis)
{
    const size_t rest = s->n == 4 ? 3 : 0;
    for (size_t p = 0; p < s->pairs; p++)
        axis[p] = (unsigned char)(p < 3 * s->of[p % 3] ? p % 3 : rest);
}

/* Height and width alternate over the first pairs; time has the others. */
static void space_then_time(size_t space, size_t pairs, unsigned char *axis)
{
    for (size_t p = 0; p < pairs; p++)
        axis[p] = (unsigned char)(p < space ? 1 + p % 2 : 0);
}

static void ernie(const sections *s, unsigned char *axis)
{
    space_then_time(s->of[0] + s->of[1], s->pairs, axis);
}

static void bailing(const sections *s, unsigned char *axis)
{
    space_then_time(s->of[1] + s->of[2], s->pairs, axis);
}

static void balanced(const sections *s, unsigned char *axis)
{
    const size_t kept = s->n == 3 ? 1 : 0; /* the last pair is the first axis's */
    size_t whole[PE_ROPE_AXES_MAX], placed[PE_ROPE_AXES_MAX] = {0}, last = s->n;
    for (size_t a = 0; a < s->n; a++)
        whole[a] = s->of[a] - (a == 0 ? kept : 0);
    for (size_t p = 0; p + kept < s->pairs; p++) {
        /* The axis of which the least share is placed, placed[a] / whole[a], compared exactly. Only
         * axes with pairs left count, and `last` only if it is the one left. */
        const size_t n = s->n;
        size_t best = n;
        for (size_t a = 0; a < n; a++)
            if (placed[a] < whole[a] && a != last &&
                (best == n || placed[a] * whole[best] < placed[best] * whole[a]))
                best = a;
        last = best == n ? last : best;
        placed[last]++;
        axis[p] = (unsigned char)last;
    }
    if (kept != 0)
        axis[s->pairs - 1] = 0;
}

/* A row of the table of layouts. */
typedef struct mrope_layout {
    size_t least, most; /* axes */
    void (*fill)(const sections *s, unsigned char *axis);
    size_t same[2]; /* sections that must be equal; the same one twice: none */
    size_t filled;  /* a section that must not be 0; PE_ROPE_AXES_MAX: none */
} mrope_layout;

enum { SECTIONS, INTERLEAVED };

const char *const pe_rope_mrope_layouts[] = {
    [SECTIONS] = "sections", [INTERLEAVED] = "interleaved", "ernie", "bailing", "balanced", NULL};
static const mrope_layout layouts[] = {
    [SECTIONS] = {1, PE_ROPE_AXES_MAX, one_after_the_other, {0, 0}, PE_ROPE_AXES_MAX},
    [INTERLEAVED] = {3, 4, interleaved, {0, 0}, PE_ROPE_AXES_MAX},
    {3, 3, ernie, {0, 1}, PE_ROPE_AXES_MAX},
    {3, 3, bailing, {1, 2}, PE_ROPE_AXES_MAX},
    {2, 3, balanced, {0, 0}, 0},
};

/* ---- parameters ---- */

pe_status pe_rope_mrope_check(const pe_values *values, pe_problem *why)
{
    static const struct {
        const char *name, *with;
    } others[] = {{"mrope_layout", "mrope_section"},
                  {"mrope_interleaved", "mrope_section"},
                  {"axis_order", "axes_dims"},
                  {"axes_theta", "axes_dims"},
                  {"axes_scale", "axes_dims"}};
    pe_status status = PE_OK;
    pe_problem mistake;
    for (size_t i = 0; i < PE_LEN(others); i++)
        if (!pe_values_present(values, others[i].with) && pe_values_present(values, others[i].name))
            status = PE_ALSO(status, pe_values_invalid(values, others[i].name, &mistake,
                                                       "%s goes with %s, which is absent",
                                                       others[i].name, others[i].with));
    return status;
}

/* mrope_layout and mrope_interleaved must agree; what is absent follows from the other. */
static pe_status settle_layout(pe_values *values, size_t *out, pe_problem *why)
{
    pe_value *layout = pe_values_find(values, "mrope_layout");
    pe_value *flag = pe_values_find(values, "mrope_interleaved");
    if (!layout->present)
        layout->choice = flag->present && flag->truth ? INTERLEAVED : SECTIONS;
    if (flag->present && flag->truth != (layout->choice == INTERLEAVED))
        return pe_values_invalid(
            values, "mrope_interleaved", why, "mrope_interleaved must be %s with mrope_layout %s",
            flag->truth ? "false" : "true", pe_rope_mrope_layouts[layout->choice]);
    flag->truth = layout->choice == INTERLEAVED;
    flag->present = layout->present = true;
    *out = layout->choice;
    return PE_OK;
}

static pe_status check_sections(const pe_values *values, size_t choice, const sections *s,
                                pe_problem *why)
{
    const mrope_layout *layout = &layouts[choice];
    const char *name = pe_rope_mrope_layouts[choice];
    if (s->n < layout->least || s->n > layout->most)
        return pe_values_invalid(
            values, "mrope_section", why,
            "mrope_section must have %zu to %zu sections with mrope_layout %s, got %zu",
            layout->least, layout->most, name, s->n);
    const size_t first = s->of[layout->same[0]], second = s->of[layout->same[1]];
    if (first != second)
        return pe_values_invalid(
            values, "mrope_section", why,
            "the sections of height and width must be equal with mrope_layout %s, got %zu and %zu",
            name, first, second);
    if (layout->filled < s->n && s->of[layout->filled] == 0)
        return pe_values_invalid(values, "mrope_section", why,
                                 "the first section must not be 0 with mrope_layout %s", name);
    return PE_OK;
}

static pe_status read_dims(const pe_values *values, pe_rope *rope, pe_problem *why)
{
    const pe_value *dims = pe_values_find(values, "axes_dims");
    pe_rope_formula *formula = rope->formula;
    uint64_t sum = 0;
    formula->n_inv_freqs = dims->list_length;
    for (size_t k = 0; k < dims->list_length; k++) {
        const uint64_t dim = (uint64_t)dims->list[k];
        if (dim % 2 != 0)
            return pe_values_invalid(values, "axes_dims", why,
                                     "each number of axes_dims must be even, got %llu",
                                     (unsigned long long)dim);
        formula->inv_freq[k] = (pe_rope_inv_freq){sum / 2, dim, formula->theta, 1};
        sum += dim;
    }
    if (sum == rope->rotary_dim)
        return PE_OK;
    return pe_values_invalid(values, "axes_dims", why,
                             "axes_dims must sum to rotary_dim = %zu channels, got %llu",
                             rope->rotary_dim, (unsigned long long)sum);
}

/* A list of one number for each axis, or NULL where it is absent. */
static pe_status read_list(const pe_values *values, const char *name, size_t n, const double **out,
                           pe_problem *why)
{
    const pe_value *list = pe_values_find(values, name);
    *out = NULL;
    if (!pe_values_present(values, name))
        return PE_OK;
    *out = list->list;
    if (list->list_length == n)
        return PE_OK;
    return pe_values_invalid(values, name, why,
                             "%s must have a number for each of the %zu axes of axes_dims, got %zu",
                             name, n, list->list_length);
}

static pe_status read_axes(const pe_values *values, pe_rope *rope, pe_problem *why)
{
    const double *theta, *scale, *order;
    unsigned named = 0;
    /* What does not go with frequencies of each axis. */
    static const char *const others[] = {"mrope_section", "mrope_layout", "mrope_interleaved"};
    for (size_t i = 0; i < PE_LEN(others); i++)
        if (pe_values_present(values, others[i]))
            return pe_values_invalid(values, others[i], why, "%s does not go with axes_dims",
                                     others[i]);
    if (rope->formula->type != &pe_rope_default)
        return pe_values_invalid(values, "rope_type", why,
                                 "rope_type must be default with axes_dims, got %s; axes_scale "
                                 "stretches each axis",
                                 rope->formula->type->name);
    if (rope->float32)
        return pe_values_invalid(values, "numerics", why,
                                 "numerics must be exact with axes_dims: no float32 reference is "
                                 "followed");
    PE_TRY(read_dims(values, rope, why));
    pe_rope_formula *formula = rope->formula;
    const size_t n = formula->n_inv_freqs;
    PE_TRY(read_list(values, "axes_theta", n, &theta, why));
    PE_TRY(read_list(values, "axes_scale", n, &scale, why));
    for (size_t k = 0; k < n; k++) {
        pe_rope_inv_freq *inv_freq = &formula->inv_freq[k];
        inv_freq->theta = theta != NULL ? theta[k] : inv_freq->theta;
        inv_freq->scale = scale != NULL ? scale[k] : 1;
        if (inv_freq->scale != 1 && inv_freq->dim == 2)
            return pe_values_invalid(
                values, "axes_scale", why,
                "axes_scale must be 1 for an axis of 2 channels: " PE_ROPE_NO_EXPONENT);
    }
    /* The axis of each list of frequencies: every one once. */
    PE_TRY(read_list(values, "axis_order", n, &order, why));
    for (size_t k = 0; k < n && order != NULL; k++)
        named |= 1U << (size_t)order[k];
    if (order != NULL && named != (1U << n) - 1)
        return pe_values_invalid(values, "axis_order", why,
                                 "axis_order must name each of the axes 0 to %zu once", n - 1);
    unsigned char *axis = malloc(rope->pairs);
    if (axis == NULL)
        return pe_fail_memory(why);
    for (size_t k = 0; k < n; k++)
        for (uint64_t j = 0; j < formula->inv_freq[k].dim / 2; j++)
            axis[formula->inv_freq[k].first + j] =
                (unsigned char)(order != NULL ? (size_t)order[k] : k);
    rope->axes = pe_rope_axes_make(n, rope->pairs, axis, NULL);
    free(axis);
    return rope->axes != NULL ? PE_OK : pe_fail_memory(why);
}

pe_status pe_rope_mrope_read(pe_values *values, pe_rope *rope, pe_problem *why)
{
    sections s;
    size_t choice = SECTIONS, got[PE_ROPE_AXES_MAX] = {0};
    pe_problem mistake;
    if (pe_values_present(values, "axes_dims"))
        return read_axes(values, rope, why);
    pe_status status = pe_rope_mrope_check(values, why);
    if (!pe_values_present(values, "mrope_section"))
        return status;
    status = PE_ALSO(status, settle_layout(values, &choice, &mistake));
    const pe_value *list = pe_values_find(values, "mrope_section");
    size_t sum = 0;
    s = (sections){.n = list->list_length, .pairs = rope->pairs};
    for (size_t a = 0; a < s.n; a++) {
        /* a guess of verify may say less than none: no sum is right then */
        s.of[a] = list->list[a] >= 0 ? (size_t)list->list[a] : s.pairs + 1;
        sum += s.of[a];
    }
    if (sum != s.pairs)
        status = PE_ALSO(
            status, pe_values_invalid(values, "mrope_section", &mistake,
                                      "mrope_section must sum to rotary_dim/2 = %zu pairs, got %zu",
                                      s.pairs, sum));
    if (status == PE_OK)
        status = check_sections(values, choice, &s, why);
    PE_TRY(status);
    assert(rope->pairs > 0);
    unsigned char *axis = malloc(rope->pairs);
    if (axis == NULL)
        return pe_fail_memory(why);
    layouts[choice].fill(&s, axis);
    rope->axes = pe_rope_axes_make(s.n, s.pairs, axis, NULL);
    for (size_t p = 0; p < s.pairs; p++)
        got[axis[p]]++;
    for (size_t a = 0; a < s.n && choice == INTERLEAVED; a++)
        rope->uneven |= got[a] != s.of[a];
    free(axis);
    return rope->axes != NULL ? PE_OK : pe_fail_memory(why);
}

void pe_rope_mrope_warn(const pe_rope *rope, pe_plan *plan)
{
    if (rope->uneven)
        pe_plan_warn(plan, "the axes of the interleaved layout do not get the pairs that "
                           "mrope_section names: pairs past the last fall to axis 0, or to the "
                           "fourth of four, as in the published code");
}
