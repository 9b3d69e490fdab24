import { expect, it } from 'vitest';
import { leads } from '../support/run.ts';
import { inChromium } from './support/chromium.ts';
import { leadOf, receiver } from './support/inspected.ts';
import { rowNames, shownInbox, shownReceiver } from './support/shown-page.ts';

inChromium('finding deliveries', (browser) => {
  it('filters by verdict and time, live ones too', async () => {
    const { deliver, page } = await shownReceiver(browser(), [
      leadOf('lead_1', 'Ada'),
      leadOf('lead_1', 'Ada'),
      '{"no":"id"}',
    ]);
    await expect.poll(async () => (await rowNames(page)).length).toBe(3);

    await page.getByRole('button', { name: 'Rejected' }).click();
    await expect.poll(async () => (await rowNames(page)).length).toBe(1);
    await page.getByRole('button', { name: 'Duplicate' }).click();
    await expect.poll(async () => (await rowNames(page)).length).toBe(2);
    await page.getByRole('button', { name: 'Rejected' }).click();
    await deliver(leadOf('lead_2', 'Grace'));
    await deliver(leadOf('lead_2', 'Grace'));
    await expect.poll(() => rowNames(page)).toEqual(['Grace', 'Ada']);

    await page.getByRole('button', { name: 'Duplicate' }).click();
    await page.getByLabel('Time', { exact: true }).selectOption('Last hour');
    await expect.poll(async () => (await rowNames(page)).length).toBe(5);
    await page.getByLabel('Time', { exact: true }).selectOption('Between…');
    await expect.poll(() => page.getByLabel('From').inputValue()).toMatch(/T00:00$/);
    await page.getByLabel('Until').fill('2020-01-01T00:00');
    await page.getByText('No delivery matches').waitFor();
    await page.getByRole('button', { name: 'Show all deliveries' }).click();
    await expect.poll(() => page.getByLabel('Time', { exact: true }).inputValue()).toBe('');
    await expect.poll(async () => (await rowNames(page)).length).toBe(5);
  });

  it('keeps the filter in the address over a reload and Back, without the words', async () => {
    const { page } = await shownReceiver(browser(), [leadOf('lead_1', 'Ada'), '{"no":"id"}']);
    await expect.poll(async () => (await rowNames(page)).length).toBe(2);
    await page.getByRole('button', { name: 'Rejected' }).click();
    await page.getByLabel('Time', { exact: true }).selectOption('Last hour');
    await expect.poll(() => new URL(page.url()).hash).toBe('#/?verdict=rejected&last=3600000');
    await page.locator('#search').fill('no-person-is-in-the-address');
    await page.getByText('No delivery matches').waitFor();
    expect(page.url()).not.toContain('person');
    await page.locator('#search').fill('');
    await page.reload();
    await expect.poll(async () => (await rowNames(page)).length).toBe(1);
    expect(await page.getByRole('button', { name: 'Rejected' }).getAttribute('aria-pressed')).toBe('true');
    await page.goBack();
    await page.goBack();
    await expect.poll(async () => (await rowNames(page)).length).toBe(2);
  });

  it('finds words of id, name, category and reason, live ones too', async () => {
    const { home, deliver } = await receiver();
    await deliver(leadOf('lead_needle', 'Ada'));
    await deliver(leadOf('lead_2', 'Grace Needle'));
    await deliver('{"id":"lead_3","category":"a n\\u0065edle"}');
    await deliver(leadOf('lead_4', 'Other', { note: 'a needle' }));
    await deliver('{"id":"lead_5"}', { 'x-webhook-token': 'wrong' });
    const page = await shownInbox(browser(), home);
    await expect.poll(async () => (await rowNames(page)).length).toBe(5);
    await expect
      .poll(() => page.locator('.chip').allTextContents())
      .toEqual(['Accepted 4', 'Waiting 0', 'Dead 0', 'Duplicate 0', 'Rejected 1', 'Other 0']);
    await page.keyboard.press('/');
    await page.keyboard.type('NEEDLE');
    await expect.poll(() => rowNames(page)).toEqual(['lead_3', 'Grace Needle', 'Ada']);
    await page.locator('.search-progress', { hasText: '3 matches' }).waitFor();
    // What is not counted is not drawn as a number.
    expect(await page.locator('.chip-count').count()).toBe(0);
    await deliver(leadOf('lead_6', 'Another Needle'));
    await deliver(leadOf('lead_7', 'Nobody'));
    await page.locator('.search-progress', { hasText: '4 matches' }).waitFor();
    expect((await rowNames(page))[0]).toBe('Another Needle');
    await page.locator('#search').fill('credential');
    await expect.poll(() => rowNames(page)).toEqual(['Delivery 5']);
    await page.locator('#search').fill('no such text');
    await page.getByText('No delivery matches').waitFor();
    await page.locator('#search').press('Escape');
    await expect.poll(async () => (await rowNames(page)).length).toBe(7);
  });

  it('filters to the time of a bar that is clicked', async () => {
    const { page } = await shownReceiver(browser(), [leadOf('lead_1', 'Ada')]);
    await page.getByRole('listitem', { name: /: 1 accepted$/ }).waitFor();
    await page.locator('.bar.is-accepted').first().click();
    await expect.poll(() => new URL(page.url()).hash).toMatch(/^#\/\?since=\d+&until=\d+$/);
    await page.getByLabel('Until').waitFor();
    await expect.poll(() => rowNames(page)).toEqual(['Ada']);
    await page.goBack();
    await expect.poll(() => page.getByLabel('Time', { exact: true }).inputValue()).toBe('');
  });

  it('shows nothing of a person who was erased, in the list, among what was found and where it is open', async () => {
    const bodies = [leadOf('lead_1', 'Ada First'), leadOf('lead_2', 'Ada Second')];
    const allowed = /^Failed to load resource: the server responded with a status of 404/;
    const { home, page } = await shownReceiver(browser(), bodies, { allowed });
    await page.locator('#search').fill('ada');
    await expect.poll(() => rowNames(page)).toEqual(['Ada Second', 'Ada First']);
    await page.locator('.search-progress', { hasText: '2 matches' }).waitFor();
    await page.locator('.row', { hasText: 'Ada First' }).click();
    await page.locator('.delivery').waitFor();
    expect((await leads(['inbox', 'erase', '--id', 'lead_1', '--yes'], { home })).exitCode).toBe(0);
    await expect.poll(() => rowNames(page)).toEqual(['Ada Second']);
    await page.getByText('It may have been pruned or erased.').waitFor();
    await page.locator('#search').fill('');
    await expect.poll(() => rowNames(page)).toEqual(['Ada Second']);
    expect(await page.textContent('body')).not.toContain('Ada First');
  });

  it('says what an empty inbox is waiting for', async () => {
    const { deliver, page } = await shownReceiver(browser(), []);
    await page.getByText('No deliveries yet').waitFor();
    await deliver(leadOf('lead_1', 'Ada'));
    await expect.poll(() => rowNames(page)).toEqual(['Ada']);
  });
});
