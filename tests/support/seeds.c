/* SPDX-License-Identifier: MIT */
/* seeds.c - the faults that tests plant, and the claims they befall, drawn at random. */
#include "support/check.h"

#include <math.h>
#include <string.h>

#include "support/seeds.h"

/* ---- claims ---------------------------------------------------------------------------------- */

static double inputs[PLANTED_MAX];

static void set(planted *p, const char *name, double value)
{
    json_object_set_new(p->parameters, name,
                        value == floor(value) && fabs(value) < 1e15
                            ? json_integer((json_int_t)value)
                            : json_real(value));
}

static void set_text(planted *p, const char *name, const char *text)
{
    json_object_set_new(p->parameters, name, json_string(text));
}

static double pick(random_source *random, const double *list, size_t n)
{
    return list[random_int(random, 0, (int64_t)n - 1)];
}

static double draw_base(random_source *random)
{
    static const double used[] = {20000, 500000, 1000000, 5000000};
    return random_int(random, 0, 1) == 0
               ? pick(random, used, PE_LEN(used))
               : (double)random_int(random, 20, 90000) * 100; /* not 10000: that is a fault */
}

static void draw_rope_type(random_source *random, planted *p, const char *type)
{
    const double factor = (double)random_int(random, 4, 32) / 2;
    const double original = (double)((int64_t)64 << random_int(random, 0, 5));
    set_text(p, "rope_type", type);
    if (strcmp(type, "default") == 0)
        return;
    set(p, "factor", factor);
    if (strcmp(type, "dynamic") == 0) {
        set(p, "max_position_embeddings", original);
        set(p, "seq_len", original * (double)random_int(random, 2, 8));
    }
    if (strcmp(type, "yarn") == 0 || strcmp(type, "llama3") == 0) {
        set(p, "original_max_position_embeddings", original);
        set(p, "max_position_embeddings", floor(original * factor));
    }
    if (strcmp(type, "llama3") == 0) {
        set(p, "low_freq_factor", 1);
        set(p, "high_freq_factor", 4);
    }
}

void draw_vectors(random_source *random, planted *p)
{
    const size_t n = p->tokens * (size_t)planted_number(p, "head_dim", 0);
    for (size_t e = 0; e < n; e++) {
        unsigned char element[8];
        pe_dtype_store(p->dtype, random_real(random, -2, 2), element);
        inputs[e] = pe_dtype_load(p->dtype, element);
    }
    p->inputs = inputs;
}

planted draw_claim(random_source *random, planted_kind kind, const char *type)
{
    static const char *const types[] = {"default", "linear", "ntk", "dynamic", "yarn", "llama3"};
    static const char *const layouts[] = {"interleaved", "sin_cos", "cos_sin"};
    planted p = {.kind = kind,
                 .parameters = json_object(),
                 .dtype = (pe_dtype)random_int(random, 0, 3),
                 .tokens = (size_t)random_int(random, 10, 20),
                 .attention_power = 1};
    for (size_t t = 0; t < p.tokens; t++)
        p.positions[t] = (double)t;
    if (kind == PLANTED_ROPE || kind == PLANTED_VECTORS) {
        set(&p, "head_dim", 8 * (double)random_int(random, 1, 5));
        set(&p, "rope_theta", draw_base(random));
        set_text(&p, "pairing", random_int(random, 0, 1) == 0 ? "half" : "interleaved");
        draw_rope_type(random, &p, type != NULL ? type : types[random_int(random, 0, 5)]);
    } else if (kind == PLANTED_SINUSOIDAL) {
        set(&p, "d_model", 2 * (double)random_int(random, 4, 20));
        set(&p, "base", draw_base(random));
        set_text(&p, "layout", layouts[random_int(random, 0, 2)]);
    } else {
        set(&p, "num_heads", (double)random_int(random, 2, 12));
        if (kind == PLANTED_BIAS) {
            set(&p, "query_length", 7);
            set_text(&p, "form", "symmetric");
        }
    }
    return p;
}

/* ---- faults ---------------------------------------------------------------------------------- */

static double other_base(random_source *random, double than)
{
    static const double used[] = {10000, 500000, 1000000};
    double base = than;
    while (base == than)
        base = random_int(random, 0, 1) == 0 ? pick(random, used, PE_LEN(used))
                                             : (double)random_int(random, 20, 90000) * 100;
    return base;
}

static void plant_theta(random_source *random, planted *made)
{
    set(made, "rope_theta", other_base(random, planted_number(made, "rope_theta", 0)));
}

static void plant_base(random_source *random, planted *made)
{
    set(made, "base", other_base(random, planted_number(made, "base", 0)));
}

static void plant_scale(random_source *random, planted *made)
{
    set(made, "scale", random_int(random, 0, 1) == 0 ? 1000 : (double)random_int(random, 2, 900));
}

static void plant_shift(random_source *random, planted *made)
{
    set(made, "freq_shift", 1);
}

static void plant_factor(random_source *random, planted *made)
{
    const double claimed = planted_number(made, "factor", 1);
    const double times = (double)random_int(random, 2, 7);
    /* The square of a factor is one that was applied twice; half of it, to vectors rotated
     * twice. */
    const bool twice = times == claimed || 2 * times == claimed;
    set(made, "factor", claimed * (twice ? 9 : times));
}

static void plant_added(random_source *random, planted *made)
{
    set_text(made, "rope_type", "linear");
    set(made, "factor", (double)random_int(random, 3, 32) / 2);
}

static void plant_dropped(random_source *random, planted *made)
{
    set_text(made, "rope_type", "default");
}

static void plant_type(random_source *random, planted *made)
{
    static const char *const types[] = {"linear", "ntk", "yarn", "llama3"};
    const char *type = types[random_int(random, 0, 3)];
    while (strcmp(type, planted_text(made, "rope_type")) == 0)
        type = types[random_int(random, 0, 3)];
    set_text(made, "rope_type", type);
}

static void prepare_betas(random_source *random, planted *claim)
{
    set(claim, "head_dim", 48);
    set(claim, "beta_fast", (double)random_int(random, 16, 40));
    set(claim, "beta_slow", (double)random_int(random, 1, 3));
}

static void plant_betas(random_source *random, planted *made)
{
    const double fast = planted_number(made, "beta_fast", 32);
    set(made, "beta_fast", planted_number(made, "beta_slow", 1));
    set(made, "beta_slow", fast);
}

static void prepare_truncate(random_source *random, planted *claim)
{
    set(claim, "head_dim", 48);
    json_object_set_new(claim->parameters, "truncate", json_boolean(random_int(random, 0, 1)));
}

static void plant_truncate(random_source *random, planted *made)
{
    json_object_set_new(made->parameters, "truncate",
                        json_boolean(json_is_false(json_object_get(made->parameters, "truncate"))));
}

static void plant_original(random_source *random, planted *made)
{
    set(made, "original_max_position_embeddings",
        planted_number(made, "max_position_embeddings", 0));
}

static void plant_seq_len(random_source *random, planted *made)
{
    set(made, "seq_len", planted_number(made, "max_position_embeddings", 0));
}

static void prepare_partial(random_source *random, planted *claim)
{
    const double head_dim = 16 * (double)random_int(random, 1, 3);
    set(claim, "head_dim", head_dim);
    set(claim, "rotary_dim", head_dim / (random_int(random, 0, 1) == 0 ? 2 : 4));
}

static void plant_whole(random_source *random, planted *made)
{
    set(made, "rotary_dim", planted_number(made, "head_dim", 0));
}

static void plant_head(random_source *random, planted *made)
{
    made->head_exponent = true;
}

static void plant_pairing(random_source *random, planted *made)
{
    set_text(made, "pairing",
             strcmp(planted_text(made, "pairing"), "half") == 0 ? "interleaved" : "half");
}

static void plant_layout(random_source *random, planted *made)
{
    static const char *const layouts[] = {"interleaved", "sin_cos", "cos_sin"};
    const char *layout = layouts[random_int(random, 0, 2)];
    while (strcmp(layout, planted_text(made, "layout")) == 0)
        layout = layouts[random_int(random, 0, 2)];
    set_text(made, "layout", layout);
}

static void plant_exchange(random_source *random, planted *made)
{
    made->exchanged = true;
}

static void prepare_interleaved(random_source *random, planted *claim)
{
    if (claim->kind == PLANTED_SINUSOIDAL)
        set_text(claim, "layout", "interleaved");
}

static void plant_sign(random_source *random, planted *made)
{
    made->negated = true;
}

static void prepare_heads(random_source *random, planted *claim)
{
    static const double heads[] = {3, 5, 6, 7, 9, 10, 11, 12};
    set(claim, "num_heads", pick(random, heads, PE_LEN(heads)));
    set_text(claim, "variant", random_int(random, 0, 1) == 0 ? "press" : "formula");
}

static void plant_variant(random_source *random, planted *made)
{
    set_text(made, "variant",
             strcmp(planted_text(made, "variant"), "press") == 0 ? "formula" : "press");
}

static void prepare_form(random_source *random, planted *claim)
{
    static const char *const forms[] = {"symmetric", "causal"};
    set_text(claim, "form", forms[random_int(random, 0, 1)]);
}

static void plant_form(random_source *random, planted *made)
{
    const bool symmetric = strcmp(planted_text(made, "form"), "symmetric") == 0;
    set_text(made, "form",
             random_int(random, 0, 1) == 0 ? "key"
             : symmetric                   ? "causal"
                                           : "symmetric");
}

static void prepare_bias_max(random_source *random, planted *claim)
{
    set(claim, "alibi_bias_max", (double)random_int(random, 9, 20));
}

static void plant_bias_max(random_source *random, planted *made)
{
    set(made, "alibi_bias_max", 8);
}

static void plant_no_attention(random_source *random, planted *made)
{
    made->attention_power = 0;
}

static void plant_attention_twice(random_source *random, planted *made)
{
    made->attention_power = 2;
}

static void move(planted *made, double times, double plus)
{
    for (size_t t = 0; t < made->tokens; t++)
        made->positions[t] = made->positions[t] * times + plus;
}

static void plant_plus(random_source *random, planted *made)
{
    move(made, 1, 1);
}

static void plant_minus(random_source *random, planted *made)
{
    move(made, 1, -1);
}

static void plant_inverse(random_source *random, planted *made)
{
    move(made, -1, 0);
}

static void plant_undone(random_source *random, planted *made)
{
    move(made, -1, 0);
    made->attention_power = -1;
}

static void plant_twice(random_source *random, planted *made)
{
    move(made, 2, 0);
    made->attention_power = 2;
}

static void plant_none(random_source *random, planted *made)
{
    move(made, 0, 0);
    made->attention_power = 0;
}

void start_at(random_source *random, planted *claim, int64_t low, int64_t high)
{
    const double first = (double)random_int(random, low, high);
    for (size_t t = 0; t < claim->tokens; t++)
        claim->positions[t] = first + (double)t;
}

static void prepare_far32(random_source *random, planted *claim)
{
    start_at(random, claim, (1 << 24) + 1, 1 << 26);
}

static void prepare_far16(random_source *random, planted *claim)
{
    start_at(random, claim, 2050, 8000);
}

static void prepare_far_brain(random_source *random, planted *claim)
{
    start_at(random, claim, 260, 2000);
}

static void round_all(planted *made, pe_dtype to)
{
    for (size_t t = 0; t < made->tokens; t++) {
        unsigned char element[8];
        pe_dtype_store(to, made->positions[t], element);
        made->positions[t] = pe_dtype_load(to, element);
    }
}

static void plant_far32(random_source *random, planted *made)
{
    round_all(made, PE_FLOAT32);
}

static void plant_far16(random_source *random, planted *made)
{
    round_all(made, PE_FLOAT16);
}

static void plant_far_brain(random_source *random, planted *made)
{
    round_all(made, PE_BFLOAT16);
}

static void prepare_precise(random_source *random, planted *claim)
{
    claim->dtype = random_int(random, 0, 1) == 0 ? PE_FLOAT32 : PE_FLOAT64;
    start_at(random, claim, 20, 3000);
    if (claim->kind == PLANTED_VECTORS)
        draw_vectors(random, claim);
}

static void plant_float32(random_source *random, planted *made)
{
    made->arithmetic = PLANTED_FLOAT32;
}

static void plant_float32_frequencies(random_source *random, planted *made)
{
    made->arithmetic = PLANTED_FLOAT32_FREQUENCIES;
}

#define WAVES      ((1U << PLANTED_ROPE) | (1U << PLANTED_VECTORS) | (1U << PLANTED_SINUSOIDAL))
#define ROPES      ((1U << PLANTED_ROPE) | (1U << PLANTED_VECTORS))
#define ONLY(kind) (1U << (kind))

const seed seeds[] = {
    {"rope_theta", ROPES, NULL, false, true, NULL, plant_theta},
    {"base", ONLY(PLANTED_SINUSOIDAL), NULL, false, true, NULL, plant_base},
    {"scale", ONLY(PLANTED_SINUSOIDAL), NULL, false, true, NULL, plant_scale},
    {"freq_shift", ONLY(PLANTED_SINUSOIDAL), NULL, false, false, NULL, plant_shift},
    {"factor", ROPES, "linear ntk", false, true, NULL, plant_factor},
    {"scaling_added", ROPES, "default", false, true, NULL, plant_added},
    {"scaling_dropped", ROPES, "linear ntk dynamic yarn llama3", false, false, NULL, plant_dropped},
    {"rope_type", ROPES, "yarn llama3", false, false, NULL, plant_type},
    {"betas_swapped", ROPES, "yarn", false, false, prepare_betas, plant_betas},
    {"truncate", ROPES, "yarn", false, false, prepare_truncate, plant_truncate},
    {"original_fallback", ROPES, "yarn llama3", false, false, NULL, plant_original},
    {"seq_len_ignored", ROPES, "dynamic", false, false, NULL, plant_seq_len},
    {"partial_ignored", ROPES, "default linear", false, false, prepare_partial, plant_whole},
    {"head_in_exponent", ROPES, "default linear", false, false, prepare_partial, plant_head},
    {"pairing", ONLY(PLANTED_VECTORS), NULL, false, false, NULL, plant_pairing},
    {"layout", ONLY(PLANTED_SINUSOIDAL), NULL, false, false, NULL, plant_layout},
    {"cos_sin_exchanged", ONLY(PLANTED_ROPE) | ONLY(PLANTED_SINUSOIDAL), NULL, false, false,
     prepare_interleaved, plant_exchange},
    {"alibi_sign", ONLY(PLANTED_BIAS) | ONLY(PLANTED_SLOPES), NULL, false, false, NULL, plant_sign},
    {"alibi_variant", ONLY(PLANTED_BIAS) | ONLY(PLANTED_SLOPES), NULL, false, false, prepare_heads,
     plant_variant},
    {"alibi_form", ONLY(PLANTED_BIAS), NULL, false, false, prepare_form, plant_form},
    {"alibi_bias_max", ONLY(PLANTED_BIAS) | ONLY(PLANTED_SLOPES), NULL, false, false,
     prepare_bias_max, plant_bias_max},
    {"attention_factor_missing", ROPES, "yarn", false, false, NULL, plant_no_attention},
    {"attention_factor_squared", ROPES, "yarn", false, false, NULL, plant_attention_twice},
    {"position_plus_one", WAVES, NULL, false, false, NULL, plant_plus},
    {"position_minus_one", WAVES, NULL, false, false, NULL, plant_minus},
    {"inverse", WAVES, NULL, false, false, NULL, plant_inverse},
    {"undone", ONLY(PLANTED_VECTORS), "yarn", false, false, NULL, plant_undone},
    {"rotated_twice", ONLY(PLANTED_VECTORS), NULL, false, false, NULL, plant_twice},
    {"not_rotated", ONLY(PLANTED_VECTORS), NULL, false, false, NULL, plant_none},
    {"float32_positions", WAVES, NULL, true, false, prepare_far32, plant_far32},
    {"float16_positions", WAVES, NULL, false, false, prepare_far16, plant_far16},
    {"bfloat16_positions", WAVES, NULL, false, false, prepare_far_brain, plant_far_brain},
    {"float32_arithmetic", WAVES, "default linear", true, false, prepare_precise, plant_float32},
    {"float32_inv_freq", ROPES, "default linear", true, false, prepare_precise,
     plant_float32_frequencies},
};

const size_t seeds_n = PE_LEN(seeds);

const seed *seed_of(const char *name)
{
    for (size_t s = 0; s < PE_LEN(seeds); s++)
        if (strcmp(seeds[s].name, name) == 0)
            return &seeds[s];
    fail_msg("no seed plants %s", name);
}
