import type { Settings } from '../../config/settings.ts';
import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import type { Inbox } from '../../inbox/inbox.ts';
import { openInbox } from '../../inbox/sql.ts';
import { openService } from '../../service/service.ts';
import { type Guard, resolveScheme } from '../scheme-options.ts';
import type { Outcome } from '../spec.ts';
import { settleWritten } from './already-written.ts';
import { outputTarget } from './append.ts';
import { backfill } from './backfill.ts';
import { Carrier } from './carry.ts';
import { concealer } from './conceal.ts';
import { Desk } from './desk.ts';
import { type End, Ending } from './ending.ts';
import { explainer } from './explaining.ts';
import { type ListenOptions, options } from './options.ts';
import { Outlet } from './outlet.ts';
import { listenPlace } from './place.ts';
import { printerFor } from './printer.ts';
import { Rehearsal } from './rehearsal.ts';
import { Show } from './show.ts';
import { openDoor } from './door.ts';
import type { Target } from './target.ts';
import { targetsFor } from './targets.ts';

export { options };

/** Longest time that the end waits for deliveries in flight, in milliseconds. */
const drainMs = 5000;

/** A nonce of a scheme that signs no time would be good for ever: a month is what the guard remembers. */
const timelessNonceMs = 30 * 86_400_000;

export async function run(given: ListenOptions, context: Context): Promise<Outcome> {
  if (given.forwardBestEffort && given.forwardTo === undefined && given.exec === undefined) {
    throw new UsageError('--forward-best-effort needs --forward-to or --exec');
  }
  const settings = await context.settings();
  const guard = await resolveScheme(given, settings, context);
  const stop = new AbortController();
  const targets = await targetsFor(given, settings, context, stop.signal);
  try {
    const inbox = await openOwn(given, context, settings, guard, targets);
    try {
      if (given.output !== undefined) await settleWritten(given.output, outputTarget(given.output), inbox);
      return await receive(given, context, { guard, inbox, targets, stop });
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
  guard: Guard,
  targets: readonly Target[],
): Promise<Inbox> {
  const { toleranceMs } = guard.scheme;
  return openInbox({
    place: await listenPlace(given, settings, context),
    clock: context.clock,
    pid: context.pid,
    targets: targets.map((target) => target.name),
    // As long as one target may take, for each of them, and as long again for a command that waits for its turn.
    leaseMs: (settings.timeoutMs + 1000) * (targets.length + (given.exec === undefined ? 0 : 1)),
    nonceLifetimeMs: toleranceMs === undefined ? timelessNonceMs : 2 * toleranceMs + 1000,
    conceal: concealer(guard),
  });
}

interface Parts {
  readonly guard: Guard;
  readonly inbox: Inbox;
  readonly targets: readonly Target[];
  readonly stop: AbortController;
}

async function receive(given: ListenOptions, context: Context, parts: Parts): Promise<Outcome> {
  const { clock, notes, signal } = context;
  const { guard, inbox, targets, stop } = parts;
  const service = given.backfill === undefined ? undefined : await openService(context);
  const ending = new Ending({ count: given.count, forMs: given.for }, context);
  const outlet = new Outlet(
    context.stdout,
    (error) => ending.failed(error),
    () => notes.note('stdout', 'the reader of stdout is behind: deliveries wait for it'),
  );
  const show = new Show({
    printer: await printerFor(given.format, context),
    outlet,
    context,
    conceal: concealer(guard),
    onAccepted: () => ending.accepted(),
  });
  const { respond, failFirst, delay: delayMs } = given;
  const desk = new Desk({
    policy: { path: given.path, ...guard },
    inbox,
    carrier: new Carrier(inbox, targets, given.forwardBestEffort),
    rehearsal: new Rehearsal({ respond, failFirst, delayMs, clock, signal: ending.over }),
    clock,
    notes,
    show: (report, delivery) => show.delivery(report, delivery),
    explain: given.explain ? explainer(guard, clock) : undefined,
  });
  const door = await openDoor(given, context, { guard, desk, inbox, over: ending.over });
  await show.listening(door.listening);
  const filling =
    service === undefined || given.backfill === undefined
      ? undefined
      : backfill({ service, inbox, desk, clock, notes, stop: stop.signal, windowMs: given.backfill });
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

function outcomeOf(end: End, { count }: ListenOptions, signal: AbortSignal): Outcome {
  if (end.by === 'failure') throw end.error;
  if (end.by === 'time') return count === undefined ? 'done' : 'problems';
  // Ctrl-C is the ordinary end of a receiver, unless more leads were asked for.
  const reason = signal.reason as { exitCode?: number } | undefined;
  if (end.by === 'signal' && (count !== undefined || reason?.exitCode !== 130)) throw signal.reason;
  return 'done';
}
