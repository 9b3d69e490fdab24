import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { inChromium } from './support/chromium.ts';
import { inspect, leadOf, receiver } from './support/inspected.ts';
import { freshContext, rowNames, shownPage } from './support/shown-page.ts';

const focused = (page: Page): Promise<string | undefined> =>
  page.evaluate(() => document.activeElement?.id || document.activeElement?.textContent.trim());

inChromium('the focus', (browser) => {
  it('stays in its part of the page when what had it is gone', async () => {
    const { home, deliver } = await receiver();
    await deliver(leadOf('lead_1', 'Ada', { text: 'x'.repeat(70_000) }));
    await deliver(leadOf('lead_2', 'Grace'));
    const { url } = await inspect(home);
    const { page, expectClean } = await shownPage(await freshContext(browser()), url);
    await page.locator('.row', { hasText: 'Grace' }).click();
    await page.locator('.delivery').waitFor();
    await page.getByRole('button', { name: 'Raw' }).press('Enter');
    await page.keyboard.press('j');
    await expect.poll(() => page.locator('.delivery-title h2').textContent()).toBe('Ada');
    // It follows the key.
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('list');
    await page.getByRole('button', { name: /^Show all/ }).press('Enter');
    await expect.poll(() => focused(page)).toBe('pane');

    await page.getByRole('button', { name: 'Waiting' }).press('Enter');
    await page.getByText('No delivery matches').waitFor();
    await page.getByRole('button', { name: 'Show all deliveries' }).press('Enter');
    await page.locator('.row').first().waitFor();
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('list');
    await expectClean();
  });

  it('goes from the search to what is found, also while it is still being found', async () => {
    const { home, deliver } = await receiver();
    await deliver(leadOf('lead_1', 'Ada'));
    await deliver(leadOf('lead_2', 'Grace'));
    const { url } = await inspect(home);
    const { page, expectClean } = await shownPage(await freshContext(browser()), url);
    await page.locator('.row').first().waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('ada');
    await page.keyboard.press('Enter');
    await expect.poll(() => rowNames(page)).toEqual(['Ada']);
    await expect.poll(() => page.evaluate(() => document.activeElement?.className)).toBe('rows');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('.delivery-title h2').textContent()).toBe('Ada');
    await expectClean();
  });

  it('stays on the button that sends, so that Enter sends once more', async () => {
    const { home, deliver } = await receiver();
    await deliver(leadOf('lead_1', 'Ada'));
    const { url } = await inspect(home, ['--replay-to', 'http://127.0.0.1:1/']);
    const { page, expectClean } = await shownPage(await freshContext(browser()), url);
    await page.locator('.row').click();
    await page.locator('.delivery').waitFor();
    await page.keyboard.press('r');
    const send = page.getByRole('button', { name: 'Send' });
    await send.waitFor();
    await expect.poll(() => focused(page)).toBe('Send');
    await page.keyboard.press('Enter');
    await page.locator('.replay-outcome', { hasText: 'Not taken' }).waitFor();
    await expect.poll(() => focused(page)).toBe('Send again');

    // A selection that ends outside of the dialog does not close it.
    const place = await page.getByRole('dialog').locator('strong').first().boundingBox();
    await page.mouse.move((place?.x ?? 0) + 5, (place?.y ?? 0) + 5);
    await page.mouse.down();
    await page.mouse.move(5, 300);
    await page.mouse.up();
    expect(await page.getByRole('dialog').count()).toBe(1);
    await page.mouse.click(5, 300);
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    await expectClean();
  });
});
