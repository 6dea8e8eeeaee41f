/* SPDX-License-Identifier: MIT */
/* explorer_pages.c - the page that browsers see at "/", and the files that it consists of. */
#include <assert.h>
#include <string.h>

#include "formats/negotiate.h"
#include "http/pages/explorer_data.h"
#include "http/pages/pages.h"

/* The offsets that explorer_data.S counts on. */
static_assert(sizeof(pe_document_form) == 56, "a form is two words and a tag");
static_assert(sizeof(pe_explorer_file) == 16 + PE_CODINGS * 56, "a row is two words and forms");

/* The page loads nothing from elsewhere. Others may show it in a frame: it does nothing there that
 * its visitor could regret. */
static const char content_policy[] =
    "default-src 'self'; img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors *";

static pe_outcome reply(pe_request *request, const pe_explorer_file *file, const char *vary,
                        const char *cache_control)
{
    return pe_document_reply(request, file->forms,
                             &(pe_document_head){
                                 .media_type = file->media_type,
                                 .vary = vary,
                                 .cache_control = cache_control,
                                 .content_policy = content_policy,
                             });
}

pe_outcome pe_page_front(pe_request *request, pe_problem *why)
{
    if (!pe_format_prefers(request->header[PE_HEADER_ACCEPT], "text/html", "application/json"))
        return pe_page_document(request, why);
    return reply(request, &pe_explorer_files[0], "Accept, Accept-Encoding", "no-cache");
}

static pe_outcome reply_file(pe_request *request, const char *path, const char *vary,
                             const char *cache_control, pe_problem *why)
{
    for (size_t i = 1; i < pe_explorer_length; i++)
        if (strcmp(pe_explorer_files[i].path, path) == 0)
            return reply(request, &pe_explorer_files[i], vary, cache_control);
    pe_fail(why, PE_NOT_FOUND, "",
            "%.200s is no file of this release's page; loading the page anew helps", path);
    return PE_FAILED;
}

pe_outcome pe_page_docs(pe_request *request, pe_problem *why)
{
    return reply_file(request, "/docs", "Accept, Accept-Encoding", "no-cache", why);
}

pe_outcome pe_page_listing(pe_request *request, pe_problem *why)
{
    const bool seen =
        pe_format_prefers(request->header[PE_HEADER_ACCEPT], "text/html", "application/json");
    return seen ? pe_page_docs(request, why) : pe_page_document(request, why);
}

pe_outcome pe_page_favicon(pe_request *request, pe_problem *why)
{
    return reply_file(request, "/favicon.ico", "Accept-Encoding", "public, max-age=86400", why);
}

pe_outcome pe_page_asset(pe_request *request, pe_problem *why)
{
    return reply_file(request, request->path, "Accept-Encoding",
                      "public, max-age=31536000, immutable", why);
}
