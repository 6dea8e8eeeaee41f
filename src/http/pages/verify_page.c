/* SPDX-License-Identifier: MIT */
/* verify_page.c - the handler of POST /v1/verify. */
#include <stdlib.h>
#include <string.h>

#include "api/binary_body.h"
#include "api/claims/claim.h"
#include "api/claims/verify_report.h"
#include "base/budget.h"
#include "files/gguf_file.h"
#include "formats/format.h"
#include "http/pages/pages.h"
#include "http/reply/reply.h"
#include "http/request/admission.h"
#include "http/request/body.h"
#include "http/request/parameters.h"
#include "models/catalogue/catalogue.h"
#include "plan/plan.h"
#include "verify/streamed_upload.h"

/* What a claim may say is planned, so that all its mistakes are reported. */
static pe_read_limits limits_of(const pe_request *request)
{
    pe_read_limits limits = request->service->read_limits;
    limits.tables = request->service->tables;
    limits.plan = &request->service->limits;
    return limits;
}

/* What a form holds becomes tensors. A GGUF file beside a configuration, or of a model by name, is an
 * upload, too: the table that its layers make, which *made has from then on. */
static pe_status take_form(const pe_request *request, pe_multipart *form, pe_slice query,
                           pe_buffer *made, pe_problem *why)
{
    char model[PE_MODEL_NAME_BYTES], layer_type[64];
    const pe_read_limits limits = limits_of(request);
    const size_t config_max = (size_t)request->service->settings->config_bytes_max;
    PE_TRY(pe_query_string_text(query, "model", model, sizeof model, why));
    PE_TRY(pe_query_string_text(query, "layer_type", layer_type, sizeof layer_type, why));
    if (model[0] != '\0' && form->tensors.data == NULL && form->gguf.text == NULL &&
        pe_gguf_file_is(form->config)) {
        form->gguf = form->config;
        form->config = (pe_slice){0};
    }
    if (form->gguf.text != NULL && form->tensors.data != NULL)
        return pe_fail(why, PE_MALFORMED_REQUEST, "",
                       "a GGUF file and files of tensors are two uploads: send one of them with "
                       "the configuration");
    if (form->gguf.text != NULL) {
        PE_TRY(pe_claim_gguf_table(form->gguf, layer_type[0] != '\0' ? layer_type : NULL, &limits,
                                   made, why));
        form->tensors.data = made->data;
        form->tensors.bytes = made->bytes;
        form->tensors.media_type = "application/vnd.safetensors";
    }
    form->tensors.config = form->config;
    if (form->tensors.data == NULL)
        return pe_fail(why, PE_MISSING_PARAMETER, "table",
                       "a form must have a part with the tensors: a file .npy, .npz, "
                       ".safetensors or .csv, or a file .gguf beside a configuration or model");
    if (form->config.bytes > config_max)
        return pe_fail(why, PE_BODY_TOO_LARGE, "", "config must be at most %zu bytes long",
                       config_max);
    return PE_OK;
}

/* awaited: bytes of the body that are still to come. Where rows can be read of more bytes than are
 * there, part_at tells of how many. */
static pe_status read_tensors(pe_request *request, const pe_binary_body *sent, size_t awaited,
                              pe_claim *out, pe_problem *why)
{
    size_t needed = 0;
    pe_binary_body body = *sent;
    const pe_read_limits limits = limits_of(request);
    body.csv_bare = request->csv_bare;
    body.awaited = awaited;
    body.needed = &needed;
    const pe_status status = pe_claim_binary_parse(&body, &limits, out, why);
    request->part_at = needed;
    request->csv_doubtful = pe_csv_body_is_doubtful(&body);
    return status;
}

static pe_status read_json(const pe_request *request, const char *more, pe_claim *out,
                           pe_problem *why)
{
    const size_t most = (size_t)request->service->settings->max_body_bytes;
    const pe_read_limits limits = limits_of(request);
    if (request->body.bytes > most)
        return pe_fail(why, PE_BODY_TOO_LARGE, "",
                       "a JSON body must be at most %zu bytes long; tensors in a binary body may "
                       "have %llu",
                       most, (unsigned long long)request->body_max);
    return pe_claim_json_parse(pe_buffer_slice(&request->body), more, &limits, out, why);
}

/* Of reading a byte of CSV, in units: twice, and most numbers have few. */
#define CSV_WORK 3

/* The claim of a request, with `more` parameters behind its own, which are in the query, and of a
 * form in parts, too. CSV is charged once: with `more` a search is under way, whose allowance
 * stands. */
static pe_status read_claim(void *context, const char *more, pe_claim *out, pe_problem *why)
{
    pe_request *request = context;
    const char *type = request->header[PE_HEADER_CONTENT_TYPE];
    const bool is_form =
        pe_multipart_is(type) && request->header[PE_HEADER_CONTENT_ENCODING] == NULL;
    pe_request_parameters parameters = {0};
    pe_multipart form = {0};
    pe_buffer query = {0}, made = {0};
    if (is_form)
        PE_TRY(pe_multipart_read(type, pe_buffer_slice(&request->body), &form, why));
    else
        PE_TRY(pe_parameters_find(request, PE_BODY_UPLOAD, &parameters, why));
    if (parameters.json)
        return read_json(request, more, out, why);
    pe_buffer_add(&query, pe_buffer_slice(&form.query).text, form.query.bytes);
    pe_buffer_format(&query, "%s%s%s", request->query.text,
                     request->query.bytes > 0 && *more != '\0' ? "&" : "", more);
    if (form.query.bytes > 0 && query.bytes == form.query.bytes)
        query.bytes--; /* the last '&' */
    pe_status status = query.failed ? pe_fail_memory(why) : PE_OK;
    if (status == PE_OK && is_form)
        status = take_form(request, &form, pe_buffer_slice(&query), &made, why);
    pe_binary_body *body = is_form ? &form.tensors : &parameters.binary;
    body->string = pe_buffer_slice(&query);
    if (status == PE_OK && *more == '\0' && strcmp(body->media_type, "text/csv") == 0)
        status = pe_admission_take(request, CSV_WORK * body->bytes, why);
    if (status == PE_OK)
        status = read_tensors(request, body, 0, out, why);
    if (status == PE_OK && made.bytes > 0)
        out->unpacked = made; /* which nothing else is: a table is not packed */
    else
        pe_buffer_free(&made);
    pe_buffer_free(&query);
    pe_buffer_free(&form.query);
    return status;
}

/* Nobody waits for the report: the client has gone, or the end of the drain has shut it off. Or it
 * has taken more than it may. */
static bool has_ended(void *context PE_UNUSED)
{
    return pe_yield_must_end();
}

/* JSON, unless Accept names a text or a picture and likes it better. */
static const char *media_type_of(const pe_request *request)
{
    static const char *const types[] = {"text/plain", "text/markdown", "image/svg+xml",
                                        "image/png"};
    const char *best = "application/json";
    for (size_t t = 0; t < PE_LEN(types); t++)
        if (pe_format_prefers(request->header[PE_HEADER_ACCEPT], types[t], best))
            best = types[t];
    return best;
}

static bool draws(const pe_request *request)
{
    return strncmp(media_type_of(request), "image/", 6) == 0;
}

/* What a verification is done with. */
typedef struct setting {
    pe_verify_limits bounds;
    pe_verify_context context;
} setting;

static const pe_verify_context *set(const pe_request *request, setting *out)
{
    const pe_service *service = request->service;
    out->bounds = (pe_verify_limits){.max_elements = (size_t)service->settings->verify_max_elements,
                                     .max_work = (size_t)service->settings->verify_max_work,
                                     .given_up = has_ended};
    out->context = (pe_verify_context){.tables = service->tables,
                                       .limits = &service->limits,
                                       .bounds = &out->bounds,
                                       .draws = draws(request)};
    return &out->context;
}

#define COMPARING  4    /* units of work of an element, beside what the claim makes it cost */
#define CLAIM_WORK 8192 /* of guesses that any claim plans: its own, and other numerics and types */

/* What an element of the claimed table costs: that of the tensor where they cost most. What cannot be
 * planned is not computed. */
static uint64_t work_of_element(const pe_request *request, const pe_claim *claim)
{
    pe_problem why;
    pe_values values;
    pe_plan plan = {0};
    uint64_t most = 1;
    if (pe_values_copy(&claim->values, &values, &why) != PE_OK)
        return most;
    if (pe_plan_make(claim->resource, &values, request->service->tables, &request->service->limits,
                     &plan, &why) == PE_OK)
        for (size_t t = 0; t < plan.n_tensors; t++)
            most = plan.tensors[t].work > most ? plan.tensors[t].work : most;
    pe_plan_free(&plan);
    pe_values_free(&values);
    return most;
}

/* What a search for faults takes is settled after it. */
static pe_status charge(pe_request *request, const pe_claim *claim, pe_problem *why)
{
    uint64_t work = 0;
    for (; claim != NULL; claim = claim->next) {
        /* The claimed table is computed at least once, and each element compared: no more are
         * computed than have come. */
        uint64_t elements = 0;
        pe_price price = pe_price_estimate(&claim->values);
        PE_TRY(pe_price_check(price.planning, request->service->limits.max_work, why));
        for (size_t u = 0; u < claim->n_uploads; u++)
            elements = pe_price_plus(elements, claim->uploads[u].array.elements);
        price.computing = price.computing < elements ? price.computing : elements;
        price.computing = pe_price_times(price.computing, work_of_element(request, claim));
        work = pe_price_plus(work, pe_price_times(elements, COMPARING));
        work = pe_price_plus(work, pe_price_sum(&price));
        work = pe_price_plus(work, CLAIM_WORK);
    }
    return pe_admission_take(request, work, why);
}

/* Measuring a table, and confirming what was found, takes so many times what comparing does. */
#define PASSES 16

/* So many searches may together take so much before they are cut short. Returns what was counted
 * before. */
static uint64_t allow_search(pe_request *request, uint64_t searches)
{
    pe_meter *meter = &request->meter;
    const pe_settings *settings = request->service->settings;
    const uint64_t work = pe_price_plus(pe_price_times(pe_price_sum(&request->price), PASSES),
                                        searches * (uint64_t)settings->verify_max_work);
    const uint64_t time = pe_price_times(work, (uint64_t)settings->unit_ns_max);
    meter->ended = meter->ended == PE_TOO_MUCH_WORK ? PE_OK : meter->ended;
    meter->units_max = pe_price_plus(meter->units, work);
    if (time > 0 && time < INT64_MAX / 2)
        meter->nanoseconds_max = meter->nanoseconds + (int64_t)time;
    return meter->units;
}

/* What a search took beside the comparison, which has been charged. */
static void settle_search(pe_request *request, uint64_t before)
{
    const uint64_t price = pe_price_sum(&request->price), taken = request->meter.units - before;
    if (taken > price)
        pe_admission_spend(request, taken - price);
}

/* The report of an answer, its claim, and a JSON item for each claim where there are several;
 * pe_budget_failures() before them. */
typedef struct answer {
    uint64_t failures;
    const pe_claim *claim;
    pe_report report;
    pe_buffer parts, readings;
} answer;

/* Of several claims the report is on the first that does not match; the others are named in it. */
static pe_status verify_all(pe_request *request, pe_claim *claims, answer *out, pe_problem *why)
{
    pe_status status = PE_OK;
    *out = (answer){.failures = pe_budget_failures()};
    for (pe_claim *claim = claims; claim != NULL && status == PE_OK; claim = claim->next) {
        setting of;
        pe_report report;
        const uint64_t before = allow_search(request, 1); /* of each claim anew */
        status = pe_verify(claim, set(request, &of), &report, why);
        settle_search(request, before);
        if (status != PE_OK)
            break;
        if (claims->next != NULL)
            pe_report_part(claim, &report, &out->parts);
        const bool tells = out->claim == NULL || (out->report.matches && !report.matches);
        pe_report other = report;
        if (tells) {
            other = out->report;
            out->report = report;
            out->claim = claim;
        }
        pe_verify_report_free(&other);
    }
    return status == PE_OK && out->parts.failed ? pe_fail_memory(why) : status;
}

static void answer_free(answer *of)
{
    pe_verify_report_free(&of->report);
    pe_buffer_free(&of->parts);
    pe_buffer_free(&of->readings);
}

/* Of an upload that has not the shape of its claim there is no picture, but JSON. */
static pe_status write_report(const pe_claim *claim, const answer *of, const char **type,
                              pe_buffer *out, pe_problem *why)
{
    const pe_report *report = &of->report;
    const bool markdown = strcmp(*type, "text/markdown") == 0;
    const pe_format *format = pe_format_by_name(strcmp(*type, "image/png") == 0 ? "png" : "svg");
    if (strncmp(*type, "image/", 6) == 0 && report->difference.cell != NULL)
        return pe_report_figure(of->claim, report, format, out, why);
    if (strncmp(*type, "text/", 5) == 0) {
        pe_report_text(of->claim, report, claim, markdown, out);
    } else {
        *type = "application/json";
        pe_report_json(of->claim, report, claim, &of->parts, &of->readings, out);
    }
    return PE_OK;
}

/* What a verification has come to, which is freed. A guess for which there was no memory was not
 * made: then the report is no answer. */
static pe_outcome reply(pe_request *request, pe_status status, const pe_claim *claim, answer *of,
                        pe_problem *why)
{
    pe_buffer content = {0};
    const char *type = media_type_of(request);
    pe_yield_finish();
    if (status == PE_OK)
        status = write_report(claim, of, &type, &content, why);
    const pe_field fields[] = {{"Content-Type", type},
                               {"X-Content-Type-Options", "nosniff"},
                               {"Content-Security-Policy", pe_header_fields_policy(type)},
                               {"Cache-Control", "no-store"},
                               {"Vary", "Accept"},
                               {0}};
    if (status == PE_OK && pe_budget_failures() != of->failures)
        status = pe_fail_memory(why);
    answer_free(of);
    return pe_reply_content(request, status, &content, fields, why);
}

/* ---- a table whose rows are compared as they arrive ---- */

static void free_parts(void *parts)
{
    pe_streamed_free(parts);
}

/* Is the claim one of rows? Then what comes before them is forgotten. What is refused now is held,
 * and refused when all of it is there; a picture needs all rows, too. A body that no worker took
 * before all of it was there is read as any other. Rows of a second tensor may have to be waited
 * for. */
static bool begin(pe_request *request)
{
    setting of;
    pe_problem why;
    pe_claim claim;
    pe_request_parameters parameters;
    pe_streamed *streamed = NULL;
    size_t skip = 0;
    const size_t length = (size_t)strtoull(request->header[PE_HEADER_CONTENT_LENGTH], NULL, 10);
    if (length <= request->body.bytes || draws(request) ||
        pe_multipart_is(request->header[PE_HEADER_CONTENT_TYPE]) ||
        pe_parameters_find(request, PE_BODY_UPLOAD, &parameters, &why) != PE_OK ||
        request->json_body ||
        read_tensors(request, &parameters.binary, length - request->body.bytes, &claim, &why) !=
            PE_OK)
        return false;
    pe_status status = pe_streamed_begin(&claim, pe_buffer_slice(&request->body), &skip,
                                         set(request, &of), &streamed, &why);
    if (streamed == NULL)
        pe_verify_claim_free(&claim);
    else
        status = charge(request, pe_streamed_claim(streamed), &why);
    if (status == PE_OK && streamed != NULL) {
        pe_body_forget(request, 0, skip);
        request->parts = streamed;
        request->parts_free = free_parts;
        return true;
    }
    pe_streamed_free(streamed);
    return false;
}

/* All rows that are there. */
static pe_status compare_rows(pe_request *request, pe_problem *why)
{
    setting of;
    pe_buffer *body = &request->body;
    const size_t row = pe_streamed_row_bytes(request->parts);
    const size_t held = pe_streamed_held_bytes(request->parts);
    const size_t n = body->bytes > held ? (body->bytes - held) / row : 0;
    const pe_status status =
        pe_streamed_rows(request->parts, body->data, body->data + held, n, set(request, &of), why);
    pe_body_forget(request, held, n * row);
    return status;
}

void pe_page_verify_part(pe_request *request)
{
    pe_problem why;
    request->part_at = 0;
    if (request->parts == NULL && !begin(request))
        return;
    if (compare_rows(request, &why) != PE_OK)
        pe_body_refuse(request, PE_OVERLOADED);
    else
        request->part_at = pe_streamed_held_bytes(request->parts) + request->part_bytes;
}

static pe_outcome reply_arrived(pe_request *request, pe_problem *why)
{
    setting of;
    answer made = {.failures = pe_budget_failures(), .claim = pe_streamed_claim(request->parts)};
    pe_status status = compare_rows(request, why);
    const uint64_t before = allow_search(request, 1);
    if (status == PE_OK)
        status = pe_streamed_end(request->parts, set(request, &of), &made.report, why);
    settle_search(request, before);
    return reply(request, status, made.claim, &made, why);
}

/* ---- an upload that nobody claims ---- */

static const char without_header[] = "the first line of the CSV is of numbers, and no header";

/* At least the bytes of the body are compared; what is spent is settled after it. */
static pe_status find_usual(pe_request *request, pe_claim **claim, answer *out, pe_problem *why)
{
    setting of;
    *claim = NULL;
    *out = (answer){.failures = pe_budget_failures()};
    PE_TRY(pe_admission_take(request, request->body.bytes, why));
    const uint64_t before = allow_search(request, PE_UNCLAIMED_SEARCHES); /* of all tables */
    set(request, &of);
    if (request->csv_bare) /* taken only where it matches: no mistake of it is searched */
        of.bounds.max_work = 0;
    const pe_status status = pe_unclaimed_verify(read_claim, request, &of.context, claim,
                                                 &out->report, &out->readings, why);
    settle_search(request, before);
    out->claim = *claim;
    if (status == PE_OK && request->csv_bare)
        pe_claim_report(&(*claim)->reported, without_header);
    return status;
}

/* Where the first line of CSV may be of numbers, it is if these match. */
static pe_outcome reply_unclaimed(pe_request *request, pe_problem *why)
{
    pe_claim *claim;
    answer made;
    request->csv_bare = request->csv_doubtful;
    pe_status status = find_usual(request, &claim, &made, why);
    if (request->csv_bare && (status != PE_OK || !made.report.matches)) {
        answer_free(&made);
        pe_unclaimed_free(claim);
        request->csv_bare = false;
        status = find_usual(request, &claim, &made, why);
    }
    const pe_outcome outcome = reply(request, status, claim, &made, why);
    pe_unclaimed_free(claim);
    return outcome;
}

/* Where the first line of CSV may be of numbers, and these match, it is; and where they have the
 * claimed shape, which the lines behind it have not (`status`). */
static pe_status try_bare(pe_request *request, pe_status status, pe_claim *claim, answer *made)
{
    pe_claim header = *claim;
    pe_problem why;
    answer other = {0};
    request->csv_bare = true;
    if (read_claim(request, "", claim, &why) != PE_OK) {
        *claim = header;
        return status;
    }
    if (charge(request, claim, &why) == PE_OK &&
        verify_all(request, claim, &other, &why) == PE_OK &&
        (status != PE_OK || other.report.matches)) {
        pe_claim_report(&claim->reported, without_header);
        answer_free(made);
        *made = other;
        pe_verify_claim_free(&header);
        return PE_OK;
    }
    answer_free(&other);
    pe_verify_claim_free(claim);
    *claim = header;
    return status;
}

/* Hundreds of tables may have to be computed: always a worker's. */
pe_outcome pe_page_verify(pe_request *request, pe_problem *why)
{
    pe_claim claim;
    answer made = {0};
    if (!pe_request_has_turn(request, PE_JOB_HEAVY))
        return pe_request_defer(request, PE_JOB_HEAVY, pe_page_verify);
    if (request->parts != NULL)
        return reply_arrived(request, why);
    if (read_claim(request, "", &claim, why) != PE_OK) {
        /* Does it say neither what the upload is nor a model that it is of? A model that does not tell
         * it is another mistake. */
        const bool unclaimed = why->status == PE_MISSING_PARAMETER &&
                               strcmp(why->where, "encoding") == 0 && why->n_others == 0;
        return unclaimed ? reply_unclaimed(request, why) : why->status;
    }
    pe_status status = charge(request, &claim, why);
    if (status == PE_OK)
        status = verify_all(request, &claim, &made, why);
    if (request->csv_doubtful && !pe_status_is_ours(status) && !made.report.matches)
        status = try_bare(request, status, &claim, &made);
    const pe_outcome outcome = reply(request, status, &claim, &made, why);
    pe_verify_claim_free(&claim);
    return outcome;
}
