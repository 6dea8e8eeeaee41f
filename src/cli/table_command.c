/* SPDX-License-Identifier: MIT */
/* table_command.c - `posenc table`: the answer of a resource in a file, without a server. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/query.h"
#include "base/array.h"
#include "base/log.h"
#include "cli/cli.h"
#include "cli/table_arguments.h"
#include "encodings/registry.h"
#include "formats/stream.h"
#include "tables/tables.h"

#define BLOCK_BYTES ((size_t)256 * 1024)

/* All that one answer takes, released by release(). The plan may borrow from the body. */
struct work {
    pe_tables *tables;
    pe_buffer body, parameters;
    pe_query query;
    pe_plan plan;
    pe_rendering rendering;
    pe_stream *stream;
};

static void release(struct work *work)
{
    pe_stream_free(work->stream);
    pe_plan_free(&work->plan);
    pe_query_free(&work->query);
    pe_buffer_free(&work->parameters);
    pe_buffer_free(&work->body);
    pe_tables_free(work->tables);
}

/* ---- the body ---- */

static pe_status read_body(const char *path, size_t bytes_max, pe_buffer *out, pe_problem *why)
{
    const int fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : 1;
    while (got > 0 && out->bytes <= bytes_max) {
        char *at = pe_buffer_reserve(out, BLOCK_BYTES);
        if (at == NULL)
            break;
        got = read(fd, at, BLOCK_BYTES);
        out->bytes += got > 0 ? (size_t)got : 0;
    }
    const int error = errno;
    if (fd >= 0 && fd != STDIN_FILENO)
        close(fd);
    if (out->failed)
        return pe_fail_memory(why);
    if (got < 0)
        return pe_fail(why, PE_INVALID_PARAMETER, "body", "cannot read %.200s: %s", path,
                       strerror(error));
    if (out->bytes > bytes_max)
        return pe_fail(why, PE_BODY_TOO_LARGE, "body",
                       "%.200s must be at most max_body_bytes, %zu bytes", path, bytes_max);
    return PE_OK;
}

/* ---- from parameters to a stream ---- */

static pe_status read_query(const pe_table_arguments *table, const pe_settings *settings,
                            struct work *work, pe_problem *why)
{
    static const char json[] = "application/json";
    const char *path = table->body;
    const pe_slice query = pe_buffer_slice(&table->query);
    const pe_read_limits limits = {.max_elements = (size_t)settings->max_elements,
                                   .max_positions = (size_t)settings->max_positions,
                                   .max_depth = (size_t)settings->max_json_depth,
                                   .keep_mistakes = true};
    if (path == NULL && table->resource->kind == PE_TRANSFORM)
        return pe_fail(why, PE_MISSING_PARAMETER, "body",
                       "%s transforms vectors: give them with --body FILE (.json, .npy or "
                       ".safetensors)",
                       table->resource->name);
    if (path == NULL)
        return pe_query_string_parse(table->resource, query, &limits, &work->query, why);
    const pe_format *format = pe_format_by_extension(path);
    if (format == NULL && strcmp(path, "-") != 0)
        return pe_fail(why, PE_UNSUPPORTED_MEDIA_TYPE, "body",
                       "a body must be a .json, .npy or .safetensors file, got %.200s", path);
    PE_TRY(read_body(path, (size_t)settings->max_body_bytes, &work->body, why));
    const pe_binary_body binary = {.string = query,
                                   .media_type = format != NULL ? format->media_type : json,
                                   .data = work->body.data,
                                   .bytes = work->body.bytes};
    if (strcmp(binary.media_type, json) != 0)
        return pe_query_binary_parse(table->resource, &binary, &limits, &work->query, why);
    if (query.bytes > 0)
        return pe_fail(why, PE_MALFORMED_REQUEST, "",
                       "parameters must be members of the JSON body, not flags");
    return pe_query_json_parse(table->resource, pe_buffer_slice(&work->body), &limits, &work->query,
                               why);
}

static pe_status make_stream(const pe_table_arguments *table, const pe_settings *settings,
                             struct work *work, pe_problem *why)
{
    const pe_limits limits = {.max_elements = (size_t)settings->max_elements,
                              .max_work = (uint64_t)settings->max_work};
    const pe_learned_limits learned = {.bytes = (size_t)settings->learned_bytes,
                                       .tables = (size_t)settings->learned_tables};
    PE_TRY(pe_tables_make((size_t)settings->table_cache_bytes, &work->tables, why));
    PE_TRY(pe_tables_load_learned(work->tables, settings->learned_dir, &learned, why));
    PE_TRY(read_query(table, settings, work, why));
    PE_TRY(pe_query_plan(&work->query, work->tables, &limits, &work->plan, why));
    pe_values_json(&work->query.values, &work->parameters);
    work->rendering = pe_query_rendering(&work->query);
    work->rendering.format = table->format;
    work->rendering.parameters = pe_buffer_text(&work->parameters);
    if (work->parameters.failed)
        return pe_fail_memory(why);
    PE_TRY(pe_query_figure_check(&work->query, table->format, (size_t)settings->figure_max_pixels,
                                 why));
    return pe_stream_make(&work->plan, &work->rendering, &work->stream, why);
}

/* ---- the file ---- */

static pe_status fail_writing(const char *path, int error, pe_problem *why)
{
    return pe_fail(why, PE_INTERNAL, "output", "%.200s could not be written: %s", path,
                   strerror(error));
}

static pe_status copy_stream(pe_stream *stream, int fd, const char *path, pe_problem *why)
{
    char *block = aligned_alloc(64, BLOCK_BYTES);
    size_t got = 1;
    pe_status status = block == NULL ? pe_fail_memory(why) : PE_OK;
    while (status == PE_OK && (got > 0 || pe_stream_reduces(stream))) {
        status = pe_stream_read(stream, block, BLOCK_BYTES, &got, why);
        for (size_t at = 0; status == PE_OK && at < got;) {
            const ssize_t written = write(fd, block + at, got - at);
            if (written == 0 || (written < 0 && errno != EINTR))
                status = fail_writing(path, errno, why);
            at += written > 0 ? (size_t)written : 0;
        }
    }
    free(block);
    return status;
}

/* The file is opened only now: what cannot be made leaves an older file of this name alone, and
 * what fails half-way leaves none. */
static pe_status write_file(pe_stream *stream, const char *path, pe_problem *why)
{
    struct stat facts;
    if (strcmp(path, "-") == 0)
        return copy_stream(stream, STDOUT_FILENO, "standard output", why);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return pe_fail(why, PE_INVALID_PARAMETER, "output", "cannot write %.200s: %s", path,
                       strerror(errno));
    const bool regular = fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode);
    pe_status status = copy_stream(stream, fd, path, why);
    if (close(fd) != 0 && status == PE_OK)
        status = fail_writing(path, errno, why);
    if (status != PE_OK && regular)
        unlink(path);
    return status;
}

/* ---- help ---- */

void pe_cli_table_help(pe_buffer *out)
{
    pe_buffer_str(out, "Encodings:\n");
    for (size_t r = 0; pe_registry[r] != NULL; r++)
        pe_buffer_format(out, "  %-24s %s%s\n", pe_registry[r]->name, pe_registry[r]->summary,
                         pe_registry[r]->kind == PE_TRANSFORM ? " (needs --body)" : "");
    pe_buffer_str(out, "\nposenc table ENCODING --help lists its parameters.\n");
}

static void print_resource_help(const pe_resource *resource, pe_buffer *out)
{
    pe_buffer_format(out, "posenc table %s [--name value ...] -o FILE\n\n%s\n\n  %s\n  %s\n\n",
                     resource->name, resource->summary, resource->formula, resource->source);
    const pe_param *param;
    for (size_t p = 0; (param = pe_params_at(resource->param_sets, p)) != NULL; p++) {
        if (param->kind == PE_KIND_TENSOR)
            continue;
        pe_buffer_format(out, "  --%-24s %s%s", param->name, param->help,
                         param->required ? " Required." : "");
        const bool one = param->kind == PE_KIND_CHOICE, some = param->kind == PE_KIND_CHOICES;
        for (size_t c = 0; (one || some) && param->choices[c] != NULL; c++)
            pe_buffer_format(out, "%s%s",
                             c != 0 ? ", "
                             : one  ? " One of: "
                                    : " Some of: ",
                             param->choices[c]);
        pe_buffer_str(out, "\n");
    }
    pe_buffer_str(out, "  --tensor                   Which tensor, where the format holds one.\n"
                       "  --encoding_format          float or base64 (JSON).\n"
                       "  --view, --theme, --width, --height   of figures (SVG, PNG).\n"
                       "  --format                   ");
    for (size_t f = 0; pe_formats[f] != NULL; f++)
        pe_buffer_format(out, "%s%s", f == 0 ? "" : ", ", pe_formats[f]->name);
    pe_buffer_str(out, "; default by FILE's extension.\n");
}

/* ---- the command ---- */

static pe_status write_table(const pe_table_arguments *table, const pe_settings *settings,
                             pe_problem *why)
{
    struct work work = {0};
    pe_status status = make_stream(table, settings, &work, why);
    if (status == PE_OK) {
        /* What JSON carries in "warnings" is said here, too: other formats have no place for it. */
        for (size_t w = 0; w < work.plan.n_warnings; w++)
            pe_log(PE_LOG_WARN, "table_warning",
                   (pe_log_member[]){{PE_LOG_TEXT, "detail", .text = work.plan.warnings[w]}, {0}});
        status = write_file(work.stream, table->output, why);
    }
    release(&work);
    return status;
}

/* The mistakes of parameters beside those of the command and of settings. */
static pe_status add_parameters(const pe_table_arguments *table, pe_status status, pe_problem *why)
{
    static const pe_read_limits limits = {SIZE_MAX, SIZE_MAX, 1, .keep_mistakes = false};
    pe_problem mistake;
    pe_query query = {0};
    if (table->resource == NULL || table->resource->kind == PE_TRANSFORM || table->body != NULL)
        return status;
    status =
        pe_problem_gather(status,
                          pe_query_string_parse(table->resource, pe_buffer_slice(&table->query),
                                                &limits, &query, &mistake),
                          &mistake, why);
    pe_query_free(&query);
    return status;
}

static pe_status run(const pe_table_arguments *table, pe_problem *why)
{
    pe_config *config = NULL;
    pe_status status = pe_cli_configure(table->n_settings, table->settings, &config, why);
    if (status != PE_OK)
        return add_parameters(table, status, why);
    /* Bytes that are no text would change what a terminal does. */
    if (!table->output_given && !table->format->is_text && isatty(STDOUT_FILENO) != 0)
        status = pe_fail(why, PE_INVALID_PARAMETER, "output",
                         "%s is binary, and standard output is a terminal: give -o FILE%s, or -o - "
                         "to write it there",
                         table->format->name, table->format->extension);
    else
        status = write_table(table, pe_config_settings(config), why);
    pe_config_free(config);
    return status;
}

int pe_cli_table(int n_arguments, char **arguments)
{
    pe_table_arguments table = {0};
    pe_problem why;
    pe_buffer help = {0};
    int code = PE_EXIT_OK;
    pe_status status = pe_table_arguments_read(n_arguments, arguments, &table, &why);
    if (status != PE_OK)
        status = add_parameters(&table, status, &why);
    else if (!table.help)
        status = run(&table, &why);
    if (status == PE_OK && table.help) {
        if (table.resource != NULL)
            print_resource_help(table.resource, &help);
        else
            pe_cli_table_help(&help);
        code = pe_cli_print(&help);
    }
    if (status != PE_OK)
        code = pe_cli_fail("table_failed", &why);
    pe_table_arguments_free(&table);
    return code;
}
