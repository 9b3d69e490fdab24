import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { binary, environment } from '../support/listen-process.ts';
import { expectAccessible } from './support/axe.ts';
import { inChromium } from './support/chromium.ts';
import { leadOf, receiver } from './support/inspected.ts';
import { freshContext } from './support/shown-page.ts';

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

  it.each([['stats', '--inbox', '--by', 'contact.name', '--personal-data']])(
    'asks for nothing, is accessible in light, dark and narrow, and fits paper: %s',
    async (...words) => {
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
    },
  );
});
