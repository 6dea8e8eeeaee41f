/* SPDX-License-Identifier: MIT */
/* values.h - the values that a request gives the parameters of a resource. */
#ifndef PE_PLAN_VALUES_H
#define PE_PLAN_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/buffer.h"
#include "plan/params.h"
#include "plan/positions.h"
#include "plan/token_runs.h"

struct pe_tables;                       /* tables/tables.h */
typedef struct pe_plan pe_plan;         /* plan/plan.h */
typedef struct pe_resource pe_resource; /* plan/resource.h */

/** Most choices of a CHOICES row. */
#define PE_PICKS_MAX 32

/** The value of one parameter. `present` after parsing: given by the client or filled from the
 * row. */
typedef struct pe_value {
    const pe_param *param; /* its row */
    bool present, given;
    /** Given, but not as the row wants it: what stands here is no value of the client's. `asked`: a
     * plan has looked at it, so its mistakes may be those of what stands here. `needed`: nothing
     * stands here in vain. */
    bool refused, asked, needed;
    int64_t integer;
    double real;
    bool truth;
    size_t choice;
    double *list;
    size_t list_length;
    char *text; /* owned */
    pe_positions positions;
    pe_array tensor;
    pe_token_runs runs;
    unsigned char picks[PE_PICKS_MAX];
    size_t n_picks;
    /** Where the client put it when not at the top level ("rope_parameters"), else NULL. For
     * pointers. */
    const char *parent;
    const char *alias; /* the name that the client gave it by, when not its row's, else NULL */
    bool is_synonym;   /* that is no alias of the row, but what others call it */
    bool is_switch;    /* the synonym was true or false, and stands for a value */
    const char *choice_alias; /* what others call the choice, by which it was given, else NULL */
} pe_value;

/** A value for each row of a resource, in the order of rows. */
typedef struct pe_values {
    size_t n;
    pe_value *value; /* n, owned */
} pe_values;

pe_status pe_values_make(const pe_param_set *const *sets, pe_values *out,
                         pe_problem *why) PE_MUST_CHECK;
void pe_values_free(pe_values *values);

/** Frees what a value holds: a refused one holds nothing, so that a default may stand there. */
void pe_value_clear(pe_value *value);

/** A copy, none of whose values counts as given by a client. Tensors stay those of `from`. */
pe_status pe_values_copy(const pe_values *from, pe_values *out, pe_problem *why) PE_MUST_CHECK;

/** The same with what was given. */
pe_status pe_values_lend(const pe_values *from, pe_values *out, pe_problem *why) PE_MUST_CHECK;

/** The value named so; NULL when there is no such row. */
pe_value *pe_values_find(const pe_values *values, const char *name);
/** The same, or else that of the row with this alias. */
pe_value *pe_values_called(const pe_values *values, const char *name);
/** Where the client put the value of this name: "rope_parameters/factor", or the alias. */
void pe_values_place(const pe_values *values, const char *name, char *out, size_t bytes);

/** "theta is taken for rope_theta, bf16 for bfloat16": which names and choices of others were given.
 * Nothing where none were. */
void pe_values_synonyms(const pe_values *values, pe_buffer *out);

/** Shorthands for rows that exist and are present (asserted). */
int64_t pe_values_int(const pe_values *values, const char *name);
double pe_values_real(const pe_values *values, const char *name);
bool pe_values_bool(const pe_values *values, const char *name);
size_t pe_values_size(const pe_values *values, const char *name); /* an integer from 0 on */
size_t pe_values_choice(const pe_values *values, const char *name);
bool pe_values_present(const pe_values *values, const char *name);
bool pe_values_given(const pe_values *values, const char *name);

/** The tensor and the positions of a row, whether or not it is present. */
const pe_array *pe_values_tensor(const pe_values *values, const char *name);
const pe_positions *pe_values_positions(const pe_values *values, const char *name);

/** Set and mark present (not given): derived defaults, as rotary_dim from head_dim. */
void pe_values_set_int(pe_values *values, const char *name, int64_t integer);
void pe_values_set_real(pe_values *values, const char *name, double real);
/** Positions first, first + 1, ... (count > 0), where the client has given none. */
void pe_values_set_range(pe_values *values, const char *name, int64_t first, size_t count);

/** A copy of n numbers in place of the list of a value, which is present then. */
pe_status pe_value_set_list(pe_value *value, const double *list, size_t n,
                            pe_problem *why) PE_MUST_CHECK;

/** Take the tensor of a row that has one out of values, to be kept or written to. A borrowed one
 * stays there, too: its numbers are in a body that is there for this request alone, or in a claim,
 * whose resources do not write to them. */
pe_array pe_values_take(pe_values *values, const char *name);

/** INVALID_PARAMETER at the value named so: "rope_parameters/factor" where the client put it. */
pe_status pe_values_invalid(const pe_values *values, const char *name, pe_problem *why,
                            const char *format, ...) __attribute__((format(printf, 4, 5)));

/** Fill every absent row that has a default. MISSING_PARAMETER for a required one that is absent,
 * names excepted: paths bring them. */
pe_status pe_values_defaults(pe_values *values, pe_problem *why) PE_MUST_CHECK;

/** The default of a row that has one; else the value is absent. */
pe_status pe_value_default(pe_value *value, pe_problem *why) PE_MUST_CHECK;

/** The element type that tensors of these values have: dtype's, else its default; float64 without
 * such a row. */
pe_dtype pe_values_dtype(const pe_values *values);

/** How many different things may stand in for a refused value. */
#define PE_PLACEHOLDERS 3
/** Put the given one of these, within its bounds, in the place of each value that is refused, or
 * was given and could not be read, so that a plan may be made for its other mistakes. The first is
 * the default, or that it is absent. False where nothing can stand there. */
bool pe_values_set_placeholders(pe_values *values, unsigned which);
/** How many refused values, of this kind or one after it, a plan has looked at. */
size_t pe_values_asked(const pe_values *values, pe_param_kind least);

/**
 * The canonical form: present values, sorted by name, defaults included, numbers in their shortest
 * text. Query text "base=10000&d_model=64&positions=0:128" / JSON object
 * {"base":10000,...,"positions":"0:128"}. Tensors are left out, and names of the query.
 */
void pe_values_query(const pe_values *values, pe_buffer *out);
void pe_values_json(const pe_values *values, pe_buffer *out);

/** One value as it stands in a query; tensors and texts are left out. */
void pe_value_print(const pe_value *value, pe_buffer *out);

#endif
