import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { tokenHeader } from '../../src/inspect/wire.ts';
import { freshHome } from '../support/run.ts';
import { inChromium } from './support/chromium.ts';
import { inspect, leadOf, receiver } from './support/inspected.ts';
import { expectLive } from './support/shown-page.ts';
import { launchOptions } from './support/start-chromium.ts';

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

/** The files of a folder, as bytes and as UTF-16. */
function textsIn(folder: string): string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  const texts = files.map((file) => readFileSync(join(file.parentPath, file.name)).toString('latin1'));
  return texts.flatMap((text) => [text, text.replaceAll('\0', '')]);
}

/** Whatever may be a secret of the page in them; what stands right before or behind one may be of its letters. */
function secretsIn(folder: string): string[] {
  const found = textsIn(folder).flatMap((text) => text.match(/(?<![\w-])[\w-]{43,80}(?![\w-])/g) ?? []);
  return [
    ...new Set(
      found.flatMap((text) => Array.from({ length: text.length - 42 }, (_, i) => text.slice(i, i + 43))),
    ),
  ];
}

const sessionAnswer = (origin: string, body: object): Promise<Response> =>
  fetch(`${origin}/api/session`, {
    method: 'POST',
    headers: { origin, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

/** What in the files of a folder the server takes for a token, and what for the key that loads the page again. */
async function openingIn(folder: string, origin: string) {
  const secrets = secretsIn(folder);
  const taken = async (ask: (secret: string) => Promise<Response>): Promise<readonly string[]> => {
    const found: string[] = [];
    for (const secret of secrets) if ((await ask(secret)).ok) found.push(secret);
    return found;
  };
  return {
    tokens: await taken((secret) => fetch(`${origin}/api/inbox`, { headers: { [tokenHeader]: secret } })),
    reloadKeys: await taken((reloadKey) => sessionAnswer(origin, { reloadKey })),
  };
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

    const profile = freshHome();
    const browser = await chromium.launchPersistentContext(profile, launchOptions);
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    await page.goto(`file://${file}`);
    await expectLive(page);
    expect(page.url()).toBe(`${origin}/#/`);
    await expect.poll(() => existsSync(file)).toBe(false);

    // Loaded again, it has left something to go on with; what it keeps later is on the disk behind that.
    await page.reload();
    await expectLive(page);
    await page.evaluate(() => sessionStorage.setItem('last', 'kept last'));
    await expect.poll(() => textsIn(profile).some((text) => text.includes('kept last'))).toBe(true);
    const keys = new Set(textsIn(profile).flatMap((text) => text.match(/(?<=key=)[\w-]{43}/g) ?? []));
    // The browser has recorded the address: that is what this is about.
    expect(keys.size).toBeGreaterThan(0);
    for (const key of keys) expect((await sessionAnswer(origin, { key })).status).toBe(401);
    expect(await openingIn(profile, origin)).toEqual({ tokens: [], reloadKeys: [] });

    await page.goto('about:blank');
    // Back opens it for twenty seconds.
    await expect
      .poll(() => openingIn(profile, origin), { interval: 500 })
      .toEqual({ tokens: [], reloadKeys: [expect.any(String)] });
  });
});
