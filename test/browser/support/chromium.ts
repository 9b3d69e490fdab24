import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe } from 'vitest';
import { chromiumPath } from './chromium-path.ts';

/** One browser for the tests of a file, which are skipped where there is none. */
export function inChromium(name: string, tests: (browser: () => Browser) => void): void {
  describe.skipIf(chromiumPath === undefined)(name, () => {
    let browser: Browser | undefined;
    beforeAll(async () => {
      // Root needs --no-sandbox, and Chromium's shared memory is larger than that of a container.
      const args = ['--no-sandbox', '--disable-dev-shm-usage'];
      browser = await chromium.launch({ ...(chromiumPath && { executablePath: chromiumPath }), args });
    });
    afterAll(() => browser?.close());
    tests(() => {
      if (browser === undefined) throw new Error('the browser does not run yet');
      return browser;
    });
  });
}
