import { dirname, resolve } from 'node:path';
import type { Context } from '../../context.ts';
import { outputError } from '../../files/output-error.ts';
import { lock } from '../../files/lock/lock.ts';
import { LineAppender } from './line-appender.ts';
import { openRepaired } from './open-repaired.ts';
import type { Target, TargetResult } from './target.ts';
import { makeDirectory } from '../../files/make-directory.ts';

/** A disk has no time-out: this is long for a slow one to sync. */
const longestMs = 30_000;

/** The name of such a target in the inbox. */
export const appendTargetName = (path: string): string => `output ${resolve(path)}`;

/**
 * `--output FILE`: appends each lead on a line of its own; the line is on disk when `deliver` resolves. Throws an
 * `OutputError` when the file cannot be opened or another receiver writes to it. That a lead could not be written never
 * counts as done, whatever `--forward-best-effort` says of the app.
 */
export async function openAppendTarget(
  path: string,
  context: Pick<Context, 'pid' | 'clock' | 'signal'>,
): Promise<Target> {
  try {
    makeDirectory(dirname(resolve(path)));
  } catch (error) {
    throw outputError(error as NodeJS.ErrnoException, path);
  }
  // Lines are written at positions that this process computes, so no other may write at the same time.
  const held = await lock(resolve(path), context);
  const file = await openRepaired(resolve(path)).catch(async (error: unknown) => {
    await held.release();
    throw error;
  });
  const appender = new LineAppender(file);
  return {
    name: appendTargetName(path),
    longestMs,
    deliver: (_, leads) => leads.map(({ lead }) => appendLine(appender, lead.bytes, path)),
    async close() {
      await file.close();
      await held.release();
    },
  };
}

async function appendLine(appender: LineAppender, bytes: Uint8Array, path: string): Promise<TargetResult> {
  const started = performance.now();
  const result = (ok: boolean, answer: string): TargetResult => ({
    to: 'output',
    ok,
    answer,
    durationMs: Math.round(performance.now() - started),
  });
  try {
    await appender.append(Buffer.concat([bytes, Buffer.from('\n')]));
    return result(true, 'written');
  } catch (error) {
    return result(false, outputError(error as NodeJS.ErrnoException, path).message);
  }
}
