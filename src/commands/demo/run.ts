import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatDuration } from '../../time/duration.ts';
import type { Context } from '../../context.ts';
import { InterruptedError } from '../../errors.ts';
import type { Outcome } from '../flags/command-spec.ts';
import { DemoError } from './demo-error.ts';
import type { DemoOptions } from './options.ts';
import type { Child, Place } from './child.ts';
import { openStage, type Stage } from './stage.ts';
import { tour } from './tour.ts';

export async function run({ keep }: DemoOptions, context: Context): Promise<Outcome> {
  const stage = await openStage(context);
  const began = context.clock.now();
  const directory = await mkdtemp(join(tmpdir(), 'leads-demo-'));
  const place: Place = { directory, configDir: join(directory, 'config'), dataDir: join(directory, 'data') };
  const running: Child[] = [];
  try {
    await stage.said(`A tour of leads: real commands, on this machine, in ${directory}.`);
    const { baseUrl, token } = await tour(stage, place, context, running);
    const took = formatDuration(context.clock.now() - began);
    await stage.said(`\nEvery step did what it said, in ${took}.`);
    if (keep) await goOn(stage, place, baseUrl, token, context);
    else await stage.said("Go on with 'leads demo --keep', 'leads sandbox --help' and 'leads --help'.");
    return 'done';
  } catch (error) {
    context.signal.throwIfAborted();
    if (!(error instanceof DemoError)) throw error;
    context.messages.warn(`this step did not do what it says: ${error.message}`);
    return 'problems';
  } finally {
    for (const child of running) child.interrupt();
    await Promise.all(running.map((child) => child.done));
    await rm(directory, { recursive: true, force: true });
  }
}

/** Ctrl-C is the ordinary end of `--keep`. */
async function goOn(
  stage: Stage,
  place: Place,
  baseUrl: string,
  token: string,
  context: Context,
): Promise<void> {
  await stage.said('\nThe service runs until Ctrl-C. In another terminal:');
  await stage.typed(`export LEADS_CONFIG_DIR=${place.configDir} LEADS_DATA_DIR=${place.dataDir}`);
  await stage.typed('leads list --status delivered');
  await stage.typed(`leads listen --token ${token}`);
  await stage.typed(`curl -X POST '${baseUrl}/sandbox/leads?count=3'`);
  const { signal } = context;
  if (!signal.aborted)
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  if (!(signal.reason instanceof InterruptedError) || signal.reason.signal !== 'SIGINT') throw signal.reason;
}
