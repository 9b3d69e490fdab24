import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium, type LaunchOptions } from 'playwright-core';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the browser of the run listens; undefined where there is none. */
    chromium: string | undefined;
  }
}

const names = ['chromium', 'chromium-browser', 'google-chrome'];

/** The first of these programs on PATH. */
const chromiumPath = (process.env['PATH'] ?? '')
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

export const launchOptions: LaunchOptions = {
  ...(chromiumPath && { executablePath: chromiumPath }),
  // Root needs --no-sandbox, and Chromium's shared memory is larger than that of a container.
  args: ['--no-sandbox', '--disable-dev-shm-usage'],
};

/** Starts one browser for all tests. Without Chromium they are skipped, which is said once, and is a failure where CI is set. */
export default async function startChromium({ provide }: TestProject): Promise<() => Promise<void>> {
  if (chromiumPath !== undefined) {
    const server = await chromium.launchServer(launchOptions);
    provide('chromium', server.wsEndpoint());
    return () => server.close();
  }
  const problem = 'there is no chromium on PATH';
  if (process.env['CI'] !== undefined) throw new Error(`${problem}: install it`);
  process.stderr.write(`${problem}: the tests of the page in a browser are skipped\n`);
  return () => Promise.resolve();
}
