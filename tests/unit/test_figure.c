/* SPDX-License-Identifier: MIT */
/* test_figure.c - figures: cells against all of their elements, ticks, text, and that they
 * stream. */
#include "support/check.h"

#include <math.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "formats/figure/figure.h"
#include "formats/figure/pixels.h"
#include "plan/resource.h"
#include "support/fake.h"
#include "support/random.h"
#include "support/render.h"

static pe_rendering figure_of(const char *format, size_t width, size_t height, pe_figure_view view)
{
    pe_rendering rendering = render_as(format, false, NULL);
    rendering.figure = (pe_figure_options){.view = view, .width = width, .height = height};
    return rendering;
}

/* ---- cells ---- */

/* The cell that element e of the tensor belongs to, by the words of figure.h; SIZE_MAX: none
 * is drawn. */
static size_t cell_of(const pe_layout *layout, size_t e)
{
    size_t panel = e / layout->columns / layout->rows, row = e / layout->columns % layout->rows;
    const size_t column = e % layout->columns;
    if (layout->curves) {
        for (panel = 0; panel < layout->panels; panel++)
            if (pe_layout_series(layout, panel) == e / layout->columns)
                break;
        row = 0;
    }
    if (panel >= layout->panels)
        return SIZE_MAX;
    return (panel * layout->ny + row * layout->ny / layout->rows) * layout->nx +
           column * layout->nx / layout->columns;
}

static void assert_pooled(const pe_layout *layout, const pe_cells *cells, const float *x, size_t n)
{
    const size_t count = layout->panels * layout->ny * layout->nx;
    float *low = calloc(count + 1, sizeof *low), *high = calloc(count + 1, sizeof *high);
    if (low == NULL || high == NULL)
        abort();
    for (size_t i = 0; i < count; i++) {
        low[i] = INFINITY;
        high[i] = -INFINITY;
    }
    for (size_t e = 0; e < n; e++) {
        const size_t cell = cell_of(layout, e);
        if (cell == SIZE_MAX || !isfinite(x[e]))
            continue;
        low[cell] = fminf(low[cell], x[e]);
        high[cell] = fmaxf(high[cell], x[e]);
    }
    assert_memory_equal(low, cells->low, count * sizeof *low);
    assert_memory_equal(high, cells->high, count * sizeof *high);
    free(low);
    free(high);
}

static void check_pooling(random_source *random, const pe_shape *shape, pe_figure_view view)
{
    pe_layout layout;
    pe_cells cells;
    pe_problem why;
    pe_tensor tensor = {.dtype = PE_FLOAT32, .shape = *shape};
    assert_true(pe_array_elements(shape, &tensor.elements));
    const pe_rendering rendering =
        figure_of("png", 320 + random_below(random, 500), 240 + random_below(random, 300), view);
    float *x = malloc((tensor.elements + 1) * sizeof *x);
    assert_non_null(x);
    for (size_t e = 0; e < tensor.elements; e++)
        x[e] = random_below(random, 50) == 0 ? -INFINITY
                                             : (float)random_below(random, 2000) / 1000 - 1;
    pe_layout_make(&tensor, &rendering, false, &layout);
    assert_int_equal(pe_cells_make(&layout, &cells, &why), PE_OK);
    for (size_t e = 0, n; e < tensor.elements; e += n) {
        n = 1 + random_below(random, 3000);
        n = n < tensor.elements - e ? n : tensor.elements - e;
        pe_cells_take(&layout, &(pe_elements){&tensor, e, n, x + e, NULL}, &cells);
    }
    assert_pooled(&layout, &cells, x, tensor.elements);
    pe_cells_free(&cells);
    free(x);
}

static void a_cell_has_the_extremes_of_its_elements(void **state)
{
    random_source random = random_make("cells");
    for (int round = 0; round < 60; round++) {
        pe_shape shape = {1 + random_below(&random, 4), {0}};
        for (size_t d = 0, most = 200000; d < shape.ndim; d++) {
            shape.dim[d] = 1 + random_below(&random, most < 3000 ? most : 3000);
            most = most / shape.dim[d] + 1;
        }
        check_pooling(&random, &shape, PE_VIEW_HEATMAP);
        if (shape.ndim <= 2)
            check_pooling(&random, &shape, PE_VIEW_CURVES);
    }
}

/* ---- ticks ---- */

static const struct {
    double from, to;
    bool log;
    size_t wanted;
    bool whole;
    const char *texts;
} tick_cases[] = {
    {-1, 1, false, 4, false, "\u22121 \u22120.5 0 0.5 1 "},
    {0, 127, false, 6, true, "0 50 100 "},
    {0, 3, false, 10, true, "0 1 2 3 "},
    {127, 0, false, 3, true, "0 50 100 "},
    {0, 0.003, false, 3, false, "0 0.001 0.002 0.003 "},
    {1, 100000, true, 9, false, "1 10 100 1000 10000 100000 "},
    {0.0001, 1, true, 2, false, "0.0001 0.001 0.01 0.1 1 "},
    {1, 1e8, true, 9, false, "1 10 100 1000 10000 100000 1e6 1e7 1e8 "},
    {5, 5, false, 4, true, "5 "},
    {9007199254740000, 9007199254740991, false, 2, true, "9007199254740000 9007199254740500 "},
};

static void ticks_are_at_round_values(void **state)
{
    for (size_t i = 0; i < PE_LEN(tick_cases); i++) {
        pe_tick tick[PE_TICKS_MAX];
        pe_buffer texts = {0};
        const pe_axis axis = {tick_cases[i].from, tick_cases[i].to, tick_cases[i].log};
        const size_t n = pe_axis_ticks(&axis, tick_cases[i].wanted, tick_cases[i].whole, tick);
        for (size_t t = 0; t < n; t++)
            pe_buffer_format(&texts, "%s ", tick[t].text);
        if (i != 6) /* how decades are thinned out is no matter */
            assert_string_equal(pe_buffer_text(&texts), tick_cases[i].texts);
        pe_buffer_free(&texts);
    }
}

static void an_axis_holds_its_values(void **state)
{
    random_source random = random_make("axes");
    for (int round = 0; round < 2000; round++) {
        const bool log = random_below(&random, 2) == 0;
        const double scale = exp(((double)random_below(&random, 400) - 200) / 10);
        double least = scale * ((double)random_below(&random, 1000) - 300);
        least = log ? fabs(least) + scale : least;
        const double most = least + scale * (double)random_below(&random, 5000);
        const pe_axis axis = pe_axis_around(least, most, log);
        assert_true(axis.from < axis.to);
        assert_true(pe_axis_at(&axis, least) >= -1e-6 && pe_axis_at(&axis, most) <= 1 + 1e-6);
        assert_true(pe_axis_round_up(scale) >= scale && pe_axis_round_up(scale) <= 2.5 * scale);
    }
}

/* ---- text ---- */

static const pe_labels odd_labels[] = {{.axes = "<row>, \"column\" & more", .value = "a<b"}, {0}};
static const pe_resource odd = {
    .name = "odd", .summary = "a<b&c>\"d\"\x01.", .formula = "a & b", .labels = odd_labels};

static void text_is_escaped(void **state)
{
    pe_plan plan;
    pe_buffer out = {0};
    pe_rendering rendering = figure_of("svg", 800, 500, PE_VIEW_ANY);
    rendering.resource = &odd;
    fake_plan(&plan, 1, PE_FLOAT32, &(pe_shape){2, {6, 4}}, 4);
    const char *text = render_text(&plan, &rendering, &out);
    assert_non_null(strstr(text, "<title>a&lt;b&amp;c&gt;&quot;d&quot;</title>"));
    assert_non_null(strstr(text, "&quot;d&quot;. a &amp; b</desc>"));
    assert_non_null(strstr(text, "&quot;column&quot; &amp; more</text>"));
    assert_non_null(strstr(text, "&lt;row&gt;</text>"));
    pe_buffer_free(&out);
    pe_plan_free(&plan);
}

/* ---- pixels ---- */

static void assert_colours(const pe_buffer *png, const unsigned char *pixels, const size_t size[2],
                           const pe_palette *palette)
{
    png_image image = {.version = PNG_IMAGE_VERSION};
    assert_true(png_image_begin_read_from_memory(&image, png->data, png->bytes));
    assert_int_equal(image.width, size[0]);
    assert_int_equal(image.height, size[1]);
    image.format = PNG_FORMAT_RGB;
    unsigned char *rgb = malloc(PNG_IMAGE_SIZE(image));
    assert_non_null(rgb);
    assert_true(png_image_finish_read(&image, NULL, rgb, 0, NULL));
    for (size_t i = 0; i < size[0] * size[1]; i++)
        if (memcmp(rgb + 3 * i, palette->rgb[pixels[i]], 3) != 0)
            fail_msg("%zu x %zu: pixel %zu has another colour", size[0], size[1], i);
    free(rgb);
}

static void a_png_has_the_colour_of_each_pixel(void **state)
{
    static const size_t sizes[][2] = {{1, 1}, {8192, 3}, {3, 8192}, {90, 130}, {400, 250}};
    random_source random = random_make("pixels");
    for (size_t s = 0; s < 2 * PE_LEN(sizes); s++) {
        const size_t *size = sizes[s / 2], n = size[0] * size[1];
        unsigned char *pixels = malloc(n);
        pe_palette palette;
        pe_buffer png = {0}, lost = {.failed = true};
        assert_non_null(pixels);
        for (size_t i = 0; i < n; i++)
            pixels[i] = (unsigned char)random_below(&random, s % 2 == 0 ? PE_COLOURS : 2);
        pe_palette_make(s % 2 == 0, &palette);
        pe_pixels_png(pixels, size, &palette, &png);
        assert_false(png.failed);
        assert_true(png.bytes <= pe_pixels_png_max(n, size[1]));
        assert_colours(&png, pixels, size, &palette);
        pe_pixels_png(pixels, size, &palette, &lost); /* the library's errors end the picture */
        assert_true(lost.failed && lost.data == NULL);
        pe_buffer_free(&png);
        free(pixels);
    }
}

/* So that another version has other tags. */
static void the_maker_names_both_libraries(void **state)
{
    pe_buffer maker = {0};
    pe_pixels_maker(&maker);
    assert_non_null(strstr(pe_buffer_text(&maker), png_get_libpng_ver(NULL)));
    assert_non_null(strstr(pe_buffer_text(&maker), zlibVersion()));
    pe_buffer_free(&maker);
}

/* ---- streams ---- */

/* However it is read, and no longer than was said. */
static void a_figure_streams(void **state)
{
    static const pe_shape shapes[] = {{1, {9}},         {1, {5000}},      {2, {3, 4}},
                                      {2, {900, 700}},  {3, {5, 30, 20}}, {4, {2, 3, 40, 30}},
                                      {3, {90, 50, 3}}, {2, {1, 1}},      {2, {70000, 2}}};
    static const char *const formats[] = {"svg", "png"};
    for (size_t s = 0; s < PE_LEN(shapes); s++)
        for (size_t f = 0; f < 2; f++) {
            pe_plan plan;
            pe_problem why;
            pe_stream *stream;
            pe_buffer whole = {0}, pieces = {0};
            const pe_rendering rendering = figure_of(formats[f], 640, 400, PE_VIEW_ANY);
            fake_plan(&plan, 1, s % 2 == 0 ? PE_FLOAT32 : PE_FLOAT64, &shapes[s],
                      shapes[s].dim[shapes[s].ndim - 1]);
            render(&plan, &rendering, 0, 1 << 20, &whole);
            render(&plan, &rendering, 0, 777, &pieces);
            assert_true(whole.bytes > 1000);
            assert_int_equal(whole.bytes, pieces.bytes);
            assert_memory_equal(whole.data, pieces.data, whole.bytes);
            assert_int_equal(pe_stream_make(&plan, &rendering, &stream, &why), PE_OK);
            assert_true(whole.bytes <= pe_stream_facts_of(stream)->length_max);
            pe_stream_free(stream);
            pe_buffer_free(&whole);
            pe_buffer_free(&pieces);
            pe_plan_free(&plan);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cell_has_the_extremes_of_its_elements),
        cmocka_unit_test(ticks_are_at_round_values),
        cmocka_unit_test(an_axis_holds_its_values),
        cmocka_unit_test(text_is_escaped),
        cmocka_unit_test(a_png_has_the_colour_of_each_pixel),
        cmocka_unit_test(the_maker_names_both_libraries),
        cmocka_unit_test(a_figure_streams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
