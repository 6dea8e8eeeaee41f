/* SPDX-License-Identifier: MIT */
/* axis_search.c - pairs of several axes: what is tried of them, alone and behind another mistake. */
#include <string.h>

#include "verify/axes/axis_reading.h"
#include "verify/mistakes/changes.h"

/* Other frequencies, each followed by `next`; then other positions. */
static pe_status try_reading(pe_search *s, pe_guess *guess, pe_try *next, pe_problem *why)
{
    bool made;
    pe_axis_reading x;
    const pe_comparison of = {s->whole, guess, &s->work};
    if (guess->n_faults == PE_FAULTS_MAX || !pe_attempts_go_on(s))
        return PE_OK;
    pe_status status = pe_axis_reading_make(&of, &x, &made, why);
    if (made && next != NULL)
        status = pe_axis_frequencies_each(s, &x, guess, next, why);
    if (made && status == PE_OK && pe_attempts_go_on(s))
        status = pe_axis_positions_try(s, &x, guess, why);
    pe_axis_reading_free(&x);
    return status;
}

static pe_status try_places(pe_search *s, pe_guess *guess, pe_problem *why)
{
    const pe_status status = pe_attempts_try(s, guess, why);
    return status == PE_OK ? try_reading(s, guess, NULL, why) : status;
}

static pe_status try_any(pe_search *s, pe_guess *guess, pe_problem *why)
{
    return try_reading(s, guess, try_places, why);
}

/* Does it change how all axes turn? */
static bool is_common(const pe_fault *fault)
{
    return (fault->param != NULL && strcmp(fault->param, "rope_theta") == 0) ||
           pe_faults_is_layout(fault) || fault->name == PE_NAME(inverse) ||
           fault->name == PE_NAME(scaling_dropped);
}

/* Of longer tables only a single mistake is looked for. */
#define BEHIND_MAX 512

static pe_status try_behind(pe_search *s, pe_guess *claim, pe_problem *why)
{
    static const pe_fault unscaled = {
        .name = PE_NAME(axes_scale), .param = "axes_scale", .change = pe_changes_ignored};
    pe_status status = PE_OK;
    if (s->whole->tokens > BEHIND_MAX)
        return PE_OK;
    if (pe_values_present(&claim->values, "axes_scale"))
        status = pe_attempts_with_fault(s, claim, &unscaled, try_any, why);
    for (size_t f = 0; f < pe_faults_n && status == PE_OK && pe_attempts_go_on(s); f++)
        if (is_common(&pe_faults[f]))
            status = pe_attempts_with_fault(s, claim, &pe_faults[f], try_any, why);
    return status;
}

static bool has_axes(const pe_upload_view *view)
{
    return view->axes > 1 && view->axes <= PE_AXES_MAX && !view->width_differs &&
           view->got != NULL && view->unsent_n == 0 && view->tokens > 1;
}

pe_status pe_axis_search_try(pe_search *s, pe_guess *guess, pe_problem *why)
{
    const pe_upload_view *view = s->view;
    if (!has_axes(s->whole))
        return PE_OK;
    s->view = s->whole;
    pe_status status = pe_attempts_set_positions(s, s->whole, guess, why);
    if (status == PE_OK)
        status = try_any(s, guess, why);
    if (status == PE_OK && pe_attempts_go_on(s))
        status = try_behind(s, guess, why);
    s->view = view;
    return status;
}
