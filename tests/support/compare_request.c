/* SPDX-License-Identifier: MIT */
/* compare_request.c - requests for rope types side by side, and their answers. */
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "support/compare_request.h"

json_t *compare_answer(const test_server *server, const char *target, const json_t *body)
{
    char *text = json_dumps(body, JSON_REAL_PRECISION(17));
    reply answer = post_json(server, target, text);
    if (answer.status != 200)
        fail_msg("%s with %s: %ld %s", target, text, answer.status, answer.body);
    json_t *tree = reply_json(&answer);
    reply_free(&answer);
    free(text);
    return tree;
}

json_t *compare_data(const json_t *answer, const char *tensor)
{
    json_t *data = json_object_get(json_object_get(answer, tensor), "data");
    if (data == NULL)
        fail_msg("no tensor %s", tensor);
    return data;
}

double compare_number(const json_t *answer, const char *tensor, size_t type)
{
    return json_number_value(json_array_get(compare_data(answer, tensor), type));
}

/* The types of an answer, in the order of its first axis. */
const json_t *compare_types(const json_t *answer)
{
    return json_object_get(json_object_get(answer, "parameters"), "rope_types");
}

const char *compare_type(const json_t *answer, size_t t)
{
    return json_string_value(json_array_get(compare_types(answer), t));
}

size_t compare_index(const json_t *answer, const char *type)
{
    size_t t = 0;
    while (t < json_array_size(compare_types(answer)) && strcmp(compare_type(answer, t), type) != 0)
        t++;
    assert_true(t < json_array_size(compare_types(answer)));
    return t;
}

/* ---- requests -------------------------------------------------------------------------------- */

/* Each type and the keys that it reads besides lengths and factor. */
static const struct type_keys {
    const char *type, *keys[6];
    bool factor, original, seq_len;
} type_keys[] = {
    {"default", {NULL}, false, false, false},
    {"linear", {NULL}, true, false, false},
    {"ntk", {NULL}, true, false, false},
    {"dynamic", {NULL}, true, false, true},
    {"yarn",
     {"beta_fast", "beta_slow", "mscale", "mscale_all_dim", "truncate", "extrapolation_factor"},
     true,
     true,
     false},
    {"longrope", {"short_factor", "long_factor"}, true, true, true},
    {"llama3", {"low_freq_factor", "high_freq_factor"}, true, true, false},
    {"ntk_alpha", {"alpha"}, false, false, false},
    {"ntk_fixed", {NULL}, true, false, false},
    {"ntk_mixed", {"mixed_b"}, true, false, false},
    {"ntk_by_parts", {"beta_fast", "beta_slow"}, true, true, false},
    {"part_ntk", {"extrapolation_factor", "ntk_factor"}, true, true, false},
};

json_t *compare_random_list(random_source *random, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, json_real(floor(random_real(random, 4, 200)) / 4));
    return list;
}

/* A model and every key there is, so that all types can be planned. */
json_t *compare_random(random_source *random)
{
    const int pairs = (int)random_int(random, 2, 40);
    const int trained = (int)random_int(random, 8, 9000);
    json_t *r = json_pack(
        "{s:i, s:i, s:f, s:i, s:i, s:f, s:f, s:f, s:f, s:b, s:f, s:f, s:f, s:f, s:f, s:f}",
        "head_dim", 2 * pairs + 2 * (int)random_int(random, 0, 4), "rotary_dim", 2 * pairs,
        "rope_theta", floor(exp(random_real(random, 1, 18))) + 1, "max_position_embeddings",
        trained, "target_length", trained + (int)random_int(random, 0, 90000), "beta_fast",
        random_real(random, 8, 64), "beta_slow", random_real(random, 0.5, 4), "mscale",
        random_real(random, 0.5, 2), "mscale_all_dim", random_real(random, 0.5, 2), "truncate",
        (int)random_int(random, 0, 1), "extrapolation_factor", random_real(random, 0, 1),
        "low_freq_factor", random_real(random, 0.5, 2), "high_freq_factor",
        random_real(random, 2, 6), "alpha", random_real(random, 1, 1000), "mixed_b",
        random_real(random, 0.1, 2), "ntk_factor", random_real(random, 0, 1));
    json_object_set_new(r, "short_factor", compare_random_list(random, (size_t)pairs));
    json_object_set_new(r, "long_factor", compare_random_list(random, (size_t)pairs));
    if (random_int(random, 0, 2) == 0) /* stretched further than the target */
        json_object_set_new(r, "factor", json_real(random_real(random, 1, 64)));
    return r;
}

double compare_member(const json_t *object, const char *name)
{
    return json_number_value(json_object_get(object, name));
}

void compare_copy(json_t *to, const json_t *from, const char *name)
{
    json_t *value = json_object_get(from, name);
    if (value != NULL)
        json_object_set_new(to, name, json_deep_copy(value));
}

/* What /v1/rope/frequencies is to be asked for one type of a comparison. */
json_t *compare_single(const json_t *compared, const char *type)
{
    static const char *const shared[] = {"head_dim", "rotary_dim", "partial_rotary_factor",
                                         "rope_theta", "max_position_embeddings"};
    const struct type_keys *row = type_keys;
    while (strcmp(row->type, type) != 0)
        row++;
    json_t *r = json_object();
    for (size_t i = 0; i < PE_LEN(shared); i++)
        compare_copy(r, compared, shared[i]);
    for (size_t k = 0; k < PE_LEN(row->keys) && row->keys[k] != NULL; k++)
        compare_copy(r, compared, row->keys[k]);
    json_object_set_new(r, "rope_type", json_string(type));
    const double trained = compare_member(compared, "max_position_embeddings");
    const double target = compare_member(compared, "target_length");
    const json_t *factor = json_object_get(compared, "factor");
    if (row->factor)
        json_object_set_new(r, "factor",
                            json_real(factor ? json_number_value(factor) : target / trained));
    if (row->original)
        json_object_set_new(r, "original_max_position_embeddings", json_real(trained));
    if (row->seq_len)
        json_object_set_new(r, "seq_len", json_real(target));
    return r;
}

void compare_same_as_alone(const json_t *compared, const json_t *single, size_t t, const char *type)
{
    static const char *const tensors[] = {"inv_freq", "wavelength", "stretch"};
    for (size_t i = 0; i < PE_LEN(tensors); i++)
        if (!json_equal(json_array_get(compare_data(compared, tensors[i]), t),
                        compare_data(single, tensors[i])))
            fail_msg("%s of %s differs from that of " FREQUENCIES, tensors[i], type);
    if (compare_number(compared, "attention_factor", t) !=
        compare_member(single, "attention_factor"))
        fail_msg("%s: attention_factor differs", type);
}
