import { expect, it } from 'vitest';
import { leads } from '../support/run.ts';
import { inChromium } from './support/chromium.ts';
import { inspect, leadOf, receiver } from './support/inspected.ts';
import { expectLive, freshContext, rowNames, shownPage } from './support/shown-page.ts';

inChromium('finding deliveries', (browser) => {
  it('filters by verdict and time, live ones too', async () => {
    const { home, deliver } = await receiver();
    await deliver(leadOf('lead_1', 'Ada'));
    await deliver(leadOf('lead_1', 'Ada'));
    await deliver('{"no":"id"}');
    const { url } = await inspect(home);
    const { page, expectClean } = await shownPage(await freshContext(browser()), url);
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
    // The empty fields say that any time is shown.
    const unfiltered = page.waitForRequest((request) =>
      /deliveries\?(?!.*(since|until))/.test(request.url()),
    );
    await page.getByLabel('Time', { exact: true }).selectOption('Between…');
    await unfiltered;
    await page.getByLabel('Until').fill('2020-01-01T00:00');
    await page.getByText('No delivery matches').waitFor();
    await page.getByRole('button', { name: 'Show all verdicts and times' }).click();
    await expect.poll(() => page.getByLabel('Until').inputValue()).toBe('');
    await expect.poll(async () => (await rowNames(page)).length).toBe(5);
    await expectClean();
  });

  it('keeps the filter in the address over a reload and Back, and a bar of a chart filters to its time', async () => {
    const { home, deliver } = await receiver();
    await deliver(leadOf('lead_1', 'Ada'));
    await deliver('{"no":"id"}');
    const { url } = await inspect(home);
    const { page, expectClean } = await shownPage(await freshContext(browser()), url);
    await expect.poll(async () => (await rowNames(page)).length).toBe(2);
    await page.getByRole('button', { name: 'Rejected' }).click();
    await page.getByLabel('Time', { exact: true }).selectOption('Last hour');
    await expect.poll(() => new URL(page.url()).hash).toBe('#/?verdict=rejected&last=3600000');
    await page.locator('#search').fill('no-person-is-in-the-address');
    await page.getByText('Nothing found').waitFor();
    expect(page.url()).not.toContain('person');
    await page.locator('#search').fill('');
    await page.reload();
    await expect.poll(async () => (await rowNames(page)).length).toBe(1);
    expect(await page.getByRole('button', { name: 'Rejected' }).getAttribute('aria-pressed')).toBe('true');
    await page.goBack();
    await page.goBack();
    await expect.poll(async () => (await rowNames(page)).length).toBe(2);

    await page.getByRole('button', { name: 'Charts' }).click();
    await page.getByText('As a table').first().click();
    await page.locator('.numbers').first().getByRole('button').first().click();
    await expect.poll(() => new URL(page.url()).hash).toMatch(/^#\/charts\?since=\d+&until=\d+$/);
    await page.getByLabel('Until').waitFor();
    await expect.poll(async () => (await rowNames(page)).length).toBe(2);
    await expectClean();
  });

  it('keeps the words of a search out of the address, over a reload and Back; a copied link brings them', async () => {
    const { home, deliver } = await receiver();
    await deliver(leadOf('lead_1', 'Ada'));
    await deliver(leadOf('lead_2', 'Grace'));
    const { url } = await inspect(home);
    const context = await freshContext(browser());
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: new URL(url).origin });
    const { page, expectClean } = await shownPage(context, url);
    await expect.poll(() => rowNames(page)).toEqual(['Grace', 'Ada']);
    await page.locator('#search').fill('ada');
    await expect.poll(() => rowNames(page)).toEqual(['Ada']);
    await page.locator('.row').click();
    await page.locator('.delivery').waitFor();
    expect(new URL(page.url()).hash).toBe('#/1');
    await page.reload();
    await expect.poll(() => rowNames(page)).toEqual(['Ada']);
    expect(await page.locator('#search').inputValue()).toBe('ada');
    expect(await page.locator('.delivery-title h2').textContent()).toBe('Ada');
    await page.goBack();
    await page.getByText('No delivery is open').waitFor();
    await expect.poll(() => rowNames(page)).toEqual(['Ada']);
    expect(page.url()).not.toContain('ada');
    await page.getByRole('button', { name: 'Copy link' }).click();
    const link = await page.evaluate(() => navigator.clipboard.readText());
    expect(new URL(link).hash).toBe('#/?q=ada');

    await page.locator('#search').fill('');
    await expect.poll(() => rowNames(page)).toEqual(['Grace', 'Ada']);
    await page.goto(link);
    await page.reload();
    await expect.poll(() => rowNames(page)).toEqual(['Ada']);
    expect(new URL(page.url()).hash).toBe('#/');
    await expectClean();
  });

  it('searches id, name, e-mail, phone and body, with escapes decoded', async () => {
    const { home, deliver } = await receiver();
    await deliver(leadOf('lead_needle', 'Ada'));
    await deliver(leadOf('lead_2', 'Grace Needle'));
    await deliver('{"id":"lead_3","note":"a n\\u0065edle in the body"}');
    await deliver(leadOf('lead_4', 'Other'));
    const { url } = await inspect(home);
    const { page, expectClean } = await shownPage(await freshContext(browser()), url);
    await expect.poll(async () => (await rowNames(page)).length).toBe(4);
    await page.keyboard.press('/');
    await page.keyboard.type('NEEDLE');
    await expect.poll(() => rowNames(page)).toEqual(['lead_3', 'Grace Needle', 'Ada']);
    await page.getByText('3 matches, 4 deliveries searched').waitFor();
    await deliver(leadOf('lead_5', 'Another Needle'));
    await deliver(leadOf('lead_6', 'Nobody'));
    await page.getByText('4 matches, 6 deliveries searched').waitFor();
    expect((await rowNames(page))[0]).toBe('Another Needle');
    await page.keyboard.press('Escape');
    await expect.poll(async () => (await rowNames(page)).length).toBe(6);

    await page.locator('#search').fill('no such text');
    await page.getByText('Nothing found').waitFor();
    await expectClean();
  });

  it('finds all words in headers, reasons, statuses and targets, marks them, and scrolls to them', async () => {
    const { home, deliver } = await receiver(['--forward-to', 'http://127.0.0.1:1/crm']);
    await deliver(leadOf('lead_1', 'Ada', { pad: 'x '.repeat(40_000), last: 'needle in the deep' }), {
      'x-campaign': 'Autumn',
    });
    await deliver(leadOf('lead_2', 'Grace Autumn'));
    await deliver('{"id":"lead_3"}', { 'x-webhook-token': 'wrong' });
    const { url } = await inspect(home);
    const { page, expectClean } = await shownPage(await freshContext(browser()), url);
    await expect.poll(async () => (await rowNames(page)).length).toBe(3);
    await expect
      .poll(() => page.locator('.chip').allTextContents())
      .toEqual(['Accepted 0', 'Duplicate 0', 'Pending 2', 'Rejected 1', 'Other 0']);
    for (const [text, names] of [
      ['autumn', ['Grace Autumn', 'Ada']],
      ['grace autumn', ['Grace Autumn']],
      ['autumn x-campaign', ['Ada']],
      ['"ada autumn"', []],
      ['x-campaign: autumn', ['Ada']],
      ['reason:wrong', ['Delivery 3']],
      ['status:401 since:1h', ['Delivery 3']],
      ['target:crm', ['Grace Autumn', 'Ada']],
      ['target:127.0.0.1 deep', ['Ada']],
    ] as const) {
      await page.locator('#search').fill(text);
      await page.locator('.search-progress.is-done').waitFor();
      await expect.poll(() => rowNames(page), { message: text }).toEqual(names);
    }
    await page.locator('#search').fill('deep');
    await expect.poll(() => rowNames(page)).toEqual(['Ada']);
    await page.locator('.row').click();
    // Where the mark is, between 0 and 1 of the pane's height.
    const place = () =>
      page.evaluate(() => {
        const pane = document.getElementById('pane')?.getBoundingClientRect();
        const [mark] = CSS.highlights.get('found-in-pane') ?? [];
        const top = mark instanceof Range ? mark.getBoundingClientRect().top : 0;
        return pane === undefined || top === 0 ? -1 : (top - pane.top) / pane.height;
      });
    await expect.poll(place).toBeGreaterThan(0);
    await expect.poll(place).toBeLessThan(1);
    await page.locator('#search').fill('grace');
    await expect.poll(() => rowNames(page)).toEqual(['Grace Autumn']);
    const marked = page.evaluate(() => {
      const [mark] = CSS.highlights.get('found-in-list') ?? [];
      return mark instanceof Range ? mark.toString() : '';
    });
    expect(await marked).toBe('Grace');
    await page.locator('#search').fill('(555) 000-1234');
    await expect.poll(() => rowNames(page)).toEqual(['Grace Autumn', 'Ada']);
    const inPane = () => page.evaluate(() => [...(CSS.highlights.get('found-in-pane') ?? [])].map(String));
    await expect.poll(inPane).toEqual(['5550001234']);
    await expectClean();
  });

  it('filters to the time of a bar that is clicked', async () => {
    const { home, deliver } = await receiver();
    await deliver(leadOf('lead_1', 'Ada'));
    const { url } = await inspect(home);
    const { page, expectClean } = await shownPage(await freshContext(browser()), url);
    await page.getByRole('button', { name: 'Charts' }).click();
    await page.locator('.bar.is-accepted').first().click();
    await expect.poll(() => new URL(page.url()).hash).toMatch(/^#\/charts\?since=\d+&until=\d+$/);
    await expect.poll(() => rowNames(page)).toEqual(['Ada']);
    // Where the charts cover the list, it comes in their place.
    await page.setViewportSize({ width: 360, height: 740 });
    await page.locator('.bar.is-accepted').first().click();
    await page.locator('.row', { hasText: 'Ada' }).waitFor();
    await page.goBack();
    await page.locator('.charts').waitFor();
    expect((await leads(['inbox', 'prune', '--before', 'now'], { home })).exitCode).toBe(0);
    await page.getByText('Not known: 1 delay of leads').waitFor();
    await expectClean();
  });

  it('shows nothing of a person who was erased, in the list and among what was found', async () => {
    const { home, deliver } = await receiver();
    await deliver(leadOf('lead_1', 'Ada First'));
    await deliver(leadOf('lead_2', 'Ada Second'));
    const { url } = await inspect(home);
    const { page, expectClean } = await shownPage(await freshContext(browser()), url);
    await expectLive(page);
    await page.locator('#search').fill('ada');
    await expect.poll(() => rowNames(page)).toEqual(['Ada Second', 'Ada First']);
    await page.getByText('2 matches, 2 deliveries searched').waitFor();
    expect((await leads(['inbox', 'erase', '--id', 'lead_1', '--yes'], { home })).exitCode).toBe(0);
    await expect.poll(() => rowNames(page)).toEqual(['Ada Second']);
    await page.locator('#search').fill('');
    await expect.poll(() => rowNames(page)).toEqual(['Ada Second']);
    await expectClean();
  });

  it('says what an empty inbox is waiting for', async () => {
    const { home, deliver } = await receiver();
    const { url } = await inspect(home);
    const { page, expectClean } = await shownPage(await freshContext(browser()), url);
    await page.getByText('No deliveries yet').waitFor();
    await deliver(leadOf('lead_1', 'Ada'));
    await expect.poll(() => rowNames(page)).toEqual(['Ada']);
    await expectClean();
  });
});
