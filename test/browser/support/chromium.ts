import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe } from 'vitest';

const names = ['chromium', 'chromium-browser', 'google-chrome'];

/** The first of these programs on PATH. */
const executablePath = (process.env['PATH'] ?? '')
  .split(delimiter)
  .flatMap((folder) => names.map((name) => join(folder, name)))
  .find(isExecutable);

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** One browser for the tests of a file. Without Chromium they are skipped, and fail where CI is set. */
export function inChromium(name: string, tests: (browser: () => Browser) => void): void {
  const isMissing = executablePath === undefined && process.env['CI'] === undefined;
  const title = isMissing ? `${name} (skipped: no chromium on PATH)` : name;
  describe.skipIf(isMissing)(title, () => {
    let browser: Browser | undefined;
    beforeAll(async () => {
      if (executablePath === undefined) throw new Error('there is no chromium on PATH: install it');
      // Root needs --no-sandbox, and Chromium's shared memory is larger than that of a container.
      const args = ['--no-sandbox', '--disable-dev-shm-usage'];
      browser = await chromium.launch({ executablePath, args });
    });
    afterAll(() => browser?.close());
    tests(() => {
      if (browser === undefined) throw new Error('the browser does not run yet');
      return browser;
    });
  });
}
