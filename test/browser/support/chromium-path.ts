import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const names = ['chromium', 'chromium-browser', 'google-chrome'];

/** The first of these programs on PATH. */
export const chromiumPath = (process.env['PATH'] ?? '')
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

/** Before all tests: without Chromium they are skipped, which is said once, and is a failure where CI is set. */
export default function checkChromium(): void {
  if (chromiumPath !== undefined) return;
  const what = 'there is no chromium on PATH';
  if (process.env['CI'] !== undefined) throw new Error(`${what}: install it`);
  process.stderr.write(`${what}: the tests of the page in a browser are skipped\n`);
}
