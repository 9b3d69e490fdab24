import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { binary, environment } from '../support/listen-process.ts';
import { expectAccessible } from './support/axe.ts';
import { inChromium } from './support/chromium.ts';
import { inspect, leadOf, receiver } from './support/inspected.ts';
import { expectLive, freshContext, shownPage } from './support/shown-page.ts';

/** A home in which leads of these names were received, and one delivery was refused. */
async function received(names: readonly string[]): Promise<string> {
  const { home, deliver, end } = await receiver();
  for (const [i, name] of names.entries())
    await deliver(leadOf(`lead_${i}-019b4c1e-7c3e-7d11-9f00-0123456789ab`, name));
  await deliver({ id: 'lead_refused' }, { 'x-webhook-token': 'another' });
  await end();
  return home;
}

function reportOf(home: string, words: readonly string[]): string {
  const file = join(home, 'report.html');
  execFileSync(process.execPath, [binary, ...words, '--html', file], {
    env: { PATH: process.env['PATH'], ...environment(home) },
  });
  return file;
}

const hostile = `<img src="http://127.0.0.1:9/x"><script>document.title = 'broken'</script>\u202e`;

inChromium('a report, opened from disk without a network', (browser) => {
  const opened = async (file: string, options = {}): Promise<{ page: Page; requests: readonly string[] }> => {
    const context = await freshContext(browser(), options);
    await context.setOffline(true);
    const requests: string[] = [];
    context.on('request', (request) => requests.push(request.url()));
    const page = await context.newPage();
    page.on('console', (message) => requests.push(message.text()));
    await page.goto(pathToFileURL(file).href);
    return { page, requests };
  };

  it.each([
    ['stats', '--inbox', '--by', 'contact.name', '--personal-data'],
    ['inspect', '--personal-data'],
  ])('asks for nothing, is accessible in light, dark and narrow, and fits paper: %s', async (...words) => {
    const file = reportOf(await received(['Ada Lovelace', hostile]), words);
    for (const options of [
      { colorScheme: 'light' as const },
      { colorScheme: 'dark' as const },
      { viewport: { width: 360, height: 740 } },
    ]) {
      const { page, requests } = await opened(file, options);
      await expectAccessible(page);
      expect(await page.title()).not.toBe('broken');
      expect(await page.evaluate(() => document.scripts.length + document.images.length)).toBe(0);
      const overflow = () => document.documentElement.scrollWidth - document.documentElement.clientWidth;
      expect(await page.evaluate(overflow)).toBe(0);
      expect(requests).toEqual([pathToFileURL(file).href]);
    }
    const { page } = await opened(file);
    const pdf = await page.pdf({ format: 'A4' });
    expect(pdf.subarray(0, 5).toString()).toBe('%PDF-');
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    const numbers = page.locator('details td').first();
    expect(await numbers.evaluate((cell) => cell.checkVisibility({ contentVisibilityAuto: true }))).toBe(
      true,
    );
    expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe(
      'rgb(255, 255, 255)',
    );
  });

  it('shows all columns on a wide screen, however long an id is', async () => {
    const { home, deliver, end } = await receiver();
    await deliver(leadOf('i'.repeat(300), 'Ada Lovelace'));
    await deliver(leadOf('lead_2', 'Grace'), { 'x-webhook-token': 'another' });
    await end();
    const { page } = await opened(reportOf(home, ['inspect']), { viewport: { width: 1440, height: 900 } });
    const frame = page.getByRole('region', { name: 'Deliveries, newest first' });
    expect(await frame.evaluate((one) => one.scrollWidth - one.clientWidth)).toBe(0);
  });

  it('has room for ids on paper', async () => {
    const { page } = await opened(reportOf(await received(['Ada Lovelace']), ['inspect']));
    await page.emulateMedia({ media: 'print' });
    // What A4 has between its margins.
    await page.setViewportSize({ width: 688, height: 970 });
    const row = page.locator('tr', { hasText: 'lead_0' });
    expect((await row.boundingBox())?.height).toBeLessThan(90);
  });
});

inChromium('Save on the page', (browser) => {
  it('keeps what is filtered now in a file: a report, CSV, NDJSON', async () => {
    const home = await received(['Ada Lovelace', 'Grace Hopper', hostile]);
    const { url } = await inspect(home);
    const { page, expectClean } = await shownPage(
      await freshContext(browser(), { acceptDownloads: true }),
      url,
    );
    await expectLive(page);
    const saved = async (name: string): Promise<readonly [name: string, text: string]> => {
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByRole('radio', { name }).check();
      await expectAccessible(page);
      const waiting = page.waitForEvent('download');
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
      const download = await waiting;
      return [download.suggestedFilename(), readFileSync(await download.path(), 'utf8')];
    };
    const [name, all] = await saved('NDJSON');
    expect(name).toMatch(/^leads-\d{4}-\d\d-\d\d\.ndjson$/);
    expect(all.trimEnd().split('\n')).toHaveLength(4);
    await page.getByRole('button', { name: 'Rejected' }).click();
    await expect.poll(() => page.locator('.row').count()).toBe(1);
    const [, rejected] = await saved('CSV');
    expect(rejected.trimEnd().split('\r\n')).toEqual([
      expect.stringMatching(/^number,/),
      expect.stringContaining('rejected'),
    ]);
    await page.getByRole('button', { name: 'Rejected' }).click();
    await page.locator('#search').fill('grace');
    await expect.poll(() => page.locator('.row').count()).toBe(1);
    const [, report] = await saved('Report');
    expect(report).toContain('G. H.');
    expect(report).not.toMatch(/Ada|A\. L\.|Hopper|<script/);
    await expectClean();
  });
});

inChromium('a chart', (browser) => {
  it('saves as SVG with its title, legend and colours, and as PNG at twice its size', async () => {
    const { url } = await inspect(await received(['Ada Lovelace']));
    const context = await freshContext(browser(), { acceptDownloads: true, colorScheme: 'dark' });
    const { page, expectClean } = await shownPage(context, url);
    await page.getByRole('button', { name: 'Charts' }).click();
    const saved = async (form: string): Promise<Buffer> => {
      const waiting = page.waitForEvent('download');
      await page.getByRole('button', { name: `Save Deliveries per 1 min as ${form}` }).click();
      const download = await waiting;
      expect(download.suggestedFilename()).toBe(`deliveries-per-1-min.${form.toLowerCase()}`);
      return readFileSync(await download.path());
    };
    const svg = (await saved('SVG')).toString('utf8');
    expect(svg).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
    for (const text of ['Deliveries per 1 min', 'Accepted', 'Rejected'])
      expect(svg).toContain(`>${text}</text>`);
    expect(svg).not.toContain('var(');
    const png = await saved('PNG');
    const size = [png.readUInt32BE(16), png.readUInt32BE(20)];
    expect(size).toEqual(
      ['width', 'height'].map((name) => 2 * Number(RegExp(`^<svg[^>]* ${name}="(\\d+)"`).exec(svg)?.[1])),
    );

    const alone = await (await freshContext(browser())).newPage();
    await alone.setContent(svg);
    const bar = alone.locator('.bar.is-accepted');
    expect(await bar.evaluate((one) => getComputedStyle(one).fill)).toBe('rgb(63, 174, 119)');
    const [width = 0] = await bar.evaluateAll((bars) => bars.map((one) => one.getBoundingClientRect().width));
    expect(width).toBeGreaterThan(20);
    await expectClean();
  });
});

inChromium('the page on paper', (browser) => {
  it('has all of a delivery and all bars, light, and nothing to press', async () => {
    const { home, deliver } = await receiver();
    const lines = Array.from({ length: 3_000 }, (_, i) => `line ${i}`);
    await deliver(leadOf('lead_1', 'Ada', { notes: lines }));
    const { url } = await inspect(home);
    const context = await freshContext(browser(), { colorScheme: 'dark' });
    const { page, expectClean } = await shownPage(context, url);
    await page.locator('.row').click();
    await page.locator('.delivery').waitFor();
    expect(await page.locator('.code').textContent()).not.toContain('line 2999');
    const pages = (pdf: Buffer): number => pdf.toString('latin1').match(/\/Type \/Page\b/g)?.length ?? 0;
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    expect(pages(await page.pdf({ format: 'A4' }))).toBeGreaterThan(30);
    expect(await page.locator('.code').textContent()).toContain('line 2999');
    const isHidden = (selector: string) => page.locator(selector).first().isHidden();
    expect(
      await Promise.all(['.list-pane', '.actions', '.section-tools', '.connection'].map(isHidden)),
    ).toEqual([...[true, true, true, true]]);
    expect(await page.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe(
      'rgb(255, 255, 255)',
    );

    await page.emulateMedia({ media: 'screen' });
    await page.getByRole('button', { name: 'Charts' }).click();
    await page.locator('.chart svg').first().waitFor();
    await page.emulateMedia({ media: 'print' });
    await page.setViewportSize({ width: 680, height: 900 });
    const plot = page.locator('.chart svg .bar').last();
    const right = await plot.evaluate((bar) => bar.getBoundingClientRect().right);
    expect(right).toBeLessThanOrEqual(680);
    expect(await page.locator('.table-frame').first().isVisible()).toBe(true);
    expect(await page.locator('.numbers tbody th button').first().isVisible()).toBe(true);
    await expectClean();
  });
});
