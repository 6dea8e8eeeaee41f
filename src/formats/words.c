/* SPDX-License-Identifier: MIT */
/* words.c - title, parameters and names, from the rows of the resource. */
#include "formats/words.h"

#include <stdio.h>
#include <string.h>

#include "formats/segments.h"
#include "plan/resource.h"

/* The labels of a tensor: those with its name, else those without one. */
static const pe_labels *labels_of(const pe_rendering *rendering, const pe_tensor *tensor)
{
    const pe_labels *labels = rendering->resource != NULL ? rendering->resource->labels : NULL;
    for (; labels != NULL && (labels->axes != NULL || labels->value != NULL); labels++)
        if (labels->tensor == NULL ||
            (tensor->name != NULL && strcmp(labels->tensor, tensor->name) == 0))
            return labels;
    return NULL;
}

static const pe_value *value_named(const pe_rendering *rendering, pe_slice name)
{
    const pe_values *values = rendering->values;
    for (size_t i = 0; values != NULL && i < values->n; i++)
        if (pe_slice_is(name, values->value[i].param->name) && values->value[i].present)
            return &values->value[i];
    return NULL;
}

/* The name of an axis, of a list "head, query, key" for the last ones; empty: it has none. */
static pe_slice axis_name(const pe_rendering *rendering, const pe_tensor *tensor, size_t axis)
{
    const pe_labels *labels = labels_of(rendering, tensor);
    const char *list = labels != NULL && labels->axes != NULL ? labels->axes : "";
    const size_t ndim = tensor->shape.ndim, names = pe_slice_pieces(pe_slice_of(list), ',');
    pe_slice left = pe_slice_of(list), name = {"", 0};
    for (size_t i = 0; axis < ndim && i + ndim <= axis + names; i++)
        name = pe_slice_next(&left, ',');
    for (; name.bytes > 0 && *name.text == ' '; name.bytes--)
        name.text++;
    return name;
}

const pe_positions *pe_words_positions(const pe_rendering *rendering, const pe_tensor *tensor,
                                       size_t axis)
{
    const pe_value *value = value_named(rendering, axis_name(rendering, tensor, axis));
    const bool known = value != NULL && value->param->kind == PE_KIND_POSITIONS &&
                       value->positions.count == tensor->shape.dim[axis];
    return known ? &value->positions : NULL;
}

void pe_words_axis(const pe_rendering *rendering, const pe_tensor *tensor, size_t axis,
                   pe_axis_words *out)
{
    const size_t ndim = tensor->shape.ndim;
    const pe_slice name = axis_name(rendering, tensor, axis);
    const pe_value *value = value_named(rendering, name);
    *out = (pe_axis_words){.step = 1};
    out->along_positions = value != NULL && value->param->kind == PE_KIND_POSITIONS;
    const pe_positions *positions = out->along_positions ? &value->positions : NULL;
    if (positions != NULL && positions->list == NULL && positions->rows == NULL &&
        positions->count == tensor->shape.dim[axis]) { /* a range says where the elements are */
        const char *unit = value->param->unit;
        out->first = (double)positions->first;
        out->step = (double)positions->step;
        snprintf(out->name, sizeof out->name, unit != NULL ? "%s [%s]" : "%s", value->param->name,
                 unit);
    } else if (positions != NULL) {
        snprintf(out->name, sizeof out->name, "%s [index in the list]", value->param->name);
    } else if (name.bytes > 0) {
        snprintf(out->name, sizeof out->name, "%.*s", (int)name.bytes, name.text);
    } else if (axis < ndim) {
        snprintf(out->name, sizeof out->name, ndim == 1 ? "index" : "axis %zu", axis);
    }
    if (value != NULL && value->param->kind == PE_KIND_CHOICES &&
        value->n_picks == tensor->shape.dim[axis])
        out->names = value;
    out->apart = out->names != NULL || pe_slice_is(name, "head");
}

const char *pe_words_element(const pe_axis_words *words, size_t i)
{
    const pe_value *names = words->names;
    return names != NULL && i < names->n_picks ? names->param->choices[names->picks[i]] : NULL;
}

void pe_words_resource(const pe_rendering *rendering, pe_buffer *out)
{
    const char *title =
        rendering->resource != NULL ? rendering->resource->summary : rendering->encoding;
    const size_t bytes = strlen(title);
    pe_buffer_add(out, title, bytes > 0 && title[bytes - 1] == '.' ? bytes - 1 : bytes);
}

void pe_words_title(const pe_plan *plan, const pe_rendering *rendering, size_t tensor,
                    pe_buffer *out)
{
    const char *name = pe_segments_tensor_name(plan, tensor);
    pe_words_resource(rendering, out);
    if (strcmp(name, "data") != 0)
        pe_buffer_format(out, ": %s", name);
}

/* ---- parameters ---- */

/* Texts and tensors are not told either; lists, positions and names always are. */
static bool is_default(const pe_value *value)
{
    const pe_param *param = value->param;
    const pe_param_kind kind = param->kind;
    if (kind == PE_KIND_TEXT || kind == PE_KIND_TENSOR)
        return true;
    if (kind == PE_KIND_BOOL)
        return value->truth == (param->fallback != 0);
    const bool fixed = !param->optional && !param->required;
    return fixed && ((kind == PE_KIND_INT && (double)value->integer == param->fallback) ||
                     (kind == PE_KIND_REAL && value->real == param->fallback) ||
                     (kind == PE_KIND_CHOICE && value->choice == (size_t)param->fallback));
}

void pe_words_parameters(const pe_rendering *rendering, pe_buffer *out)
{
    const pe_values *values = rendering->values;
    const char *separator = ": ";
    if (rendering->resource != NULL)
        pe_buffer_format(out, "/v1/%s", rendering->resource->name);
    else
        separator = "";
    for (size_t i = 0; values != NULL && i < values->n; i++) {
        const pe_value *value = &values->value[i];
        if (!value->present || is_default(value))
            continue;
        pe_buffer_format(out, "%s%s = ", separator, value->param->name);
        pe_value_print(value, out);
        separator = ", ";
    }
}

void pe_words_value(const pe_rendering *rendering, const pe_tensor *tensor, pe_buffer *out)
{
    const pe_labels *labels = labels_of(rendering, tensor);
    pe_buffer_str(out, labels != NULL && labels->value != NULL ? labels->value
                       : tensor->name != NULL                  ? tensor->name
                                                               : "value");
}
