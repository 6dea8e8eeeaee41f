/* SPDX-License-Identifier: MIT */
/* guess.c - a claim with faults applied to it. */
#include "verify/compare/guess.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/yield.h"
#include "verify/upload/upload_view.h"

#define FAULT(NAME, TEXT, RULE, REMEDY) const pe_fault_name pe_fault_##NAME = {TEXT, RULE, REMEDY};
#include "faults.inc"
#include "plan/plan.h"

/* ---- life ---- */

pe_status pe_guess_make(const pe_claim *claim, const pe_verify_context *context, pe_guess *out,
                        pe_problem *why)
{
    *out = (pe_guess){.claim = claim, .context = context, .distortion.positions.times = 1};
    return pe_values_copy(&claim->values, &out->values, why);
}

/* A guess is copied for each row that is tried with it. */
#define COPY_WORK 200

pe_status pe_guess_copy(const pe_guess *from, pe_guess *out, pe_problem *why)
{
    pe_guess made = *from;
    pe_yield_spend(COPY_WORK);
    made.rule = made.remedy = (pe_buffer){0};
    PE_TRY(pe_values_copy(&from->values, &made.values, why));
    if (from->rule.bytes > 0)
        pe_buffer_add(&made.rule, from->rule.data, from->rule.bytes);
    if (from->remedy.bytes > 0)
        pe_buffer_add(&made.remedy, from->remedy.data, from->remedy.bytes);
    *out = made;
    return PE_OK;
}

void pe_guess_free(pe_guess *guess)
{
    pe_values_free(&guess->values);
    pe_buffer_free(&guess->rule);
    pe_buffer_free(&guess->remedy);
}

pe_status pe_guess_plan(const pe_guess *guess, pe_values *values, pe_plan *out, pe_problem *why)
{
    const pe_verify_context *context = guess->context;
    return pe_plan_make(guess->claim->resource, values, context->tables, context->limits, out, why);
}

/* ---- positions ---- */

bool pe_guess_map_is_identity(const pe_position_map *map)
{
    return map->times == 1 && map->plus == 0 && map->round == NULL && map->move == NULL;
}

bool pe_guess_equation(const char *text, const pe_values *values, pe_equation *out)
{
    static const pe_term x[] = {{.name = "x"}, {0}};
    return pe_equation_read(text, x, NULL, values, NULL, out);
}

/* Positions that are moved. */
typedef struct moving {
    const pe_positions *from;
    const pe_position_map *map;
    pe_equation round;
} moving;

static double moved(const void *of, size_t k)
{
    const moving *m = of;
    const pe_position_map *map = m->map;
    const double position = pe_positions_at(m->from, k);
    if (map->move != NULL)
        return map->move(map->cause, k, position);
    const double p = position * map->times + map->plus, units = p * map->unit;
    return map->round != NULL ? pe_equation_at(&m->round, &units, 0) / map->unit : p;
}

bool pe_guess_map_positions(pe_positions *positions, const pe_position_map *map)
{
    pe_problem why;
    moving m = {.from = positions, .map = map};
    if (pe_guess_map_is_identity(map))
        return true;
    if (positions->list == NULL && positions->rows == NULL && positions->places == 0 &&
        map->round == NULL && map->times != 0 && map->times == floor(map->times) &&
        map->move == NULL) { /* it stays a range */
        const double first = moved(&m, 0), last = moved(&m, positions->count - 1);
        if (!(fabs(first) < PE_POSITION_LIMIT && fabs(last) < PE_POSITION_LIMIT))
            return false;
        positions->first = (int64_t)first;
        positions->step *= (int64_t)map->times;
        return true;
    }
    if (map->round != NULL && !pe_guess_equation(map->round, NULL, &m.round))
        return false;
    return pe_upload_positions_replace(positions, &positions->shape, moved, &m, &why) == PE_OK;
}

double pe_guess_roundoff(const pe_guess *guess)
{
    const pe_dtype dtype = guess->claim->uploads[0].array.dtype;
    const pe_narrow_type *stored = guess->distortion.stored;
    return dtype == PE_INT32
               ? 0
               : pe_power_of_two(-(stored != NULL ? stored : pe_narrow_type_of_dtype(dtype))->bits);
}

double pe_guess_sine_sign(const pe_guess *guess)
{
    return guess->distortion.negated ? -1 : 1;
}

double pe_guess_cosine_sign(const pe_guess *guess)
{
    return guess->distortion.cosine_negated ? -pe_guess_sine_sign(guess)
                                            : pe_guess_sine_sign(guess);
}

/* ---- what it stands for ---- */

const char *pe_guess_fault_name(const pe_fault *fault)
{
    return fault->name != NULL ? fault->name->text : fault->param;
}

const char *pe_fault_rule(const pe_fault *fault)
{
    const char *rule = fault->rule;
    if (rule == NULL && fault->name != NULL)
        rule = fault->name->rule;
    return rule != NULL ? rule : "";
}

const char *pe_fault_remedy(const pe_fault *fault)
{
    return fault->remedy != NULL || fault->name == NULL ? fault->remedy : fault->name->remedy;
}

void pe_guess_tell(pe_guess *guess, const pe_fault *fault, double a, double b)
{
    pe_guess_say(guess, fault, pe_fault_remedy(fault));
    pe_guess_format(guess, pe_fault_rule(fault), a, b);
}

void pe_guess_say(pe_guess *guess, const pe_fault *fault, const char *remedy)
{
    if (guess->rule.bytes > 0)
        pe_buffer_str(&guess->rule, "; ");
    if (guess->remedy.bytes > 0)
        pe_buffer_str(&guess->remedy, "; ");
    pe_buffer_str(&guess->remedy, remedy);
    if (guess->n_faults < PE_FAULTS_ROOM)
        guess->faults[guess->n_faults++] = fault;
}

void pe_guess_format(pe_guess *guess, const char *sentence, double a, double b)
{
    static const char larger[] = "larger by {", last[] = " to {b}";
    for (const char *c = sentence; *c != '\0'; c++) {
        const double x = strchr(c, '{') != NULL && strchr(c, '{')[1] == 'a' ? a : b;
        if (x < 0 && strncmp(c, larger, strlen(larger)) == 0) {
            pe_buffer_format(&guess->rule, "smaller by %.7g", -x);
            c += strlen(larger) + 1; /* and "a}" */
        } else if (a == b && strncmp(c, last, strlen(last)) == 0) {
            c += strlen(last) - 1; /* it is the only one */
        } else if (*c == '{') {
            pe_buffer_format(&guess->rule, "%.7g", x + 0.0); /* no -0 */
            c += 2;
        } else {
            pe_buffer_add(&guess->rule, c, 1);
        }
    }
}

char *pe_guess_parameters(const pe_guess *guess)
{
    pe_problem why;
    pe_values values;
    pe_buffer text = {0};
    if (pe_values_copy(&guess->values, &values, &why) != PE_OK)
        return NULL;
    pe_value *positions = pe_values_find(&values, "positions");
    if (positions != NULL && positions->present)
        (void)pe_guess_map_positions(&positions->positions, &guess->distortion.positions);
    if (positions != NULL && guess->context->sampled)
        positions->present = false;
    pe_values_json(&values, &text);
    pe_values_free(&values);
    char *copy = text.failed ? NULL : strdup(pe_buffer_text(&text));
    pe_buffer_free(&text);
    return copy;
}

static bool is_same_distortion(const pe_distortion *a, const pe_distortion *b)
{
    const pe_position_map *p = &a->positions, *q = &b->positions;
    return p->times == q->times && p->plus == q->plus && p->round == q->round &&
           p->unit == q->unit && p->move == q->move && p->cause == q->cause &&
           a->exchanged == b->exchanged && a->head_in_exponent == b->head_in_exponent &&
           a->negated == b->negated && a->cosine_negated == b->cosine_negated &&
           a->stored == b->stored && a->truncated == b->truncated &&
           a->frequencies == b->frequencies && a->angles == b->angles && a->waves == b->waves &&
           a->inv_freq == b->inv_freq && a->gain == b->gain && a->law == b->law &&
           a->law_context == b->law_context;
}

/* Positions are the same in all guesses: the distortion has the map that moves them. */
static bool is_same_value(const pe_value *a, const pe_value *b)
{
    pe_buffer x = {0}, y = {0};
    if (a->present != b->present || !a->present || strcmp(a->param->name, "positions") == 0)
        return a->present == b->present;
    pe_value_print(a, &x);
    pe_value_print(b, &y);
    const bool same = strcmp(pe_buffer_text(&x), pe_buffer_text(&y)) == 0;
    pe_buffer_free(&x);
    pe_buffer_free(&y);
    return same;
}

bool pe_guess_is_same(const pe_guess *a, const pe_guess *b)
{
    if (!is_same_distortion(&a->distortion, &b->distortion))
        return false;
    for (size_t i = 0; i < a->values.n; i++)
        if (!is_same_value(&a->values.value[i], &b->values.value[i]))
            return false;
    return true;
}
