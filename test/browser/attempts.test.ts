import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { openPort } from '../support/open-port.ts';
import { leads } from '../support/run.ts';
import { inChromium } from './support/chromium.ts';
import { leadOf } from './support/inspected.ts';
import { shownReceiver } from './support/shown-page.ts';

/** An app whose answers the test gives: each waits until it is let go. */
async function app(answer: (count: number) => number | Promise<number>): Promise<string> {
  let count = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      count += 1;
      void Promise.resolve(answer(count)).then((status) => response.writeHead(status).end());
    });
  });
  return `http://127.0.0.1:${await openPort(server)}`;
}

inChromium('the attempts at a delivery', (browser) => {
  it('shows each attempt; a replay to another address makes no lead red', async () => {
    const crm = await app((count) => (count === 1 ? 503 : 200));
    let answer: (status: number) => void = () => undefined;
    const answered = new Promise<number>((resolve) => (answer = resolve));
    const debug = await app((count) => (count === 1 ? 500 : answered));
    const { home, page } = await shownReceiver(browser(), [leadOf('lead_1', 'Ada')], {
      listen: ['--forward-to', `${crm}/crm?key=secret`],
      inspect: ['--replay-to', `${debug}/debug`],
    });
    await expect.poll(() => page.locator('.row-state').allTextContents()).toEqual(['1 done']);
    await page.locator('.row', { hasText: 'Accepted' }).click();
    await page.locator('.delivery').waitFor();
    await page.keyboard.press('r');
    await page.locator('#replay button:focus', { hasText: debug }).waitFor();
    await page.keyboard.press('Enter');
    await page.locator('.message', { hasText: 'Replay of Ada: not taken, 500' }).waitFor();
    const attempts = page.locator('.attempts li');
    await expect
      .poll(() => attempts.locator('strong').allTextContents())
      .toEqual(['Forward', 'Retry', 'Replay']);
    const texts = await attempts.allTextContents();
    expect(texts[0]).toMatch(new RegExp(`${crm}/crmnot taken: 503 in .* after it came$`));
    expect(texts[1]).toContain(`${crm}/crmtaken: 200`);
    expect(texts[2]).toContain(`${debug}/debugnot taken: 500`);
    await expect.poll(() => page.locator('.row-state').allTextContents()).toEqual(['1 done']);

    await page.keyboard.press('r');
    await page.locator('#replay button:focus', { hasText: debug }).waitFor();
    await page.keyboard.press('Enter');
    await page.locator('.message', { hasText: 'Sending Ada…' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('No delivery is open').waitFor();
    answer(418);
    await page.locator('.message', { hasText: 'Replay of Ada: not taken, 418 in' }).waitFor();

    const { stdout } = await leads(['inbox', 'show', 'lead_1', '--json'], { home });
    const [shown] = JSON.parse(stdout) as { results: { kind: string }[] }[];
    expect(shown?.results.map(({ kind }) => kind)).toEqual(['forward', 'retry', 'replay', 'replay']);
  });

  it('says that a lead waits for a target, until that has had it', async () => {
    const crm = await app((count) => (count === 1 ? 503 : 200));
    const { deliver, page } = await shownReceiver(browser(), [], { listen: ['--forward-to', crm] });
    expect(await deliver(leadOf('lead_1'))).toBe(200);
    const states = page.locator('.row-state');
    await expect.poll(() => states.allTextContents()).toEqual(['1 waiting']);
    await page.locator('.row', { hasText: 'Accepted' }).click();
    await page.locator('.attempts .is-waiting', { hasText: 'is tried again after 1 attempt' }).waitFor();
    await expect.poll(() => states.allTextContents()).toEqual(['1 done']);
    await page.reload();
    await page.locator('.row', { hasText: 'Accepted' }).click();
    await page.locator('.attempts li', { hasText: /(?<!not )taken: 200/ }).waitFor();
    expect(await page.locator('.attempts .is-waiting').count()).toBe(0);
  });
});
