import type { Context } from '../../context.ts';
import type { Inbox } from '../../inbox/inbox.ts';
import type { InboxLocation } from '../../inbox/open-inbox.ts';
import { createReceiver, type Receiver } from '../../receiver/create-receiver.ts';
import { rejectionExplainer } from '../../receiver/explain-rejection.ts';
import type { ReceiverMetrics } from '../../receiver/metrics/receiver-metrics.ts';
import { limitYoungGeneration } from '../../receiver/limit-young-generation.ts';
import { SimulatedFailures } from '../../receiver/simulated-failures.ts';
import type { Target } from '../../receiver/targets/target.ts';
import type { LeadPlace } from '../flags/lead-at.ts';
import { openService } from '../../service/client/service.ts';
import type { Verifier } from '../../webhook/scheme.ts';
import type { Outcome } from '../flags/command-spec.ts';
import { hostGuardFor } from './host-guard-for.ts';
import { openServer } from './open-server.ts';
import { type Admin, startAdmin } from './operations/start-admin.ts';
import type { Inspect } from './operations/start-inspect.ts';
import { endWithin, startBackfill } from './start-backfill.ts';
import type { ListenOptions } from './options.ts';
import { DeliveryOutput } from './print/delivery-output.ts';
import { formatDuration } from '../../time/duration.ts';
import { StdoutWriter } from '../../output/stdout-writer.ts';
import { outcomeOf, StopCondition } from './stop-condition.ts';

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
export async function receiveUntilStopped(
  flags: ListenOptions,
  context: Context,
  parts: Parts,
): Promise<Outcome> {
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
    const { startInspect } = await import('./operations/start-inspect.ts');
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
