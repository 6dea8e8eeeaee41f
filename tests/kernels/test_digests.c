/* SPDX-License-Identifier: MIT */
/* test_digests.c - the same bytes on every processor and at every level: digests, kept in a file.
 *
 * digests.txt has one request per line: its SHA-256, the dtype, the path with its query, and for a
 * POST the JSON members and the arrays, name=shape, that are filled with numbers made here. The
 * digest is that of all tensors, run by run: bytes, then text. After adding a line with any digest,
 * `test_digests --print` writes the file anew. A digest that changes later is an answer that
 * changed.
 */
#include "support/check.h"

#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "encodings/registry.h"
#include "plan/plan.h"
#include "support/encode.h"
#include "support/nest.h"
#include "support/random.h"
#include "support/variant_cases.h"
#include "text/blocks.h"
#include "text/number.h"

#define HEX_BYTES (2 * SHA256_DIGEST_SIZE + 1)

typedef struct line {
    char digest[HEX_BYTES];
    char dtype[16], path[256];
    char query[1024];   /* or the JSON members of a POST */
    char arrays[256];   /* of a POST; "" for a GET */
    char request[1536]; /* as the file has it */
} line;

/* ---- requests ------------------------------------------------------------------------------- */

/* Numbers of every size down to 2^-20 or so, both signs, exact in float32. */
static double number(uint64_t k)
{
    const uint64_t z = random_at(0, k);
    return (double)((int64_t)(z >> 40) - (1 << 23)) * 0x1p-22 / (double)(1 << (z & 15));
}

/* name=2x3x4 as a member of the body. */
static void append_array(const char *text, pe_buffer *body)
{
    size_t shape[PE_MAX_DIMS], ndim = 0, count = 1;
    const size_t name = strcspn(text, "=");
    char *at = (char *)(uintptr_t)(text + name);
    do {
        assert_true(ndim < PE_MAX_DIMS);
        shape[ndim] = strtoul(at + 1, &at, 10);
        count *= shape[ndim++];
    } while (*at == 'x');
    double *data = malloc(count * sizeof *data);
    assert_non_null(data);
    for (size_t j = 0; j < count; j++)
        data[j] = number(name * 1000003 + j);
    pe_buffer_format(body, ",\"%.*s\":", (int)name, text);
    nest(data, shape, ndim, body);
    free(data);
}

static encoded plan(const line *l)
{
    const pe_resource *resource = pe_registry_find(l->path);
    if (resource == NULL)
        fail_msg("%s: no such path", l->request);
    if (l->arrays[0] == '\0')
        return encode(resource, "%s&dtype=%s", l->query, l->dtype);
    pe_buffer body = {0};
    char arrays[sizeof l->arrays], *rest;
    memcpy(arrays, l->arrays, sizeof arrays);
    pe_buffer_format(&body, "{\"dtype\":\"%s\"%s%s", l->dtype, l->query[0] ? "," : "", l->query);
    for (char *each = strtok_r(arrays, ",", &rest); each; each = strtok_r(NULL, ",", &rest))
        append_array(each, &body);
    const encoded e = encode_json(resource, "%s}", pe_buffer_text(&body));
    pe_buffer_free(&body);
    return e;
}

/* ---- digests -------------------------------------------------------------------------------- */

#define RUN 64 /* units at a time, at most */

/* All of tensor t, by runs of units of different lengths. */
static void digest_tensor(const encoded *e, size_t t, struct sha256_ctx *hash)
{
    const pe_tensor *tensor = &e->plan.tensors[t];
    const size_t unit = tensor->unit, bytes = unit * pe_dtype_bytes(tensor->dtype);
    uint8_t *out = malloc(RUN * bytes + 1);
    char *text = malloc(RUN * unit * PE_NUMBER_TEXT_MAX + 1);
    pe_problem why;
    assert_non_null(out);
    assert_non_null(text);
    for (size_t first = 0, some = 1; first < tensor->units; first += some) {
        some = first % 3 ? RUN : 5;
        some = tensor->units - first < some ? tensor->units - first : some;
        const pe_region region = pe_plan_units(&e->plan, t, first, some);
        if (e->plan.fill(&e->plan, &region, out, &why) != PE_OK)
            fail_msg("fill: %s", why.detail);
        sha256_update(hash, some * bytes, out);
        const size_t length = pe_blocks_print(tensor->dtype, out, some * unit, ',', text);
        sha256_update(hash, length, (const uint8_t *)text);
    }
    free(out);
    free(text);
}

static void digest_of(const line *l, char digest[HEX_BYTES])
{
    uint8_t sum[SHA256_DIGEST_SIZE];
    struct sha256_ctx hash;
    encoded e = plan(l);
    if (e.status != PE_OK)
        fail_msg("%s: %s: %s", l->request, e.why.where, e.why.detail);
    sha256_init(&hash);
    for (size_t t = 0; t < e.plan.n_tensors; t++)
        digest_tensor(&e, t, &hash);
    sha256_digest(&hash, sizeof sum, sum);
    for (size_t k = 0; k < sizeof sum; k++)
        snprintf(digest + 2 * k, 3, "%02x", sum[k]);
    encoded_free(&e);
}

/* ---- the file ------------------------------------------------------------------------------- */

typedef void visit(const line *l);

static void take_line(char *text, visit *each)
{
    line l = {.arrays = ""};
    char *rest = text;
    const char *digest = strsep(&rest, " "), *dtype = strsep(&rest, " ");
    snprintf(l.digest, sizeof l.digest, "%s", digest);
    snprintf(l.dtype, sizeof l.dtype, "%s", dtype ? dtype : "");
    snprintf(l.request, sizeof l.request, "%s %s", l.dtype, rest ? rest : "");
    const char *target = strsep(&rest, " "), *members = strsep(&rest, " ");
    if (target == NULL)
        fail_msg("%s: no line of digests.txt", text);
    const size_t path = strcspn(target, "?");
    snprintf(l.path, sizeof l.path, "%.*s", (int)path, target);
    snprintf(l.query, sizeof l.query, "%s", members ? members : target + path + 1);
    snprintf(l.arrays, sizeof l.arrays, "%s", rest ? rest : "");
    each(&l);
}

static void for_each_line(visit *each)
{
    const char *root = getenv("POSENC_ROOT");
    char name[4096], text[2048];
    snprintf(name, sizeof name, "%s/tests/kernels/digests.txt", root ? root : ".");
    FILE *file = fopen(name, "r");
    size_t lines = 0;
    if (file == NULL)
        fail_msg("cannot read %s", name);
    for (; fgets(text, sizeof text, file) != NULL; lines++) {
        text[strcspn(text, "\n")] = '\0';
        take_line(text, each);
    }
    fclose(file);
    assert_true(lines > 0);
}

static void expect_digest(const line *l, const char *variant)
{
    char got[HEX_BYTES];
    digest_of(l, got);
    if (strcmp(got, l->digest) != 0)
        fail_msg("%s with %s: got %s, wanted %s", l->request, variant, got, l->digest);
}

static void check_kernels(const line *l)
{
    pe_problem why;
    for (const pe_kernels *const *k = pe_kernels_all(); *k != NULL; k++) {
        assert_int_equal(pe_kernels_select((*k)->name, &why), PE_OK);
        expect_digest(l, (*k)->name);
    }
    assert_int_equal(pe_kernels_select("auto", &why), PE_OK);
}

static void check_text(const line *l)
{
    for (const pe_blocks *const *v = pe_blocks_all(); *v != NULL; v++) {
        assert_true(pe_blocks_select((*v)->name));
        expect_digest(l, (*v)->name);
    }
    assert_true(pe_blocks_select("auto"));
}

static void print_line(const line *l)
{
    char got[HEX_BYTES];
    digest_of(l, got);
    printf("%s %s\n", got, l->request);
}

static void every_level_of_kernels_gives_the_known_bytes(void **state)
{
    for_each_line(check_kernels);
}

static void every_variant_of_text_gives_the_known_bytes(void **state)
{
    for_each_line(check_text);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_level_of_kernels_gives_the_known_bytes),
        cmocka_unit_test(every_variant_of_text_gives_the_known_bytes),
        cmocka_unit_test(every_variant_of_kernels_ran),
        cmocka_unit_test(every_variant_of_text_ran),
    };
    if (argc == 2 && strcmp(argv[1], "--print") == 0) {
        for_each_line(print_line);
        return 0;
    }
    return cmocka_run_group_tests_name("kernels: digests", tests, NULL, NULL);
}
