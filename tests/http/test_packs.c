/* SPDX-License-Identifier: MIT */
/* test_packs.c - golden packs by name and digest. */
#include "support/check.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "support/problem.h"

static test_server server;

/* By name, and by name and digest, which never changes. What the digests are is tested where nothing is
 * asked (golden/test_pack_digests.c). */
static void a_pack_is_pinned_by_its_digest(void **state)
{
    size_t p;
    json_t *pack;
    reply answer = get(&server, "/v1/packs");
    assert_status("packs", &answer, 200);
    json_t *listing = reply_json(&answer);
    assert_true(json_array_size(json_object_get(listing, "packs")) > 0);
    json_array_foreach(json_object_get(listing, "packs"), p, pack)
    {
        char target[160], cached[64];
        snprintf(target, sizeof target, "/v1/packs/%s",
                 json_string_value(json_object_get(pack, "name")));
        reply named = get(&server, target);
        assert_status(target, &named, 200);
        assert_header(target, &named, "Content-Type", "application/vnd.safetensors");
        snprintf(target, sizeof target, "%s", json_string_value(json_object_get(pack, "path")));
        reply pinned = get(&server, target);
        assert_status(target, &pinned, 200);
        assert_non_null(
            strstr(reply_header(&pinned, "Cache-Control", cached, sizeof cached), "immutable"));
        assert_int_equal(named.bytes, pinned.bytes);
        assert_memory_equal(named.body, pinned.body, named.bytes);
        /* Each has tensors of a mistake. */
        if (memmem(named.body, named.bytes, "\"wrong/", 7) == NULL)
            fail_msg("%s has no wrong twin", target);
        reply_free(&named);
        reply_free(&pinned);
    }
    json_decref(listing);
    reply_free(&answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pack_is_pinned_by_its_digest),
    };
    return server_run_tests(tests, PE_LEN(tests), &server, NULL);
}
