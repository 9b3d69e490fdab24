import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Every directory that a test makes lies in one place, which goes when the tests are done. */
export default function temporary(): () => void {
  const place = mkdtempSync(join(tmpdir(), 'leads-tests-'));
  process.env['TMPDIR'] = place;
  return () => rmSync(place, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}
