import { expect, it } from 'vitest';
import { inChromium } from './support/chromium.ts';
import { inspect, leadOf, receiver } from './support/inspected.ts';
import { openedDelivery } from './support/opened-delivery.ts';
import { openRawTabs } from './support/raw-tabs.ts';
import { freshContext, expectLive, rowNames, shownPage } from './support/shown-page.ts';

const state = 'document.querySelector(".connection")?.className ?? ""';
const firstName = 'document.querySelector(".row-name")?.textContent ?? ""';

inChromium('tabs', (browser) => {
  it('keep the session and the view over a reload; the key leaves the address bar', async () => {
    const { page, url, expectClean } = await openedDelivery(() => freshContext(browser()));
    expect(page.url()).toBe(`${new URL(url).origin}/#/1`);
    await page.reload();
    await page.locator('.delivery').waitFor();
    expect(await page.locator('.delivery-title h2').textContent()).toBe('Ada');
    await page.goBack();
    await page.getByText('No delivery is open').waitFor();
    await expectClean();
  });

  it('are opened from the URL as often as wanted, and need it', async () => {
    const { home, deliver } = await receiver();
    await deliver(leadOf('lead_1', 'Ada'));
    const { url } = await inspect(home);
    const context = await freshContext(browser());
    const first = await shownPage(context, url);
    const second = await shownPage(context, url);
    for (const { page, expectClean } of [first, second]) {
      await expect.poll(() => rowNames(page)).toEqual(['Ada']);
      await expectLive(page);
      await expectClean();
    }
    const third = await shownPage(context, new URL(url).origin);
    await third.page.getByRole('heading', { name: 'Open the new URL' }).waitFor();
    await third.page.goto(url);
    await expect.poll(() => rowNames(third.page)).toEqual(['Ada']);
    await third.expectClean();
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
