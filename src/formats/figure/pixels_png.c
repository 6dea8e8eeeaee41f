/* SPDX-License-Identifier: MIT */
/* pixels_png.c - pixels as a PNG with a palette. */
#include <stdint.h>
#include <zlib.h>

#include "base/turns.h"
#include "formats/figure/pixels.h"

/* Source  W3C PNG (third edition), sections 5 and 11. */
static const unsigned char signature[8] = {137, 'P', 'N', 'G', '\r', '\n', 26, '\n'};

enum { DEPTH = 8, INDEXED = 3, CHUNK_BYTES = 12 };

/* Deflate is told all that it would choose by itself. */
enum { LEVEL = 9, WINDOW_BITS = 15, MEMORY_LEVEL = 8 };

const char *pe_pixels_maker(void)
{
    return zlibVersion();
}

size_t pe_pixels_png_max(size_t pixels, size_t rows)
{
    const size_t raw = pixels + rows;
    return raw + raw / 1000 + 64 + sizeof signature + 4 * CHUNK_BYTES + 16 + (size_t)3 * PE_COLOURS;
}

static void put_32(unsigned long value, unsigned char out[4])
{
    for (int i = 0; i < 4; i++)
        out[i] = (unsigned char)(value >> (24 - 8 * i) & 255);
}

static void put_chunk(const char type[5], const unsigned char *data, size_t bytes, pe_buffer *out)
{
    unsigned char word[4];
    unsigned long sum = crc32(0, (const unsigned char *)type, 4);
    if (bytes > 0)
        sum = crc32(sum, data, (uInt)bytes);
    put_32(bytes, word);
    pe_buffer_add(out, word, sizeof word);
    pe_buffer_add(out, type, 4);
    pe_buffer_add(out, data, bytes);
    put_32(sum, word);
    pe_buffer_add(out, word, sizeof word);
}

/* Every row has its filter before it: none, since colours of a palette are no amounts. */
static bool deflate_rows(z_stream *z, const unsigned char *pixels, const size_t size[2])
{
    static unsigned char none;
    for (size_t y = 0; y < size[1]; y++) {
        const bool last = y + 1 == size[1];
        z->next_in = &none;
        z->avail_in = 1;
        if (deflate(z, Z_NO_FLUSH) != Z_OK)
            return false;
        z->next_in = (Bytef *)(uintptr_t)(pixels + y * size[0]);
        z->avail_in = (uInt)size[0];
        pe_turn_spend(PE_PIXEL_WORK * size[0]);
        if (deflate(z, last ? Z_FINISH : Z_NO_FLUSH) != (last ? Z_STREAM_END : Z_OK))
            return false;
    }
    return true;
}

static void put_pixels(const unsigned char *pixels, const size_t size[2], pe_buffer *out)
{
    pe_buffer packed = {0};
    z_stream z = {0};
    const size_t most = pe_pixels_png_max(size[0] * size[1], size[1]);
    char *room = pe_buffer_reserve(&packed, most);
    bool good = room != NULL && deflateInit2(&z, LEVEL, Z_DEFLATED, WINDOW_BITS, MEMORY_LEVEL,
                                             Z_DEFAULT_STRATEGY) == Z_OK;
    if (good) {
        z.next_out = (Bytef *)room;
        z.avail_out = (uInt)most;
        good = deflate_rows(&z, pixels, size);
        deflateEnd(&z);
    }
    if (good)
        put_chunk("IDAT", (unsigned char *)room, most - z.avail_out, out);
    else
        out->failed = true;
    pe_buffer_free(&packed);
}

void pe_pixels_png(const unsigned char *pixels, const size_t size[2], const pe_palette *palette,
                   pe_buffer *out)
{
    unsigned char header[13] = {[8] = DEPTH, [9] = INDEXED};
    put_32(size[0], header);
    put_32(size[1], header + 4);
    pe_buffer_add(out, signature, sizeof signature);
    put_chunk("IHDR", header, sizeof header, out);
    put_chunk("PLTE", palette->rgb[0], sizeof palette->rgb, out);
    put_pixels(pixels, size, out);
    put_chunk("IEND", NULL, 0, out);
}
