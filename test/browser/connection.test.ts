import { expect, it } from 'vitest';
import { inChromium } from './support/chromium.ts';
import { inspect, leadOf, receiver } from './support/inspected.ts';
import { expectLive, freshContext, rowNames, shownInbox, shownPage } from './support/shown-page.ts';

/** What the browser itself reports of requests that no program answered, or that were refused. */
const failedRequests = /^Failed to load resource/;

inChromium('a connection that breaks off', (browser) => {
  it('is resumed where it broke off when the receiver comes back', async () => {
    const first = await receiver();
    await first.deliver(leadOf('lead_1', 'Ada'));
    const page = await shownInbox(browser(), first.home);
    await expectLive(page);
    await expect.poll(() => rowNames(page)).toEqual(['Ada']);
    await first.end();
    const second = await receiver([], first.home);
    await second.deliver(leadOf('lead_2', 'Grace'));
    await expect.poll(() => rowNames(page)).toEqual(['Grace', 'Ada']);
  });

  it('is said, tried again, and needs the new URL of a program that was started again', async () => {
    const { home, deliver } = await receiver();
    await deliver(leadOf('lead_1', 'Ada'));
    const old = await inspect(home);
    const page = await shownPage(await freshContext(browser()), old.url, failedRequests);
    await expectLive(page);
    await expect.poll(() => rowNames(page)).toEqual(['Ada']);
    await old.end('SIGTERM');
    await page.locator('.connection.is-lost').waitFor();
    // What was read stays readable.
    expect(await rowNames(page)).toEqual(['Ada']);

    const { port } = new URL(old.url);
    const fresh = await inspect(home, ['--port', port]);
    await page.getByText('Open the new URL').waitFor();
    expect(await rowNames(page)).toEqual(['Ada']);
    // It covers nothing.
    await page.getByLabel('Time', { exact: true }).click({ trial: true });
    await page.goto(old.url);
    await page.getByText('The key in this URL is not valid.').waitFor();
    await page.goto(fresh.url);
    await expectLive(page);
    await expect.poll(() => rowNames(page)).toEqual(['Ada']);
  });

  it('to a program that stands still is said, and there again when it goes on', async () => {
    const { home, deliver } = await receiver();
    await deliver(leadOf('lead_1', 'Ada'));
    const { url, child } = await inspect(home);
    const page = await shownPage(await freshContext(browser()), url);
    await expectLive(page);
    child.kill('SIGSTOP');
    await page.locator('.connection.is-lost').waitFor();
    await deliver(leadOf('lead_2', 'Grace'));
    child.kill('SIGCONT');
    await expectLive(page);
    await expect.poll(() => rowNames(page)).toEqual(['Grace', 'Ada']);
  });

  it('is there again after the network was away', async () => {
    const { home, deliver } = await receiver();
    await deliver(leadOf('lead_1', 'Ada'));
    const { url } = await inspect(home);
    const page = await shownPage(await freshContext(browser()), url, failedRequests);
    await expectLive(page);
    await expect.poll(() => rowNames(page)).toEqual(['Ada']);
    await page.context().setOffline(true);
    await deliver(leadOf('lead_2', 'Grace'));
    await page.reload().catch(() => undefined);
    await page.context().setOffline(false);
    await page.goto(url);
    await expect.poll(() => rowNames(page)).toEqual(['Grace', 'Ada']);
  });
});
