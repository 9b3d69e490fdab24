import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import type { Inbox } from '../../inbox/inbox.ts';
import type { InboxLocation } from '../../inbox/open-inbox.ts';
import type { Messages } from '../../output/messages.ts';
import { StdoutWriter } from '../../output/stdout.ts';
import { backfill } from '../../receiver/backfill.ts';
import { createReceiver, type Receiver } from '../../receiver/create-receiver.ts';
import { rejectionExplainer } from '../../receiver/explain-rejection.ts';
import { type HostGuard, hostGuard } from '../../receiver/host-guard.ts';
import { limitYoungGeneration } from '../../receiver/limit-young-generation.ts';
import { ReceiverMetrics } from '../../receiver/receiver-metrics.ts';
import { SimulatedFailures } from '../../receiver/simulated-failures.ts';
import { settleWrittenLeads } from '../../receiver/targets/append.ts';
import type { Target } from '../../receiver/targets/target.ts';
import { openService, type Service } from '../../service/client/service.ts';
import { formatDuration } from '../../time/duration.ts';
import type { Verifier } from '../../webhook/scheme.ts';
import type { Outcome } from '../flags/command-spec.ts';
import { type LeadPlace, leadPlaceOf } from '../flags/lead-at.ts';
import { resolveScheme } from '../flags/resolve-scheme.ts';
import { createTargets } from './create-targets.ts';
import { DeliveryOutput } from './delivery-output.ts';
import { dropOldDeliveries, openListenInbox } from './listen-inbox.ts';
import { openServer } from './open-server.ts';
import { type ListenOptions, shareAddress } from './options.ts';
import { type Admin, startAdmin } from './start-admin.ts';
import type { Inspect } from './start-inspect.ts';
import { outcomeOf, StopCondition } from './stop-condition.ts';

/** Opens what receiving needs, receives, and closes it again in reverse order. */
export async function run(flags: ListenOptions, context: Context): Promise<Outcome> {
  if (flags.forwardBestEffort && flags.forwardTo === undefined && flags.exec === undefined) {
    throw new UsageError('--forward-best-effort needs --forward-to or --exec');
  }
  if ((flags.forwardPath || flags.forwardInsecure) && flags.forwardTo === undefined) {
    throw new UsageError('--forward-path and --forward-insecure need --forward-to');
  }
  if (flags.backfillEvery !== undefined && flags.backfill === undefined) {
    throw new UsageError('--backfill-every needs --backfill, which says how far back each round looks', {
      hint: 'such as --backfill 24h --backfill-every 15m',
    });
  }
  if (flags.port !== 0 && flags.admin?.port === flags.port && shareAddress(flags.admin.host, flags.host)) {
    throw new UsageError(`--admin and --port both name port ${flags.port}`, {
      hint: 'deliveries and metrics need a port each, such as --admin 9090',
    });
  }
  if (flags.replayTo.length > 0 && flags.inspect === undefined) {
    throw new UsageError('--replay-to needs --inspect, which serves the page that replays');
  }
  const settings = await context.settings();
  const verifier = await resolveScheme(flags, settings, context);
  const abort = new AbortController();
  const targets = await createTargets(flags, settings, verifier, context, abort.signal);
  const metrics = flags.admin === undefined ? undefined : new ReceiverMetrics(context.clock, targets);
  const onCommit = metrics?.committed.bind(metrics);
  try {
    const { inbox, location, isRemoved, close } = await openListenInbox(
      flags,
      settings,
      context,
      verifier,
      targets,
      onCommit,
    );
    let retention: Promise<void> | undefined;
    let isOver = false;
    try {
      if (flags.output !== undefined) await settleWrittenLeads(flags.output, inbox);
      if (flags.retain !== undefined) {
        retention = dropOldDeliveries(inbox, flags.retain, context, abort.signal);
      }
      const outcome = await receiveUntilStopped(flags, context, {
        verifier,
        place: leadPlaceOf(settings, flags.leadAt),
        inbox,
        location,
        isRemoved,
        targets,
        metrics,
        abort,
      });
      isOver = outcome === 'done';
      return outcome;
    } finally {
      abort.abort();
      await retention;
      await close(isOver);
    }
  } finally {
    for (const target of targets) await target.close?.();
  }
}

/** How much longer the reader of stdout has than the deliveries, so that the last of them are shown; in milliseconds. */
const stdoutExtraMs = 1000;

interface Parts {
  readonly verifier: Verifier;
  readonly place: LeadPlace;
  readonly inbox: Inbox;
  readonly location: InboxLocation;
  /** Whether the inbox is removed at the end. */
  readonly isRemoved: boolean;
  readonly targets: readonly Target[];
  /** For `--admin`. */
  readonly metrics: ReceiverMetrics | undefined;
  /** Aborts what the targets have in flight. */
  readonly abort: AbortController;
}

/** Receives and prints deliveries until the stop condition holds, then lets what is in flight finish. */
async function receiveUntilStopped(flags: ListenOptions, context: Context, parts: Parts): Promise<Outcome> {
  const { drainDelay: drainDelayMs } = flags;
  limitYoungGeneration(parts.abort.signal);
  const stop = new StopCondition({ count: flags.count, forMs: flags.for, drainDelayMs }, context);
  const said = (): void => sayStopping(drainDelayMs, context);
  if (stop.stopping.aborted) said();
  else stop.stopping.addEventListener('abort', said, { once: true });
  let admin: Admin | undefined;
  const inspect: { page?: Inspect } = {};
  try {
    const { metrics } = parts;
    if (flags.admin !== undefined && metrics !== undefined) {
      const { stopping } = stop;
      admin = await startAdmin({ ...parts, metrics, address: flags.admin, stopping }, context);
    }
    return await receive(flags, context, { ...parts, stop, admin, inspect });
  } catch (error) {
    // Ends the time of `--for`, too: a run that could not start must not wait for it.
    stop.fail(error as Error);
    throw error;
  } finally {
    await inspect.page?.close();
    await admin?.close();
  }
}

async function receive(
  flags: ListenOptions,
  context: Context,
  {
    stop,
    admin,
    inspect,
    ...parts
  }: Parts & {
    readonly stop: StopCondition;
    readonly admin: Admin | undefined;
    readonly inspect: { page?: Inspect };
  },
): Promise<Outcome> {
  const { messages } = context;
  const { verifier, inbox, targets, metrics, abort } = parts;
  const { signal, stopping } = stop;
  const service = flags.backfill === undefined ? undefined : await openService(context);
  const receiver = receiverFor(flags, context, { ...parts, signal });
  const stdout = new StdoutWriter(
    context.stdout,
    (error) => stop.fail(error),
    () => messages.note('stdout', 'the reader of stdout is behind: deliveries wait for it'),
  );
  const output = await DeliveryOutput.open(flags.format, stdout, verifier, context);
  if (metrics !== undefined) receiver.events.subscribe((event) => metrics.delivered(event));
  output.subscribeTo(receiver.events);
  receiver.events.subscribe(({ verdict }) => {
    if (verdict === 'accepted') stop.countAccepted();
  });
  if (flags.inspect !== undefined) {
    const { startInspect } = await import('./start-inspect.ts');
    inspect.page = await startInspect({ ...parts, port: flags.inspect, receiver, signal }, flags, context);
  }
  const server = await openServer(flags, context, { ...parts, receiver, stopping, signal });
  admin?.serving(server);
  await output.listening({ ...server.listening, admin: admin?.url });
  const backfilled = startBackfill(flags, context, { service, inbox, receiver, targets, output, signal });
  const cause = await stop.reached;
  const { drainTimeout: drainMs } = flags;
  stdout.giveUpAfter(drainMs + stdoutExtraMs);
  await Promise.all([server.close(drainMs), endWithin(drainMs, backfilled, context)]);
  abort.abort();
  await backfilled;
  await receiver.idle();
  await output.summary();
  const missed = stop.missed();
  if (missed !== undefined) messages.warn(missed);
  if (stdout.abandoned !== undefined) throw stdout.abandoned;
  return outcomeOf(cause, flags.count, context.signal);
}

function sayStopping(drainDelayMs: number, { stderr, messages, signal }: Context): void {
  if (!signal.aborted) return;
  // A terminal shows ^C at the start of a line and stays on it.
  if (stderr.isTTY === true) stderr.write('\n');
  if (drainDelayMs === 0) return;
  const rest = formatDuration(drainDelayMs);
  messages.say(`draining: takes deliveries for another ${rest}; a second signal ends it at once`);
}

function receiverFor(
  flags: ListenOptions,
  { clock, messages }: Context,
  {
    verifier,
    place,
    inbox,
    targets,
    metrics,
    signal,
  }: Omit<Parts, 'abort' | 'isRemoved' | 'location'> & { readonly signal: AbortSignal },
): Receiver {
  const { path, respond, failFirst, delay: delayMs } = flags;
  return createReceiver({
    policy: { path, ...place, ...verifier },
    hostGuard: hostGuardFor(flags, messages),
    inbox,
    targets,
    clock,
    messages,
    failures: new SimulatedFailures({ respond, failFirst, delayMs, clock, signal }),
    explain: flags.explain ? rejectionExplainer(verifier, clock) : undefined,
    observer: metrics,
  });
}

interface BackfillParts {
  /** Undefined without `--backfill`. */
  readonly service: Service | undefined;
  readonly inbox: Inbox;
  readonly receiver: Receiver;
  readonly targets: readonly Target[];
  readonly output: DeliveryOutput;
  /** Aborted when the run stops. */
  readonly signal: AbortSignal;
}

/** `--backfill` and `--backfill-every`. Resolves when the run stops, or after the only round. */
async function startBackfill(
  { backfill: windowMs, backfillEvery: everyMs }: ListenOptions,
  { clock }: Pick<Context, 'clock'>,
  { service, output, ...parts }: BackfillParts,
): Promise<void> {
  if (service === undefined || windowMs === undefined) return;
  const onRound = output.backfill.bind(output);
  await backfill({ ...parts, service, clock, windowMs, everyMs, onRound });
}

/** Resolves when the work has ended, and at the latest after `ms`. */
async function endWithin(ms: number, work: Promise<void>, { clock }: Pick<Context, 'clock'>): Promise<void> {
  const over = new AbortController();
  const wait = clock.sleep(ms, over.signal).catch(() => undefined);
  await Promise.race([work.finally(() => over.abort()), wait]);
}

/** Needed where neither a credential nor a certificate keeps out a page in a browser on this machine. */
function hostGuardFor(
  { http, verify, host, publicUrl }: Pick<ListenOptions, 'http' | 'verify' | 'host' | 'publicUrl'>,
  messages: Pick<Messages, 'note'>,
): HostGuard | undefined {
  if (!http || verify) return undefined;
  const own = host.includes(':') ? `[${host}]` : host;
  const names = publicUrl === undefined ? [own] : [own, publicUrl.hostname];
  return hostGuard(names, (foreign) => {
    // The sender of the request chooses the text, and an operator may paste the line into a shell.
    const url = /^[\w.-]+$/.test(foreign) ? `https://${foreign}` : 'URL';
    const advice = `if that is your tunnel, name it with --public-url ${url}`;
    messages.note('foreign host', `a request for the host '${foreign}' was answered 403; ${advice}`);
  });
}
