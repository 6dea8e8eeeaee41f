/* SPDX-License-Identifier: MIT */
/* rope_dims.c - how many channels of a head there are, and how many of them rotate. */
#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/power.h"
#include "exact/round.h"
#include "models/layers.h"

double pe_rope_dims_per_head(pe_reader *reader)
{
    double hidden = 0, heads = 0;
    if (!pe_reader_finds_fact(reader, PE_FACT_HIDDEN, &hidden, NULL) ||
        !pe_reader_finds_fact(reader, PE_FACT_HEADS, &heads, NULL))
        return 0;
    if (fmod(hidden, heads) != 0)
        pe_reader_warn(reader, "%.0f channels do not divide evenly among %.0f heads", hidden,
                       heads);
    return floor(hidden / heads);
}

/* head_dim is given: hidden_size and the heads are ignored where they give another number. */
static void ignore_hidden_size(pe_reader *reader, double head_dim)
{
    const json_t *hidden = pe_reader_member(reader, pe_reader_fact_name(PE_FACT_HIDDEN));
    const json_t *heads = pe_reader_member(reader, pe_reader_fact_name(PE_FACT_HEADS));
    if (json_number_value(hidden) == json_number_value(heads) * head_dim)
        return;
    /* A class that has a width of its own, as other programs' files do, has heads of any width, and
     * so has one of whose released models some have such heads. */
    if (json_is_number(hidden) && json_is_number(heads) && reader->type != NULL &&
        strchr(reader->type_name, '/') == NULL &&
        json_object_get(reader->type, "head_dim") == NULL &&
        !pe_type_is(reader->type, "free_head_dim"))
        pe_reader_warn(reader,
                       "head_dim is %.0f, but hidden_size / num_attention_heads is %.0f / %.0f; "
                       "head_dim is what counts",
                       head_dim, json_number_value(hidden), json_number_value(heads));
    static const char note[] = "head_dim is given, and is not hidden_size / heads";
    pe_reader_ignore(reader, "hidden_size", note);
    pe_reader_ignore(reader, "num_attention_heads", note);
}

/* head_dim of the kind's first layer in per_layer_config, whose names are numbers of layers, which
 * may be as long as the first of them, with zeros before; 0: it has none there. */
static double layer_head_dim(pe_rope_reading *r)
{
    static const char key[] = "per_layer_config";
    const json_t *layers = pe_reader_member(r->reader, key);
    const char *any = json_object_iter_key(json_object_iter((json_t *)(uintptr_t)layers));
    double first = 0;
    bool alike = true;
    for (size_t i = 0; any != NULL && i < r->kind->n; i++) {
        char name[32];
        snprintf(name, sizeof name, "%zu", r->kind->index[i]);
        const json_t *layer = json_object_get(layers, name);
        snprintf(name, sizeof name, "%0*zu", strlen(any) < 8 ? (int)strlen(any) : 8,
                 r->kind->index[i]);
        const double dim = json_number_value(
            json_object_get(layer != NULL ? layer : json_object_get(layers, name), "head_dim"));
        first = i == 0 ? dim : first;
        alike &= dim == first;
    }
    if (first != 0)
        pe_reader_used(r->reader, key, layers, "head_dim", NULL);
    if (!alike)
        pe_reader_warn(
            r->reader,
            "per_layer_config gives layers of %s several head_dims: told is that of the first",
            r->kind->layer_type);
    return first;
}

/* Is the head that is told the part of it that rotates? */
static bool is_latent(const pe_rope_reading *r)
{
    return pe_reader_has_fact(r->reader, PE_FACT_ROPE_HEAD_DIM) &&
           !pe_type_is(r->reader->type, "tail");
}

/* Where no key is that of head_dim: from hidden_size and the heads, the class's own, or that of the
 * axes. */
static double derived_head_dim(pe_reader *reader, const char **where)
{
    double dim = 0;
    const bool is_null = json_is_null(json_object_get(reader->config, "head_dim"));
    if (!is_null && pe_reader_finds_default(reader, PE_FACT_HEAD_DIM, &dim, where))
        return dim;
    if ((dim = pe_rope_dims_per_head(reader)) > 0) {
        *where = "hidden_size";
        return dim;
    }
    if (pe_reader_finds_default(reader, PE_FACT_HEAD_DIM, &dim, where))
        return dim;
    dim = pe_type_number(reader->type, "fallback_head_dim");
    if (dim == 0 && (dim = pe_axes_sum(reader)) != 0)
        *where = "axes_dims";
    else if (dim != 0)
        pe_reader_class_default(reader, "head_dim", dim, "head_dim");
    else
        pe_reader_fail(reader, PE_MISSING_PARAMETER, "head_dim",
                       "head_dim is missing, and so is hidden_size or num_attention_heads from "
                       "which it would follow");
    return dim;
}

static double find_head_dim(pe_rope_reading *r, const char **where)
{
    pe_reader *reader = r->reader;
    *where = "per_layer_config";
    double dim = layer_head_dim(r);
    if (dim != 0)
        return dim;
    /* Where the class alone decides. */
    *where = "hidden_size";
    const double wide = pe_type_number(reader->type, "widen");
    if (wide != 0 && (dim = pe_rope_dims_per_head(reader)) != 0) {
        pe_reader_ignore(reader, "head_dim",
                         "the class computes it from hidden_size and the heads");
        return dim * wide;
    }
    *where = pe_reader_fact_name(PE_FACT_HEAD_DIM);
    if (is_latent(r) && pe_reader_finds_fact(reader, PE_FACT_ROPE_HEAD_DIM, &dim, where)) {
        /* In latent attention head_dim is that of the part which rotates. DeepSeek-V3's class,
         * which computes it, reads another that is given, too. */
        const double head = json_number_value(pe_reader_member(reader, "head_dim"));
        if (head != 0 && head != dim && !pe_reader_is_unread(reader, "head_dim"))
            pe_reader_warn(reader,
                           "head_dim is %.7g, but qk_rope_head_dim, %.0f, is what rotates: where "
                           "transformers reads it, it makes head_dim / 2 frequencies, and fails",
                           head, dim);
        pe_reader_ignore(reader, "head_dim", "qk_rope_head_dim is what rotates");
        return dim;
    }
    const bool full = strcmp(r->kind->layer_type, "full_attention") == 0 &&
                      pe_reader_member(reader, "per_layer_config") == NULL;
    if (full && pe_reader_fact(reader, PE_FACT_GLOBAL_HEAD_DIM, &dim, where))
        return dim;
    if (strcmp(r->kind->layer_type, "sliding_attention") == 0 &&
        pe_reader_finds_fact(reader, PE_FACT_LOCAL_HEAD_DIM, &dim, where))
        return dim;
    if (pe_reader_finds_fact(reader, PE_FACT_HEAD_DIM, &dim, where)) {
        ignore_hidden_size(reader, dim);
        return dim;
    }
    return derived_head_dim(reader, where);
}

/* Where transformers rotates another part of heads in latent attention, of qk_rope_head_dim or of all
 * that a query has, than qk_rope_head_dim, it fails. */
static void warn_of_part(pe_rope_reading *r, const json_t *nested, double rope_dim)
{
    double nope_dim = 0;
    pe_reader *reader = r->reader;
    if (pe_type_is(reader->type, "latent_head"))
        (void)pe_reader_finds_fact(reader, PE_FACT_NOPE_HEAD_DIM, &nope_dim, NULL);
    const json_t *beside = pe_reader_member(reader, pe_reader_fact_name(PE_FACT_PARTIAL));
    const double wanted = rope_dim / (rope_dim + nope_dim);
    double part = beside != NULL ? json_number_value(beside) : 1;
    if (r->type == &pe_rope_default && pe_type_is(reader->type, "whole_head"))
        part = 1;
    else if (nested != NULL)
        part = json_number_value(nested);
    else if (wanted != 1 && strcmp(r->dictionary.place, "rope_scaling/") != 0)
        part = wanted; /* it is put into rope_parameters */
    if (part != wanted && !pe_type_is(reader->type, "fixed_part"))
        pe_reader_warn(reader,
                       "all of qk_rope_head_dim turns, whatever partial_rotary_factor is: "
                       "transformers makes too %s frequencies, and fails",
                       part < wanted ? "few" : "many");
}

/* A count of channels, rather than a part of them. */
static bool read_rotary_dim(pe_rope_reading *r, const json_t *nested, double head_dim)
{
    pe_reader *reader = r->reader;
    const char *where = NULL;
    double dim = 0;
    if (pe_type_is(reader->type, "tail") && nested == NULL &&
        !pe_reader_has_fact(reader, PE_FACT_PARTIAL) &&
        pe_reader_finds_fact(reader, PE_FACT_ROPE_HEAD_DIM, &dim, &where)) {
        pe_dictionary_set_number(r, "rotary_dim", where, dim);
        return true;
    }
    const bool local = strcmp(r->kind->layer_type, "sliding_attention") == 0 &&
                       pe_reader_finds_fact(reader, PE_FACT_LOCAL_ROTARY_DIM, &dim, &where);
    if (!local && !pe_reader_finds_fact(reader, PE_FACT_ROTARY_DIM, &dim, &where))
        return false;
    pe_dictionary_set_number(r, "rotary_dim", where, dim);
    if (pe_type_is(reader->type, "whole_head"))
        pe_reader_warn(reader,
                       "transformers does not read %s of model type %s: it turns the whole head",
                       where, reader->type_name);
    /* A part that stands beside a count of channels, which is read, may be another one. */
    const char *key = pe_reader_fact_name(PE_FACT_PARTIAL);
    const json_t *part = nested != NULL ? nested : pe_reader_member(reader, key);
    const double other = floor(json_number_value(part) * head_dim);
    if (!pe_type_is(reader->type, "whole_head") && json_is_number(part) && other != dim)
        pe_reader_warn(reader, "%s is %.0f, but %s makes %.7g of %.0f channels; %s is read", where,
                       dim, nested != NULL ? pe_dictionary_place(r, key) : key, other, head_dim,
                       where);
    pe_reader_ignore(reader, key, "rotary_dim is read instead");
    return true;
}

/* A part that stands beside the dictionary, for each layer (Step) or for all, or the class's own. One
 * that is null, where the class has its own, says that all channels rotate.
 *
 * Source  convert_rope_params_to_dict of huggingface/transformers 5.23.0, modeling_rope_utils.py. */
static void read_part_beside(pe_rope_reading *r, double head_dim)
{
    static const char list_key[] = "partial_rotary_factors";
    pe_reader *reader = r->reader;
    const char *key = pe_reader_fact_name(PE_FACT_PARTIAL), *where = key;
    const char *own = pe_type_text(reader->type, "partial_key");
    const json_t *list = pe_reader_member(reader, list_key);
    const json_t *layers = r->kind->n != 0 ? json_array_get(list, r->kind->index[0]) : NULL;
    const json_t *value = json_object_get(reader->config, key);
    double part = 1;
    if (layers != NULL) {
        (void)pe_reader_set(reader, &r->kind->values, key, list_key, layers);
        pe_reader_used(reader, list_key, list, key, "a part for each layer");
    } else if (own == NULL && json_is_null(value) && pe_type_number(reader->type, key) != 0) {
        pe_reader_ignored(reader, key, value, "null: all channels rotate, as in transformers");
        pe_reader_warn(reader, "%s is null: all channels rotate, not the part of model type %s",
                       key, reader->type_name);
        pe_dictionary_set_number(r, key, key, part);
    } else if (own != NULL ? pe_reader_finds_key(reader, PE_FACT_PARTIAL, own, &part, &where)
                           : pe_reader_finds_fact(reader, PE_FACT_PARTIAL, &part, &where)) {
        pe_dictionary_set_number(r, key, where, part);
    } else if (pe_reader_finds_default(reader, PE_FACT_PARTIAL, &part, &where)) {
        pe_dictionary_set_number(r, key, where, part);
    } else if (head_dim >= pe_type_number(reader->type, "rotary_dim") &&
               pe_reader_finds_default(reader, PE_FACT_ROTARY_DIM, &part, &where)) {
        pe_dictionary_set_number(r, "rotary_dim", where, part);
    }
}

/* The part of a head that rotates: nested, beside, or the class's own. */
static void read_rotary_part(pe_rope_reading *r, double head_dim)
{
    pe_reader *reader = r->reader;
    const char *where = pe_reader_fact_name(PE_FACT_PARTIAL);
    static const char whole[] = "ignored by transformers: this model type turns the whole head";
    const json_t *nested = pe_dictionary_member(r, where);
    if (r->compressed) {
        pe_dictionary_ignore(
            r, where, "in a dictionary of all layers: the part beside it, or the class's own");
        nested = NULL;
    }
    if (is_latent(r)) {
        warn_of_part(r, nested, head_dim);
        if (nested != NULL)
            pe_dictionary_ignore(r, where, "qk_rope_head_dim is what rotates, all of it");
    } else if (read_rotary_dim(r, nested, head_dim)) {
        return;
    } else if (pe_type_is(reader->type, "whole_head") && r->type == &pe_rope_default) {
        const json_t *part = nested != NULL ? nested : pe_reader_member(reader, where);
        if (nested != NULL)
            pe_dictionary_ignore(r, where, whole);
        pe_reader_ignore(reader, "partial_rotary_factor", whole);
        if (part != NULL && json_number_value(part) != 1)
            pe_reader_warn(reader, "%s does not count: transformers turns the whole head of %s",
                           where, reader->type_name);
    } else if (nested != NULL) {
        pe_dictionary_set_over(r, where, where, "that in the dictionary is read instead");
    } else {
        read_part_beside(r, head_dim);
    }
}

/* ---- an odd number of channels ---- */

/* base^exponent of a pair */
typedef struct stretch {
    double base, dim;
} stretch;

/* base^(2i/d - 2i/(d + 1)) = base^(2i / (d (d + 1))) */
static void eval_factor(const void *context, size_t i, mpfr_ptr out)
{
    const stretch *s = context;
    mpfr_set_d(out, s->base, MPFR_RNDN);
    pe_power_raise(out, 2 * (double)i, s->dim * (s->dim + 1));
}

/**
 * Where int(head_dim partial_rotary_factor) = d is odd, transformers makes (d + 1)/2 frequencies
 * base^(-2i/d), which turn d + 1 channels. Those of d + 1 channels, divided by freq_factors, are
 * the same; so they are where a type scales each by its pair alone.
 *
 * Source    compute_default_rope_parameters and apply_rotary_pos_emb of
 *           models/glm4_moe/modeling_glm4_moe.py in huggingface/transformers 5.23.0.
 * Accuracy  the factors are correctly rounded.
 */
static void even_out(pe_rope_reading *r, double head_dim)
{
    pe_values *values = &r->kind->values;
    const bool given = pe_values_present(values, "partial_rotary_factor");
    const double part = given ? pe_values_real(values, "partial_rotary_factor") : 1;
    const double dim = floor(head_dim * part);
    /* Does the type scale a frequency by its pair alone? dynamic does while sequences are short. */
    const bool by_pair = r->type == &pe_rope_default || r->type == &pe_rope_linear ||
                         r->type == &pe_rope_longrope || r->type == &pe_rope_dynamic;
    if (!by_pair || pe_values_present(values, "rotary_dim") || fmod(dim, 2) == 0 ||
        pe_axes_are(r->reader) || (dim >= head_dim && r->reader->type == NULL))
        return;
    pe_reader_unset(values, "partial_rotary_factor");
    pe_dictionary_set_number(r, "rotary_dim", "partial_rotary_factor", dim + 1);
    const stretch s = {pe_values_real(values, "rope_theta"), dim};
    const size_t pairs = ((size_t)dim + 1) / 2;
    pe_value *factors = pe_values_find(values, "freq_factors");
    factors->list = malloc(pairs * sizeof *factors->list);
    if (factors->list == NULL) {
        pe_reader_fail_memory(r->reader);
        return;
    }
    factors->list_length = pairs;
    factors->present = factors->given = true;
    for (size_t i = 0; i < pairs; i++)
        factors->list[i] = pe_exact_round(PE_FLOAT64, eval_factor, &s, i);
    if (dim >= head_dim) {
        /* All channels of a head rotate, but for the last of an odd number. */
        pe_dictionary_set_number(r, "head_dim", "head_dim", dim + 1);
        pe_reader_warn(r->reader,
                       "head_dim is odd, %.0f: transformers makes %.0f frequencies, and fails; "
                       "head_dim is told as %.0f, with those frequencies",
                       dim, (dim + 1) / 2, dim + 1);
    } else
        pe_reader_warn(
            r->reader,
            "int(head_dim * partial_rotary_factor) is odd, %.0f: transformers turns %.0f channels, "
            "by the frequencies rope_theta^(-2i/%.0f), as freq_factors say",
            dim, dim + 1, dim);
    if (r->type == &pe_rope_dynamic)
        pe_reader_warn(r->reader, "freq_factors hold up to max_position_embeddings tokens: beyond, "
                                  "rope_type dynamic grows the base");
}

double pe_rope_dims_rotating(const pe_values *values)
{
    if (pe_values_present(values, "rotary_dim"))
        return (double)pe_values_int(values, "rotary_dim");
    return (double)pe_values_int(values, "head_dim") *
           (pe_values_present(values, "partial_rotary_factor")
                ? pe_values_real(values, "partial_rotary_factor")
                : 1);
}

void pe_rope_dims_read(pe_rope_reading *r)
{
    const char *where;
    const double dim = find_head_dim(r, &where);
    if (r->reader->status != PE_OK)
        return;
    pe_dictionary_set_number(r, "head_dim", where, dim);
    /* Where head_dim is null, transformers makes frequencies of hidden_size / heads channels. */
    const pe_reader *reader = r->reader;
    const json_t *hidden = pe_reader_member(reader, pe_reader_fact_name(PE_FACT_HIDDEN)),
                 *heads = pe_reader_member(reader, pe_reader_fact_name(PE_FACT_HEADS));
    if ((is_latent(r) || strcmp(where, "kv_channels") == 0) && reader->type != NULL &&
        json_is_number(hidden) && json_is_number(heads) &&
        json_is_null(json_object_get(reader->config, "head_dim")) &&
        floor(json_number_value(hidden) / json_number_value(heads)) != dim)
        pe_reader_warn(r->reader,
                       "head_dim is null, and %s is %.0f: transformers makes hidden_size / "
                       "num_attention_heads / 2 frequencies, and fails",
                       where, dim);
    read_rotary_part(r, dim);
    if (r->reader->status == PE_OK && pe_type_is(r->reader->type, "tail")) /* the last channels */
        pe_dictionary_set_number(r, "rotary_offset", "head_dim",
                                 dim - floor(pe_rope_dims_rotating(&r->kind->values)));
    else if (r->reader->status == PE_OK)
        even_out(r, dim);
}
