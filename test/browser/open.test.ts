import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { freshHome } from '../support/run.ts';
import { chromiumPath } from './support/chromium-path.ts';
import { inChromium } from './support/chromium.ts';
import { inspect, leadOf, receiver } from './support/inspected.ts';
import { expectLive } from './support/shown-page.ts';

/** A folder with an `xdg-open` that opens nothing, and writes down what it was to open. */
function recordingOpener(): { readonly path: string; readonly asked: () => string } {
  const folder = freshHome();
  const record = join(folder, 'asked');
  writeFileSync(
    join(folder, 'xdg-open'),
    `#!/bin/sh\nprintf '%s\\n' "$@" > '${record}.new'; mv '${record}.new' '${record}'\n`,
  );
  chmodSync(join(folder, 'xdg-open'), 0o755);
  return { path: folder, asked: () => (existsSync(record) ? readFileSync(record, 'utf8').trim() : '') };
}

/** Whatever stands behind `key=` in any file of a folder, as bytes or as UTF-16. */
function keysIn(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  const texts = files.flatMap((file) => {
    const bytes = readFileSync(join(file.parentPath, file.name));
    return [bytes.toString('latin1'), bytes.toString('latin1').replaceAll('\0', '')];
  });
  const found = texts.flatMap((text) => [...text.matchAll(/key=([\w-]{43})/g)].map(([, key = '']) => key));
  return [...new Set(found)];
}

inChromium('inspect --open', () => {
  it('leaves nothing in the browser and in ps that still opens the page', async () => {
    const { home, deliver } = await receiver();
    await deliver(leadOf('lead_1', 'Ada'));
    const opener = recordingOpener();
    const env = { PATH: `${opener.path}:${process.env['PATH'] ?? ''}`, BROWSER: 'any' };
    const inspected = await inspect(home, ['--open'], env);
    const { origin } = new URL(inspected.url);
    await expect.poll(() => opener.asked()).not.toBe('');
    const file = opener.asked();
    expect(file).not.toContain('key');
    expect(statSync(file).mode & 0o777).toBe(0o600);

    const profile = freshHome();
    const browser = await chromium.launchPersistentContext(profile, {
      ...(chromiumPath && { executablePath: chromiumPath }),
      args: ['--no-sandbox', '--disable-dev-shm-usage'],
    });
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    await page.goto(`file://${file}`);
    await expectLive(page);
    expect(page.url()).toBe(`${origin}/#/`);
    await expect.poll(() => existsSync(file)).toBe(false);
    await browser.close();

    const keys = keysIn(profile);
    // The browser has recorded the address: that is what this is about.
    expect(keys.length).toBeGreaterThan(0);
    for (const key of keys) {
      const answer = await fetch(`${origin}/api/session`, {
        method: 'POST',
        headers: { origin, 'content-type': 'application/json' },
        body: JSON.stringify({ key }),
      });
      expect(answer.status).toBe(401);
    }
  });
});
