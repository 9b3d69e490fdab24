import { spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Report } from '../../../src/commands/verify/report.ts';
import { leads, type Run, type RunOptions } from '../../support/run.ts';

const folder = mkdtempSync(join(tmpdir(), 'leads-verify-'));
let files = 0;

/** The path of a new file with these bytes. */
export function fileOf(content: string | Uint8Array, name = 'capture'): string {
  files += 1;
  const path = join(folder, `${files}-${name}`);
  writeFileSync(path, content);
  return path;
}

/** Runs `verify --json` and reads its document. */
export async function verify(
  argv: readonly string[],
  options: RunOptions = {},
): Promise<Run & { readonly document: Report }> {
  const run = await leads(['verify', ...argv, '--json'], options);
  const document = JSON.parse(run.stdout === '' ? 'null' : run.stdout) as Report;
  return { ...run, document };
}

/** The words that a shell makes of flags, with the variables that hold the secret. */
export function shellWords(flags: string, secret: string): readonly string[] {
  const { stdout } = spawnSync('sh', ['-c', `printf '%s\\0' ${flags}`], {
    env: { PATH: process.env['PATH'], LEADS_WEBHOOK_SECRET: secret, LEADS_WEBHOOK_TOKEN: secret },
  });
  return stdout.toString().split('\0').slice(0, -1);
}

/** The same command line with the flags of a fix, which stand for those that say the same. */
export function withFix(
  capture: readonly string[],
  who: readonly string[],
  fix: readonly string[],
): readonly string[] {
  const isSecret = (word: string): boolean => /^--(secret|token)$/.test(word);
  const isReplaced = (flag: string): boolean =>
    isSecret(flag) ? fix.some(isSecret) : /^--(scheme|at)$/.test(flag) && fix.includes(flag);
  const given = [...capture, ...who];
  const kept = given.filter((word, i) => !isReplaced(word) && !isReplaced(given[i - 1] ?? ''));
  return [...kept, ...fix];
}

export const hmac = (content: string | Buffer, key: string | Buffer, algorithm = 'sha256') =>
  createHmac(algorithm, key).update(content);

export const secret = 'dGhpcyBpcyBhIHNlY3JldCE=';
