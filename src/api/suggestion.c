/* SPDX-License-Identifier: MIT */
/* suggestion.c - which parameter an unknown name was meant to be. */
#include "api/suggestion.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/nearest.h"
#include "encodings/registry.h"
#include "plan/params.h"

/* What others call a number of positions. */
#define LENGTHS                                                                                    \
    "max_len", "max_length", "length", "seq_len", "seq_length", "n", "?end", "?max_pos",           \
        "?max_position", "max_seq_len", "max_seq_length", "?context", "context_length",            \
        "context_len", "ctx_len", "n_ctx", "n_pos", "n_positions", "num_positions",                \
        "?num_embeddings", "?block_size"

/* What others call a parameter. Of the rows with a name, the first counts whose parameter the
 * resource has. `as`: how it is written where the parameter alone does not tell. A name is taken for
 * the parameter where it has one meaning: one behind a question mark may have others, and is only
 * suggested; so is what is written in another way, but for a number N of positions, and for a value
 * that true or false tells. */
static const struct {
    const char *const *names;
    const char *meant, *as;
} synonyms[] = {
    {PE_NAMES("theta", "rope_base", "rotary_emb_base", "freq_base", "rope_freq_base",
              "?rope_local_base_freq"),
     "rope_theta", NULL},
    {PE_NAMES("theta", "temperature", "max_period"), "base", NULL},
    {PE_NAMES("dim", "d", "d_head", "d_k", "?d_model", "head_size", "size_per_head", "?hidden_dim"),
     "head_dim", NULL},
    {PE_NAMES("hidden_size", "n_embd"), "head_dim", "head_dim, hidden_size over heads"},
    {PE_NAMES("dim", "d", "?head_dim", "hidden_size", "hidden_dim", "embed_dim", "embedding_dim",
              "embedding_size", "model_dim", "d_emb", "n_embd", "channels", "num_channels"),
     "d_model", NULL},
    {PE_NAMES("rope_dim", "rot_dim", "n_rot"), "rotary_dim", NULL},
    {PE_NAMES("rotary_pct", "rotary_percentage"), "partial_rotary_factor", NULL},
    {PE_NAMES(LENGTHS, "?max_position_embeddings"), "positions", "positions=0:N"},
    {PE_NAMES(LENGTHS, "positions"), "length", NULL},
    {PE_NAMES("start", "start_pos", "start_index", "offset"), "positions", "positions=START:END"},
    {PE_NAMES("pos", "position", "position_id", "position_ids", "pos_ids", "timesteps", "t", "?m"),
     "positions", NULL},
    {PE_NAMES(LENGTHS, "positions", "q_len", "tgt_len"), "query_length", NULL},
    {PE_NAMES("k_len", "src_len", "memory_length", "past_key_values_length"), "key_length", NULL},
    {PE_NAMES("heads", "?h", "n_heads", "nheads", "n_head", "num_attention_heads"), "num_heads",
     NULL},
    {PE_NAMES("window_size", "size", "ws"), "window_height", "window_height and window_width"},
    {PE_NAMES("h"), "window_height", NULL},
    {PE_NAMES("w"), "window_width", NULL},
    {PE_NAMES("positions", "deltas", "distance", "distances", "lags"), "offsets", NULL},
    {PE_NAMES(LENGTHS, "max_distance", "range"), "offsets", "offsets=0:N"},
    {PE_NAMES("window_size", "grid", "grid_size", "target_grid", "positions", "size"), "height",
     "height and width"},
    {PE_NAMES("h", "rows"), "height", NULL},
    {PE_NAMES("w", "cols", "columns"), "width", NULL},
    {PE_NAMES("cls_token", "add_cls_token"), "extra_tokens", "extra_tokens=1"},
    {PE_NAMES("causal"), "form", "form=causal"},
    {PE_NAMES("symmetric", "bidirectional"), "form", "form=symmetric"},
    {PE_NAMES("causal", "is_decoder"), "bidirectional", "bidirectional=false"},
    {PE_NAMES("k", "delta", "?n"), "offset", NULL},
    {PE_NAMES("shift", "?offset"), "delta", NULL},
    {PE_NAMES("k", "max_relative_positions", "?max_distance", "clip", "clipping_distance"),
     "max_relative_position", NULL},
    {PE_NAMES("interleaved", "interleave"), "pairing", "pairing=interleaved"},
    {PE_NAMES("interleaved"), "layout", "layout=interleaved"},
    {PE_NAMES("is_neox_style", "rotate_half", "neox", "use_neox", "half"), "pairing",
     "pairing=half"},
    {PE_NAMES("style", "rope_style"), "pairing", NULL},
    {PE_NAMES("concat"), "combine", "combine=concat"},
    {PE_NAMES("concat"), "layout", "layout=sin_cos"},
    {PE_NAMES("flip_sin_to_cos"), "layout", "layout=cos_sin"},
    {PE_NAMES("downscale_freq_shift"), "freq_shift", NULL},
    {PE_NAMES("sections"), "mrope_section", NULL},
    {PE_NAMES("type", "scaling_type", "?ntk", "?yarn", "?dynamic", "?linear"), "rope_type", NULL},
    {PE_NAMES("type", "rope_type", "methods", "method"), "rope_types", NULL},
    {PE_NAMES("?s", "scaling_factor", "?scale_factor", "?scale", "rope_scale", "yarn_factor"),
     "factor", NULL},
    {PE_NAMES("freq_scale", "rope_freq_scale"), "factor", "factor, the inverse of that"},
    {PE_NAMES("ntk_alpha", "rope_alpha"), "alpha", NULL},
    {PE_NAMES("attention_scaling"), "attention_factor", NULL},
    {PE_NAMES("rope_scaling"), "rope_parameters", NULL},
    {PE_NAMES("rope_scaling", "scaling"), "rope_type", "rope_type and factor"},
    {PE_NAMES("original_max_len", "original_context", "original_length", "orig_ctx_len",
              "old_context_len", "yarn_orig_ctx"),
     "original_max_position_embeddings", NULL},
    {PE_NAMES("seq_len", "length", "ctx_size", "max_model_len", "new_length", "target"),
     "target_length", NULL},
    {PE_NAMES("original_max_len", "original_context", "original_length", "orig_ctx_len", "?length",
              "?context", "?max_position"),
     "max_position_embeddings", NULL},
    {PE_NAMES("x", "data", "tensor", "hidden_states"), "vectors", NULL},
    {PE_NAMES("x"), "embeddings", NULL},
    {PE_NAMES("x", "scores", "rel_logits"), "logits", NULL},
    {PE_NAMES("pos_embed", "position_embedding", "weight", "?embeddings"), "table", NULL},
    {PE_NAMES("relative_position_bias_table", "relative_attention_bias"), "weights", NULL},
    {PE_NAMES("?input_ids", "?mm_token_type_ids"), "token_runs", NULL},
    {PE_NAMES("?size", "?grid", "?grid_size", "?height"), "target_grid", NULL},
    {PE_NAMES("positional", "positional_encoding", "pos_encoding", "encoding"), "scheme", NULL},
    {PE_NAMES("lambda", "?alpha", "?alibi_slopes"), "slope", NULL},
    {PE_NAMES("query"), "q", NULL},
    {PE_NAMES("key"), "k", NULL},
    {PE_NAMES("value"), "v", NULL},
    {PE_NAMES("mask"), "attention_mask", NULL},
    {PE_NAMES("?mask", "fill", "fill_value"), "mask_value", NULL},
    {PE_NAMES("is_causal"), "causal", NULL},
    {PE_NAMES("?softmax_scale", "?scale_factor"), "scale", NULL},
    {PE_NAMES("bias_max", "max_bias"), "alibi_bias_max", NULL},
    {PE_NAMES("buckets", "relative_attention_num_buckets", "position_buckets"), "num_buckets",
     NULL},
    {PE_NAMES("relative_attention_max_distance", "?max_relative_positions"), "max_distance", NULL},
    {PE_NAMES("relative_positions", "rel_pos"), "distances", NULL},
    {PE_NAMES("model_name", "model_id", "model_name_or_path", "checkpoint", "pretrained"), "model",
     NULL},
    {PE_NAMES("torch_dtype", "?type", "data_type", "precision"), "dtype", NULL},
    {PE_NAMES("output", "out", "fmt"), "format", NULL},
};

/* What others have a name for, and no resource has; and what to do instead. */
static const struct {
    const char *const *names, *advice;
} absent[] = {
    {PE_NAMES("window", "sliding_window", "local_window", "attention_window"),
     "a window changes no encoding: mask what is beyond it"},
    {PE_NAMES("batch", "batch_size", "bsz"), "all sequences of a batch have the same encoding"},
    {PE_NAMES("num_heads", "n_heads", "n_head", "num_attention_heads", "num_key_value_heads"),
     "all heads have the same encoding"},
    {PE_NAMES("layer", "layer_id", "layer_idx", "num_layers", "n_layer", "num_hidden_layers"),
     "all layers have the same encoding, or model and layer_type choose"},
    {PE_NAMES("device", "cuda", "gpu"), "who reads the numbers chooses where they go"},
    {PE_NAMES("page", "limit", "per_page", "skip"), "positions=START:END asks for a part"},
    {PE_NAMES("cos", "sin", "fields", "select"),
     "tensor=NAME and a format choose one tensor of an answer; the body of /v1/verify takes it"},
    {PE_NAMES("round", "digits", "decimals"),
     "numbers have the fewest digits that tell them apart; dtype=float16 has fewer"},
    {PE_NAMES("pretty", "indent"), "pipe the JSON through a program that indents, such as jq"},
    {PE_NAMES("download", "filename"), "the answer names its file: curl -OJ saves it"},
    {PE_NAMES("api_key", "apikey", "key", "token", "access_token"),
     "a key goes into the field Authorization: Bearer KEY"},
    {PE_NAMES("_", "v", "cb", "nocache"), "answers never change, so no cache need be passed by"},
    {PE_NAMES("degrees", "radians"), "angles are in radians"},
    {PE_NAMES("config", "model_config", "hf_config"),
     "post the configuration to /v1/models/resolve, which tells the parameters"},
    {PE_NAMES("image_size", "img_size", "patch_size"),
     "grids count patches: the size of the image over that of a patch"},
    {PE_NAMES("dropout", "vocab_size"), "no encoding depends on it"},
    {PE_NAMES("params", "parameters", "args", "kwargs", "inputs"),
     "parameters stand by themselves, in no object around them"},
};

/* The two values of a choice, for a name that was given as false; where there are more than two, this
 * is only suggested. */
static const struct {
    const char *sides[2];
    bool several;
} opposites[] = {
    {{"pairing=interleaved", "pairing=half"}, false},
    {{"form=causal", "form=symmetric"}, true},
    {{"combine=concat", "combine=add"}, false},
    {{"bidirectional=false", "bidirectional=true"}, false},
    {{"extra_tokens=1", "extra_tokens=0"}, false},
    {{"layout=interleaved", "layout=sin_cos"}, true},
    {{"layout=cos_sin", "layout=sin_cos"}, false},
};

/* More than there are. */
#define SYNONYMS_MAX 512

static const char *plain(const char *name)
{
    return name + (name[0] == '?');
}

static bool is_one_of(const char *name, const char *const *names)
{
    for (size_t i = 0; names[i] != NULL; i++)
        if (strcasecmp(plain(names[i]), name) == 0)
            return true;
    return false;
}

static bool has(const char *const *names, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

const char *pe_suggestion_advice(const char *name)
{
    for (size_t a = 0; a < PE_LEN(absent); a++)
        if (is_one_of(name, absent[a].names))
            return absent[a].advice;
    return NULL;
}

/* denied: the name was given as false, and asks for the other of two values. */
static const char *synonym_of(const char *name, bool denied, const char *const *names, size_t n)
{
    for (size_t s = 0; s < PE_LEN(synonyms); s++) {
        if (!is_one_of(name, synonyms[s].names) || !has(names, n, synonyms[s].meant))
            continue;
        const char *as = synonyms[s].as != NULL ? synonyms[s].as : synonyms[s].meant;
        for (size_t o = 0; denied && o < PE_LEN(opposites); o++)
            for (size_t side = 0; side < 2; side++)
                if (strcmp(opposites[o].sides[side], as) == 0)
                    return opposites[o].sides[1 - side];
        return as;
    }
    return NULL;
}

/* The same for a name that is nearly one of these. */
static const char *near_synonym(const char *name, bool denied, const char *const *names, size_t n)
{
    const char *words[SYNONYMS_MAX];
    size_t known = 0;
    for (size_t s = 0; s < PE_LEN(synonyms); s++)
        for (size_t i = 0; synonyms[s].names[i] != NULL && has(names, n, synonyms[s].meant); i++)
            if (known < SYNONYMS_MAX)
                words[known++] = plain(synonyms[s].names[i]);
    const char *near = pe_nearest_name(name, words, known);
    return near != NULL ? synonym_of(near, denied, names, n) : NULL;
}

/* Less is in too many names; of more names none is told. */
#define WORD_BYTES 3
#define SHOWN_MAX  3

/* Those of which one of the words, or several, begin as it was typed. */
static bool list_words(const char *name, const char *const *names, size_t n,
                       char out[PE_SUGGESTION_BYTES])
{
    const size_t bytes = strlen(name);
    size_t found = 0, used = 0;
    for (size_t i = 0; i < n && bytes >= WORD_BYTES; i++) {
        const char *word = names[i];
        while (word != NULL && strncasecmp(word, name, bytes) != 0)
            word = (word = strchr(word, '_')) != NULL ? word + 1 : NULL;
        if (word != NULL && found++ < SHOWN_MAX)
            used += (size_t)snprintf(out + used, PE_SUGGESTION_BYTES - used, "%s%.40s",
                                     found > 1 ? ", " : "", names[i]);
    }
    return found > 0 && found <= SHOWN_MAX;
}

/* ---- what is taken ---- */

/* "positions=0:N": how a number of positions is written. */
static const char counted[] = "=0:N";

static bool is_counted(const char *as)
{
    return as != NULL && strstr(as, counted) != NULL;
}

/* Of a number of positions: digits. */
static bool is_number(pe_slice text)
{
    size_t digits = 0;
    while (digits < text.bytes && text.text[digits] >= '0' && text.text[digits] <= '9')
        digits++;
    return digits > 0 && digits == text.bytes;
}

/* "pairing=half" for a name given as true that is written "pairing=half", or as false that is written
 * "pairing=interleaved"; NULL: neither, or something else may be meant. */
static const char *switched(const char *as, pe_slice text)
{
    const bool yes = pe_slice_is(text, "true") || pe_slice_is(text, "1");
    const bool no = pe_slice_is(text, "false") || pe_slice_is(text, "0");
    for (size_t o = 0; (yes || no) && o < PE_LEN(opposites); o++)
        for (size_t side = 0; side < 2; side++)
            if (strcmp(opposites[o].sides[side], as) == 0)
                return yes ? as : opposites[o].several ? NULL : opposites[o].sides[1 - side];
    return NULL;
}

/* What a row makes of a value, with the name that it gets: "" for the value as it is, "positions=0:N",
 * "pairing=half". NULL: it is not taken. */
static const char *taken_as(size_t s, pe_slice text)
{
    const char *as = synonyms[s].as;
    if (as == NULL)
        return "";
    return is_counted(as) ? (is_number(text) ? as : NULL) : switched(as, text);
}

/* The row's name, where it has one meaning; NULL: it has none such. */
static const char *taken_name(size_t s, const char *name)
{
    for (size_t i = 0; synonyms[s].names[i] != NULL; i++)
        if (strcmp(synonyms[s].names[i], name) == 0)
            return synonyms[s].names[i];
    return NULL;
}

/* Is a value of the row's names one of the parameter, or a number of positions? */
static bool is_listed(size_t s)
{
    return synonyms[s].as == NULL || is_counted(synonyms[s].as);
}

/* Is it a name of the resource's own, or taken for another of its parameters? */
static bool is_ambiguous(const pe_param_set *const *sets, const char *name, const char *meant)
{
    const pe_param *param;
    for (size_t i = 0; (param = pe_params_at(sets, i)) != NULL; i++)
        if (strcmp(param->name, name) == 0 || pe_param_alias(param, name) != NULL)
            return true;
    for (size_t s = 0; s < PE_LEN(synonyms); s++)
        if (strcmp(synonyms[s].meant, meant) != 0 && is_listed(s) && taken_name(s, name) != NULL &&
            pe_params_find(sets, synonyms[s].meant) != NULL)
            return true;
    return false;
}

bool pe_suggestion_take(const pe_values *values, const char *name, pe_slice text,
                        pe_suggested_value *out)
{
    *out = (pe_suggested_value){0};
    for (size_t s = 0; s < PE_LEN(synonyms); s++) {
        const char *taken = taken_name(s, name), *as = taken_as(s, text);
        pe_value *value =
            taken != NULL && as != NULL ? pe_values_find(values, synonyms[s].meant) : NULL;
        if (value == NULL)
            continue;
        if (out->value != NULL && out->value != value)
            return false; /* it may mean either */
        const char *equals = strchr(as, '=');
        *out = (pe_suggested_value){value, taken, equals != NULL ? equals + 1 : NULL};
    }
    return out->value != NULL;
}

size_t pe_suggestion_aliases(const pe_param_set *const *sets, const pe_param *param,
                             const char **out, size_t most)
{
    size_t n = 0;
    for (size_t s = 0; s < PE_LEN(synonyms); s++)
        for (size_t i = 0; synonyms[s].names[i] != NULL && n < most; i++) {
            const char *name = synonyms[s].names[i];
            if (strcmp(synonyms[s].meant, param->name) == 0 && name[0] != '?' && is_listed(s) &&
                !has(out, n, name) && !is_ambiguous(sets, name, param->name))
                out[n++] = name;
        }
    return n;
}

/* Has some resource a parameter of this name? */
static bool is_own(const char *name)
{
    for (size_t r = 0; pe_registry[r] != NULL; r++)
        if (pe_params_find(pe_registry[r]->param_sets, name) != NULL)
            return true;
    return false;
}

/* Digits, after spaces; returns what follows them, or NULL. */
static const char *read_side(const char *at, unsigned long *side)
{
    char *end = NULL;
    at += strspn(at, " ");
    if (strspn(at, "0123456789") == 0)
        return NULL;
    *side = strtoul(at, &end, 10);
    return end;
}

/* Two sides in a list, or one of a square: "2,3", "[2, 3]", "2". */
static bool read_sides(pe_slice text, unsigned long side[2])
{
    char list[32];
    snprintf(list, sizeof list, "%.*s", (int)(text.bytes < sizeof list ? text.bytes : 0),
             text.text);
    const char *at = read_side(list + (list[0] == '['), &side[0]);
    side[1] = side[0];
    if (at != NULL && *at == ',')
        at = read_side(at + 1, &side[1]);
    return at != NULL && (*at == '\0' || strcmp(at, "]") == 0);
}

bool pe_suggestion_find(const char *name, pe_slice value, const char *const *names, size_t own,
                        size_t n, char out[PE_SUGGESTION_BYTES])
{
    static const char no[] = "false", between[] = " and ";
    const bool denied =
        value.bytes == sizeof no - 1 && strncasecmp(value.text, no, value.bytes) == 0;
    const char *meant = synonym_of(name, denied, names, own);
    if (meant == NULL && list_words(name, names, own, out))
        return true;
    /* A word that means something elsewhere is not misspelled. */
    bool typo = meant == NULL && !is_own(name) && pe_suggestion_advice(name) == NULL;
    for (size_t s = 0; typo && s < PE_LEN(synonyms); s++)
        typo = !is_one_of(name, synonyms[s].names);
    if (typo)
        meant = pe_nearest_name(name, names, n);
    if (typo && meant == NULL && strlen(name) >= WORD_BYTES)
        meant = near_synonym(name, denied, names, own);
    if (meant == NULL)
        return false;
    const char *second = strstr(meant, between); /* "height and width": with what was given */
    unsigned long side[2] = {0};
    if (second != NULL && strstr(second, "width") != NULL && read_sides(value, side))
        snprintf(out, PE_SUGGESTION_BYTES, "%.*s=%lu%s%s=%lu", (int)(second - meant), meant,
                 side[0], between, second + strlen(between), side[1]);
    else
        snprintf(out, PE_SUGGESTION_BYTES, "%s", meant);
    return true;
}
