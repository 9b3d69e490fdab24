import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { leads } from '../support/run.ts';
import { inChromium } from './support/chromium.ts';
import { leadOf } from './support/inspected.ts';
import { rowNames, shownReceiver } from './support/shown-page.ts';

const focused = (page: Page): Promise<string | undefined> =>
  page.evaluate(() => document.activeElement?.id || document.activeElement?.textContent.trim());

inChromium('the focus', (browser) => {
  it('stays in its part of the page when what had it is gone', async () => {
    const bodies = [leadOf('lead_1', 'Ada'), leadOf('lead_2', 'Grace')];
    const allowed = /^Failed to load resource: the server responded with a status of 404/;
    const { home, page } = await shownReceiver(browser(), bodies, { allowed });
    await page.locator('.row', { hasText: 'Grace' }).click();
    await page.locator('.delivery').waitFor();
    expect(await focused(page)).toBe('pane');
    await page.getByRole('button', { name: 'Raw' }).press('Enter');
    await page.keyboard.press('j');
    await expect.poll(() => page.locator('.delivery-title h2').textContent()).toBe('Ada');
    // It follows the key.
    expect(await focused(page)).toBe('row-1');
    await page.getByRole('button', { name: 'Copy id' }).focus();
    expect((await leads(['inbox', 'erase', '--id', 'lead_1', '--yes'], { home })).exitCode).toBe(0);
    await page.getByText('It may have been pruned or erased.').waitFor();
    expect(await focused(page)).toBe('pane');
    await page.keyboard.press('Escape');

    await page.getByRole('button', { name: 'Waiting' }).press('Enter');
    await page.getByText('No delivery matches').waitFor();
    await page.getByRole('button', { name: 'Show all deliveries' }).press('Enter');
    await page.locator('.row').first().waitFor();
    await expect.poll(() => focused(page)).toBe('list');
  });

  it('goes from the search to what is found, also while it is still being found', async () => {
    const { page } = await shownReceiver(browser(), [leadOf('lead_1', 'Ada'), leadOf('lead_2', 'Grace')]);
    await page.locator('.row').first().waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('ada');
    await page.keyboard.press('Enter');
    await expect.poll(() => rowNames(page)).toEqual(['Ada']);
    await expect.poll(() => focused(page)).toBe('list');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.locator('.delivery-title h2').textContent()).toBe('Ada');
  });

  it('goes to the first target of a replay, and back to where it was', async () => {
    const { page } = await shownReceiver(browser(), [leadOf('lead_1', 'Ada')], {
      inspect: ['--replay-to', 'http://127.0.0.1:1/'],
    });
    await page.locator('.row').click();
    await page.locator('.delivery').waitFor();
    await page.getByRole('button', { name: 'Raw' }).focus();
    await page.keyboard.press('r');
    await expect.poll(() => focused(page)).toMatch(/^forward http:\/\/127/);
    await page.keyboard.press('Enter');
    await page.locator('.message', { hasText: 'Replay of Ada: not taken' }).waitFor();
    await expect.poll(() => focused(page)).toBe('Raw');
    await page.keyboard.press('r');
    await page.getByRole('dialog').waitFor();
    await page.mouse.click(5, 300);
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
  });
});
