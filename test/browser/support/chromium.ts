import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe, inject } from 'vitest';

/** Tests in the browser of the run, which are skipped where there is none. */
export function inChromium(name: string, tests: (browser: () => Browser) => void): void {
  const endpoint = inject('chromium');
  describe.skipIf(endpoint === undefined)(name, () => {
    let browser: Browser | undefined;
    beforeAll(async () => {
      browser = await chromium.connect(endpoint ?? '');
    });
    afterAll(() => browser?.close());
    tests(() => {
      if (browser === undefined) throw new Error('the browser does not run yet');
      return browser;
    });
  });
}
