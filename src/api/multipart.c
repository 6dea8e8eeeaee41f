/* SPDX-License-Identifier: MIT */
/* multipart.c - the parts of a form: a file of tensors, a configuration, parameters. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "api/binary_body.h"
#include "base/percent.h"
#include "files/gguf_file.h"

#define JSON "application/json"
#define GGUF "application/octet-stream"

#define BOUNDARY_MAX  70 /* RFC 2046 */
#define PARTS_MAX     64
#define PARAMETER_MAX 65536

/* One part, and what its header says. */
typedef struct part {
    char name[64], file[128], type[64];
    pe_slice data;
} part;

static pe_status broken(const char *what, pe_problem *why)
{
    return pe_fail(why, PE_MALFORMED_REQUEST, "", "not a form (multipart/form-data): %s", what);
}

static pe_status refuse(const char *what, pe_problem *why)
{
    return pe_fail(why, PE_MALFORMED_REQUEST, "", "%s", what);
}

bool pe_multipart_is(const char *content_type)
{
    static const char type[] = "multipart/form-data";
    return content_type != NULL && strncasecmp(content_type, type, strlen(type)) == 0;
}

/* The value of `name` in a header's text: name="value" or name=value. */
static bool take_attribute(pe_slice text, const char *name, char *out, size_t room)
{
    const size_t length = strlen(name);
    for (size_t i = 1; i + length < text.bytes; i++) {
        if (strncasecmp(text.text + i, name, length) != 0 || text.text[i + length] != '=' ||
            (text.text[i - 1] != ';' && text.text[i - 1] != ' '))
            continue;
        i += length + 1;
        const bool quoted = i < text.bytes && text.text[i] == '"';
        size_t n = 0;
        for (i += quoted; i < text.bytes && n + 1 < room; i++) {
            const char c = text.text[i];
            if (quoted ? c == '"' : c == ';' || isspace((unsigned char)c))
                break;
            out[n++] = c;
        }
        out[n] = '\0';
        return true;
    }
    return false;
}

/* The header of a part, up to its empty line; *text is left at the data. */
static bool read_header(pe_slice *text, part *out)
{
    *out = (part){0};
    for (;;) {
        const char *end = memmem(text->text, text->bytes, "\r\n", 2);
        if (end == NULL)
            return false;
        const pe_slice line = {text->text, (size_t)(end - text->text)};
        *text = (pe_slice){end + 2, text->bytes - line.bytes - 2};
        if (line.bytes == 0)
            return true;
        static const char disposition[] = "content-disposition:", type[] = "content-type:";
        if (line.bytes > strlen(disposition) &&
            strncasecmp(line.text, disposition, strlen(disposition)) == 0) {
            (void)take_attribute(line, "name", out->name, sizeof out->name);
            (void)take_attribute(line, "filename", out->file, sizeof out->file);
        } else if (line.bytes > strlen(type) && strncasecmp(line.text, type, strlen(type)) == 0) {
            size_t at = strlen(type), n = 0;
            while (at < line.bytes && line.text[at] == ' ')
                at++;
            for (; at < line.bytes && n + 1 < sizeof out->type && line.text[at] != ';'; at++)
                out->type[n++] = (char)tolower((unsigned char)line.text[at]);
            out->type[n] = '\0';
        }
    }
}

/* ---- what a part is ---- */

/* The media type of a file, or NULL: names of files tell more than the type that a client guesses, and
 * content where neither is known. */
static const char *type_of(const part *p)
{
    static const char *const types[][2] = {{".npy", "application/x-npy"},
                                           {".npz", "application/x-npy"},
                                           {".safetensors", "application/vnd.safetensors"},
                                           {".csv", "text/csv"},
                                           {".json", JSON},
                                           {".gguf", GGUF}};
    const size_t n = strlen(p->file);
    for (size_t t = 0; t < PE_LEN(types); t++)
        if ((n >= strlen(types[t][0]) &&
             strcasecmp(p->file + n - strlen(types[t][0]), types[t][0]) == 0) ||
            (strcmp(p->type, types[t][1]) == 0 && strcmp(p->type, GGUF) != 0)) /* any bytes */
            return types[t][1];
    return p->file[0] != '\0' ? pe_binary_body_type(p->data) : NULL;
}

static pe_status take_part(const part *p, pe_multipart *out, pe_problem *why)
{
    const char *type = strcmp(p->name, "config") == 0 ? JSON : type_of(p);
    if (pe_pickle_is(p->data))
        return pe_pickle_fail(why);
    if (type != NULL && (strcmp(type, JSON) == 0 || strcmp(type, GGUF) == 0)) {
        pe_slice *config = pe_gguf_file_is(p->data) ? &out->gguf : &out->config;
        if (config->text != NULL)
            return refuse("two files are a configuration", why);
        *config = p->data;
        return PE_OK;
    }
    if (type != NULL) {
        pe_binary_body *to = &out->tensors;
        if (to->data != NULL &&
            (strcmp(to->media_type, type) != 0 || strcmp(type, "text/csv") == 0 ||
             to->n_parts == PE_BINARY_BODY_TENSORS_MAX))
            return refuse("several files are of tensors; up to 16 files .npy or as many "
                          ".safetensors may come, or one file .npz or .csv",
                          why);
        if (to->data == NULL) {
            to->media_type = type;
            to->data = (void *)(uintptr_t)p->data.text; /* the request's */
            to->bytes = p->data.bytes;
            to->part = out->part;
        }
        pe_binary_part *file = &out->part[to->n_parts++];
        snprintf(file->name, sizeof file->name, "%s", p->name);
        file->data = p->data;
        return PE_OK;
    }
    if (p->file[0] != '\0' || p->name[0] == '\0')
        return refuse("a file must be .npy, .npz, .safetensors, .csv or .json, and a part of a "
                      "form must have a name",
                      why);
    if (p->data.bytes > PARAMETER_MAX)
        return refuse("a parameter has more than 65536 bytes", why);
    static const char plain[] = "-._~,:+";
    pe_percent_encode(pe_slice_of(p->name), plain, &out->query);
    pe_buffer_str(&out->query, "=");
    pe_percent_encode(p->data, plain, &out->query);
    pe_buffer_str(&out->query, "&");
    return PE_OK;
}

/* ---- parts ---- */

static pe_status read_parts(pe_slice text, const char *mark, pe_multipart *out, pe_problem *why)
{
    const size_t length = strlen(mark); /* "\r\n--boundary" */
    if (text.bytes < length - 2 || memcmp(text.text, mark + 2, length - 2) != 0)
        return broken("it does not begin with its boundary", why);
    text = (pe_slice){text.text + length - 2, text.bytes - length + 2};
    for (size_t n = 0; n < PARTS_MAX; n++) {
        part p;
        if (text.bytes >= 2 && memcmp(text.text, "--", 2) == 0)
            return PE_OK;
        if (text.bytes < 2 || memcmp(text.text, "\r\n", 2) != 0)
            return broken("a boundary is followed by something else than a part", why);
        text = (pe_slice){text.text + 2, text.bytes - 2};
        if (!read_header(&text, &p))
            return broken("a part has no header", why);
        const char *end = memmem(text.text, text.bytes, mark, length);
        if (end == NULL)
            return broken("a part does not end", why);
        p.data = (pe_slice){text.text, (size_t)(end - text.text)};
        text = (pe_slice){end + length, text.bytes - p.data.bytes - length};
        PE_TRY(take_part(&p, out, why));
    }
    return broken("it has more than 64 parts", why);
}

pe_status pe_multipart_read(const char *content_type, pe_slice body, pe_multipart *out,
                            pe_problem *why)
{
    char mark[BOUNDARY_MAX + 5] = "\r\n--";
    *out = (pe_multipart){.query = {0}};
    if (!take_attribute(pe_slice_of(content_type), "boundary", mark + 4, sizeof mark - 4) ||
        mark[4] == '\0')
        return broken("Content-Type names no boundary", why);
    pe_status status = read_parts(body, mark, out, why);
    if (out->config.text == NULL) { /* there is no other */
        out->config = out->gguf;
        out->gguf = (pe_slice){0};
    }
    if (status == PE_OK && out->query.failed)
        status = pe_fail_memory(why);
    if (status != PE_OK)
        pe_buffer_free(&out->query);
    return status;
}
