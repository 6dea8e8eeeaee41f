/* SPDX-License-Identifier: MIT */
/* rope_compare.c - rope types side by side, for a context longer than the model was trained for. */
#include "compare/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/yield.h"
#include "encodings/registry.h"
#include "encodings/rope/rope.h"
#include "encodings/rope/rope_params.h"
#include "encodings/rope/rope_spectrum.h"

/* The types that are compared. */
#define TYPE_compared(name) &pe_rope_##name,
#define TYPE_left_out(name)
#define TYPE(name, how, work) TYPE_##how(name)
#define NAME_compared(name)   #name,
#define NAME_left_out(name)
#define NAME(name, how, work) NAME_##how(name)

/* NULL: what the model's own configuration says. */
static const pe_rope_type *const types[] = {NULL, PE_ROPE_TYPE_MAP(TYPE)};
static const char *const type_names[] = {"published", PE_ROPE_TYPE_MAP(NAME) NULL};

static const pe_param model_params[] = {
    PE_PARAM("model", TEXT, .optional = true, .canonical = true, .max = 96,
             .help = "A model of the catalogue (GET /v1/models). It sets the parameters that the "
                     "request does not give.",
             .example = "llama-3.1-8b"),
    PE_PARAM("layer_type", TEXT, .optional = true, .canonical = true, .max = 64,
             .fallback_text = "full_attention",
             .help = "The layers of the model that are meant: a type of layers, or the number of "
                     "one layer, from 0.",
             .example = "full_attention"),
};

static const pe_param head_dim_params[] = {
    PE_PARAM("head_dim", INT, .required = true, .by_model = true, .min = 2,
             .max = 4096, /* there is no model near it, and a type evaluates every pair */
             .plan_work = PE_PLAN_WORK_POWERS, .unit = "channels", .help = "Channels of a head.",
             .example = "128"),
};

static const pe_param own_params[] = {
    PE_PARAM("max_position_embeddings", INT,
             .hint = "It takes head_dim=128&max_position_embeddings=4096&target_length=16384, or "
                     "model=NAME&target_length=131072.",
             .required = true, .by_model = true, .min = 1, .max = PE_ROPE_LENGTH_MAX,
             .unit = "tokens", .help = "The context length of training.", .example = "4096"),
    PE_PARAM("target_length", INT, .optional = true, .min = 1, .max = PE_ROPE_LENGTH_MAX,
             .fallback_text = "floor(max_position_embeddings * factor)", .unit = "tokens",
             .help = "The wanted context length. It is at least max_position_embeddings.",
             .example = "16384"),
    PE_ROPE_FACTOR_ROW(false, "target_length / max_position_embeddings"),
    PE_PARAM("rope_types", CHOICES, .choices = type_names, .optional = true,
             .fallback_text =
                 "a model's published one, and each type whose keys are given or have a default",
             .help = "The rope types to compare, in the order of the answer's first axis. "
                     "published is the model's own configuration, as it is.",
             .example = "default,linear,ntk,yarn"),
    PE_PARAM(
        "pairing", CHOICE, .optional = true, .choices = pe_rope_params_pairings,
        .fallback_text = "the model's; else that of /v1/rope/frequencies",
        .help =
            "The channels that form a pair, for the setting posenc: no frequency depends on it.",
        .example = "half"),
};

/* ---- the numbers ---- */

typedef struct compare {
    pe_rope_lengths lengths;
    size_t pairs, n;
    size_t unturned; /* pairs from here on never turned while training */
    pe_shared_wave unscaled;
    pe_compared_model own;
    pe_engines engines;
    pe_rope_candidate candidate[PE_LEN(types)];
} compare;

/* Tensors [types, pairs]. */
static const struct {
    const char *name;
    pe_spectrum_kind kind;
} spectra[] = {
    {"inv_freq", PE_SPECTRUM_FREQUENCY},
    {"wavelength", PE_SPECTRUM_WAVELENGTH},
    {"stretch", PE_SPECTRUM_STRETCH},
    {"turns", PE_SPECTRUM_TURNS},
};

static pe_spectrum_values values_of(const compare *state, size_t type, pe_spectrum_kind kind)
{
    return (pe_spectrum_values){.kind = kind,
                                .wave = state->candidate[type].wave.wave,
                                .unscaled = state->unscaled.wave,
                                .length = state->lengths.trained,
                                .target = state->lengths.target};
}

/* Is the value below the limit? Turns never equal it: they are irrational. What rounds to another
 * number than the limit is on that side of it. */
static bool is_below(const pe_spectrum_values *values, size_t i, double limit)
{
    const double rounded = pe_rope_spectrum_value(values, PE_FLOAT64, i);
    if (rounded != limit)
        return rounded < limit;
    mpfr_t value;
    mpfr_init2(value, 256);
    pe_rope_spectrum_eval(values, i, value);
    const bool below = mpfr_cmp_d(value, limit) < 0;
    mpfr_clear(value);
    return below;
}

/* Tensors [types]. From SLOW on an element looks at every pair. */
enum { ATTENTION, BASE, SLOW, UNSEEN, LARGEST };
static const struct {
    const char *name;
    pe_dtype dtype;
} facts[] = {
    [ATTENTION] = {"attention_factor", PE_FLOAT64},
    [BASE] = {"base", PE_FLOAT64},
    [SLOW] = {"slow_pairs", PE_INT32},
    [UNSEEN] = {"unseen_pairs", PE_INT32},
    [LARGEST] = {"largest_angle", PE_FLOAT64},
};

/* Unseen is beyond training by a token or more; the rounding of factor is less than that. */
static double fact_of(const compare *state, size_t type, size_t fact)
{
    const pe_rope_candidate *of = &state->candidate[type];
    const pe_spectrum_values turns = values_of(state, type, PE_SPECTRUM_TURNS);
    const pe_spectrum_values reach = values_of(state, type, PE_SPECTRUM_REACH);
    const double beyond = (state->lengths.trained + 1) / state->lengths.trained;
    double found = fact == ATTENTION ? of->attention_factor : fact == BASE ? of->base : 0;
    for (size_t i = fact == SLOW ? 0 : state->unturned; fact >= SLOW && i < state->pairs; i++)
        if (fact == LARGEST)
            found = fmax(found, pe_rope_spectrum_value(&reach, PE_FLOAT64, i));
        else
            found += fact == SLOW ? is_below(&turns, i, 1) : !is_below(&reach, i, beyond);
    return found;
}

static pe_status fill(const pe_plan *plan, const pe_region *region, void *out,
                      pe_problem *why PE_UNUSED)
{
    const compare *state = plan->state;
    const pe_dtype dtype = plan->tensors[region->tensor].dtype;
    const size_t t = region->tensor, end = region->first + region->units;
    unsigned char *to = out;
    for (size_t e = region->first; e < end; e++, to += pe_dtype_bytes(dtype)) {
        if (t >= PE_LEN(spectra)) {
            pe_dtype_store(dtype, fact_of(state, e, t - PE_LEN(spectra)), to);
            continue;
        }
        const pe_spectrum_values values = values_of(state, e / state->pairs, spectra[t].kind);
        pe_dtype_store(dtype, pe_rope_spectrum_value(&values, dtype, e % state->pairs), to);
    }
    return PE_OK;
}

static void release(void *of)
{
    compare *state = of;
    for (size_t c = 0; c < state->n; c++)
        pe_rope_candidate_free(&state->candidate[c]);
    pe_tables_unref(&state->unscaled);
    pe_compared_model_free(&state->own);
    pe_engines_free(&state->engines);
}

/* ---- lengths ---- */

static pe_status read_lengths(pe_values *values, pe_rope_lengths *out, pe_problem *why)
{
    if (!pe_values_present(values, "target_length") && !pe_values_present(values, "factor"))
        return pe_fail(why, PE_MISSING_PARAMETER, "target_length",
                       "target_length is required, or factor in its place, as target_length=131072 "
                       "or factor=4: how long the context is to be");
    const double trained = (double)pe_values_int(values, "max_position_embeddings");
    *out = (pe_rope_lengths){trained, trained, 1}; /* while none is known */
    if (!pe_values_present(values, "target_length")) {
        /* floor(trained * factor), as if the product were not rounded */
        const double factor = pe_values_real(values, "factor");
        const double product = trained * factor, whole = floor(product);
        const double made =
            whole == product && fma(trained, factor, -product) < 0 ? whole - 1 : whole;
        if (made > PE_ROPE_LENGTH_MAX)
            return pe_values_invalid(
                values, "factor", why,
                "max_position_embeddings * factor must be at most 1e12, got %.17g", made);
        pe_values_set_int(values, "target_length", (int64_t)made);
    }
    const double target = (double)pe_values_int(values, "target_length");
    if (target < trained)
        return pe_values_invalid(
            values, "target_length", why,
            "target_length must be at least max_position_embeddings, %.17g, got %.17g", trained,
            target);
    if (!pe_values_present(values, "factor") && target / trained > PE_ROPE_FACTOR_MAX)
        return pe_values_invalid(
            values, "target_length", why,
            "target_length must be at most 1e6 times max_position_embeddings, got %.17g and %.17g",
            target, trained);
    if (!pe_values_present(values, "factor"))
        pe_values_set_real(values, "factor", target / trained);
    *out = (pe_rope_lengths){trained, target, pe_values_real(values, "factor")};
    return PE_OK;
}

/* ---- types ---- */

/* Does the model say the key of its own type? */
static const pe_value *own_value(const compare *state, const pe_rope_type *type, pe_rope_key key)
{
    const pe_value *value = NULL;
    if (state->own.model != NULL && state->own.type == type)
        value = pe_values_find(&state->own.layers->values, pe_rope_key_name(key));
    return value != NULL && value->present ? value : NULL;
}

static bool suffices(const compare *state, const pe_values *values, const pe_rope_type *type)
{
    if (type == NULL) {
        /* The model's own configuration stands beside types that rotate the same pairs, all of
         * them. */
        const pe_compared_model *own = &state->own;
        return own->model != NULL && !pe_values_present(&own->layers->values, "axes_dims");
    }
    bool known = true; /* is each key given, or does rope/compare know it? */
    for (pe_rope_key k = 0; k < PE_ROPE_KEYS; k++) {
        bool here = k == PE_ROPE_ORIGINAL || own_value(state, type, k) != NULL ||
                    pe_values_present(values, pe_rope_key_name(k));
        for (size_t d = 0; d < type->n_compared_with; d++)
            here |= type->compared_with[d].key == k;
        known &= here || (type->needs & PE_ROPE_BIT(k)) == 0;
    }
    return known && 2 * state->pairs >= type->min_dim;
}

static pe_status check_keys(const compare *state, pe_values *values, pe_problem *why)
{
    const pe_value *chosen = pe_values_find(values, "rope_types");
    unsigned reads = PE_ROPE_BIT(PE_ROPE_FACTOR) | PE_ROPE_BIT(PE_ROPE_MAX_POSITIONS);
    for (size_t c = 0; c < chosen->n_picks; c++)
        reads |= types[chosen->picks[c]] != NULL ? types[chosen->picks[c]]->reads : 0;
    pe_status status = PE_OK;
    pe_problem mistake;
    for (pe_rope_key k = 0; k < PE_ROPE_KEYS; k++) {
        const char *name = pe_rope_key_name(k);
        if ((reads & PE_ROPE_BIT(k)) == 0 && pe_values_given(values, name))
            status =
                PE_ALSO(status, pe_values_invalid(values, name, &mistake,
                                                  "%s is read by none of the rope_types", name));
    }
    for (size_t t = 0; t < chosen->n_picks; t++) {
        /* Keys that have a default where types are compared. */
        const pe_rope_type *type = types[chosen->picks[t]];
        for (size_t d = 0; type != NULL && d < type->n_compared_with; d++) {
            const pe_rope_key_default *key = &type->compared_with[d];
            const pe_value *own = own_value(state, type, key->key);
            if (!pe_values_present(values, pe_rope_key_name(key->key)))
                pe_values_set_real(values, pe_rope_key_name(key->key),
                                   own != NULL ? own->real : key->value);
        }
    }
    return status;
}

/* What the types have in common: the frequencies that were trained. */
static pe_status read_trained(pe_values *values, pe_tables *tables, compare *state, pe_problem *why)
{
    pe_rope_candidate trained = {.type = &pe_rope_default};
    const pe_compared_model none = {0};
    PE_TRY(pe_rope_candidate_read(values, &state->lengths, &none, tables, &trained, why));
    state->pairs = trained.rope.pairs;
    state->unscaled = trained.wave;
    /* The first pair that made less than one turn while training. Frequencies fall from pair to
     * pair, so all after it did. */
    const pe_spectrum_values turns = {
        .kind = PE_SPECTRUM_TURNS, .wave = state->unscaled.wave, .length = state->lengths.trained};
    size_t low = 0, high = state->pairs;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (is_below(&turns, middle, 1))
            high = middle;
        else
            low = middle + 1;
    }
    state->unturned = low;
    trained.wave = (pe_shared_wave){0};
    pe_values_set_int(values, "rotary_dim", pe_values_int(&trained.values, "rotary_dim"));
    pe_values_set_real(values, "partial_rotary_factor",
                       pe_values_real(&trained.values, "partial_rotary_factor"));
    pe_rope_candidate_free(&trained);
    return PE_OK;
}

static pe_status read_candidate(const pe_values *values, size_t pick, pe_tables *tables,
                                compare *state, pe_problem *why)
{
    pe_rope_candidate *made = &state->candidate[state->n];
    made->type = types[pick];
    PE_TRY(pe_rope_candidate_read(values, &state->lengths, &state->own, tables, made, why));
    made->name = type_names[pick];
    state->n++;
    if (made->rope.pairs == state->pairs && made->rope.formula->n_inv_freqs == 0 &&
        made->rope.formula->turning >= state->pairs)
        return PE_OK;
    return pe_fail(why, PE_INVALID_PARAMETER, "rope_types",
                   "published rotates other pairs than the types that it is compared with");
}

static pe_status read_types(pe_values *values, pe_tables *tables, compare *state, pe_problem *why)
{
    pe_problem mistake;
    PE_TRY(pe_compared_model_read(values, &state->own, why));
    /* The length without scaling is the model's, unless the client gave one. */
    pe_value *length = pe_values_find(values, "max_position_embeddings");
    if (length->present && !length->given && state->own.trained != 0)
        length->integer = (int64_t)state->own.trained;
    pe_status status = read_lengths(values, &state->lengths, why);
    if (status == PE_MISSING_PARAMETER)
        return status;
    status = PE_ALSO(status, read_trained(values, tables, state, &mistake));
    pe_value *chosen = pe_values_find(values, "rope_types");
    for (size_t t = 0; t < PE_LEN(types) && !chosen->present && status == PE_OK; t++)
        if (suffices(state, values, types[t]))
            chosen->picks[chosen->n_picks++] = (unsigned char)t;
    chosen->present |= status == PE_OK;
    if (chosen->present)
        status = PE_ALSO(status, check_keys(state, values, &mistake));
    for (size_t c = 0; c < chosen->n_picks && status == PE_OK; c++)
        status = read_candidate(values, chosen->picks[c], tables, state, why);
    return status;
}

/* ---- the plan ---- */

/* Units of work of a type's values and settings beside its frequencies, measured. */
#define TYPE_WORK 6144

static pe_status plan(pe_values *values, pe_plan *out, pe_problem *why)
{
    const pe_dtype dtype = pe_values_dtype(values);
    PE_TRY(pe_plan_begin(out, sizeof(compare), fill, why));
    compare *state = out->state;
    pe_plan_owns(out, state, release);
    PE_TRY(read_types(values, out->tables, state, why));
    const pe_shape each = {2, {state->n, state->pairs}}, one = {1, {state->n}};
    for (size_t t = 0; t < PE_LEN(spectra); t++) {
        PE_TRY(pe_plan_add_tensor(out, spectra[t].name, dtype, &each, 1, why));
        PE_TRY(pe_plan_set_work(out, t, PE_SPECTRUM_WORK, why));
    }
    for (size_t f = 0; f < PE_LEN(facts); f++) {
        pe_status status = pe_plan_add_tensor(out, facts[f].name, facts[f].dtype, &one, 1, why);
        if (status == PE_OK && f >= SLOW)
            status =
                pe_plan_set_work(out, PE_LEN(spectra) + f, state->pairs * PE_SPECTRUM_WORK, why);
        PE_TRY(status);
    }
    for (size_t t = 0; t < PE_LEN(spectra); t++)
        for (size_t c = 0; c < state->n; c++) {
            const pe_spectrum_values of = values_of(state, c, spectra[t].kind);
            PE_TRY(pe_rope_spectrum_check(&of, spectra[t].name, dtype, state->pairs, why));
        }
    pe_compared_model_warn(&state->own, &state->lengths, out);
    PE_TRY(pe_engines_read(&state->engines, why));
    for (size_t c = 0; c < state->n; c++) {
        pe_yield_spend(TYPE_WORK);
        PE_TRY(pe_engines_tell(&state->engines, &state->candidate[c], &state->lengths, &state->own,
                               out, why));
    }
    return PE_OK;
}

/**
 * For each type, with L = max_position_embeddings, the trained length, and T = target_length:
 *
 *     turns_i       = L theta'_i / (2 pi)
 *     slow_pairs    = how many turns_i < 1
 *     unseen_pairs  = how many i have L theta_i < 2 pi and T theta'_i >= (L + 1) theta_i
 *     largest_angle = max T theta'_i / (L theta_i) over i with L theta_i < 2 pi, 0 without any
 *
 * theta_i are the unscaled frequencies, which training saw, and theta'_i those of the type. A pair
 * that never turned while training has phases that were never seen; unseen_pairs counts those that
 * a context of T tokens takes there, a token or more beyond training, and largest_angle says how
 * far.
 *
 * Source  the types: rope_types.h; turns and unseen phases: Peng et al. 2023, arXiv:2309.00071,
 *         section 3.2; settings: config/engines.json.
 * Shapes  inv_freq, wavelength, stretch, turns: [types, rotary_dim/2]; attention_factor, base,
 *         largest_angle: [types], float64; slow_pairs, unseen_pairs: [types], int32.
 * Accuracy  correctly rounded; inv_freq, wavelength and stretch are those of rope/frequencies.
 * Errors  INVALID_PARAMETER: a target below the trained length, a key that no type reads;
 *         MISSING_PARAMETER: no target, a key that a type needs.
 */
const pe_resource pe_rope_compare = {
    PE_NAMED("rope", "/compare"),
    .kind = PE_TABLE,
    .summary =
        "A comparison of rope types for a longer context, with the settings for inference engines.",
    .formula = "turns_i = max_position_embeddings * theta_i / (2 pi); largest_angle = max "
               "target_length * theta_i / (max_position_embeddings * unscaled theta_i) over pairs "
               "that never turned while training",
    .labels = PE_LABELS({"inv_freq", "rope_types, pair", "inv_freq [radians per position]"},
                        {"wavelength", "rope_types, pair", "wavelength [positions]"},
                        {"stretch", "rope_types, pair", NULL}, {"turns", "rope_types, pair", NULL},
                        {.axes = "rope_types"}),
    .source = PE_ROPE_SOURCE,
    .param_sets = {PE_PARAMS(head_dim_params), PE_PARAMS(model_params), &pe_rope_shape_params,
                   PE_PARAMS(own_params), &pe_rope_key_params, &pe_params_output_exact},
    .nested = "rope_parameters",
    .plan = plan,
};
