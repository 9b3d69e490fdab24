import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { binary, environment } from '../support/listen-process.ts';
import { inChromium } from './support/chromium.ts';
import { inspect, leadOf, receiver } from './support/inspected.ts';
import { expectLive, freshContext, rowNames, shownPage } from './support/shown-page.ts';

inChromium('the live list', (browser) => {
  it('shows deliveries within 300 ms, in another process than the receiver, newest first', async () => {
    const { home, deliver } = await receiver();
    await deliver(leadOf('lead_0'));
    const { url } = await inspect(home);
    const { page, expectClean } = await shownPage(await freshContext(browser()), url);
    await expectLive(page);
    await page.locator('.row').first().waitFor();

    const times: number[] = [];
    for (let i = 1; i <= 7; i++) {
      const arrived = page.locator('.row', { hasText: `lead_${i}` }).waitFor();
      await deliver(leadOf(`lead_${i}`, `Person ${i}`));
      const answeredAt = performance.now();
      await arrived;
      times.push(performance.now() - answeredAt);
    }
    expect(times.sort((a, b) => a - b)[3]).toBeLessThan(300);
    expect((await rowNames(page)).slice(0, 2)).toEqual(['Person 7', 'Person 6']);
    await expectClean();
  });

  it('drops what is erased, also where it is open', async () => {
    const { home, deliver } = await receiver();
    await deliver(leadOf('lead_1', 'Ada'));
    await deliver(leadOf('lead_2', 'Grace'));
    const { url } = await inspect(home);
    const { page, expectClean } = await shownPage(await freshContext(browser()), url);
    await expectLive(page);
    await page.locator('.row', { hasText: 'Ada' }).click();
    await page.locator('.delivery').waitFor();
    await promisify(execFile)(process.execPath, [binary, 'inbox', 'erase', '--id', 'lead_1', '--yes'], {
      env: { PATH: process.env['PATH'], ...environment(home) },
    });
    await expect.poll(() => rowNames(page)).toEqual(['Grace']);
    await page.getByText('It may have been pruned or erased.').waitFor();
    expect(await page.textContent('body')).not.toContain('Ada');
    await expectClean(/^Failed to load resource: the server responded with a status of 404/);
  });

  it('does not move under a reader who scrolled down, and says how many are new', async () => {
    const { home, deliver } = await receiver();
    for (let i = 0; i < 60; i++) await deliver(leadOf(`lead_${i}`));
    const { url } = await inspect(home);
    const { page, expectClean } = await shownPage(await freshContext(browser()), url);
    await expectLive(page);
    await page.locator('.row').first().waitFor();
    await page.locator('#list').evaluate((list) => list.scrollTo(0, 1_200));
    await page.locator('.row', { hasText: 'lead_30' }).waitFor();
    const place = await page.locator('.row', { hasText: 'lead_30' }).boundingBox();

    await deliver(leadOf('lead_new', 'Newcomer'));
    await page.getByRole('button', { name: '1 new delivery' }).waitFor();
    expect(await page.locator('.row', { hasText: 'lead_30' }).boundingBox()).toEqual(place);

    await page.getByRole('button', { name: '1 new delivery' }).click();
    await expect.poll(async () => (await rowNames(page))[0]).toBe('Newcomer');
    await expectClean();
  });
});
