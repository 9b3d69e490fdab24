import { spawn } from 'node:child_process';
import type { Context, Outcome } from '../../context.ts';
import { messageOf, UsageError } from '../../errors.ts';
import { StdoutWriter } from '../../output/stdout.ts';
import { ForwardWorker } from '../../receiver/forward-worker.ts';
import type { Receiver } from '../../receiver/receiver.ts';
import { slept } from '../../time/clock.ts';
import { formatDuration } from '../../time/time-text.ts';
import { backfillRounds } from './backfill-rounds.ts';
import type { ListenOptions } from './command.ts';
import { dropOldDeliveries } from './listen-inbox.ts';
import { openReceiver } from './open-receiver.ts';
import { openServer } from './open-server.ts';
import { type DeliveryOutput, openDeliveryOutput } from './print.ts';
import { renewFiles, secretFiles } from './renewed-files.ts';
import { type Closers, type ListenSession, openSession } from './session.ts';
import { startAdmin } from './start-admin.ts';
import { startInspect } from './start-inspect.ts';
import { onAbort, outcomeOf, StopCondition } from './stop-condition.ts';

export async function run(flags: ListenOptions, context: Context): Promise<Outcome> {
  const { port, admin } = flags;
  if (port !== 0 && admin?.port === port) {
    throw new UsageError(`--admin and --port both name port ${port}`, {
      hint: 'deliveries and metrics need a port each, such as --admin 9090',
    });
  }
  const settings = await context.settings();
  const stop = new StopCondition(flags, settings, context);
  const closers: Closers = [];
  try {
    return await listen(await openSession({ flags, settings, context, stop, closers }));
  } finally {
    // A run that could not start must not wait for the time of `--for`, nor the page for a replay.
    stop.stop({ by: 'signal' });
    await closeAll(closers);
  }
}

async function closeAll(closers: Closers): Promise<void> {
  const close = closers.pop();
  if (close === undefined) return;
  try {
    await close();
  } finally {
    await closeAll(closers);
  }
}

/** Deliveries in flight get so long at the end, in milliseconds. */
const drainTimeoutMs = 5000;
/** How much longer the reader of stdout has than the deliveries, so that the last of them are shown; in milliseconds. */
const stdoutExtraMs = 1000;

/** Receives, prints and forwards until the run is to stop, and then finishes what is under way. */
async function listen(session: ListenSession): Promise<Outcome> {
  const { flags, context, settings, verifier, targets, stop, closers } = session;
  const { messages } = context;
  closers.push(dropDeliveries(session));
  onAbort(stop.stopping, () => sayStopping(settings.drainDelayMs, context));
  const runRounds = backfillRounds(session);
  const stdout = new StdoutWriter(
    context.stdout,
    (error) => stop.stop({ by: 'failure', error }),
    () => messages.note('stdout', 'the reader of stdout is behind: deliveries wait for it'),
  );
  const output = await openDeliveryOutput({ format: flags.format, stdout, verifier, targets }, context);
  const workers = forwardWorkers(session, output);
  const receiver = openReceiver(session, workers, output);
  const server = await openSockets(session, receiver, output);
  if (context.env['NOTIFY_SOCKET'] !== undefined) notifyReady(context);
  const forwarded = Promise.all(workers.map((worker) => worker.run()));
  const rounds = runRounds?.(receiver, output);

  const cause = await stop.reached;
  stdout.abandonAfter(drainTimeoutMs + stdoutExtraMs);
  await drained(session, async () => {
    await Promise.all([rounds, forwarded, server.close(drainTimeoutMs)]);
    await receiver.idle();
    await Promise.all(workers.map((worker) => worker.idle()));
  });
  await output.summary();
  const missed = stop.missed(cause);
  if (missed !== undefined) messages.warn(missed);
  if (stdout.abandoned !== undefined) throw stdout.abandoned;
  const outcome = outcomeOf(cause, flags.count, context.signal);
  const noKey = await rounds;
  if (noKey !== undefined && outcome === 'done' && cause.by !== 'count') throw noKey;
  return outcome;
}

/** Starts `--retain`, and gives the step that ends it and the attempts. */
function dropDeliveries({ flags, context, inbox, attempts }: ListenSession) {
  const { retain } = flags;
  const { signal } = attempts;
  const dropping = retain === undefined ? undefined : dropOldDeliveries(inbox, retain, context, signal);
  return (): Promise<void> | undefined => {
    attempts.abort();
    return dropping;
  };
}

function sayStopping(drainDelayMs: number, { stderr, messages, signal }: Context): void {
  if (!signal.aborted) return;
  // A terminal shows ^C at the start of a line and stays on it.
  if (stderr.isTTY === true) stderr.write('\n');
  if (drainDelayMs === 0) return;
  const delay = formatDuration(drainDelayMs);
  messages.say(`draining: takes deliveries for another ${delay}; a second signal ends it at once`);
}

function forwardWorkers(session: ListenSession, output: DeliveryOutput): readonly ForwardWorker[] {
  const { context, inbox, verifier, note, metrics, stop, attempts } = session;
  const { clock, random } = context;
  const options = {
    ...{ inbox, verifier, clock, note, random },
    onAttempt(attempt: Parameters<DeliveryOutput['forward']>[0]) {
      metrics?.forwarded(attempt);
      return output.forward(attempt);
    },
    shutdownRequested: stop.stopping,
    claimingStopped: stop.signal,
    attemptsAborted: attempts.signal,
  };
  return session.targets.map((target) => new ForwardWorker(target, options));
}

/** Answers of `--admin` that are under way get so long at the end, in milliseconds. */
const lastAnswersMs = 500;

/** Opens the page, the receiver's port and that of `--admin`, prints where they are, and follows their files from then on. */
async function openSockets(session: ListenSession, receiver: Receiver, output: DeliveryOutput) {
  const { flags, context, verifier, credentials, stop, closers } = session;
  if (flags.inspect !== undefined) {
    const page = await startInspect(session, flags.inspect);
    closers.push(() => page.close());
  }
  const server = await openServer(session, receiver);
  closers.push(() => server.close(drainTimeoutMs));
  const admin = await startAdmin(session);
  if (admin !== undefined) closers.push(() => admin.close(lastAnswersMs));
  await output.listening({ ...server.listening, admin: admin?.url });
  const files = [await secretFiles(flags, verifier), credentials, server.files];
  const renewing = renewFiles(
    files.filter((file) => file !== undefined),
    context,
    stop.signal,
  );
  closers.push(() => renewing);
  return server;
}

/** Waits until `finish` has resolved. After the time of the drain, attempts of targets are aborted. */
async function drained({ context, attempts }: ListenSession, finish: () => Promise<void>) {
  const over = new AbortController();
  const finished = finish().finally(() => over.abort());
  await Promise.race([finished, slept(context.clock, drainTimeoutMs, over.signal)]);
  attempts.abort();
  await finished;
}

/** Tells systemd (`Type=notify`, `NotifyAccess=all`) that the port is bound: node has no datagram sockets of files. */
function notifyReady({ env, messages }: Pick<Context, 'env' | 'messages'>): void {
  const { PATH, NOTIFY_SOCKET } = env;
  const child = spawn('systemd-notify', ['--ready'], { env: { PATH, NOTIFY_SOCKET }, stdio: 'ignore' });
  child.on('error', (error) => messages.warn(`systemd was not told that this is ready: ${messageOf(error)}`));
  child.on('exit', (code) => {
    if (code !== 0) messages.warn('systemd was not told that this is ready: systemd-notify failed');
  });
}
