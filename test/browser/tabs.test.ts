import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { inChromium } from './support/chromium.ts';
import { inspect, leadOf, receiver } from './support/inspected.ts';
import { openedDelivery } from './support/opened-delivery.ts';
import { openRawTabs } from './support/raw-tabs.ts';
import { freshContext, expectLive, rowNames, shownPage } from './support/shown-page.ts';

const state = 'document.querySelector(".connection")?.className ?? ""';
const firstName = 'document.querySelector(".row-name")?.textContent ?? ""';

/** Loads the page again, which the program answers with its next session: the answer is lost. */
async function reloadWithoutAnswer(page: Page): Promise<void> {
  const answered = new Promise<void>((resolve, reject) => {
    void page
      .route('**/api/session', (route) => route.fetch().then(() => resolve(), reject), { times: 1 })
      .catch(reject);
  });
  await page.reload();
  await answered;
}

inChromium('tabs', (browser) => {
  it('keep the session and the view over a reload; the key leaves the address bar', async () => {
    const { page, url, expectClean } = await openedDelivery(() => freshContext(browser()));
    expect(page.url()).toBe(`${new URL(url).origin}/#/1`);
    // Also where it is loaded again before it has gone on.
    for (let i = 0; i < 2; i += 1) await reloadWithoutAnswer(page);
    await page.reload();
    await page.locator('.delivery').waitFor();
    expect(await page.locator('.delivery-title h2').textContent()).toBe('Ada');
    await page.goBack();
    await page.getByText('No delivery is open').waitFor();
    await expectClean();
  });

  it('go on with the session of an open tab; the URL opens the page once, and the next one is printed', async () => {
    const { home, deliver } = await receiver();
    await deliver(leadOf('lead_1', 'Ada'));
    const inspected = await inspect(home);
    const { url } = inspected;
    const context = await freshContext(browser());
    const first = await shownPage(context, url);
    await expect.poll(() => rowNames(first.page)).toEqual(['Ada']);
    expect(inspected.url).not.toBe(url);
    // A new tab without a key, and one with the used one, which a history or a colleague has.
    for (const address of [new URL(url).origin, url]) {
      const { page, expectClean } = await shownPage(context, address);
      await expect.poll(() => rowNames(page)).toEqual(['Ada']);
      await expectLive(page);
      await page.reload();
      await expect.poll(() => rowNames(page)).toEqual(['Ada']);
      await expectClean(/^Failed to load resource: .* 401/);
    }
    const other = await freshContext(browser());
    const third = await shownPage(other, new URL(url).origin);
    await third.page.getByRole('heading', { name: 'Open the new URL' }).waitFor();
    await third.page.goto(url);
    await third.page.getByText('The key in this URL is not valid.').waitFor();
    await third.page.goto(inspected.url);
    await expect.poll(() => rowNames(third.page)).toEqual(['Ada']);
    expect(inspected.stderr().match(/#key=/g)).toHaveLength(3);
    // Those that wait go on by themselves, once: what each began twice would keep one of few connections.
    const fresh = await freshContext(browser());
    const waiting: Page[] = [];
    for (let i = 0; i < 4; i += 1) {
      const { page } = await shownPage(fresh, new URL(url).origin);
      await page.getByRole('heading', { name: 'Open the new URL' }).waitFor();
      waiting.push(page);
    }
    await shownPage(fresh, inspected.url);
    for (const page of waiting) await expect.poll(() => rowNames(page)).toEqual(['Ada']);
    const starts = (): number =>
      performance.getEntriesByType('resource').filter(({ name }) => name.endsWith('/api/inbox')).length;
    for (const page of waiting) expect(await page.evaluate(starts)).toBe(1);
  });

  it('close their stream while they are hidden, and resume', async () => {
    const { home, deliver } = await receiver();
    await deliver(leadOf('lead_1', 'Ada'));
    const { url } = await inspect(home);
    const tabs = await openRawTabs(browser(), url, 10);
    for (const tab of tabs) {
      await tab.show();
      await expect.poll(() => tab.value(state)).toBe('connection is-live');
      await expect.poll(() => tab.value(firstName)).toBe('Ada');
    }
    const hidden = tabs.slice(0, -1);
    for (const tab of hidden) await expect.poll(() => tab.value(state)).toBe('connection is-paused');

    await deliver(leadOf('lead_2', 'Grace'));
    await expect.poll(() => tabs.at(-1)?.value(firstName)).toBe('Grace');
    for (const tab of hidden) expect(await tab.value(firstName)).toBe('Ada');
    for (const tab of hidden) {
      await tab.show();
      await expect.poll(() => tab.value(firstName)).toBe('Grace');
    }
  });
});
