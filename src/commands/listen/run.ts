import { hostname } from 'node:os';
import { rejectForeignHeaders } from '../../config/extra-headers.ts';
import type { Settings } from '../../config/load-settings.ts';
import type { Context, Outcome } from '../../context.ts';
import { ConfigError, UsageError } from '../../errors.ts';
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
import { type ListenOptions, shareAddress } from './options.ts';
import { renewFiles, secretFiles } from './renewed-files.ts';
import type { ListenSession } from './session.ts';
import { startAdmin } from './start-admin.ts';
import { everyTargetHad, outcomeOf, StopCondition } from './stop-condition.ts';
import { openTarget, targetDefinitions } from './targets.ts';
import { withinTenth } from './within-tenth.ts';
import { SimulatedFailures } from './simulated-failures.ts';

/** The steps that close a run, however it ends; the last one is first. */
type Closers = (() => Promise<void> | void)[];

export async function run(flags: ListenOptions, context: Context): Promise<Outcome> {
  rejectSharedPort(flags);
  const closers: Closers = [];
  try {
    return await listen(flags, context, closers);
  } finally {
    await closeAll(closers);
  }
}

/** Runs every step, also where another one fails. */
async function closeAll(closers: Closers): Promise<void> {
  const close = closers.pop();
  if (close === undefined) return;
  try {
    await close();
  } finally {
    await closeAll(closers);
  }
}

/** Throws a `UsageError` where one port would be needed twice. */
function rejectSharedPort({ host, port, admin }: ListenOptions): void {
  if (port === 0 || admin?.port !== port || !shareAddress(admin.host, host)) return;
  throw new UsageError(`--admin and --port both name port ${port}`, {
    hint: 'deliveries and metrics need a port each, such as --admin 9090',
  });
}

/** How much longer the reader of stdout has than the deliveries, so that the last of them are shown; in milliseconds. */
const stdoutExtraMs = 1000;

/** Receives and prints deliveries until the stop condition holds, then lets what is in flight finish. */
async function listen(flags: ListenOptions, context: Context, closers: Closers): Promise<Outcome> {
  const { clock, messages } = context;
  const settings = await context.settings();
  const verifier = new CurrentKeys(await resolveScheme(flags, settings, context), clock);
  const definitions = await targetDefinitions(flags);
  /** Aborts what the targets have in flight. */
  const abort = new AbortController();
  const namedLocation = await namedInbox(flags, settings, context);
  if (flags.inspect !== undefined && namedLocation === ':memory:') {
    throw new UsageError('--inspect reads the inbox from a process of its own, which sees none in memory', {
      hint: 'name a file: --inbox FILE',
    });
  }
  const host = typeof namedLocation === 'object' ? hostname() : undefined;
  const targets: Target[] = [];
  closers.push(context.onHangup(() => targets.forEach((target) => target.reopen?.())));
  closers.push(async () => {
    for (const target of targets) await target.close?.();
  });
  const note = noteWith(messages);
  const opening = {
    ...{ context, host, note, signal: abort.signal },
    env: withoutInboxPassword(flags, context.env),
    timeoutMs: settings.timeoutMs,
    scheme: verifier.scheme.name,
  };
  for (const definition of definitions) targets.push(await openTarget(definition, opening));
  const metrics = flags.admin === undefined ? undefined : new ReceiverMetrics(clock, targets);
  const opened = await openListenInbox(flags, context, {
    namedLocation,
    verifier,
    targets,
    attemptMs: settings.timeoutMs,
    onCommit: metrics?.committed.bind(metrics),
  });
  const { inbox } = opened;
  closers.push(() => inbox.close());
  for (const [i, { to }] of definitions.entries()) {
    const isCut =
      'output' in to && (await repairOutputFile(to.output, inbox, leadPlaceOf(settings).idField, host));
    // It has seen the file as it was.
    if (isCut) targets[i]?.reopen?.();
  }
  const retention =
    flags.retain === undefined ? undefined : dropOldDeliveries(inbox, flags.retain, context, abort.signal);
  closers.push(() => {
    abort.abort();
    return retention;
  });
  const stop = new StopCondition(
    { count: flags.count, forMs: flags.for, drainDelayMs: settings.drainDelayMs },
    context,
  );
  // A run that could not start must not wait for the time of `--for`, nor the page for a replay.
  const closeStopped = (close: () => Promise<void> | void): void => {
    closers.push(() => {
      stop.end();
      return close();
    });
  };
  closeStopped(() => undefined);
  const sayStops = (): void => sayStopping(settings.drainDelayMs, context);
  if (stop.stopping.aborted) sayStops();
  else stop.stopping.addEventListener('abort', sayStops, { once: true });
  const { location } = opened;
  const session = { flags, context, verifier, targets, inbox, location, metrics, stop };

  const admin = await startAdmin(session);
  if (admin !== undefined) closeStopped(() => admin.close());
  const pulled =
    flags.backfill === undefined
      ? undefined
      : {
          windowMs: flags.backfill,
          everyMs: flags.backfillEvery,
          service: await pulledService(settings, context, stop.signal),
        };
  const { signal } = stop;
  const stdout = new StdoutWriter(
    context.stdout,
    (error) => stop.fail(error),
    () => messages.note('stdout', 'the reader of stdout is behind: deliveries wait for it'),
  );
  const output = await openDeliveryOutput({ format: flags.format, stdout, verifier, targets }, context);
  const workers = targets.map(
    (target) =>
      new ForwardWorker(target, {
        ...{ inbox, verifier, clock, note, random: context.random },
        onAttempt(attempt) {
          metrics?.forwarded(attempt);
          return output.forward(attempt);
        },
        ...{ shutdownRequested: stop.stopping, claimingStopped: signal, attemptsAborted: abort.signal },
      }),
  );
  const untilForwarded = (leadIds: readonly string[]): Promise<void> =>
    targets.length === 0 ? Promise.resolve() : everyTargetHad(leadIds, inbox, clock, signal);
  const isLeadFound = leadPlaceOf(settings, flags.leadAt).leadAt === 'auto';
  const receiver = receiverFor(session, settings, workers, (event) => {
    const { verdict, leadId = '', pointer } = event;
    metrics?.delivered(event);
    const room = output.delivery(event);
    if (flags.count !== undefined && verdict === 'accepted') stop.countAccepted(leadId, untilForwarded);
    if (isLeadFound && pointer !== undefined)
      messages.note(
        'lead place',
        `leads are taken from ${pointer} of the body; --lead-at ${shellWord(pointer)} keeps to that place`,
      );
    return room;
  });
  if (flags.inspect !== undefined) {
    const { startInspect } = await import('./start-inspect.ts');
    const page = await startInspect(session, flags.inspect);
    closeStopped(() => page.close());
  }
  const server = await openServer(session, receiver);
  admin?.serving(server);
  await output.listening({ ...server.listening, admin: admin?.url });
  if (context.env['NOTIFY_SOCKET'] !== undefined) {
    const { notifyReady } = await import('./notify-ready.ts');
    notifyReady(context);
  }
  const files = [...(await secretFiles(flags, verifier)), ...opened.files, ...server.files];
  if (files.length > 0 || verifier.keys.length > 1) {
    const renewed = renewFiles(files, context, signal, () => noteUnused(verifier, messages));
    closeStopped(() => renewed);
  }
  const forwarded = Promise.all(workers.map((worker) => worker.run()));
  /** Why the only round had none. */
  let withoutKey: ConfigError | undefined;
  const backfilled =
    pulled === undefined
      ? Promise.resolve()
      : backfill({
          ...pulled,
          inbox,
          receiver,
          clock,
          signal,
          note,
          async onRound(round) {
            const { end } = round;
            const isOnly = flags.backfillEvery === undefined;
            if (isOnly && end.kind === 'failed' && end.error instanceof ConfigError) withoutKey = end.error;
            await output.backfill(round);
          },
        });

  const cause = await stop.reached;
  const { drainTimeoutMs: drainMs } = settings;
  stdout.giveUpAfter(drainMs + stdoutExtraMs);
  const drained = Promise.all([backfilled, forwarded, server.close(drainMs)]).then(async () => {
    await receiver.idle();
    await Promise.all(workers.map((worker) => worker.idle()));
  });
  await endWithin(drainMs, drained, context);
  abort.abort();
  await drained;
  await output.summary();
  const missed = stop.missed(cause);
  if (missed !== undefined) messages.warn(missed);
  if (stdout.abandoned !== undefined) throw stdout.abandoned;
  const outcome = outcomeOf(cause, flags.count, context.signal);
  if (withoutKey !== undefined && outcome === 'done' && cause.by !== 'count') throw withoutKey;
  return outcome;
}

/**
 * Gives the function that opens the service of the rounds, once. A command that gives the key runs in a round: deliveries need none, and what
 * it asks may be away. Throws a `ConfigError` for what is wrong with the settings.
 */
async function pulledService(
  settings: Settings,
  context: Context,
  signal: AbortSignal,
): Promise<() => Promise<Service>> {
  const account = settings.account();
  rejectForeignHeaders(settings, account.baseUrl);
  const untilStopped = Object.create(context, { signal: { value: signal } }) as Context;
  let service = 'apiKey' in account ? await openService(context) : undefined;
  return async () => (service ??= await openService(untilStopped));
}

/** For so long no delivery may have used a secret before it is said, in hours. */
const unusedHours = 24;

function noteUnused(current: CurrentKeys, messages: Context['messages']): void {
  for (const index of current.unused(unusedHours * 3_600_000)) {
    const number = index + 1;
    const secrets = current.keys.length;
    const text = `no delivery used secret ${number} of ${secrets} for ${unusedHours}h: it can be removed`;
    messages.note(`former-secret-unused ${current.replaced} ${number}`, text);
  }
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

/** Resolves when the work has ended, and at the latest after `ms`. */
async function endWithin(
  ms: number,
  work: Promise<unknown>,
  { clock }: Pick<Context, 'clock'>,
): Promise<void> {
  const over = new AbortController();
  const wait = clock.sleep(ms, over.signal).catch(() => undefined);
  await Promise.race([work.finally(() => over.abort()), wait]);
}
