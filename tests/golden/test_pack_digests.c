/* SPDX-License-Identifier: MIT */
/* test_pack_digests.c - what is promised of each golden pack: the same numbers on every machine. */
#include "support/check.h"

#include "base/array.h"
#include "packs/pack.h"
#include "tables/tables.h"

static const struct {
    const char *name, *digest;
} packs[] = {
    {"alibi", "sha256-c0df693525b0c0e1836f514ca26c0743d2559e98b9096ef2ed914d6e1beea582"},
    {"deepseek", "sha256-8abd9859e12fa6e5b58be6a44c9fc4bcf11aa4466075f0559759362685d29ee3"},
    {"dinov3", "sha256-6e37d42c4d9e62428563a3295efae02db287d12e06ece82f73c3c3ac00a56935"},
    {"flux", "sha256-71bf3c47e39ef410f10a71c4940764fd10077196c9e8d5c32b24a3cdfc78c558"},
    {"gemma", "sha256-85fd9f8a391400fd313c257ca1a3329fab6bea88d1d256a866343a6fb41c73a3"},
    {"llama3", "sha256-da683a48363579b5124f546d914c0baf63ac38d610fa4a0c756567d9659573c1"},
    {"mrope", "sha256-e0f6d71ceda4bd146d7564251e421b3007eeb44c3992d83a64fc7bb1b716b3f9"},
    {"phi-longrope", "sha256-6d84769aeaae6a0727b89bd7be4ce46cdc020e78e8a96bb0d90cd663000174df"},
    {"qwen-yarn", "sha256-b0e06c7dbb18a367d9b05a08463a54219d091b59c0b7b931f1f136ab8bc796bc"},
    {"sinusoidal", "sha256-59152407b8c5e82e32bd711d123d296d149e5dd9397823666c1532d66068b893"},
    {"t5", "sha256-423bea8072d23d56878f29d17902596b4f57855838f1f8a8c95e8bcba932c496"},
};

static void packs_have_their_digests(void **state)
{
    const pe_limits limits = {.max_elements = (size_t)1 << 28};
    pe_tables *tables;
    pe_problem why;
    size_t n;
    const pe_pack_recipe *recipes = pe_pack_recipes(&n);
    assert_int_equal(n, PE_LEN(packs));
    assert_int_equal(pe_tables_make(1 << 24, &tables, &why), PE_OK);
    for (size_t p = 0; p < n; p++) {
        pe_pack pack;
        if (pe_pack_make(&recipes[p], tables, &limits, &pack, &why) != PE_OK)
            fail_msg("%s: %s", recipes[p].name, why.detail);
        assert_string_equal(recipes[p].name, packs[p].name);
        assert_string_equal(pack.digest, packs[p].digest);
        pe_pack_free(&pack);
    }
    pe_tables_free(tables);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(packs_have_their_digests)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
