import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { test } from 'vitest';

const script = fileURLToPath(new URL('../../.config/wasm.mjs', import.meta.url));

test('the scanner was compiled from the source beside it', async () => {
  await promisify(execFile)(process.execPath, [script, '--digest']);
});
