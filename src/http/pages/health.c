/* SPDX-License-Identifier: MIT */
/* health.c - how the server is: liveness, readiness, version. */
#include "http/pages/pages.h"
#include "http/reply/reply.h"
#include "kernels/kernels.h"
#include "version.h"

static pe_outcome reply_status(pe_request *request, const char *status, pe_problem *why)
{
    pe_buffer content = {0};
    pe_buffer_format(&content, "{\"status\":\"%s\"}\n", status);
    return pe_reply_json(request, &content, "no-store", why);
}

pe_outcome pe_page_livez(pe_request *request, pe_problem *why)
{
    return reply_status(request, "ok", why);
}

pe_outcome pe_page_healthz(pe_request *request, pe_problem *why)
{
    return reply_status(request, "ok", why);
}

pe_outcome pe_page_readyz(pe_request *request, pe_problem *why)
{
    const bool draining = atomic_load(&request->service->draining);
    if (!draining && !atomic_load(&request->service->warming))
        return reply_status(request, "ok", why);
    pe_fail(why, PE_OVERLOADED, "", draining ? "draining" : "warming");
    return PE_FAILED;
}

pe_outcome pe_page_version(pe_request *request, pe_problem *why)
{
    const struct {
        const char *name, *value;
    } members[] = {
        {"{\"name\":", "posenc"},
        {",\"version\":", PE_VERSION},
        {",\"revision\":", PE_REVISION},
        {",\"kernels\":", pe_kernels_get()->name},
        {",\"libmicrohttpd\":", MHD_get_version()},
    };
    pe_buffer content = {0};
    for (size_t i = 0; i < PE_LEN(members); i++) {
        pe_buffer_str(&content, members[i].name);
        pe_buffer_json_string(&content, members[i].value);
    }
    if (request->watch->place == PE_PLACE_OPERATOR) {
        pe_buffer_str(&content, ",\"sandbox\":");
        pe_sandbox_json(&request->service->sandbox, &content);
    }
    pe_buffer_str(&content, "}\n");
    return pe_reply_json(request, &content, "no-store", why);
}
