import { expect, it, onTestFinished } from 'vitest';
import { scriptedReceiver } from '../support/scripted-service.ts';
import { inChromium } from './support/chromium.ts';
import { inspect, leadOf, receiver } from './support/inspected.ts';
import { largeInbox } from './support/large-inbox.ts';
import { openedDelivery } from './support/opened-delivery.ts';
import { freshContext, rowNames, shownInbox, shownPage } from './support/shown-page.ts';

inChromium('the keyboard alone', (browser) => {
  it('moves, opens, copies and replays', async () => {
    const { home, deliver } = await receiver();
    await deliver(leadOf('lead_1', 'Ada', { budget: '@' }));
    await deliver(leadOf('lead_1', 'Ada Changed', { budget: '@' }));
    await deliver(leadOf('lead_2', 'Grace'));
    const target = await scriptedReceiver(() => 200);
    onTestFinished(target.close);
    const { url: targetUrl, received } = target;
    const { url } = await inspect(home, ['--replay-to', targetUrl]);
    const context = await freshContext(browser());
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: new URL(url).origin });
    const page = await shownPage(context, url);
    await expect.poll(async () => (await rowNames(page)).length).toBe(3);
    const title = page.locator('.delivery-title h2');
    const press = (key: string): Promise<void> => page.keyboard.press(key);

    await press('j');
    await expect.poll(() => title.textContent()).toBe('Grace');
    await press('j');
    await expect.poll(() => title.textContent()).toBe('Ada Changed');
    await press('k');
    await expect.poll(() => title.textContent()).toBe('Grace');
    await press('j');
    await expect.poll(() => title.textContent()).toBe('Ada Changed');

    await press('c');
    await page.locator('.message', { hasText: 'Copied as a curl command.' }).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/^curl [^]*lead_1/);

    await press('r');
    await page.getByRole('dialog', { name: 'Replay' }).getByText(targetUrl).waitFor();
    await press('Escape');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    expect(received).toEqual([]);
    await press('r');
    await page.locator('#replay button:focus').waitFor();
    await press('Enter');
    await page.locator('.message', { hasText: 'Replay of Ada Changed: taken, 200 in' }).waitFor();
    expect(received).toHaveLength(1);
    expect(received[0]?.body.toString()).toContain('Ada Changed');
    await page.locator('.attempts', { hasText: targetUrl }).waitFor();

    await press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await press('Escape');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    await press('Escape');
    await page.getByText('No delivery is open').waitFor();
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('row-2');
    await press('Enter');
    await expect.poll(() => title.textContent()).toBe('Ada Changed');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('pane');

    // Typed letters are no commands.
    await press('/');
    await page.keyboard.type('grace j k r c');
    expect(await page.locator('#search').inputValue()).toBe('grace j k r c');
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  it('moves in the list by its own keys, page by page up to the oldest of all, and the focus follows', async () => {
    const page = await shownInbox(browser(), await largeInbox(250));
    await page.locator('.row').first().waitFor();
    const press = (key: string): Promise<void> => page.keyboard.press(key);
    const focused = () =>
      page.evaluate(() => document.activeElement?.id || document.activeElement?.textContent);
    await press('j');
    await expect.poll(focused).toBe('row-250');
    await press('j');
    await press('ArrowDown');
    await expect.poll(focused).toBe('row-248');
    await press('k');
    await press('ArrowUp');
    await expect.poll(focused).toBe('row-250');
    for (const newest of [150, 50]) {
      await press('End');
      await expect.poll(focused).toBe('Older');
      await press('Enter');
      await expect.poll(focused).toBe(`row-${newest}`);
    }
    await press('End');
    await expect.poll(focused).toBe('Newer');
    await press('ArrowUp');
    await page.locator('.row[aria-current]', { hasText: 'Needle Oldest' }).waitFor();
    await press('Home');
    await expect.poll(focused).toBe('row-50');
    await press('/');
    await page.keyboard.type('oldest');
    await page.locator('.search-progress', { hasText: '1 match' }).waitFor();
    await press('Escape');
    await expect.poll(focused).toBe('list');
    expect(await page.locator('#search').inputValue()).toBe('');
  });

  it('reaches every button by Tab, and each shows that it has the focus', async () => {
    const { page } = await openedDelivery(() => freshContext(browser()));
    const reached = new Set<string>();
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    for (let i = 0; i < 30; i++) {
      await page.keyboard.press('Tab');
      const name = await page.evaluate(() => {
        const { activeElement: one } = document;
        if (!(one instanceof HTMLElement) || one === document.body) return '';
        const isShown = getComputedStyle(one).outlineStyle !== 'none';
        return `${one.getAttribute('aria-label') ?? one.textContent}${isShown ? '' : ' without a focus ring'}`;
      });
      reached.add(name);
    }
    for (const name of ['Keys', 'Time', 'Rejected 0', 'Copy as curl c', 'Raw', 'Copy the body']) {
      expect([...reached]).toContain(name);
    }
    expect([...reached].filter((name) => name.includes('without'))).toEqual([]);
  });

  it('shows the command for a shell, to be selected where the clipboard is closed', async () => {
    const { page } = await openedDelivery(async () => {
      const context = await freshContext(browser());
      await context.addInitScript(() => {
        Object.defineProperty(navigator, 'clipboard', { value: undefined });
      });
      return context;
    });
    await page.keyboard.press('c');
    await page.locator('.message', { hasText: 'select the text' }).waitFor();
    await page.getByRole('button', { name: 'curl', exact: true }).click();
    await page
      .getByRole('region', { name: 'Text of the body' })
      .getByText(/^curl /)
      .waitFor();
  });
});
