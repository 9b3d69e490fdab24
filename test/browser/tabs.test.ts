import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { inChromium } from './support/chromium.ts';
import { inspect, leadOf, receiver } from './support/inspected.ts';
import { openedDelivery } from './support/opened-delivery.ts';
import { freshContext, rowNames, shownPage, shownReceiver } from './support/shown-page.ts';

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
    const { page, url } = await openedDelivery(() => freshContext(browser()));
    expect(page.url()).toBe(`${new URL(url).origin}/#/1`);
    // Also where it is loaded again before it has gone on.
    for (let i = 0; i < 2; i += 1) await reloadWithoutAnswer(page);
    await page.reload();
    await page.locator('.delivery').waitFor();
    expect(await page.locator('.delivery-title h2').textContent()).toBe('Ada');
    await page.goBack();
    await page.getByText('No delivery is open').waitFor();
  });

  it('need an address each: it opens the page once, and the next one is printed', async () => {
    const { home, deliver } = await receiver();
    await deliver(leadOf('lead_1', 'Ada'));
    const inspected = await inspect(home);
    const { url } = inspected;
    const context = await freshContext(browser());
    const first = await shownPage(context, url);
    await expect.poll(() => rowNames(first)).toEqual(['Ada']);
    expect(inspected.url).not.toBe(url);
    const second = await shownPage(context, new URL(url).origin, /^Failed to load resource/);
    await second.getByRole('heading', { name: 'Open the new URL' }).waitFor();
    await second.goto(url);
    await second.getByText('The key in this URL is not valid.').waitFor();
    await second.goto(inspected.url);
    await expect.poll(() => rowNames(second)).toEqual(['Ada']);
    expect(inspected.stderr().match(/#key=/g)).toHaveLength(3);
  });

  it('ask for nothing while they are hidden, and show what came when they are seen', async () => {
    const { deliver, page } = await shownReceiver(browser(), [leadOf('lead_1', 'Ada')]);
    // Playwright makes each of its pages believe that it is seen.
    const setHidden = (isHidden: boolean): Promise<void> =>
      page.evaluate((hidden) => {
        Object.defineProperty(document, 'hidden', { configurable: true, value: hidden });
        document.dispatchEvent(new Event('visibilitychange'));
      }, isHidden);
    await setHidden(true);
    await page.waitForLoadState('networkidle');
    let asked = 0;
    page.on('request', () => (asked += 1));
    await deliver(leadOf('lead_2', 'Grace'));
    // Longer than it takes to show a delivery while the page is seen.
    await page.waitForTimeout(1000);
    expect([asked, await rowNames(page)]).toEqual([0, ['Ada']]);
    await setHidden(false);
    await expect.poll(() => rowNames(page)).toEqual(['Grace', 'Ada']);
  });
});
