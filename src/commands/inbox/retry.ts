import type { Context, Outcome } from '../../context.ts';
import { ServiceError, UsageError, messageOf } from '../../errors.ts';
import type { Output } from '../../host.ts';
import type { Inbox, StoredDelivery, TargetCount } from '../../inbox/inbox.ts';
import { objectWriter } from '../../output/records/record-writer.ts';
import { write } from '../../output/stdout.ts';
import { counted } from '../../output/terminal/progress.ts';
import { sanitize } from '../../output/terminal/terminal.ts';
import { claimMsFor } from '../../receiver/forward-worker.ts';
import { noDeliveryOfLead } from '../../receiver/errors.ts';
import { type Retried, retryRequest, untried } from '../../receiver/retry-request.ts';
import { firstDelivery, isUnreadable } from '../../receiver/stored-request.ts';
import { forwardTarget } from '../../receiver/targets/forward.ts';
import type { Target } from '../../receiver/targets/target.ts';
import { slept } from '../../time/clock.ts';
import { formatDuration } from '../../time/time-text.ts';
import { resolveTarget } from '../flags/delivery-target.ts';
import type { InboxRetryOptions } from './command.ts';
import { withInbox } from '../flags/resolve-inbox.ts';

/**
 * Without `--to`, makes leads due, and the receivers that run deliver them. With it, delivers them from here: with `--pending` in
 * place of the forward that they wait for, with ids as a copy that changes nothing in the inbox.
 */
export async function run(options: InboxRetryOptions, context: Context): Promise<Outcome> {
  const namesIds = options.id.length > 0;
  if (options.pending === namesIds) throw new UsageError('give the ids of leads, or --pending');
  const printer = await retryPrinter(options.format, context.stdout);
  const outcome =
    options.to === undefined
      ? await makeDue(options, printer, context)
      : await deliverTo(options.to, options, printer, context);
  await printer.end();
  return outcome;
}

/** The ids that were named, or those of all leads that wait or are dead, oldest first. */
async function leadIdsOf({ id, pending }: InboxRetryOptions, inbox: Inbox): Promise<readonly string[]> {
  if (!pending) {
    const stored = await inbox.has(id);
    const unknown = id.find((leadId) => !stored.has(leadId));
    if (unknown === undefined) return id;
    throw noDeliveryOfLead(unknown);
  }
  const seqs = new Map<string, number>();
  for await (const { leadId, seq } of inbox.waiting()) seqs.set(leadId, seq);
  return [...seqs].sort(([, a], [, b]) => a - b).map(([leadId]) => leadId);
}

const leadsInStatement = 500;

/** Makes leads due now, and waits until the receivers that run have tried them. */
async function makeDue(
  options: InboxRetryOptions,
  printer: RetryPrinter,
  context: Context,
): Promise<Outcome> {
  const { messages } = context;
  const counts = await withInbox(options, context, async (inbox) => {
    const ids = await leadIdsOf(options, inbox);
    let due = 0;
    const dueAt = context.clock.now();
    for (let i = 0; i < ids.length; i += leadsInStatement)
      due += await inbox.makeDue(ids.slice(i, i + leadsInStatement), dueAt);
    return { due, ...(await watchAttempts(due === 0 ? [] : ids, inbox, printer, context)) };
  });
  if (counts === undefined) return 'done';
  const { due, failed, waiting } = counts;
  const answers = "'leads inbox show ID' has the answers so far";
  if (due === 0) {
    const sendAgain = options.pending
      ? ''
      : ': it was delivered, or has none; to send it all the same, add --to URL';
    messages.say(`no lead waits for a target${sendAgain}`);
  }
  if (due > waiting) {
    const tried = counted(due - waiting, 'lead', 'leads');
    messages.say(`${tried} sent by receivers, ${failed} failed${failed > 0 ? `: ${answers}` : ''}`);
  }
  if (waiting > 0) {
    const leads = counted(waiting, 'lead still waits', 'leads still wait');
    messages.say(`${leads}: no receiver that has the target tried again; ${answers}`);
  }
  return failed + waiting > 0 ? 'problems' : 'done';
}

const lookEveryMs = 200;
/** After this time without an attempt, no receiver is there that has the targets of the other leads. */
const idleMs = 5_000;

/**
 * Prints the result of each lead once no receiver has to try it any more, until all have one or receivers are idle. Returns the
 * numbers of the leads that failed, and of those that still wait for an attempt.
 */
async function watchAttempts(
  leadIds: readonly string[],
  inbox: Pick<Inbox, 'forwards'>,
  printer: RetryPrinter,
  { clock, signal }: Pick<Context, 'clock' | 'signal'>,
): Promise<{ readonly failed: number; readonly waiting: number }> {
  const waiting = new Set(leadIds);
  let failed = 0;
  let activeAt = clock.steady();
  while (waiting.size > 0 && clock.steady() - activeAt < idleMs) {
    const batch = [...waiting].slice(0, leadsInStatement);
    const forwardsOf = await inbox.forwards(batch);
    const now = clock.now();
    for (const leadId of batch) {
      const forwards = forwardsOf.get(leadId) ?? [];
      // The app may be slow: an attempt that is under way is waited for.
      if (forwards.some(({ isClaimed }) => isClaimed)) activeAt = clock.steady();
      const isUntried = forwards.some(
        ({ state, tries, dueAt = 0 }) => state === 'waiting' && (tries === 0 || dueAt <= now),
      );
      if (isUntried) continue;
      waiting.delete(leadId);
      activeAt = clock.steady();
      const undelivered = forwards.filter(({ state }) => state !== 'done');
      const ok = undelivered.length === 0;
      if (!ok) failed += 1;
      const states = undelivered.map(({ target, state }) => `${state} for ${target}`).join(', ');
      await printer.write({ ...untried(leadId, ok ? 'done' : states, now), ok, isTried: true });
    }
    if (waiting.size > 0 && !(await slept(clock, lookEveryMs, signal))) break;
  }
  signal.throwIfAborted();
  return { failed, waiting: waiting.size };
}

/** Leads are read in batches: those of a batch that came in one request are delivered in one. */
const readAtOnce = 50;

async function deliverTo(
  to: URL,
  options: InboxRetryOptions,
  printer: RetryPrinter,
  context: Context,
): Promise<Outcome> {
  const { timeoutMs } = await context.settings();
  const { url, trust, proxy } = await resolveTarget(to, {}, context);
  const { clock, signal } = context;
  // The inbox does not keep which scheme verified a delivery.
  const scheme = undefined;
  const now = (): number => clock.now();
  const target = forwardTarget({ url, scheme, proxy, timeoutMs, trust, now, signal });
  const retried: Retried[] = [];
  const store = { targets: [target.name], claimMs: claimMsFor(timeoutMs) };
  const deliverFrom = async (inbox: Inbox): Promise<readonly TargetCount[]> => {
    for await (const result of deliverLeads(options, target, inbox, context)) {
      retried.push(result);
      await printer.write(options.pending ? result : { ...result, insteadOf: undefined });
    }
    return options.pending ? inbox.targetCounts() : [];
  };
  try {
    const targets = await withInbox(options, context, deliverFrom, store);
    if (targets !== undefined) report(retried, to, targets, context.messages);
  } finally {
    await target.close?.();
  }
  return retried.every(({ ok }) => ok) ? 'done' : 'problems';
}

/** Yields the result of each lead. Throws the reason of an interruption, before the next request. */
async function* deliverLeads(
  options: InboxRetryOptions,
  target: Target,
  inbox: Inbox,
  { clock, signal }: Context,
): AsyncGenerator<Retried> {
  const retrying = { target, inbox, clock, isMove: options.pending };
  const ids = await leadIdsOf(options, inbox);
  for (let i = 0; i < ids.length; i += readAtOnce) {
    const { requests, unreadable } = await requestsOf(ids.slice(i, i + readAtOnce), inbox, options);
    for (const { leadId, why } of unreadable) yield untried(leadId, why, clock.now());
    for (const leads of requests) {
      signal.throwIfAborted();
      yield* await retryRequest(leads, retrying);
    }
  }
  signal.throwIfAborted();
}

type StoredLead = StoredDelivery & { readonly leadId: string };

/**
 * Groups the leads by the request that first delivered them. Throws for an id that was named and cannot be read; with
 * `--pending`, such leads are `unreadable`.
 */
async function requestsOf(leadIds: readonly string[], inbox: Inbox, { pending }: InboxRetryOptions) {
  const requests = new Map<number, StoredLead[]>();
  const unreadable: { readonly leadId: string; readonly why: string }[] = [];
  for (const leadId of leadIds) {
    try {
      const delivery = { ...(await firstDelivery(inbox, leadId)), leadId };
      const requestSeq = delivery.firstSeq ?? delivery.seq;
      requests.set(requestSeq, [...(requests.get(requestSeq) ?? []), delivery]);
    } catch (error) {
      if (!pending || !isUnreadable(error)) throw error;
      unreadable.push({ leadId, why: messageOf(error) });
    }
  }
  return { requests: requests.values(), unreadable };
}

/** Says what was delivered, and what still waits for `targets`. Throws a `ServiceError` if the app was not reached at all. */
function report(
  retried: readonly Retried[],
  to: URL,
  targets: readonly TargetCount[],
  messages: Pick<Context['messages'], 'say' | 'note'>,
): void {
  const [first] = retried;
  if (first === undefined) messages.say('no lead waits for a forward');
  else if (retried.every(({ reached }) => !reached)) {
    throw new ServiceError(`cannot reach ${to.origin}: ${first.answer}`, {
      hint: 'start the app, or check --to; what waits stays so',
    });
  } else {
    const leads = counted(retried.length, 'lead', 'leads');
    const delivered = retried.filter(({ ok }) => ok).length;
    const failed = retried.length - delivered;
    messages.say(
      failed === 0 ? `${leads} delivered` : `${delivered} of ${leads} delivered, ${failed} failed`,
    );
  }
  for (const { target, waiting, dead } of targets) {
    const leads = counted(waiting + dead, 'lead waits', 'leads wait');
    messages.note(`waiting ${target}`, `${leads} still for ${target}`);
  }
}

type RetryPrinter = Awaited<ReturnType<typeof retryPrinter>>;

async function retryPrinter(format: InboxRetryOptions['format'], stdout: Output) {
  if (format === 'table') {
    return {
      write({ leadId, ok, answer, durationMs, insteadOf }: Retried) {
        const parts = [ok ? 'delivered' : 'failed   ', leadId, answer, formatDuration(durationMs)];
        if (insteadOf !== undefined) parts.push(`instead of ${insteadOf}`);
        return write(stdout, `${parts.map((part) => sanitize(part)).join('  ')}\n`);
      },
      end: () => Promise.resolve(),
    };
  }
  const writer = await objectWriter(format, stdout);
  return {
    write({ leadId, ok, answer, durationMs, at: endedAt, insteadOf }: Retried) {
      const times = { durationMs, at: new Date(endedAt).toISOString() };
      return writer.write({ leadId, ok, answer, ...times, insteadOf: insteadOf ?? null });
    },
    end: writer.end,
  };
}
