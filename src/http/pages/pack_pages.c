/* SPDX-License-Identifier: MIT */
/* pack_pages.c - the handlers of golden packs. */
#include <stdio.h>
#include <string.h>

#include "http/pages/pages.h"
#include "http/reply/reply.h"
#include "http/request/admission.h"
#include "packs/pack.h"
#include "formats/json_write.h"

/* Of a pack, in units (plan/price.h), as measured. */
#define PACK_WORK ((uint64_t)200000)

static pe_outcome list(pe_request *request, pe_problem *why)
{
    size_t n;
    pe_buffer out = {0};
    pe_status status = PE_OK;
    const pe_pack_recipe *recipes = pe_pack_recipes(&n);
    pe_buffer_str(&out, "{");
    pe_json_write_open(&out, "packs", "[");
    for (size_t i = 0; i < n && status == PE_OK; i++) {
        pe_pack pack;
        status = pe_pack_make(&recipes[i], request->service->tables, &request->service->limits,
                              &pack, why);
        if (status != PE_OK)
            break;
        const pe_pack_recipe *recipe = &recipes[i];
        char text[160];
        pe_json_write_open(&out, NULL, "{");
        pe_json_write_text(&out, "name", recipe->name);
        pe_json_write_text(&out, "title", pack.title);
        pe_json_write_text(&out, "digest", pack.digest);
        snprintf(text, sizeof text, "/v1/packs/%s@%s", recipe->name, pack.digest);
        pe_json_write_text(&out, "path", text);
        pe_json_write_number(&out, "tensors", (double)pack.tensors);
        pe_json_write_number(&out, "bytes", (double)pack.file.bytes);
        pe_buffer_str(&out, "}");
        pe_pack_free(&pack);
    }
    pe_buffer_str(&out, "]}");
    return pe_reply_json(request, status, &out, "no-cache", why);
}

pe_outcome pe_page_packs(pe_request *request, pe_problem *why)
{
    size_t n;
    (void)pe_pack_recipes(&n);
    PE_TRY(pe_admission_take(request, PACK_WORK * n, why));
    return pe_request_defer(request, PE_JOB_HEAVY, list);
}

/* The name, and behind an @ the digest that is wanted. */
static pe_status find(const pe_request *request, const pe_pack_recipe **recipe, const char **wanted,
                      pe_problem *why)
{
    const char *name = request->path + strlen("/v1/packs/");
    const size_t bytes = strcspn(name, "@");
    *wanted = name[bytes] == '@' ? name + bytes + 1 : NULL;
    *recipe = pe_pack_find(name, bytes);
    return *recipe != NULL
               ? PE_OK
               : pe_fail(why, PE_NOT_FOUND, "",
                         "there is no pack %.100s; GET /v1/packs lists those there are", name);
}

static pe_outcome one(pe_request *request, pe_problem *why)
{
    pe_pack pack;
    const char *wanted;
    const pe_pack_recipe *recipe;
    const pe_service *service = request->service;
    const char *tags = request->header[PE_HEADER_IF_NONE_MATCH];
    char etag[PE_ETAG_BYTES], file[96];
    PE_TRY(find(request, &recipe, &wanted, why));
    PE_TRY(pe_pack_make(recipe, service->tables, &service->limits, &pack, why));
    pe_etag_make(pack.file.data, pack.file.bytes, etag);
    snprintf(file, sizeof file, "attachment; filename=\"%.60s.safetensors\"", recipe->name);
    const pe_field fields[] = {
        {"ETag", etag},
        {"Cache-Control", wanted != NULL ? "public, max-age=31536000, immutable" : "no-cache"},
        {"Content-Type", "application/vnd.safetensors"},
        {"Content-Disposition", file},
        {0}};
    pe_outcome outcome = PE_NOT_FOUND;
    if (wanted != NULL && strcmp(wanted, pack.digest) != 0)
        (void)pe_fail(why, PE_NOT_FOUND, "", "the pack %s has the digest %s here, not %.100s",
                      recipe->name, pack.digest, wanted);
    else if (tags != NULL && pe_etag_matches(tags, etag))
        outcome = pe_reply_empty(request, MHD_HTTP_NOT_MODIFIED, PE_FIELDS(fields[0], fields[1]));
    else
        outcome = pe_reply_content(request, PE_OK, &pack.file, fields, why);
    pe_pack_free(&pack);
    return outcome;
}

pe_outcome pe_page_pack(pe_request *request, pe_problem *why)
{
    const char *wanted;
    const pe_pack_recipe *recipe;
    PE_TRY(find(request, &recipe, &wanted, why));
    PE_TRY(pe_admission_take(request, PACK_WORK, why));
    return pe_request_defer(request, PE_JOB_HEAVY, one);
}
