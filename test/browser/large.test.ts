import { expect, it } from 'vitest';
import { inChromium } from './support/chromium.ts';
import { inspect } from './support/inspected.ts';
import { largeInbox } from './support/large-inbox.ts';
import { freshContext, shownPage } from './support/shown-page.ts';

let home: Promise<string> | undefined;

/** One for all tests: writing it takes seconds. */
const inbox = (): Promise<string> => (home ??= largeInbox(100_000));

inChromium('an inbox of 100,000 deliveries', (browser) => {
  it('is shown, scrolled and filtered without waiting, and never loaded whole', async () => {
    const { url } = await inspect(await inbox());
    const context = await freshContext(browser());
    const { page, expectClean } = await shownPage(context, url);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.locator('.row').first().waitFor();

    // Again, as in everyday use: the first page also waits for the programs to become warm.
    const startedAt = performance.now();
    await page.reload();
    await page.locator('.row').first().waitFor();
    expect(performance.now() - startedAt).toBeLessThan(1_000);

    const { longest, drawn } = await page.locator('#list').evaluate(scroll);
    expect(longest).toBeLessThan(100);
    expect(drawn).toBeLessThan(60);
    expect(asked.filter((one) => one.includes('/api/deliveries')).length).toBeLessThan(20);
    expect(await page.locator('#search').evaluate(search)).toBeLessThan(500);
    await expectClean();
  });

  it('finds its oldest delivery, and a search of all of it ends when the words change', async () => {
    const { url } = await inspect(await inbox());
    const { page, expectClean } = await shownPage(await freshContext(browser()), url);
    await page.locator('.row').first().waitFor();
    await page.locator('#search').fill('needle oldest');
    await page.locator('.row', { hasText: 'Needle Oldest' }).waitFor({ timeout: 60_000 });
    await page.locator('.search-progress', { hasText: /^1 match$/ }).waitFor();

    await page.locator('#search').fill('nothing that is there');
    await page.locator('.search-progress', { hasText: 'Searching…' }).waitFor();
    await page.locator('#search').fill('person 99999');
    await page.locator('.row', { hasText: 'Person 99999' }).waitFor();
    await expectClean();
  });
});

/**
 * The longest frame while the list is scrolled, ms, and how many rows are drawn. Of several rounds the best one counts:
 * other programs may stop a frame of any page.
 */
async function scroll(list: Element): Promise<{ longest: number; drawn: number }> {
  const frame = (): Promise<number> => new Promise((resolve) => requestAnimationFrame(resolve));
  const rounds: number[] = [];
  for (let round = 0; round < 8; round++) {
    let last = await frame();
    let most = 0;
    for (let i = 0; i < 20; i++) {
      list.scrollTop += 300;
      const now = await frame();
      most = Math.max(most, now - last);
      last = now;
    }
    rounds.push(most);
  }
  return { longest: Math.min(...rounds), drawn: list.querySelectorAll('.row').length };
}

/** The time from the last letter to the first row that was found, ms: the best of three. */
async function search(field: HTMLInputElement): Promise<number> {
  const rounds: number[] = [];
  for (const name of ['Person 99199', 'Person 99298', 'Person 99397']) {
    field.value = name.toLowerCase();
    field.dispatchEvent(new Event('input', { bubbles: true }));
    const typedAt = performance.now();
    while (document.querySelector('.row .row-name')?.textContent.startsWith(name) !== true) {
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    rounds.push(performance.now() - typedAt);
  }
  return Math.min(...rounds);
}
