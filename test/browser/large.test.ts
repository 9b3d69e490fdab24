import { expect, it } from 'vitest';
import { inChromium } from './support/chromium.ts';
import { largeInbox } from './support/large-inbox.ts';
import { shownInbox } from './support/shown-page.ts';

let home: Promise<string> | undefined;

/** One for all tests: writing it takes seconds. */
const inbox = (): Promise<string> => (home ??= largeInbox(100_000));

inChromium('an inbox of 100,000 deliveries', (browser) => {
  it('is shown, paged and filtered without waiting, and never loaded whole', async () => {
    const page = await shownInbox(browser(), await inbox());
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.locator('.row').first().waitFor();

    // Again, as in everyday use: the first page also waits for the programs to become warm.
    const startedAt = performance.now();
    await page.reload();
    await page.locator('.row').first().waitFor();
    expect(performance.now() - startedAt).toBeLessThan(1_000);

    for (const newest of ['Person 99899', 'Person 99799']) {
      await page.getByRole('button', { name: 'Older' }).click();
      await expect.poll(() => page.locator('.row-name').first().textContent()).toBe(newest);
    }
    expect(await page.locator('.row').count()).toBe(100);
    expect(asked.filter((one) => one.includes('/api/deliveries')).length).toBeLessThan(20);
    expect(await page.locator('#search').evaluate(search)).toBeLessThan(500);
  });

  it('finds its oldest delivery, and a search of all of it ends when the words change', async () => {
    const page = await shownInbox(browser(), await inbox());
    await page.locator('.row').first().waitFor();
    await page.locator('#search').fill('needle oldest');
    await page.locator('.row', { hasText: 'Needle Oldest' }).waitFor({ timeout: 60_000 });
    await page.locator('.search-progress', { hasText: /^1 match$/ }).waitFor();

    await page.locator('#search').fill('nothing that is there');
    await page.locator('.search-progress', { hasText: 'Searching…' }).waitFor();
    await page.locator('#search').fill('person 99999');
    await page.locator('.row', { hasText: 'Person 99999' }).waitFor();
  });
});

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
