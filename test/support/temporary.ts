import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

/** Every project of the tests loads this file on its own, and one place is enough for the run. */
const shared: typeof globalThis & { leadsTemporary?: string } = globalThis;

/** What all tests together use at a time, many times over. */
const roomBytes = 2 * 1024 ** 3;

/**
 * Every directory that a test makes lies in one place, which goes when the tests are done. It is in memory, where writing
 * through costs nothing: a process that is killed leaves the same files there. The full proofs and the measurements are
 * made on the disk, as is everything where `TMPDIR` is set.
 */
export default function temporary({ name }: Pick<TestProject, 'name'>): () => void {
  const isMeasured = name === 'bench' || process.env['LEADS_FAULTS'] === 'full';
  const parent = isMeasured || process.env['TMPDIR'] !== undefined ? tmpdir() : (memory() ?? tmpdir());
  const place = (shared.leadsTemporary ??= mkdtempSync(join(parent, 'leads-tests-')));
  process.env['TMPDIR'] = place;
  return () => rmSync(place, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}

/** A file system in memory, where there is one with room. */
function memory(): string | undefined {
  const found = '/dev/shm';
  if (!existsSync(found)) return undefined;
  const { bavail, bsize } = statfsSync(found);
  return bavail * bsize > roomBytes && mayRunPrograms(found) ? found : undefined;
}

/** Containers may mount it otherwise. */
function mayRunPrograms(directory: string): boolean {
  const place = mkdtempSync(join(directory, 'leads-tests-'));
  const program = join(place, 'program');
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
  const { status } = spawnSync(program);
  rmSync(place, { recursive: true });
  return status === 0;
}
