import { expect, it } from 'vitest';
import { inChromium } from './support/chromium.ts';
import { inspect } from './support/inspected.ts';
import { largeInbox } from './support/large-inbox.ts';
import { freshContext, shownPage } from './support/shown-page.ts';

inChromium('an inbox of 100,000 deliveries', (browser) => {
  it('is shown, scrolled and searched without waiting, and never loaded whole', async () => {
    const { url } = await inspect(await largeInbox(100_000));
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

    const { longest, drawn } = await page.locator('#list').evaluate(async (list) => {
      const frame = (): Promise<number> => new Promise((resolve) => requestAnimationFrame(resolve));
      let last = await frame();
      let most = 0;
      for (let i = 0; i < 120; i++) {
        list.scrollTop += 300;
        const now = await frame();
        most = Math.max(most, now - last);
        last = now;
      }
      return { longest: most, drawn: list.querySelectorAll('.row').length };
    });
    expect(longest).toBeLessThan(100);
    expect(drawn).toBeLessThan(60);
    expect(asked.filter((one) => one.includes('/api/deliveries')).length).toBeLessThan(20);

    const first = await page.locator('#search').evaluate(async (field: HTMLInputElement) => {
      const rows = (): string => document.querySelector('#list')?.textContent ?? '';
      field.value = 'person 99';
      field.dispatchEvent(new Event('input', { bubbles: true }));
      const typedAt = performance.now();
      while (document.querySelector('.found-in') === null || !rows().includes('Person 99')) {
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      return performance.now() - typedAt;
    });
    expect(first).toBeLessThan(500);
    await expectClean();
  });

  it('finds its oldest delivery, and a search of all of it can be stopped', async () => {
    const { url } = await inspect(await largeInbox(100_000));
    const { page, expectClean } = await shownPage(await freshContext(browser()), url);
    await page.locator('.row').first().waitFor();
    await page.locator('#search').fill('needle oldest');
    await page.locator('.row', { hasText: 'Needle Oldest' }).waitFor();
    await page.locator('.search-progress.is-done').waitFor();

    await page.locator('#search').fill('nothing that is there');
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.locator('.search-progress.is-cancelled').waitFor();
    await expectClean();
  });
});
