import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Context, Outcome } from '../../context.ts';
import { withOutputErrors } from '../../files/errors.ts';
import { InterruptedError, messageOf } from '../../errors.ts';
import { loadLibsql } from '../../inbox/sqlite/libsql.ts';
import { formatDuration } from '../../time/time-text.ts';
import { createTourPrinter, DemoError, type LeadsProcess, tour } from './tour.ts';

export async function run(_: unknown, context: Context): Promise<Outcome> {
  // Rather than halfway, where it is not installed.
  await loadLibsql();
  const isWatched = context.stdout.isTTY === true && context.stdin.isTTY === true;
  const printer = await createTourPrinter(context, isWatched);
  const startedAt = context.clock.now();
  const directory = await withOutputErrors(tmpdir(), () => mkdtemp(join(tmpdir(), 'leads-demo-')));
  const running: LeadsProcess[] = [];
  let isInterrupted = false;
  try {
    await printer.say(`A tour of leads: real commands, on this machine, in ${directory}.`);
    await tour(printer, directory, context, running);
    const duration = formatDuration(context.clock.now() - startedAt);
    await printer.say(`\nEvery step did what it said, in ${duration}.`);
    if (isWatched) await printer.output(summary);
    await printer.say("Continue with 'leads sandbox --help' and 'leads --help'.");
    return 'done';
  } catch (error) {
    isInterrupted = context.signal.aborted || error instanceof InterruptedError;
    context.signal.throwIfAborted();
    if (!(error instanceof DemoError)) throw error;
    context.messages.warn(`this step did not do what it says: ${messageOf(error)}`);
    return 'problems';
  } finally {
    for (const child of running) child.interrupt();
    await Promise.all(running.map((child) => child.finished));
    await rm(directory, { recursive: true, force: true });
    if (isInterrupted)
      context.messages.say(`the service and the receiver are stopped, ${directory} is removed`);
  }
}

const summary: readonly string[] = [
  '  leads list, export   every lead of the service, each once',
  '  leads listen         deliveries verified: one came twice, one was forged',
  '  leads audit          one lead was missing',
  '  audit --send-to      it was delivered again, and nothing is missing now',
  '  leads sandbox        the service to try all of this with',
];
