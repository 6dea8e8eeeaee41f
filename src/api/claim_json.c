/* SPDX-License-Identifier: MIT */
/* claim_json.c - a claim from a JSON object. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/claim.h"
#include "api/claim_json_values.h"
#include "api/json_members.h"
#include "api/json_string.h"
#include "api/meant_name.h"
#include "base/nearest.h"
#include "models/model.h"
#include "plan/common_params.h"
#include "text/scan.h"

/* More members than any resource has. Whether others are misspelled is left to the resource, which
 * looks at few: a body may have millions. */
#define LOOKED_UP_MAX 128

/* Vectors before and after rotation, which go by several names. Each is a claim of its own. */
static const struct vectors {
    size_t inputs, rotated[2];
} vectors[] = {{PE_CLAIM_INPUTS, {PE_CLAIM_ROTATED, PE_CLAIM_ROTATED}},
               {PE_CLAIM_Q, {PE_CLAIM_Q_ROTATED, PE_CLAIM_Q_EMBED}},
               {PE_CLAIM_K, {PE_CLAIM_K_ROTATED, PE_CLAIM_K_EMBED}}};

/* A mistake does not end the reading: all are told at once. */
static void note(pe_claim_body *b, pe_status status, const pe_problem *mistake)
{
    b->failed = pe_problem_collect(b->failed, status, mistake, b->why);
}

/* ---- members ---- */

/* What is given need not be inferred. */
static void saw(pe_claim_body *b, const char *key, pe_slice json)
{
    pe_claim_shapes_saw(&b->shapes, key, json);
    b->has_positions |= strcmp(key, "positions") == 0;
    b->has_head_dim |= strcmp(key, "head_dim") == 0 || strcmp(key, "model") == 0;
}

/* What has to be known before the resource reads its parameters. */
static void peek(pe_claim_body *b, const char *key, pe_slice json)
{
    const char *meant;
    if (strcmp(key, "dtype") == 0)
        b->dtype = json;
    if (strcmp(key, "model") == 0)
        b->model = json;
    b->has_seq_len |= strcmp(key, "seq_len") == 0;
    saw(b, key, json);
    for (size_t k = 0; (meant = pe_meant_name_of_any(key, k)) != NULL; k++)
        saw(b, meant, json);
}

/* A member for the resource to read. */
static void pass_on(pe_claim_body *b, const char *key, pe_slice json, pe_buffer *to)
{
    peek(b, key, json);
    pe_buffer_json_string(to, key);
    pe_buffer_str(to, ":");
    pe_buffer_add(to, json.text, json.bytes);
    pe_buffer_str(to, ",");
}

/* Resources take a model's name beside their nested object only. */
static pe_status nested_member(void *state, const char *key, pe_slice json, pe_problem *why)
{
    pe_claim_body *b = state;
    const bool named = strcmp(key, "model") == 0 || strcmp(key, "layer_type") == 0;
    (void)why;
    pass_on(b, key, json, named ? &b->rest : &b->nested);
    return PE_OK;
}

/* What others call a member, or the nearest. */
static const char *member_meant(const char *key)
{
    static const struct {
        const char *name;
        int member;
    } called[] = {{"data", PE_CLAIM_TABLE},
                  {"actual", PE_CLAIM_TABLE},
                  {"tol", PE_CLAIM_TOLERANCE},
                  {"atol", PE_CLAIM_TOLERANCE},
                  {"rtol", PE_CLAIM_TOLERANCE}};
    for (size_t i = 0; i < PE_LEN(called); i++)
        if (strcmp(key, called[i].name) == 0)
            return pe_claim_member_names[called[i].member];
    return pe_nearest_name(key, pe_claim_member_names, PE_CLAIM_MEMBERS);
}

static pe_status keep_member(void *state, const char *key, pe_slice json, pe_problem *why)
{
    pe_claim_body *b = state;
    for (size_t m = 0; m < PE_CLAIM_MEMBERS; m++)
        if (strcmp(key, pe_claim_member_names[m]) == 0)
            return pe_query_keep(&b->member[m], key, json, why);
    const char *near = NULL;
    if (b->looked_up++ < LOOKED_UP_MAX)
        near = member_meant(key);
    if (near != NULL)
        return pe_fail(why, PE_UNKNOWN_PARAMETER, key, "unknown parameter %.64s, did you mean %s?",
                       key, near);
    pass_on(b, key, json, &b->rest);
    return PE_OK;
}

static pe_status keep_or_note(void *state, const char *key, pe_slice json, pe_problem *why)
{
    pe_claim_body *b = state;
    pe_problem mistake;
    (void)why;
    note(b, keep_member(state, key, json, &mistake), &mistake);
    return PE_OK;
}

static pe_status check_parameters(const pe_claim_body *b, pe_problem *why)
{
    if (b->member[PE_CLAIM_PARAMETERS].text[0] != '{')
        return pe_fail(why, PE_INVALID_PARAMETER, "parameters", "parameters must be an object");
    if (b->member[PE_CLAIM_CONFIG].text == NULL)
        return PE_OK;
    return pe_fail(why, PE_INVALID_PARAMETER, "config",
                   "config takes the place of parameters; put positions beside config, and leave "
                   "parameters out");
}

/* Fails where the body itself is broken, whatever its members are. */
static pe_status read_members(pe_claim_body *b, pe_slice text, pe_problem *why)
{
    pe_problem mistake;
    pe_status status = pe_json_members_walk(text, b->limits->max_depth, keep_or_note, b, why);
    if (b->member[PE_CLAIM_CONFIG].text == NULL && b->member[PE_CLAIM_LAYER_TYPE].text != NULL)
        pass_on(b, pe_claim_member_names[PE_CLAIM_LAYER_TYPE], b->member[PE_CLAIM_LAYER_TYPE],
                &b->rest); /* of a model by name */
    if (status != PE_OK || b->member[PE_CLAIM_PARAMETERS].text == NULL)
        return status;
    status = check_parameters(b, &mistake);
    note(b, status, &mistake);
    return status != PE_OK ? PE_OK
                           : pe_json_members_walk(b->member[PE_CLAIM_PARAMETERS],
                                                  b->limits->max_depth - 1, nested_member, b, why);
}

static pe_status read_text(const pe_claim_body *b, size_t member, char *out, size_t room,
                           pe_problem *why)
{
    const pe_slice json = b->member[member];
    const char *name = pe_claim_member_names[member];
    char *text = NULL;
    out[0] = '\0';
    if (json.text == NULL)
        return PE_OK;
    if (json.text[0] != '"')
        return pe_fail(why, PE_INVALID_PARAMETER, name, "%s must be a string", name);
    const pe_status status = pe_json_string_decode(json, name, &text, why);
    if (status == PE_OK)
        snprintf(out, room, "%s", text);
    free(text);
    return status;
}

/* ---- numbers ---- */

static pe_status read_number(const pe_claim_body *b, size_t member, double low, double *out,
                             pe_problem *why)
{
    const pe_slice json = b->member[member];
    const char *name = pe_claim_member_names[member];
    size_t used = 0;
    if (json.text == NULL)
        return PE_OK;
    if (pe_scan_number(json.text, json.bytes, out, &used) != PE_SCAN_OK || used != json.bytes ||
        *out < low)
        return pe_fail(why, PE_INVALID_PARAMETER, name, "%s must be a number%s, got %.*s", name,
                       low == 0 ? " of at least 0" : "", PE_SHOWN(json));
    return PE_OK;
}

static pe_status read_axis(const pe_claim_body *b, pe_problem *why)
{
    double axis = -2;
    const pe_status status = read_number(b, PE_CLAIM_SEQ_AXIS, -PE_MAX_DIMS, &axis, why);
    return status == PE_OK ? pe_claim_set_axis(b->claim, axis, why) : status;
}

/* ---- parameters ---- */

static pe_status set_resource(pe_claim_body *b, const char *encoding, pe_problem *why)
{
    return pe_claim_set_resource(b->claim, encoding, b->member[PE_CLAIM_SLOPES].text != NULL, why);
}

/* The parameters of a model's layers, and the table they belong to. */
static pe_status read_config(pe_claim_body *b, pe_problem *why)
{
    pe_model *model;
    const pe_model_layers *layers;
    const pe_slice json = b->member[PE_CLAIM_CONFIG];
    pe_claim_shapes_saw(&b->shapes, "model", json);
    pe_status status = read_text(b, PE_CLAIM_LAYER_TYPE, b->layer_type, sizeof b->layer_type, why);
    if (status != PE_OK)
        return status;
    status = pe_claim_read_config(json, b->layer_type, &model, &layers, why);
    if (status == PE_OK) {
        pe_value *own = pe_values_find(&layers->values, "seq_len");
        if (own != NULL && b->has_seq_len)
            own->present = false; /* a configuration knows of no sequence: what came counts */
        pe_values_json(&layers->values, &b->configured);
        status = set_resource(b, b->encoding[0] != '\0' ? b->encoding : model->encoding, why);
    }
    pe_model_free(model);
    return status;
}

static void put_nested(const pe_buffer *members, pe_buffer *out)
{
    pe_buffer_str(out, "{");
    if (members->bytes > 0)
        pe_buffer_add(out, members->data, members->bytes - 1); /* without the last comma */
    pe_buffer_str(out, "}");
}

/* The resource's own body: its parameters as "parameters", and what stood beside them. */
static void put_body(const pe_claim_body *b, pe_buffer *out)
{
    pe_buffer_str(out, "{");
    if (b->rest.bytes > 0)
        pe_buffer_add(out, b->rest.data, b->rest.bytes);
    pe_buffer_str(out, "\"parameters\":");
    if (b->configured.bytes > 0)
        pe_buffer_add(out, b->configured.data, b->configured.bytes);
    else
        put_nested(&b->nested, out);
    pe_buffer_str(out, "}");
    out->failed |= b->rest.failed || b->nested.failed || b->configured.failed;
}

static pe_status read_values(pe_claim_body *b, pe_problem *why)
{
    pe_query query;
    pe_problem mistake;
    pe_buffer text = {0};
    pe_resource resource = *b->claim->resource;
    resource.nested = "parameters";
    put_body(b, &text);
    pe_read_limits limits = *b->limits;
    limits.keep_mistakes = limits.plan != NULL;
    pe_status status =
        text.failed ? pe_fail_memory(why)
                    : pe_query_json_parse(&resource, pe_buffer_slice(&text), &limits, &query, why);
    pe_buffer_free(&text);
    if (status != PE_OK)
        return status;
    if (query.mistakes != NULL)
        status = (*why = *query.mistakes).status;
    return pe_problem_collect(status, pe_claim_take_query(b->claim, &query, &mistake), &mistake,
                              why);
}

/* The mistakes of the parameters' plan, beside those that were told. */
static void plan_refused(pe_claim_body *b)
{
    pe_problem all;
    pe_plan none = {0};
    const pe_read_limits *limits = b->limits;
    pe_query query = {
        .resource = b->claim->resource, .values = b->claim->values, .mistakes = b->why};
    if (b->failed == PE_OK || pe_status_is_ours(b->failed) || query.values.n == 0 ||
        limits->plan == NULL)
        return;
    b->failed = pe_query_plan(&query, limits->tables, limits->plan, &none, &all);
    *b->why = all;
}

/* The members that are single values. */
static void read_scalars(pe_claim_body *b)
{
    pe_problem mistake;
    note(b, read_text(b, PE_CLAIM_ENCODING, b->encoding, sizeof b->encoding, &mistake), &mistake);
    note(b, read_axis(b, &mistake), &mistake);
    note(b, read_number(b, PE_CLAIM_TOLERANCE, 0, &b->claim->tolerance, &mistake), &mistake);
}

/* A model that is named implies its encoding. */
static pe_status read_model(pe_claim_body *b, pe_problem *why)
{
    char *name = NULL;
    pe_status status = pe_json_string_decode(b->model, "model", &name, why);
    if (status == PE_OK)
        status = pe_claim_encoding_of_model(name, b->encoding, sizeof b->encoding, why);
    free(name);
    return status;
}

static pe_status read_resource(pe_claim_body *b, pe_problem *why)
{
    if (b->member[PE_CLAIM_CONFIG].text != NULL)
        return read_config(b, why);
    if (b->encoding[0] == '\0' && b->model.text != NULL && b->model.text[0] == '"' &&
        read_model(b, why) != PE_OK)
        return why->status;
    return set_resource(b, b->encoding, why);
}

/* The one member that holds the numbers. */
static pe_status find_holder(const pe_claim_body *b, size_t *out, pe_problem *why)
{
    const size_t holders[] = {PE_CLAIM_TABLE, PE_CLAIM_BIAS, PE_CLAIM_SLOPES, b->rotated};
    const char *inputs = pe_claim_member_names[b->inputs];
    size_t found = PE_CLAIM_MEMBERS;
    for (size_t h = 0; h < PE_LEN(holders); h++) {
        if (b->member[holders[h]].text == NULL)
            continue;
        if (found != PE_CLAIM_MEMBERS)
            return pe_fail(why, PE_INVALID_PARAMETER, pe_claim_member_names[holders[h]],
                           "%s does not go with %s: verify one at a time",
                           pe_claim_member_names[holders[h]], pe_claim_member_names[found]);
        found = holders[h];
    }
    if (found == PE_CLAIM_MEMBERS && b->member[b->inputs].text != NULL)
        return pe_fail(why, PE_MISSING_PARAMETER, pe_claim_member_names[b->rotated],
                       "%s is required with %s: the same vectors, rotated",
                       pe_claim_member_names[b->rotated], inputs);
    if (found == PE_CLAIM_MEMBERS)
        return pe_fail(why, PE_MISSING_PARAMETER, "table",
                       "table is required: the numbers to verify (or bias, slopes, inputs and "
                       "rotated, or q and q_rotated)");
    *out = found;
    return PE_OK;
}

static pe_status check_inputs(const pe_claim_body *b, size_t holder, pe_problem *why)
{
    const char *name = pe_claim_member_names[b->inputs];
    const bool inputs = b->member[b->inputs].text != NULL;
    if (holder == b->rotated && !inputs)
        return pe_fail(why, PE_MISSING_PARAMETER, name,
                       "%s is required with %s: the vectors before rotation", name,
                       pe_claim_member_names[holder]);
    if (holder != b->rotated && inputs)
        return pe_fail(why, PE_INVALID_PARAMETER, name, "%s does not go with %s", name,
                       pe_claim_member_names[holder]);
    if (holder != b->rotated && b->member[PE_CLAIM_SEQ_AXIS].text != NULL)
        return pe_fail(why, PE_INVALID_PARAMETER, "seq_axis",
                       "seq_axis is an axis of inputs and does not go with %s",
                       pe_claim_member_names[holder]);
    return PE_OK;
}

/* One alone of the vectors and those rotated does not tell what the other says. */
static bool has_pair(const pe_claim_body *b)
{
    return (b->member[b->inputs].text == NULL) == (b->member[b->rotated].text == NULL);
}

/* What is claimed of the numbers, then the numbers. */
static void read_claim(pe_claim_body *b, size_t holder)
{
    pe_problem mistake;
    pe_status tensors = PE_OK;
    pe_problem of_tensors;
    const pe_status inputs = pe_claim_values_read_inputs(b, &mistake);
    note(b, inputs, &mistake);
    b->element = pe_claim_values_element(b);
    if (holder < PE_CLAIM_MEMBERS && !pe_status_is_ours(b->failed))
        tensors = pe_claim_values_read_tensors(b, holder, &of_tensors);
    if (tensors == PE_OK)
        note(b, pe_claim_values_read_shapes(b, holder, &mistake), &mistake);
    if (inputs == PE_OK && has_pair(b))
        note(b, read_values(b, &mistake), &mistake);
    note(b, tensors, &of_tensors);
    if (b->failed == PE_OK)
        note(b, pe_claim_shapes_take_angles(&b->shapes, b->claim, &mistake), &mistake);
}

/* Of no resource, dtype can be read alone. */
static pe_status check_dtype(const pe_claim_body *b, pe_problem *why)
{
    static const pe_resource any = {.path = "/v1/verify", .param_sets = {&pe_params_dtype}};
    pe_buffer text = {0};
    pe_query query;
    if (b->dtype.text == NULL)
        return PE_OK;
    pe_buffer_format(&text, "{\"dtype\":%.*s}", (int)b->dtype.bytes, b->dtype.text);
    const pe_status status =
        text.failed ? pe_fail_memory(why)
                    : pe_query_json_parse(&any, pe_buffer_slice(&text), b->limits, &query, why);
    pe_buffer_free(&text);
    if (status == PE_OK)
        pe_query_free(&query);
    return status;
}

/* What does not depend on a mistake is read nevertheless. */
static void read_all(pe_claim_body *b)
{
    size_t holder = PE_CLAIM_MEMBERS;
    pe_problem mistake;
    read_scalars(b);
    const pe_status resource = read_resource(b, &mistake);
    note(b, resource, &mistake);
    const pe_status held = find_holder(b, &holder, &mistake);
    note(b, held, &mistake);
    if (held == PE_OK)
        note(b, check_inputs(b, holder, &mistake), &mistake);
    if (resource == PE_OK)
        read_claim(b, holder);
    else
        note(b, check_dtype(b, &mistake), &mistake);
}

/* The vectors from row `from` on that the body has a member of. */
static size_t find_vectors(const pe_claim_body *b, size_t from)
{
    while (from < PE_LEN(vectors) && b->member[vectors[from].inputs].text == NULL &&
           b->member[vectors[from].rotated[0]].text == NULL &&
           b->member[vectors[from].rotated[1]].text == NULL)
        from++;
    return from;
}

static void choose_vectors(pe_claim_body *b, size_t which, bool several)
{
    const struct vectors *of = &vectors[which];
    b->inputs = of->inputs;
    b->rotated = of->rotated[b->member[of->rotated[0]].text == NULL &&
                             b->member[of->rotated[1]].text != NULL];
    if (several)
        snprintf(b->claim->sent, sizeof b->claim->sent, "%s, %s", pe_claim_member_names[b->inputs],
                 pe_claim_member_names[b->rotated]);
}

static void body_free(pe_claim_body *b)
{
    pe_buffer_free(&b->rest);
    pe_buffer_free(&b->nested);
    pe_buffer_free(&b->configured);
}

/* One claim. *from: the row of the first vectors that it may be of; then of the next ones. */
static pe_status parse_one(pe_slice json, const pe_read_limits *limits, size_t *from, pe_claim *out,
                           pe_problem *why)
{
    pe_claim claim = PE_CLAIM_EMPTY;
    pe_problem broken;
    pe_claim_body b = {.limits = limits,
                       .claim = &claim,
                       .why = why,
                       .inputs = PE_CLAIM_INPUTS,
                       .rotated = PE_CLAIM_ROTATED};
    pe_status status = read_members(&b, json, &broken);
    const size_t which = find_vectors(&b, *from), next = find_vectors(&b, which + 1);
    if (which < PE_LEN(vectors))
        choose_vectors(&b, which, *from > 0 || next < PE_LEN(vectors));
    if (status == PE_OK) {
        read_all(&b);
        plan_refused(&b);
        status = b.failed;
    } else {
        *why = broken;
    }
    *from = next;
    body_free(&b);
    return pe_claim_finish(&claim, status, out, why);
}

pe_status pe_claim_json_parse(pe_slice json, const pe_read_limits *limits, pe_claim *out,
                              pe_problem *why)
{
    size_t from = 0;
    pe_status status = parse_one(json, limits, &from, out, why);
    if (status != PE_OK)
        return status;
    for (pe_claim *last = out; status == PE_OK && from < PE_LEN(vectors); last = last->next) {
        last->next = calloc(1, sizeof *last->next);
        status = last->next == NULL ? pe_fail_memory(why)
                                    : parse_one(json, limits, &from, last->next, why);
    }
    if (status != PE_OK)
        pe_verify_claim_free(out);
    return status;
}
