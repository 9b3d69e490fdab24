import { gzipSync } from 'node:zlib';
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { expectAccessible } from './support/axe.ts';
import { inChromium } from './support/chromium.ts';
import { inspect, leadOf, receiver } from './support/inspected.ts';
import { freshContext, shownPage } from './support/shown-page.ts';

/** Every view, one after another: the list, then a rejected delivery, a detail and the dialogs. */
async function eachView(page: Page, look: (view: string) => Promise<void>): Promise<void> {
  const back = (): Promise<void> => page.keyboard.press('Escape');
  const open = async (text: string): Promise<void> => {
    await page.locator('.row', { hasText: text }).first().click();
    await page.locator('.delivery[aria-busy="false"]').waitFor();
  };
  await page.locator('.row').first().waitFor();
  await look('list');
  await page.locator('#search').fill('lead_1');
  await page.locator('.search-progress', { hasText: /\d match/ }).waitFor();
  await look('search');
  await page.locator('#search').fill('no such text');
  await page.getByText('No delivery matches').waitFor();
  await look('nothing found');
  await page.locator('#search').fill('');
  await page.locator('.row', { hasText: 'Rejected' }).waitFor();
  await open('Rejected');
  await look('rejected');
  await back();
  await page.locator('#list').waitFor();
  await open('Duplicate');
  await look('detail');
  await page.keyboard.press('r');
  await page.getByRole('dialog').waitFor();
  await look('replay');
  await back();
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await page.keyboard.press('?');
  await page.getByRole('dialog').waitFor();
  await look('keys');
}

inChromium('the look', (browser) => {
  const looks = [
    { colorScheme: 'light', viewport: { width: 1440, height: 900 } },
    { colorScheme: 'dark', viewport: { width: 1440, height: 900 } },
    { colorScheme: 'light', viewport: { width: 360, height: 740 } },
    { colorScheme: 'dark', viewport: { width: 360, height: 740 } },
  ] as const;
  it.each(looks)('is accessible and fits: $colorScheme, $viewport.width px', async (options) => {
    const { home, deliver } = await receiver();
    await deliver('{"no":"id"}');
    await deliver(leadOf('lead_1', 'Ada Lovelace'));
    await deliver(leadOf('lead_1', 'Ada King', { longText: 'x'.repeat(400) }));
    const { url } = await inspect(home, [
      '--replay-to',
      'http://127.0.0.1:9/a',
      '--replay-to',
      'http://127.0.0.1:9/b',
    ]);
    const context = await freshContext(browser(), options);
    const page = await shownPage(context, url);
    const brightness = await page.evaluate(() => {
      const [red = 0] = /\d+/.exec(getComputedStyle(document.body).backgroundColor)?.map(Number) ?? [];
      return red;
    });
    expect(brightness > 128).toBe(options.colorScheme === 'light');
    await eachView(page, async (view) => {
      await expectAccessible(page);
      const extra = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      expect(extra, view).toBeLessThanOrEqual(0);
    });
    const stranger = await shownPage(context, new URL(url).origin, /^Failed to load resource/);
    await stranger.getByRole('heading', { name: 'Open the new URL' }).waitFor();
    await expectAccessible(stranger);
  });
});

inChromium('the list', (browser) => {
  it('shows 16 rows at 900 px, whose columns line up, and nothing to press is smaller than 24 px', async () => {
    const { home, deliver } = await receiver();
    for (let i = 0; i < 25; i++) await deliver(leadOf(`lead_${i}`, 'A'.repeat(1 + 4 * i)));
    await deliver('{"no":"id"}');
    await deliver(leadOf('lead_1', 'Repeated', { text: 'x\n'.repeat(30_000) }));
    const { url } = await inspect(home, ['--replay-to', 'http://127.0.0.1:9/a']);
    const context = await freshContext(browser(), { viewport: { width: 1440, height: 900 } });
    const page = await shownPage(context, url);
    await page.locator('.row').first().waitFor();
    expect(
      await page.locator('#list').evaluate((list) => Math.floor(list.clientHeight / 40)),
    ).toBeGreaterThanOrEqual(16);
    const edges = await page
      .locator('.row')
      .evaluateAll((rows) =>
        rows.map((row) => [...row.children].map((cell) => cell.getBoundingClientRect().left)),
      );
    for (const one of edges) expect(one).toEqual(edges[0]);
    // A word of a chip is not cut at any of these widths.
    const chips = page.locator('.chip');
    for (const chip of await chips.all()) await chip.click();
    for (const width of [1360, 1430, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      const rows = await chips.evaluateAll((all) => all.map((one) => one.scrollHeight > one.clientHeight));
      expect(rows).not.toContain(true);
    }
    for (const chip of await chips.all()) await chip.click();
    await eachView(page, async (view) => {
      const small = await page.evaluate(() =>
        [...document.querySelectorAll('button, select, input, .row')].flatMap((one) => {
          const { width, height } = one.getBoundingClientRect();
          return width > 0 && Math.min(width, height) < 24 ? [`${one.textContent} ${width} × ${height}`] : [];
        }),
      );
      expect(small, view).toEqual([]);
    });
    await page.goto(`${new URL(url).origin}/#/27`);
    await page.locator('.headers').waitFor();
    const body = await page.locator('.code').first().boundingBox();
    expect(body?.height).toBeLessThan(900);
  });
});

describe('the first load', () => {
  it('is less than 45 kB, compressed', () => {
    const sizes = ['index.html', 'app.js', 'app.css', 'icon.svg'].map(
      (name) => gzipSync(readFileSync(new URL(`../../dist/inspect/${name}`, import.meta.url))).length,
    );
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(45_000);
  });
});
