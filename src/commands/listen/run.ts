import { spawn } from 'node:child_process';
import { hostname } from 'node:os';
import { rejectForeignHeaders } from '../../config/extra-headers.ts';
import type { Settings } from '../../config/load-settings.ts';
import type { Context, Outcome } from '../../context.ts';
import { ConfigError, messageOf, UsageError } from '../../errors.ts';
import { StdoutWriter } from '../../output/stdout.ts';
import { backfill } from '../../receiver/backfill.ts';
import { CurrentKeys } from '../../receiver/credentials.ts';
import { type HostGuard, hostGuard } from '../../receiver/host-guard.ts';
import type { ReceiverNote } from '../../receiver/errors.ts';
import { ForwardWorker } from '../../receiver/forward-worker.ts';
import { createReceiver, type Receiver, type ReceiverOptions } from '../../receiver/receiver.ts';
import { ReceiverMetrics } from '../../receiver/receiver-metrics.ts';
import { repairOutputFile } from '../../receiver/targets/append.ts';
import type { Target } from '../../receiver/targets/target.ts';
import { openService, type Service } from '../../service/client/service.ts';
import { slept } from '../../time/clock.ts';
import { formatDuration } from '../../time/time-text.ts';
import { explanationLines } from '../../output/explanation.ts';
import type { Delivery } from '../../webhook/delivery.ts';
import { explain } from '../../webhook/explain/explain-delivery.ts';
import { shellWord } from '../../front.ts';
import { withoutInboxPassword } from '../flags/resolve-inbox.ts';
import { resolveScheme, leadPlaceOf } from '../flags/resolve-scheme.ts';
import { openDeliveryOutput } from './print.ts';
import { dropOldDeliveries, namedInbox, openListenInbox } from './listen-inbox.ts';
import { openServer } from './open-server.ts';
import type { ListenOptions } from './command.ts';
import { renewFiles, secretFiles } from './renewed-files.ts';
import type { ListenSession } from './session.ts';
import { startAdmin } from './start-admin.ts';
import { everyTargetHad, onAbort, outcomeOf, StopCondition } from './stop-condition.ts';
import { openTarget, targetDefinitions } from './targets.ts';
import { withinTenth } from './within-tenth.ts';
import { SimulatedFailures } from './simulated-failures.ts';

/** The steps that close a run, however it ends; the last one is first. */
type Closers = (() => Promise<void> | void)[];

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
    return await listen({ flags, settings, context, stop, closers });
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

interface ListenParts extends Pick<ListenSession, 'flags' | 'context' | 'stop'> {
  readonly settings: Settings;
  readonly closers: Closers;
}

/** How much longer the reader of stdout has than the deliveries, so that the last of them are shown; in milliseconds. */
const stdoutExtraMs = 1000;

/** Answers of `--admin` that are under way get so long at the end, in milliseconds. */
const lastAnswersMs = 500;

async function listen({ flags, settings, context, stop, closers }: ListenParts): Promise<Outcome> {
  const { clock, messages } = context;
  const { timeoutMs, drainTimeoutMs: drainMs } = settings;
  const verifier = new CurrentKeys(await resolveScheme(flags, settings, context));
  const definitions = await targetDefinitions(flags);
  const namedLocation = await namedInbox(flags, settings, context);
  const host = typeof namedLocation === 'object' ? hostname() : undefined;
  const note = noteWith(messages);
  /** Aborts what the targets have in flight. */
  const abort = new AbortController();
  const targets: Target[] = [];
  closers.push(context.onHangup(() => targets.forEach((target) => target.reopen?.())));
  closers.push(async () => {
    for (const target of targets) await target.close?.();
  });
  const opening = {
    context,
    host,
    note,
    timeoutMs,
    signal: abort.signal,
    env: withoutInboxPassword(flags, context.env),
    scheme: verifier.scheme.name,
  };
  for (const definition of definitions) targets.push(await openTarget(definition, opening));
  const metrics = flags.admin === undefined ? undefined : new ReceiverMetrics(clock, targets);
  const { inbox, location, credentials } = await openListenInbox(flags, context, {
    namedLocation,
    verifier,
    targets,
    attemptMs: timeoutMs,
    onCommit: metrics?.committed.bind(metrics),
  });
  closers.push(() => inbox.close());
  const { idField, leadAt } = leadPlaceOf(settings, flags.leadAt);
  for (const [i, { to }] of definitions.entries()) {
    const isCut = 'output' in to && (await repairOutputFile(to.output, inbox, idField, host));
    // The target has seen the file as it was.
    if (isCut) targets[i]?.reopen?.();
  }
  const retention =
    flags.retain === undefined ? undefined : dropOldDeliveries(inbox, flags.retain, context, abort.signal);
  closers.push(() => {
    abort.abort();
    return retention;
  });
  const { signal, stopping } = stop;
  onAbort(stopping, () => sayStopping(settings.drainDelayMs, context));
  const session = { flags, context, verifier, targets, inbox, location, metrics, stop };

  const service = flags.backfill === undefined ? undefined : pulledService(settings, context, signal);
  const stdout = new StdoutWriter(
    context.stdout,
    (error) => stop.stop({ by: 'failure', error }),
    () => messages.note('stdout', 'the reader of stdout is behind: deliveries wait for it'),
  );
  const output = await openDeliveryOutput({ format: flags.format, stdout, verifier, targets }, context);
  const workers = targets.map(
    (target) =>
      new ForwardWorker(target, {
        inbox,
        verifier,
        clock,
        note,
        random: context.random,
        onAttempt(attempt) {
          metrics?.forwarded(attempt);
          return output.forward(attempt);
        },
        shutdownRequested: stopping,
        claimingStopped: signal,
        attemptsAborted: abort.signal,
      }),
  );
  const untilForwarded = (leadIds: readonly string[]): Promise<void> =>
    targets.length === 0 ? Promise.resolve() : everyTargetHad(leadIds, inbox, clock, signal);
  const receiver = receiverFor(session, settings, workers, (event) => {
    const { verdict, leadId = '', pointer } = event;
    metrics?.delivered(event);
    const room = output.delivery(event);
    if (flags.count !== undefined && verdict === 'accepted') stop.countAccepted(leadId, untilForwarded);
    if (leadAt === 'auto' && pointer !== undefined)
      messages.note(
        'lead place',
        `leads are taken from ${pointer} of the body; --lead-at ${shellWord(pointer)} keeps to that place`,
      );
    return room;
  });
  if (flags.inspect !== undefined) {
    const { startInspect } = await import('./start-inspect.ts');
    const page = await startInspect(session, flags.inspect);
    closers.push(() => page.close());
  }
  const server = await openServer(session, receiver);
  closers.push(() => server.close(drainMs));
  const admin = await startAdmin(session, server);
  if (admin !== undefined) closers.push(() => admin.close(lastAnswersMs));
  await output.listening({ ...server.listening, admin: admin?.url });
  if (context.env['NOTIFY_SOCKET'] !== undefined) notifyReady(context);
  const renewedFiles = [await secretFiles(flags, verifier), credentials, server.files].filter(
    (files) => files !== undefined,
  );
  if (renewedFiles.length > 0) {
    const renewed = renewFiles(renewedFiles, context, signal);
    closers.push(() => renewed);
  }
  const forwarded = Promise.all(workers.map((worker) => worker.run()));
  let onlyRoundError: ConfigError | undefined;
  const backfilled =
    flags.backfill === undefined || service === undefined
      ? undefined
      : backfill({
          service,
          inbox,
          receiver,
          clock,
          signal,
          note,
          windowMs: flags.backfill,
          everyMs: flags.backfillEvery,
          onRound(round) {
            const { end, everyMs } = round;
            const hasNoKey = end.kind === 'failed' && end.error instanceof ConfigError;
            if (hasNoKey && everyMs === undefined) onlyRoundError = end.error;
            return output.backfill(round);
          },
        });

  const cause = await stop.reached;
  stdout.giveUpAfter(drainMs + stdoutExtraMs);
  const drained = Promise.all([backfilled, forwarded, server.close(drainMs)]).then(async () => {
    await receiver.idle();
    await Promise.all(workers.map((worker) => worker.idle()));
  });
  const over = new AbortController();
  await Promise.race([drained.finally(() => over.abort()), slept(clock, drainMs, over.signal)]);
  abort.abort();
  await drained;
  await output.summary();
  const missed = stop.missed(cause);
  if (missed !== undefined) messages.warn(missed);
  if (stdout.abandoned !== undefined) throw stdout.abandoned;
  const outcome = outcomeOf(cause, flags.count, context.signal);
  if (onlyRoundError !== undefined && outcome === 'done' && cause.by !== 'count') throw onlyRoundError;
  return outcome;
}

/**
 * Gives the function that opens the service of the rounds, once. A command that gives the key runs in a round: deliveries need none,
 * and what it asks may be away. Throws a `ConfigError` for what is wrong with the settings.
 */
function pulledService(settings: Settings, context: Context, signal: AbortSignal): () => Promise<Service> {
  rejectForeignHeaders(settings, settings.account().baseUrl);
  const untilStopped = Object.create(context, { signal: { value: signal } }) as Context;
  let service: Service | undefined;
  return async () => (service ??= await openService(untilStopped));
}

function sayStopping(drainDelayMs: number, { stderr, messages, signal }: Context): void {
  if (!signal.aborted) return;
  // A terminal shows ^C at the start of a line and stays on it.
  if (stderr.isTTY === true) stderr.write('\n');
  if (drainDelayMs === 0) return;
  const delay = formatDuration(drainDelayMs);
  messages.say(`draining: takes deliveries for another ${delay}; a second signal ends it at once`);
}

function receiverFor(
  { flags, context, verifier, inbox, metrics, stop: { signal } }: ListenSession,
  settings: Settings,
  workers: readonly ForwardWorker[],
  onAnswered: ReceiverOptions['onAnswered'],
): Receiver {
  const { clock, messages } = context;
  const { path, simulate } = flags;
  const explained = withinTenth(clock, (delivery: Delivery) =>
    explanationLines(explain(delivery, verifier, clock.now()), context.platform),
  );
  return createReceiver({
    verifier,
    place: { path, ...leadPlaceOf(settings, flags.leadAt) },
    onAnswered,
    otherEvents: { areTaken: settings.takesOtherEvents, option: 'the setting webhook.other-events accept' },
    hostGuard: hostGuardFor(flags, messages),
    inbox,
    workers,
    clock,
    note: noteWith(messages),
    failures: simulate === undefined ? undefined : new SimulatedFailures({ ...simulate, clock, signal }),
    // Nothing is ever accepted because of what is explained.
    explain: !flags.explain
      ? undefined
      : (delivery, { status, reason }) =>
          (status === 401 && reason !== 'replayed_nonce' ? explained(delivery) : undefined) ?? [],
    observer: metrics,
  });
}

const noteWith =
  (messages: Context['messages']) =>
  ({ kind, cause = '', message, isWarning }: ReceiverNote): void => {
    if (isWarning === true) messages.warn(message);
    else messages.note(`${kind} ${cause}`, message);
  };

/** Needed where neither a credential nor a certificate keeps out a page in a browser on this machine. */
function hostGuardFor(
  { http, verify, host }: ListenOptions,
  messages: Pick<Context['messages'], 'note'>,
): HostGuard | undefined {
  if (!http || verify) return undefined;
  const hostInUrl = host.includes(':') ? `[${host}]` : host;
  return hostGuard(hostInUrl, (foreign) => {
    const advice = 'if that is your tunnel, it must send the host localhost';
    messages.note('foreign host', `a request for the host '${foreign}' was answered 403; ${advice}`);
  });
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
