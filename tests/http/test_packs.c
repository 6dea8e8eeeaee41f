/* SPDX-License-Identifier: MIT */
/* test_packs.c - golden packs: their digests, their tensors, and what is refused. */
#include "support/check.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "support/problem.h"

static test_server server;

/* What is promised of each: the same numbers, on every machine and in every release. */
static const struct {
    const char *name, *digest;
} packs[] = {
    {"alibi", "sha256-c0df693525b0c0e1836f514ca26c0743d2559e98b9096ef2ed914d6e1beea582"},
    {"deepseek", "sha256-171e3f1702c7702b2fa12195fe307377355c1940a4a302453d5d7c0d07d9691f"},
    {"dinov3", "sha256-6e37d42c4d9e62428563a3295efae02db287d12e06ece82f73c3c3ac00a56935"},
    {"gemma", "sha256-3273db6a710c16fa26a69e906ef48cac6c8f604baf84585fbfa0ffb63ee183c0"},
    {"llama3", "sha256-1e8e6742659414a9e149d3210d33375d695f1dadd089494836fae69e916830bf"},
    {"mrope", "sha256-eb677d93101752b898dfbfe9ee54abb57b58fefdaf8aac1b9fa7b1a32bf46b33"},
    {"phi-longrope", "sha256-a2ef1fd1cfb4a34765d7891f0c5f7f8a36752ebb05b9a472a78799e0134c6758"},
    {"qwen-yarn", "sha256-f05da96941c6377083a269f3b071a6d7d20e906ccc350c8f560cee02ab60fa2b"},
    {"sinusoidal", "sha256-04a0023a4ca5ce84d859802a6eac7d06550d38131269e449ce1d147adbe88384"},
    {"t5", "sha256-423bea8072d23d56878f29d17902596b4f57855838f1f8a8c95e8bcba932c496"},
};

static void packs_have_their_digests(void **state)
{
    (void)state;
    reply answer = get(&server, "/v1/packs");
    assert_status("packs", &answer, 200);
    json_t *listing = reply_json(&answer), *list = json_object_get(listing, "packs");
    assert_int_equal(json_array_size(list), PE_LEN(packs));
    for (size_t p = 0; p < PE_LEN(packs); p++) {
        const json_t *pack = json_array_get(list, p);
        assert_string_equal(json_string_value(json_object_get(pack, "name")), packs[p].name);
        if (strcmp(json_string_value(json_object_get(pack, "digest")), packs[p].digest) != 0)
            fail_msg("%s has the digest %s", packs[p].name,
                     json_string_value(json_object_get(pack, "digest")));
    }
    json_decref(listing);
    reply_free(&answer);
}

/* By name, and by name and digest, which never changes. */
static void a_pack_is_pinned_by_its_digest(void **state)
{
    (void)state;
    for (size_t p = 0; p < PE_LEN(packs); p++) {
        char target[160], cached[64];
        snprintf(target, sizeof target, "/v1/packs/%s", packs[p].name);
        reply named = get(&server, target);
        assert_status(target, &named, 200);
        assert_header(target, &named, "Content-Type", "application/vnd.safetensors");
        snprintf(target, sizeof target, "/v1/packs/%s@%s", packs[p].name, packs[p].digest);
        reply pinned = get(&server, target);
        assert_status(target, &pinned, 200);
        assert_non_null(
            strstr(reply_header(&pinned, "Cache-Control", cached, sizeof cached), "immutable"));
        assert_int_equal(named.bytes, pinned.bytes);
        assert_memory_equal(named.body, pinned.body, named.bytes);
        reply_free(&named);
        reply_free(&pinned);
    }
}

/* Every pack has tensors of a mistake, but that of three axes; those of vectors have their inputs. */
static void a_pack_has_wrong_twins_and_inputs(void **state)
{
    (void)state;
    reply llama = get(&server, "/v1/packs/llama3");
    static const char *const names[] = {"\"table/cos\"",
                                        "\"vectors/inputs\"",
                                        "\"vectors/rotated\"",
                                        "\"wrong/position_plus_one/cos\"",
                                        "\"wrong/scaling_dropped/sin\"",
                                        "\"inv_freq/inv_freq\""};
    for (size_t n = 0; n < PE_LEN(names); n++)
        if (memmem(llama.body, llama.bytes, names[n], strlen(names[n])) == NULL)
            fail_msg("no tensor %s", names[n]);
    reply_free(&llama);
}

static void what_is_no_pack_is_refused(void **state)
{
    static const char *const targets[] = {"/v1/packs/nosuch", "/v1/packs/llama3@sha256-00",
                                          "/v1/packs/llama3@", "/v1/packs/@"};
    (void)state;
    for (size_t t = 0; t < PE_LEN(targets); t++) {
        reply answer = get(&server, targets[t]);
        assert_problem(targets[t], &answer, 404, "not-found");
        reply_free(&answer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packs_have_their_digests),
        cmocka_unit_test(a_pack_is_pinned_by_its_digest),
        cmocka_unit_test(a_pack_has_wrong_twins_and_inputs),
        cmocka_unit_test(what_is_no_pack_is_refused),
    };
    return server_run_tests(tests, PE_LEN(tests), &server, NULL);
}
