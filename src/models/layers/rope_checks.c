/* SPDX-License-Identifier: MIT */
/* rope_checks.c - whether rotary parameters fit each other. */
#include <mpfr.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "encodings/rope/types/rope_types.h"
#include "exact/round.h"
#include "models/layers.h"

static void fail_check(pe_rope_reading *r, pe_status status, const pe_problem *why)
{
    char where[288], part[192];
    if (pe_status_is_ours(status)) {
        pe_reader_fail_memory(r->reader);
        return;
    }
    /* The place of the key that became the parameter, or where such a key would stand. */
    const pe_model *model = r->reader->model;
    snprintf(where, sizeof where, "%s", pe_dictionary_place(r, why->where));
    for (size_t k = 0; k < model->n_keys; k++) {
        const pe_model_key *key = &model->keys[k];
        if (key->status != PE_MODEL_KEY_IGNORED && key->parameter != NULL &&
            strcmp(key->parameter, why->where) == 0)
            snprintf(where, sizeof where, "%s",
                     key->pointer + strlen("#/") + strlen(r->reader->path));
    }
    const bool meant = r->meant_key != NULL && strcmp(r->meant_key, why->where) == 0;
    /* An odd part is evened out by pe_rope_dims_read() where a type scales frequencies by their
     * pairs alone. */
    const size_t room = sizeof part;
    const pe_values *values = &r->kind->values;
    part[0] = '\0';
    if (strcmp(why->where, "partial_rotary_factor") == 0 &&
        (int64_t)((double)pe_values_int(values, "head_dim") * pe_values_real(values, why->where)) %
            2)
        snprintf(part, room,
                 "; transformers makes frequencies of an odd number of channels, too, but how "
                 "rope_type %s scales those no parameter here can say",
                 r->type->name);
    pe_reader_fail(r->reader, status, where, "%s%s%s%s%s", why->detail, part, meant ? "; " : "",
                   meant ? r->unknown_key : "", meant ? " is not known: is it meant?" : "");
}

/* Check the values as a resource would, as if a client had given them. */
static pe_status check_values(pe_rope_reading *r, pe_problem *why)
{
    static const char *const derived[] = {"rotary_dim", "partial_rotary_factor"};
    pe_values values;
    pe_rope checked = {0};
    PE_TRY(pe_values_lend(&r->kind->values, &values, why));
    pe_status status = pe_values_defaults(&values, why);
    if (status == PE_OK)
        status = pe_rope_read(&values, NULL, &checked, why);
    for (size_t d = 0; status == PE_OK && d < PE_LEN(derived); d++) {
        pe_value *to = pe_values_find(&r->kind->values, derived[d]);
        *to = *pe_values_find(&values, derived[d]);
        to->given = true;
    }
    pe_rope_free(&checked);
    pe_values_free(&values);
    return status;
}

void pe_rope_checks_values(pe_rope_reading *r)
{
    static const char *const names[] = {"mrope_section", "mrope_interleaved", "mrope_layout"};
    pe_problem why = {0};
    pe_status status = check_values(r, &why);
    if (status == PE_INVALID_PARAMETER && pe_nearest_is_name(why.where, names, PE_LEN(names))) {
        /* Leave out sections that cannot be. Text needs none: it has one axis. */
        for (size_t i = 0; i < PE_LEN(names); i++) {
            pe_reader_unset(&r->kind->values, names[i]);
            pe_reader_drop_parameter(r->reader, names[i], why.detail);
        }
        pe_reader_warn(r->reader, "%s: sections are left out, and all pairs turn by one axis",
                       why.detail);
        status = check_values(r, &why);
    }
    if (status != PE_OK)
        fail_check(r, status, &why);
}

/* Warn where yarn's or longrope's factor is not the ratio of its lengths, and where other types have
 * an original length beyond the longer one. */
void pe_rope_checks_lengths(pe_rope_reading *r)
{
    const pe_values *values = &r->kind->values;
    if (!pe_values_present(values, "max_position_embeddings") ||
        !pe_values_present(values, "original_max_position_embeddings"))
        return;
    const double most = (double)pe_values_int(values, "max_position_embeddings");
    const double original = (double)pe_values_int(values, "original_max_position_embeddings");
    const double factor =
        pe_values_present(values, "factor") ? pe_values_real(values, "factor") : most / original;
    if (r->type != &pe_rope_yarn && original > most)
        pe_reader_warn(r->reader, "%s is %.0f, more than max_position_embeddings, %.0f",
                       pe_dictionary_place(r, "original_max_position_embeddings"), original, most);
    else if ((r->type == &pe_rope_yarn || r->type == &pe_rope_longrope) &&
             most / original != factor)
        pe_reader_warn(r->reader,
                       "%s is %.17g, but max_position_embeddings / "
                       "original_max_position_embeddings is %.17g; factor is what counts",
                       pe_dictionary_place(r, "factor"), factor, most / original);
}

/* factor, mscale */
static void eval_attention(const void *context, size_t i PE_UNUSED, mpfr_ptr out)
{
    const double *numbers = context;
    pe_rope_yarn_stretch(numbers[0], numbers[1], out);
}

/* Under that name counts what vLLM takes where one of the two is absent: 1 for mscale; without
 * mscale_all_dim the attention factor is 1 + mscale ln(factor) / 10. */
static void take_vllms(pe_rope_reading *r, const json_t *mscale)
{
    const double numbers[] = {pe_values_real(&r->kind->values, "factor"),
                              json_number_value(mscale)};
    if (mscale == NULL)
        pe_dictionary_set_number(r, "mscale", pe_dictionary_place(r, "mscale"), 1);
    else
        pe_dictionary_set_number(r, "attention_factor", pe_dictionary_place(r, "mscale"),
                                 pe_exact_round(PE_FLOAT64, eval_attention, numbers, 0));
    pe_reader_warn(r->reader, "%s is absent: %s, as vLLM takes it; transformers reads neither",
                   mscale == NULL ? "mscale" : "mscale_all_dim",
                   mscale == NULL ? "1 counts for it" : "mscale alone makes the attention factor");
}

/* Keys of yarn's own code, which neither transformers nor vLLM reads any more; and two of which vLLM
 * reads each by itself, transformers neither where one is absent.
 *
 * Source  _compute_yarn_parameters of huggingface/transformers 5.24.0; get_rope of vllm 0.33.0,
 *         model_executor/layers/rotary_embedding; deepseek_scaling_rope.py there at 10760a01. */
void pe_rope_checks_engines(pe_rope_reading *r)
{
    static const char *const keys[] = {"attn_factor", "extrapolation_factor"};
    pe_reader *reader = r->reader;
    const pe_values *values = &r->kind->values;
    const json_t *mscale = pe_dictionary_member(r, "mscale");
    const bool one = mscale != NULL;
    const bool gguf = reader->type_name != NULL && strncmp(reader->type_name, "gguf/", 5) == 0;
    if (strcmp(r->type->name, "yarn") != 0)
        return;
    for (size_t k = 0; !gguf && k < PE_LEN(keys); k++)
        if (pe_values_present(values, keys[k]) && pe_values_real(values, keys[k]) != 1)
            pe_reader_warn(reader,
                           "%s is not read by transformers and vLLM, which take 1; here it counts, "
                           "as in yarn's own code",
                           pe_dictionary_place(r, keys[k]));
    if (one == (pe_dictionary_member(r, "mscale_all_dim") != NULL) ||
        (one && json_number_value(mscale) == 1) || /* the same to both */
        pe_values_present(values, "attention_factor"))
        return;
    /* The name that vLLM gives the type of latent attention alone. */
    bool named = false;
    for (size_t k = 0; k < 2; k++) {
        const char *name =
            json_string_value(pe_dictionary_member(r, k == 0 ? "rope_type" : "type"));
        named |= name != NULL && strcmp(name, "deepseek_yarn") == 0;
    }
    if (named && pe_values_present(values, "factor"))
        take_vllms(r, mscale);
    else if (pe_reader_has_fact(reader, PE_FACT_ROPE_HEAD_DIM))
        pe_reader_warn(reader,
                       "%s is absent: transformers then reads neither it nor %s, while vLLM takes "
                       "%s, which gives another attention factor",
                       one ? "mscale_all_dim" : "mscale", one ? "mscale" : "mscale_all_dim",
                       one ? "0 for it" : "1 for it");
}
