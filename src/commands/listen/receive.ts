import type { Context } from '../../context.ts';
import type { Inbox } from '../../inbox/inbox.ts';
import { backfill } from '../../receiver/backfill/backfill.ts';
import { createReceiver, type Receiver } from '../../receiver/create-receiver.ts';
import { rejectionExplainer } from '../../receiver/explain-rejection.ts';
import { SimulatedFailures } from '../../receiver/simulated-failures.ts';
import type { Target } from '../../receiver/targets/target.ts';
import { openService } from '../../service/client/service.ts';
import type { Verifier } from '../../webhook/scheme.ts';
import type { Outcome } from '../flags/command-spec.ts';
import { hostGuardFor } from './host-guard-for.ts';
import { openServer } from './open-server.ts';
import type { ListenOptions } from './options.ts';
import { DeliveryOutput } from './print/delivery-output.ts';
import { StdoutWriter } from './stdout-writer.ts';
import { outcomeOf, StopCondition } from './stop-condition.ts';

/** Longest time that deliveries in flight get at the end, in milliseconds. */
const drainMs = 5000;

/** Longer than the deliveries have, so that the last of them are shown. */
const stdoutDrainMs = drainMs + 1000;

interface Parts {
  readonly verifier: Verifier;
  readonly inbox: Inbox;
  readonly targets: readonly Target[];
  /** Aborts what the targets and the backfill have in flight. */
  readonly abort: AbortController;
}

/** Receives and prints deliveries until the stop condition holds, then lets what is in flight finish. */
export async function receiveUntilStopped(
  flags: ListenOptions,
  context: Context,
  { verifier, inbox, targets, abort }: Parts,
): Promise<Outcome> {
  const { clock, messages } = context;
  const service = flags.backfill === undefined ? undefined : await openService(context);
  const stop = new StopCondition({ count: flags.count, forMs: flags.for }, context);
  const receiver = receiverFor(flags, context, { verifier, inbox, targets, signal: stop.signal });
  const stdout = new StdoutWriter(
    context.stdout,
    (error) => stop.fail(error),
    () => messages.note('stdout', 'the reader of stdout is behind: deliveries wait for it'),
  );
  const output = await DeliveryOutput.open(flags.format, stdout, verifier, context);
  output.subscribeTo(receiver.events);
  receiver.events.subscribe(({ verdict }) => {
    if (verdict === 'accepted') stop.countAccepted();
  });
  const server = await openServer(flags, context, { verifier, receiver, inbox, signal: stop.signal });
  await output.listening(server.listening);
  const backfilled =
    service === undefined || flags.backfill === undefined
      ? undefined
      : backfill({
          service,
          inbox,
          receiver,
          clock,
          messages,
          signal: abort.signal,
          windowMs: flags.backfill,
        });
  const cause = await stop.reached;
  // A terminal shows ^C at the start of a line and stays on it.
  if (cause.by === 'signal' && context.stderr.isTTY === true) context.stderr.write('\n');
  stdout.giveUpAfter(stdoutDrainMs);
  await server.close(drainMs);
  abort.abort();
  await backfilled;
  await receiver.idle();
  await output.summary();
  const missed = stop.missed();
  if (missed !== undefined) messages.warn(missed);
  if (stdout.abandoned !== undefined) throw stdout.abandoned;
  return outcomeOf(cause, flags.count, context.signal);
}

function receiverFor(
  flags: ListenOptions,
  { clock, messages }: Context,
  { verifier, inbox, targets, signal }: Omit<Parts, 'abort'> & { readonly signal: AbortSignal },
): Receiver {
  const { path, respond, failFirst, delay: delayMs } = flags;
  return createReceiver({
    policy: { path, ...verifier },
    hostGuard: hostGuardFor(flags, messages),
    inbox,
    targets,
    clock,
    messages,
    failures: new SimulatedFailures({ respond, failFirst, delayMs, clock, signal }),
    explain: flags.explain ? rejectionExplainer(verifier, clock) : undefined,
  });
}
