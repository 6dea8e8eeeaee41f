// readme.js - the picture of the page in README.md is the page of today; PICTURE=write takes it anew.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';

const FILE = new URL('../../../src/web/pictures/page.png', import.meta.url);

/** Runs in a page: the share of the bytes of two pictures, as base64, that differ clearly. */
async function difference(pictures) {
    const [one, other] = await Promise.all(
        pictures.map(async (base64) => {
            const image = new Image();
            image.src = `data:image/png;base64,${base64}`;
            await image.decode();
            const context = new OffscreenCanvas(image.width, image.height).getContext('2d');
            context.drawImage(image, 0, 0);
            return context.getImageData(0, 0, image.width, image.height).data;
        }),
    );
    if (one.length !== other.length) return 1;
    return one.filter((byte, i) => Math.abs(byte - other[i]) > 32).length / one.length;
}

export const cases = {
    'the picture is the page of today': async (bench) => {
        const page = await bench.page('', { viewport: { width: 1240, height: 760 } });
        const now = await page.screenshot();
        if (process.env.PICTURE === 'write') writeFileSync(FILE, now);
        const pictures = [now, readFileSync(FILE)].map((each) => each.toString('base64'));
        const blank = await page.context().newPage();
        const share = await blank.evaluate(difference, pictures);
        assert.ok(share < 0.01, `${share} of it differs; PICTURE=write make test-web WEB=readme takes it anew`);
    },
};
