import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import type { RefusedRequest, Receiver } from '../../http/receiver.ts';
import { openReceiver } from '../../http/server.ts';
import { type Inbox } from '../../inbox/inbox.ts';
import { openInbox } from '../../inbox/sql.ts';
import type { Delivery } from '../../webhook/delivery.ts';
import { resolveScheme } from '../scheme-options.ts';
import type { Outcome } from '../spec.ts';
import { announce, warnOf } from './banner.ts';
import { Carrier } from './carry.ts';
import { certificateFor } from './certificate.ts';
import { concealer } from './conceal.ts';
import { Desk } from './desk.ts';
import { type End, Ending } from './ending.ts';
import { type ListenOptions, options } from './options.ts';
import { Outlet } from './outlet.ts';
import { listenPlace } from './place.ts';
import { printerFor } from './printer.ts';
import { Rehearsal } from './rehearsal.ts';
import type { Listening, Report } from './report.ts';
import { Show } from './show.ts';
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
  const certificate = await certificateFor(given, context);
  const { place, fresh } = await listenPlace(given, settings, context);
  const targets = await targetsFor(given, settings, context);
  const { toleranceMs } = guard.scheme;
  const inbox = await openInbox({
    place,
    clock: context.clock,
    targets: targets.map((target) => target.name),
    leaseMs: settings.timeoutMs + 1000,
    nonceLifetimeMs: toleranceMs === undefined ? timelessNonceMs : 2 * toleranceMs + 1000,
    redact: concealer(guard),
  });
  try {
    return await receive(given, context, { guard, certificate, inbox, fresh, targets, settings });
  } finally {
    await inbox.close();
    for (const target of targets) await target.close?.();
  }
}

interface Parts {
  readonly guard: Awaited<ReturnType<typeof resolveScheme>>;
  readonly certificate: Awaited<ReturnType<typeof certificateFor>>;
  readonly settings: Awaited<ReturnType<Context['settings']>>;
  readonly inbox: Inbox;
  readonly fresh: boolean;
  readonly targets: readonly Target[];
}

async function receive(given: ListenOptions, context: Context, parts: Parts): Promise<Outcome> {
  const { clock, notes, signal } = context;
  const { guard, certificate, inbox, targets } = parts;
  const ending = new Ending({ count: given.count, forMs: given.for }, context);
  const outlet = new Outlet(context.stdout, (error) => ending.failed(error));
  const show = new Show({
    printer: await printerFor(given.format, context),
    outlet,
    context,
    conceal: concealer(guard),
    onAccepted: () => ending.accepted(),
  });
  const desk = new Desk({
    policy: { path: given.path, ...guard },
    inbox,
    carrier: new Carrier(inbox, targets, given.forwardBestEffort),
    rehearsal: new Rehearsal({
      respond: given.respond,
      failFirst: given.failFirst,
      delayMs: given.delay,
      clock,
      signal,
    }),
    clock,
    notes,
    show: (report: Report, delivery: Delivery) => show.delivery(report, delivery),
  });
  const host = given.host ?? '127.0.0.1';
  const receiver = await openReceiver({
    host,
    port: given.port ?? 8443,
    tls: certificate.tls,
    clock,
    handle: (delivery) => desk.handle(delivery),
    onError: (error) =>
      notes.warn(`a delivery failed: ${error instanceof Error ? error.message : String(error)}`),
    onRefused: (refused) => void desk.refuse(wholeOf(refused), { ...refused, kind: 'rejected' }),
    onHandshake: ({ code, detail, remote }) => notes.note(`handshake ${code}`, `${remote}: ${detail}`),
    onFull: (connections) =>
      notes.note('full', `${connections} connections are open: others are turned away`),
  });
  const listening: Listening = {
    url: receiver.url,
    path: given.path,
    scheme: guard.scheme.name,
    inbox: inbox.place,
    caPath: certificate.caPath,
  };
  warnOf(given, host, notes);
  announce(listening, given, notes);
  await show.listening(listening);
  const end = await ending.reached;
  await close(receiver, show, outlet);
  return outcomeOf(end, given, signal);
}

async function close(receiver: Receiver, show: Show, outlet: Outlet): Promise<void> {
  await receiver.close(drainMs);
  await show.summary();
  await outlet.drained();
}

function outcomeOf(end: End, { count }: ListenOptions, signal: AbortSignal): Outcome {
  if (end.by === 'failure') throw end.error;
  if (end.by === 'time') return count === undefined ? 'done' : 'problems';
  // Ctrl-C is the ordinary end of a receiver, unless more leads were asked for.
  const reason = signal.reason as { exitCode?: number } | undefined;
  if (end.by === 'signal' && (count !== undefined || reason?.exitCode !== 130)) throw signal.reason;
  return 'done';
}

/** A request that was refused before it was a delivery, as far as it came. */
const wholeOf = ({ remote, receivedAt, method, path }: RefusedRequest): Delivery => ({
  method: method ?? '',
  path: path ?? '',
  url: '',
  rawHeaders: [],
  body: new Uint8Array(),
  remote,
  receivedAt,
});
