import { expect, it } from 'vitest';
import { expectAccessible } from './support/axe.ts';
import { inChromium } from './support/chromium.ts';
import { leadOf, receiver } from './support/inspected.ts';
import { rowNames, shownInbox } from './support/shown-page.ts';

const texts = [
  '<script>alert(1)</script>',
  '</textarea><img src=x onerror=alert(1)>',
  'javascript:alert(1)',
  '"><svg onload=alert(1)>',
  '{{constructor.constructor("alert(1)")()}}',
];

inChromium('hostile deliveries', (browser) => {
  it('are shown as text, and the page goes on', async () => {
    const { home, deliver } = await receiver();
    for (const [i, text] of texts.entries()) await deliver(leadOf(`lead_${i}`, text, { [text]: text }));
    await deliver(leadOf('lead_bidi', 'abc\u202egnp.exe \u2066x\u2069 \u0007\u001b[31m'));
    await deliver(leadOf('lead_long', 'x'.repeat(1_000_000)));
    const costly = {
      lead_quotes: '"'.repeat(450_000),
      lead_hidden: '\u202e'.repeat(300_000),
    };
    for (const [id, s] of Object.entries(costly)) await deliver(JSON.stringify({ id, s }));
    await deliver(`{"id":"lead_ones","n":[${'1,'.repeat(400_000)}1]}`);
    await deliver(`{"id":"lead_lines","n":[${'1,'.repeat(5_000)}1]}`);
    await deliver(`{"id":"lead_deep","deep":${'['.repeat(200)}1${']'.repeat(200)}}`);
    await deliver(
      Buffer.concat([Buffer.from('{"id":"lead_bytes","n":"'), Buffer.from([0xff, 0xc3, 0x28, 0x22, 0x7d])]),
    );
    await deliver('{"id":"lead_numbers","a":12345678901234567890,"b":1e400,"c":"\\ud800"}');
    await deliver(leadOf('lead_header'), { 'user-agent': '<script>alert(2)</script>' });
    await deliver('</textarea><script>alert(3)</script>');
    const page = await shownInbox(browser(), home);
    let dialogs = 0;
    page.on('dialog', (dialog) => {
      dialogs += 1;
      void dialog.dismiss();
    });
    await expect.poll(async () => (await rowNames(page)).length).toBeGreaterThanOrEqual(texts.length);
    for (const text of texts) expect(await rowNames(page)).toContain(text);

    const rows = await page.locator('.row').count();
    const body = page.getByRole('region', { name: 'Text of the body' });
    const inHex: (string | null)[] = [];
    for (let i = 0; i < rows; i++) {
      const old = page.url();
      await page.keyboard.press('j');
      await expect.poll(() => page.url()).not.toBe(old);
      await page.locator('.delivery[aria-busy="false"]').waitFor();
      if ((await page.locator('.code.is-table').count()) > 0) inHex.push(await body.textContent());
      for (const form of ['Raw', 'curl', 'Formatted']) {
        const button = page.getByRole('button', { name: form, exact: true });
        if (await button.isVisible()) await button.click();
      }
    }
    expect(inHex).toEqual([expect.stringMatching(/ ff c3 28 22 7d +\|s","n":"\.\.\("}\|\n$/)]);
    const open = async (id: string): Promise<void> => {
      await page.locator('.row', { hasText: id }).click();
      await page.locator('.delivery-id', { hasText: id }).waitFor();
    };
    await open('lead_bidi');
    const title = page.locator('.delivery-title h2');
    expect(await title.textContent()).toBe('abcU+202Egnp.exe U+2066xU+2069 U+0007U+001B[31m');
    await open('lead_numbers');
    expect(await body.textContent()).toContain('12345678901234567890');
    expect(await body.textContent()).toContain('1e400');
    for (const id of ['lead_long', ...Object.keys(costly), 'lead_ones', 'lead_lines']) {
      await open(id);
      await page.getByText('Only the beginning is shown. Copy has all of it.').waitFor();
      await expect.poll(async () => (await body.textContent())?.length).toBeGreaterThan(3_000);
    }
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await open('lead_long');
    await page.getByRole('button', { name: 'Copy the body' }).click();
    await page.locator('.message', { hasText: 'Copied the text.' }).waitFor();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toContain('x'.repeat(1_000_000));
    await open('lead_bidi');
    await expectAccessible(page);
    expect(dialogs).toBe(0);
    expect(await page.locator('script:not([src]), .pane img, .list-pane img').count()).toBe(0);
  });
});
