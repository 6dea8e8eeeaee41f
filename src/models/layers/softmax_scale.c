/* SPDX-License-Identifier: MIT */
/* softmax_scale.c - what multiplies attention logits. */
#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <string.h>

#include "encodings/registry.h"
#include "encodings/rope/types/rope_types.h"
#include "exact/round.h"
#include "models/layers.h"

/* width^(-1/2) (1 + mscale ln(factor) / 10)^2 */
typedef struct scale {
    double width, mscale, factor;
} scale;

static void eval(const void *context, size_t index PE_UNUSED, mpfr_ptr out)
{
    const scale *s = context;
    mpfr_t stretch;
    mpfr_init2(stretch, mpfr_get_prec(out) + 32);
    pe_rope_yarn_stretch(s->factor, s->mscale, stretch);
    mpfr_sqr(stretch, stretch, MPFR_RNDN);
    mpfr_set_d(out, s->width, MPFR_RNDN);
    mpfr_rec_sqrt(out, out, MPFR_RNDN);
    mpfr_mul(out, out, stretch, MPFR_RNDN);
    mpfr_clear(stretch);
}

static double real_or(const pe_values *values, const char *name, double otherwise)
{
    return pe_values_present(values, name) ? pe_values_real(values, name) : otherwise;
}

/* Channels of a head that rotates, where layers agree and the class scales by them; 0: else. */
static double plain_width(const pe_reader *reader)
{
    const pe_model *model = reader->model;
    double width = 0;
    if (reader->type == NULL || pe_reader_has_fact(reader, PE_FACT_ROPE_HEAD_DIM) ||
        pe_type_text(reader->type, "softmax_scale") != NULL)
        return 0;
    for (size_t k = 0; k < model->n_kinds; k++) {
        const pe_value *dim = model->kinds[k].resource == &pe_rope_table
                                  ? pe_values_find(&model->kinds[k].values, "head_dim")
                                  : NULL;
        if (dim == NULL || !dim->present || strcmp(model->kinds[k].layer_type, "indexer") == 0)
            continue;
        if (width != 0 && width != (double)dim->integer)
            return 0;
        width = (double)dim->integer;
    }
    return width;
}

/**
 * head_dim^(-1/2) where nothing else is said. Latent attention: (qk_nope_head_dim +
 * qk_rope_head_dim)^(-1/2), times the square of what mscale_all_dim makes of the factor where
 * frequencies are scaled. Elsewhere query_pre_attn_scalar^(-1/2), or attention_multiplier. DeBERTa:
 * channels times terms, ^(-1/2). GPT-2: 1 where scale_attn_weights is false.
 *
 * Source    DeepseekV3Attention.__init__, Gemma2Attention, GraniteAttention and MptAttention in
 *           huggingface/transformers at b4b5244c9c7cdb80d0aaafdb8f35244612788532; GPT2Attention and
 *           DisentangledSelfAttention of its 5.23.0; rows that are scaled_by_head: their classes in its
 *           5.24.0, baichuan's own code, and diffusers.
 * Accuracy  correctly rounded.
 */
void pe_softmax_scale_resolve(pe_reader *reader)
{
    pe_model *model = reader->model;
    double nope = 0, rope = 0;
    scale s = {.factor = 1};
    if (reader->status != PE_OK || model->n_kinds == 0)
        return;
    /* GPT-2's flags: scores as they are, and others of each layer. */
    static const char weights[] = "scale_attn_weights",
                      inverse[] = "scale_attn_by_inverse_layer_idx", terms[] = "pos_att_type";
    const double fixed = pe_type_number(reader->type, "softmax_scale");
    if (fixed == 0) {
        pe_reader_used(reader, weights, pe_reader_member(reader, weights), NULL, NULL);
        pe_reader_used(reader, inverse, pe_reader_member(reader, inverse), NULL, NULL);
    }
    if (fixed == 0 && json_is_true(pe_reader_member(reader, inverse)))
        pe_reader_warn(reader, "%s: scores of layer i, from 0, are divided by i + 1, too", inverse);
    if (fixed != 0 || json_is_false(pe_reader_member(reader, weights))) {
        model->has_softmax_scale = true;
        model->softmax_scale = fixed != 0 ? fixed : 1;
        return;
    }
    const pe_values *values = &model->kinds[0].values;
    if (pe_reader_finds_fact(reader, PE_FACT_ATTENTION_MULTIPLIER, &model->softmax_scale, NULL)) {
        model->has_softmax_scale = true;
        return;
    }
    if (pe_reader_has_fact(reader, PE_FACT_ROPE_HEAD_DIM) &&
        pe_reader_finds_fact(reader, PE_FACT_NOPE_HEAD_DIM, &nope, NULL) &&
        pe_reader_finds_fact(reader, PE_FACT_ROPE_HEAD_DIM, &rope, NULL)) {
        s.width = nope + rope;
        s.factor = real_or(values, "factor", 1);
        s.mscale = real_or(values, "mscale_all_dim", 0);
    } else if (model->kinds[0].resource != NULL &&
               pe_type_number(reader->type, "widen") > 1) { /* Zamba2Attention */
        s.width = (double)pe_values_int(values, "head_dim") / pe_type_number(reader->type, "widen");
    } else {
        if (pe_model_type_scheme(reader->type) == PE_SCHEME_DEBERTA &&
            (s.width = pe_rope_dims_per_head(reader)) != 0) {
            /* Terms of DeBERTa's scores: of contents, and one for each of c2p and p2c, a list or
             * "c2p|p2c". */
            const json_t *types = pe_reader_member(reader, terms);
            const char *at = json_string_length(types) != 0 ? json_string_value(types) : NULL;
            double n = 1;
            pe_reader_used(reader, terms, types, NULL, "each of its terms divides scores by more");
            for (size_t i = 0; i < json_array_size(types); i++)
                n += json_is_string(json_array_get(types, i));
            for (; at != NULL; at = strchr(at + 1, '|'))
                n++;
            s.width *= n;
        }
        if (s.width == 0 && !pe_reader_finds_fact(reader, PE_FACT_QUERY_SCALAR, &s.width, NULL))
            s.width = plain_width(reader);
        /* Where no layer rotates, and the class scales by the channels of a head. */
        if (s.width == 0 && pe_type_is(reader->type, "scaled_by_head") &&
            !pe_reader_finds_fact(reader, PE_FACT_HEAD_DIM, &s.width, NULL))
            s.width = pe_rope_dims_per_head(reader);
    }
    if (s.width == 0) {
        /* Where the rule is known, or attention is latent, it lacks a number. */
        const char *own = pe_type_text(reader->type, "softmax_scale");
        const bool lacks = pe_type_is(reader->type, "scaled_by_head") ||
                           pe_model_type_scheme(reader->type) == PE_SCHEME_DEBERTA ||
                           pe_reader_has_fact(reader, PE_FACT_ROPE_HEAD_DIM);
        snprintf(model->softmax_scale_unknown, sizeof model->softmax_scale_unknown, "%s",
                 own != NULL            ? own
                 : reader->type == NULL ? "the model type is not known"
                 : lacks ? "the configuration does not say how many channels a head has"
                         : "how this model type scales logits is not known, or not the same for "
                           "all layers");
        return;
    }
    model->has_softmax_scale = true;
    model->softmax_scale = pe_exact_round(PE_FLOAT64, eval, &s, 0);
}
