/* SPDX-License-Identifier: MIT */
/* health.c - how the server is: liveness, readiness, version. */
#include "http/pages/pages.h"
#include "http/reply/reply.h"
#include "kernels/kernels.h"
#include "text/json_write.h"
#include "version.h"

/* Also of /healthz: the process runs and answers. */
pe_outcome pe_page_livez(pe_request *request, pe_problem *why)
{
    pe_buffer content = {0};
    pe_buffer_str(&content, "{\"status\":\"ok\"}\n");
    return pe_reply_json(request, &content, "no-store", why);
}

pe_outcome pe_page_readyz(pe_request *request, pe_problem *why)
{
    const bool draining = atomic_load(&request->service->draining);
    if (!draining && !atomic_load(&request->service->warming))
        return pe_page_livez(request, why);
    return pe_failed(pe_fail(why, PE_OVERLOADED, "", draining ? "draining" : "warming"));
}

pe_outcome pe_page_version(pe_request *request, pe_problem *why)
{
    pe_buffer content = {0};
    pe_buffer_str(&content, "{");
    pe_json_write_text(&content, "name", "posenc");
    pe_json_write_text(&content, "version", PE_VERSION);
    pe_json_write_text(&content, "revision", PE_REVISION);
    pe_json_write_text(&content, "kernels", pe_kernels_get()->name);
    pe_json_write_text(&content, "libmicrohttpd", MHD_get_version());
    if (request->watch->place == PE_PLACE_OPERATOR) {
        pe_json_write_name(&content, "sandbox");
        pe_sandbox_json(&request->service->sandbox, &content);
    }
    pe_buffer_str(&content, "}\n");
    return pe_reply_json(request, &content, "no-store", why);
}
