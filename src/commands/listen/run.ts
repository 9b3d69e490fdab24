import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import type { Inbox } from '../../inbox/inbox.ts';
import { openInbox } from '../../inbox/sqlite/sqlite-inbox.ts';
import { openService } from '../../service/client/service.ts';
import type { Verifier } from '../../webhook/scheme.ts';
import { resolveScheme } from '../flags/resolve-scheme.ts';
import type { Outcome } from '../flags/command-spec.ts';
import { settleWritten } from '../../receiver/targets/settle-written.ts';
import { outputTarget } from '../../receiver/targets/append.ts';
import { backfill } from '../../receiver/backfill.ts';
import { Dispatcher } from '../../receiver/dispatch.ts';
import { deliveryRedactor } from '../../receiver/redact-delivery.ts';
import { DeliveryHandler } from '../../receiver/delivery-handler.ts';
import { type StopCause, StopCondition } from './stop-condition.ts';
import { explainer } from '../../receiver/explain-rejection.ts';
import type { ListenOptions } from './options.ts';
import { StdoutWriter } from './stdout-writer.ts';
import { listenInboxPath } from './inbox-path.ts';
import { printerFor } from './print/printer.ts';
import { SimulatedFailures } from '../../receiver/simulated-failures.ts';
import { Show } from './print/show.ts';
import { openServer } from './open-server.ts';
import type { Target } from '../../receiver/targets/target.ts';
import { targetsFor } from './targets.ts';

/** Longest time that the end waits for deliveries in flight, in milliseconds. */
const drainMs = 5000;

/** A nonce of a scheme that signs no time would be good for ever: a month is what the verifier remembers. */
const timelessNonceMs = 30 * 86_400_000;

export async function run(given: ListenOptions, context: Context): Promise<Outcome> {
  if (given.forwardBestEffort && given.forwardTo === undefined && given.exec === undefined) {
    throw new UsageError('--forward-best-effort needs --forward-to or --exec');
  }
  const settings = await context.settings();
  const verifier = await resolveScheme(given, settings, context);
  const stop = new AbortController();
  const targets = await targetsFor(given, settings, context, stop.signal);
  try {
    const inbox = await openOwn(given, context, settings, verifier, targets);
    try {
      if (given.output !== undefined) await settleWritten(given.output, outputTarget(given.output), inbox);
      return await receive(given, context, { verifier, inbox, targets, stop });
    } finally {
      await inbox.close();
    }
  } finally {
    for (const target of targets) await target.close?.();
  }
}

async function openOwn(
  given: ListenOptions,
  context: Context,
  settings: Settings,
  verifier: Verifier,
  targets: readonly Target[],
): Promise<Inbox> {
  const { toleranceMs } = verifier.scheme;
  return openInbox({
    place: await listenInboxPath(given, settings, context),
    clock: context.clock,
    pid: context.pid,
    targets: targets.map((target) => target.name),
    // As long as one target may take, for each of them, and as long again for a command that waits for its turn.
    leaseMs: (settings.timeoutMs + 1000) * (targets.length + (given.exec === undefined ? 0 : 1)),
    nonceLifetimeMs: toleranceMs === undefined ? timelessNonceMs : 2 * toleranceMs + 1000,
    conceal: deliveryRedactor(verifier),
  });
}

interface Parts {
  readonly verifier: Verifier;
  readonly inbox: Inbox;
  readonly targets: readonly Target[];
  readonly stop: AbortController;
}

async function receive(given: ListenOptions, context: Context, parts: Parts): Promise<Outcome> {
  const { clock, messages, signal } = context;
  const { verifier, inbox, targets, stop } = parts;
  const service = given.backfill === undefined ? undefined : await openService(context);
  const ending = new StopCondition({ count: given.count, forMs: given.for }, context);
  const outlet = new StdoutWriter(
    context.stdout,
    (error) => ending.failed(error),
    () => messages.note('stdout', 'the reader of stdout is behind: deliveries wait for it'),
  );
  const show = new Show({
    printer: await printerFor(given.format, context),
    outlet,
    context,
    conceal: deliveryRedactor(verifier),
    onAccepted: () => ending.accepted(),
  });
  const { respond, failFirst, delay: delayMs } = given;
  const desk = new DeliveryHandler({
    policy: { path: given.path, ...verifier },
    inbox,
    carrier: new Dispatcher(inbox, targets, given.forwardBestEffort),
    rehearsal: new SimulatedFailures({ respond, failFirst, delayMs, clock, signal: ending.over }),
    clock,
    messages,
    show: (report, delivery) => show.delivery(report, delivery),
    explain: given.explain ? explainer(verifier, clock) : undefined,
  });
  const door = await openServer(given, context, { verifier, desk, inbox, over: ending.over });
  await show.listening(door.listening);
  const filling =
    service === undefined || given.backfill === undefined
      ? undefined
      : backfill({ service, inbox, desk, clock, messages, stop: stop.signal, windowMs: given.backfill });
  const end = await ending.reached;
  // The terminal leaves its ^C where the next line would begin.
  if (end.by === 'signal' && context.stderr.isTTY === true) context.stderr.write('\n');
  // A moment more than deliveries have, so that the last of them are shown.
  outlet.giveUpAfter(drainMs + 1000);
  await door.close(drainMs);
  stop.abort();
  await filling;
  await desk.idle();
  await show.summary();
  if (outlet.abandoned !== undefined) throw outlet.abandoned;
  return outcomeOf(end, given, signal);
}

function outcomeOf(end: StopCause, { count }: ListenOptions, signal: AbortSignal): Outcome {
  if (end.by === 'failure') throw end.error;
  if (end.by === 'time') return count === undefined ? 'done' : 'problems';
  // Ctrl-C is the ordinary end of a receiver, unless more leads were asked for.
  const reason = signal.reason as { exitCode?: number } | undefined;
  if (end.by === 'signal' && (count !== undefined || reason?.exitCode !== 130)) throw signal.reason;
  return 'done';
}
