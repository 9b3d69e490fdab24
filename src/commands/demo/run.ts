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
  // The tour fails before its first step if the library of the inbox cannot be loaded.
  await loadLibsql();
  const printer = await createTourPrinter(context);
  const startedAt = context.clock.now();
  const makeDirectory = (): Promise<string> => mkdtemp(join(tmpdir(), 'leads-demo-'));
  const directory = await withOutputErrors(tmpdir(), makeDirectory, 'TMPDIR');
  const running: LeadsProcess[] = [];
  let isInterrupted = false;
  try {
    await printer.say(`A tour of leads: real commands, on this machine, in ${directory}.`);
    await tour(printer, directory, context, running);
    const duration = formatDuration(context.clock.now() - startedAt);
    await printer.say(`\nEvery step did what it said, in ${duration}.`);
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
