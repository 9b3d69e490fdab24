import { spawn } from 'node:child_process';
import type { Context, Outcome } from '../../context.ts';
import { messageOf, UsageError } from '../../errors.ts';
import { StdoutWriter } from '../../output/stdout.ts';
import { ForwardWorker } from '../../receiver/forward-worker.ts';
import type { Inbox } from '../../inbox/inbox.ts';
import type { Receiver } from '../../receiver/receiver.ts';
import { slept } from '../../time/clock.ts';
import { formatDuration } from '../../time/time-text.ts';
import { backfillRounds } from './backfill-rounds.ts';
import type { ListenOptions } from './command.ts';
import { openReceiver } from './open-receiver.ts';
import { announce, openAdmin, openServer } from './open-servers.ts';
import { type DeliveryOutput, openDeliveryOutput } from './print.ts';
import { renewFiles, secretFiles } from './renewed-files.ts';
import { type Closers, type ListenSession, openSession } from './session.ts';
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

/** Deliveries and attempts in flight have this time at the end; the reader of stdout has more, so that it gets the last of them. */
const drainTimeoutMs = 5000;
const stdoutExtraMs = 1000;

/**
 * Receives, prints and forwards until the run is to stop. Then no delivery is accepted and no lead is claimed any more, and what
 * is under way has the time of the drain to finish.
 */
async function listen(session: ListenSession): Promise<Outcome> {
  const { flags, context, settings, stop, closers } = session;
  const { messages } = context;
  closers.push(startRetention(session));
  onAbort(stop.stopping, () => sayStopping(settings.drainDelayMs, context));
  const runRounds = backfillRounds(session);
  const stdout = new StdoutWriter(
    context.stdout,
    (error) => stop.stop({ by: 'failure', error }),
    () => messages.note('stdout', 'the reader of stdout is behind: deliveries wait for it'),
  );
  const output = await openDeliveryOutput(session, stdout);
  const workers = forwardWorkers(session, output);
  const receiver = openReceiver(session, workers, output);
  const server = await openSockets(session, receiver, output);
  if (context.env['NOTIFY_SOCKET'] !== undefined) notifyReady(context);
  const forwarded = Promise.all(workers.map((worker) => worker.run()));
  const rounds = runRounds?.(receiver, output);

  const cause = await stop.reached;
  stdout.abandonAfter(drainTimeoutMs + stdoutExtraMs);
  await drain(session, async () => {
    await Promise.all([rounds, forwarded, server.close(drainTimeoutMs)]);
    await receiver.idle();
    await Promise.all(workers.map((worker) => worker.idle()));
  });
  await output.summary();
  const missed = stop.missed(cause);
  if (missed !== undefined) messages.warn(missed);
  if (stdout.abandoned !== undefined) throw stdout.abandoned;
  const outcome = outcomeOf(cause, flags.count, context.signal);
  const keyError = await rounds;
  // A backfill that could not ask for leads is a failure, unless the leads of `--count` came without it.
  if (keyError !== undefined && outcome === 'done' && cause.by !== 'count') throw keyError;
  return outcome;
}

/** `--retain`: drops old deliveries until the attempts are aborted. Returns the closer, which does that and waits for the end. */
function startRetention({ flags, context, inbox, attemptsController }: ListenSession) {
  const { retain } = flags;
  const { signal } = attemptsController;
  const dropping = retain === undefined ? undefined : dropOldDeliveries(inbox, retain, context, signal);
  return (): Promise<void> | undefined => {
    attemptsController.abort();
    return dropping;
  };
}

const shortestPauseMs = 60_000;
const longestPauseMs = 3_600_000;

/** Drops deliveries that are older than `retainMs`, now and from time to time, until `signal` aborts. */
async function dropOldDeliveries(
  inbox: Pick<Inbox, 'prune'>,
  retainMs: number,
  { clock, messages }: Pick<Context, 'clock' | 'messages'>,
  signal: AbortSignal,
): Promise<void> {
  const pauseMs = Math.min(longestPauseMs, Math.max(shortestPauseMs, retainMs / 10));
  do {
    try {
      await inbox.prune(clock.now() - retainMs);
    } catch (error) {
      messages.note('retain', `old deliveries were not dropped: ${messageOf(error)}`);
    }
  } while (await slept(clock, pauseMs, signal));
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
  const { context, inbox, verifier, note, metrics, stop, attemptsController } = session;
  const { clock, random } = context;
  const options = {
    ...{ inbox, verifier, clock, note, random },
    onAttempt(attempt: Parameters<DeliveryOutput['forward']>[0]) {
      metrics?.forwarded(attempt);
      return output.forward(attempt);
    },
    shutdownRequested: stop.stopping,
    claimingStopped: stop.signal,
    attemptsAborted: attemptsController.signal,
  };
  return session.targets.map((target) => new ForwardWorker(target, options));
}

/** Probes that are under way have this time to be answered at the end. */
const adminDrainMs = 500;

/**
 * Opens the page of `--inspect`, the receiver's port and that of `--admin`, and prints where they are. From then on, files with
 * secrets, credentials and certificates are used again when they change.
 */
async function openSockets(session: ListenSession, receiver: Receiver, output: DeliveryOutput) {
  const { flags, context, verifier, credentials, stop, closers } = session;
  if (flags.inspect !== undefined) {
    const page = await startInspect(session, flags.inspect);
    closers.push(() => page.close());
  }
  const { server, listening, files: certificate } = await openServer(session, receiver);
  closers.push(() => server.close(drainTimeoutMs));
  const admin = await openAdmin(session);
  if (admin !== undefined) closers.push(() => admin.close(adminDrainMs));
  announce(listening, session);
  await output.listening({ ...listening, admin: admin?.url });
  const files = [await secretFiles(flags, verifier), credentials, certificate];
  const readable = files.filter((file) => file !== undefined);
  const renewing = renewFiles(readable, context, stop.signal);
  closers.push(() => renewing);
  return server;
}

/** Waits until `finish` has resolved. If that takes longer than the drain, it is made to: the attempts of targets are aborted. */
async function drain({ context, attemptsController }: ListenSession, finish: () => Promise<void>) {
  const finishedEarly = new AbortController();
  const finished = finish().finally(() => finishedEarly.abort());
  await Promise.race([finished, slept(context.clock, drainTimeoutMs, finishedEarly.signal)]);
  attemptsController.abort();
  await finished;
}

/**
 * Tells systemd (`Type=notify`, `NotifyAccess=all`) that the port is bound. That takes a message to a Unix datagram socket, which
 * node cannot open, so a program of systemd sends it.
 */
function notifyReady({ env, messages }: Pick<Context, 'env' | 'messages'>): void {
  const { PATH, NOTIFY_SOCKET } = env;
  const child = spawn('systemd-notify', ['--ready'], { env: { PATH, NOTIFY_SOCKET }, stdio: 'ignore' });
  child.on('error', (error) => messages.warn(`systemd was not told that this is ready: ${messageOf(error)}`));
  child.on('exit', (code) => {
    if (code !== 0) messages.warn('systemd was not told that this is ready: systemd-notify failed');
  });
}
