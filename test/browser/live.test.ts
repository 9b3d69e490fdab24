import { expect, it } from 'vitest';
import { inChromium } from './support/chromium.ts';
import { leadOf } from './support/inspected.ts';
import { rowNames, shownReceiver } from './support/shown-page.ts';

inChromium('the live list', (browser) => {
  it('shows deliveries within half a second, in another process than the receiver, newest first', async () => {
    const { deliver, page } = await shownReceiver(browser(), [leadOf('lead_0')]);
    await page.locator('.row').first().waitFor();

    const times: number[] = [];
    for (let i = 1; i <= 7; i++) {
      const arrived = page.locator('.row', { hasText: `lead_${i}` }).waitFor();
      await deliver(leadOf(`lead_${i}`, `Person ${i}`));
      const answeredAt = performance.now();
      await arrived;
      times.push(performance.now() - answeredAt);
    }
    expect(times.sort((a, b) => a - b)[3]).toBeLessThan(500);
    expect((await rowNames(page)).slice(0, 2)).toEqual(['Person 7', 'Person 6']);
  });

  it('does not move under a reader who scrolled down, and says how many are new', async () => {
    const bodies = Array.from({ length: 60 }, (_, i) => leadOf(`lead_${i}`));
    const { deliver, page } = await shownReceiver(browser(), bodies);
    await page.locator('.row').first().waitFor();
    await page.locator('#list').evaluate((list) => list.scrollTo(0, 1_200));
    await page.locator('.row', { hasText: 'lead_30' }).waitFor();
    const place = await page.locator('.row', { hasText: 'lead_30' }).boundingBox();

    await deliver(leadOf('lead_new', 'Newcomer'));
    await page.getByRole('button', { name: '1 new delivery' }).waitFor();
    expect(await page.locator('.row', { hasText: 'lead_30' }).boundingBox()).toEqual(place);

    await page.getByRole('button', { name: '1 new delivery' }).click();
    await expect.poll(async () => (await rowNames(page))[0]).toBe('Newcomer');
  });

  it('opens the row that was aimed at, while twenty deliveries a second arrive', async () => {
    const bodies = Array.from({ length: 20 }, (_, i) => leadOf(`old_${i}`));
    const { deliver, page } = await shownReceiver(browser(), bodies);
    await page.locator('.row').first().waitFor();
    const ending = new AbortController();
    let sent = 0;
    const sending = (async () => {
      for (; !ending.signal.aborted; sent++) {
        await deliver(leadOf(`new_${sent}`));
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    })();
    const clicks = process.env['LEADS_FAULTS'] === 'full' ? 100 : 10;
    const list = await page.locator('#list').boundingBox();
    for (let i = 0; i < clicks; i++) {
      const [x, y] = [(list?.x ?? 0) + 60, (list?.y ?? 0) + 50 + (i % 5) * 40];
      await page.mouse.move(x, y);
      const aimed = await page.evaluate(
        ([left = 0, top = 0]) => document.elementFromPoint(left, top)?.closest('.row')?.id,
        [x, y],
      );
      const before = sent;
      // A person takes a moment to press.
      await expect.poll(() => sent).toBeGreaterThan(before + 4);
      await page.mouse.click(x, y);
      await expect.poll(() => page.evaluate(() => location.hash)).toBe(`#/${aimed?.slice(4) ?? ''}`);
      await page.keyboard.press('Escape');
      await page.mouse.move(700, 20);
      await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    }
    ending.abort();
    await sending;
    // A hundred clicks, each of which waits for four deliveries.
  }, 300_000);

  it('frees the rows that arrivals moved out of sight', async () => {
    const bodies = Array.from({ length: 100 }, (_, i) => leadOf(`lead_${i}`));
    const { deliver, page } = await shownReceiver(browser(), bodies);
    await page.locator('.row', { hasText: 'lead_99' }).waitFor();
    const session = await page.context().newCDPSession(page);
    const nodes = async (): Promise<number> => {
      await session.send('HeapProfiler.collectGarbage');
      return (await session.send('Memory.getDOMCounters')).nodes;
    };
    const before = await nodes();
    // So few at a time that most of the rows stay.
    for (let i = 0; i < 30; i++) {
      await Promise.all(Array.from({ length: 5 }, (_, j) => deliver(leadOf(`lead_${i}_${j}`))));
      await page
        .locator('.row', { hasText: `lead_${i}_` })
        .first()
        .waitFor();
    }
    await expect.poll(nodes).toBeLessThan(1.5 * before);
  });

  it('keeps the open delivery where it is seen while others arrive above it', async () => {
    const bodies = Array.from({ length: 30 }, (_, i) => leadOf(`lead_${i}`));
    const { deliver, page } = await shownReceiver(browser(), bodies);
    const opened = page.locator('.row', { hasText: 'lead_27' });
    await opened.click();
    await page.locator('.delivery').waitFor();
    const place = await opened.boundingBox();

    await deliver(leadOf('lead_new_1', 'Newcomer'));
    await page.getByRole('button', { name: '1 new delivery' }).waitFor();
    await deliver(leadOf('lead_new_2', 'Second'));
    await page.getByRole('button', { name: '2 new deliveries' }).waitFor();
    expect(await opened.boundingBox()).toEqual(place);
    expect(await opened.getAttribute('aria-current')).toBe('true');

    await page.getByRole('button', { name: '2 new deliveries' }).click();
    await expect.poll(async () => (await rowNames(page)).slice(0, 2)).toEqual(['Second', 'Newcomer']);
    await page.keyboard.press('Escape');
    await page.getByText('No delivery is open').waitFor();
    await page.locator('header').click();
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    await deliver(leadOf('lead_new_3', 'Third'));
    await expect.poll(async () => (await rowNames(page))[0]).toBe('Third');
  });
});
