import { isLoopback } from '../../config/base-url.ts';
import type { Context } from '../../context.ts';
import { DataError, UsageError } from '../../errors.ts';
import type { HandedResult, Inbox, LeaseState, StoredDelivery } from '../../inbox/inbox.ts';
import { proxyFor } from '../../http/client/proxy.ts';
import { forwardTarget } from '../../receiver/targets/forward.ts';
import type { Target } from '../../receiver/targets/target.ts';
import { readAuthority } from '../../tls/local-authority.ts';
import type { Outcome } from '../flags/command-spec.ts';
import type { InboxRetryOptions } from './options.ts';
import { asReceived } from './received-delivery.ts';
import { type RetriedLead, retryPrinter } from './retry-printer.ts';
import { withInbox } from './with-inbox.ts';

/** Added to the time of a delivery for what surrounds it, such as the settlement, in milliseconds. */
const leaseMarginMs = 1000;

export async function run(options: InboxRetryOptions, context: Context): Promise<Outcome> {
  const to = checked(options);
  const { timeoutMs } = await context.settings();
  const target = forwardTarget({
    url: to,
    keepPath: false,
    // The inbox does not keep which scheme verified a delivery.
    scheme: undefined,
    proxy: proxyFor(to, context.env),
    timeoutMs,
    bestEffort: false,
    keepBody: false,
    loopbackCa: await readAuthority(context.paths.dataDir),
    signal: context.signal,
  });
  const { pid, messages } = context;
  const store = { pid, targets: [target.name], leaseMs: target.longestMs + leaseMarginMs };
  const printer = await retryPrinter(options.format, context.stdout);
  let failed = 0;
  try {
    const tried = await withInbox(
      options.inbox,
      context,
      async (inbox) => {
        const ids = options.pending ? await pendingIds(inbox) : options.id;
        const found = await firstDeliveries(inbox, ids);
        for (const delivery of found) {
          context.signal.throwIfAborted();
          const retried = await retry(delivery, target, inbox, context);
          if (!retried.ok) failed += 1;
          await printer.write(retried);
        }
        return found.length;
      },
      store,
    );
    await printer.end();
    if (tried !== undefined) messages.say(summary(tried, failed));
  } finally {
    await target.close?.();
  }
  return failed === 0 ? 'done' : 'problems';
}

/** Throws a `UsageError` for flags that do not say what and where to. */
function checked({ id, pending, to }: InboxRetryOptions): URL {
  if (pending === id.length > 0) throw new UsageError('give the ids of leads, or --pending');
  if (to === undefined) {
    throw new UsageError('--to says where: the inbox keeps no addresses', {
      hint: 'such as --to http://localhost:3000/webhook',
    });
  }
  if (to.protocol === 'http:' && !isLoopback(to.hostname)) {
    throw new UsageError('leads go over plain HTTP to this machine only', { hint: 'use https://' });
  }
  return to;
}

/** Oldest first. */
async function pendingIds(inbox: Inbox): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { leadId } of inbox.list({ verdicts: ['pending'] })) {
    if (leadId !== undefined) ids.push(leadId);
  }
  return ids.reverse();
}

/** Of each lead the delivery that came first. Throws a `DataError` for an id of which nothing is stored. */
async function firstDeliveries(inbox: Inbox, ids: readonly string[]): Promise<readonly StoredDelivery[]> {
  const found: StoredDelivery[] = [];
  for (const leadId of ids) {
    let first: StoredDelivery | undefined;
    for await (const delivery of inbox.list({ leadId })) {
      if (delivery.verdict !== 'rejected') first = delivery;
    }
    if (first === undefined) throw new DataError(`the inbox has no delivery of the lead '${leadId}'`);
    found.push(first);
  }
  return found;
}

async function retry(
  stored: StoredDelivery,
  target: Target,
  inbox: Inbox,
  { clock }: Pick<Context, 'clock'>,
): Promise<RetriedLead> {
  const lead = asReceived(stored);
  const { leadId } = lead;
  const lease = { leadId, seq: stored.seq, target: target.name };
  const [state] = await inbox.lease([lease]);
  if (state === 'busy') {
    return { leadId, ok: false, answer: 'a receiver is handing it on now', durationMs: 0, at: clock.now() };
  }
  const { ok, answer, durationMs } = await target.deliver(lead, stored.attempt);
  const result = { ok, answer, durationMs, at: clock.now() };
  await keep(inbox, { ...lease, result }, state);
  return { leadId, ...result };
}

/** What is outstanding for another target stays so. */
async function keep(
  inbox: Inbox,
  lease: Parameters<Inbox['settle']>[0][number] & { readonly result: HandedResult },
  state: LeaseState | undefined,
): Promise<void> {
  if (state === 'leased' && lease.result.ok) await inbox.settle([lease]);
  else await inbox.release([lease]);
}

function summary(tried: number, failed: number): string {
  if (tried === 0) return 'nothing is outstanding';
  const leads = `${tried} ${tried === 1 ? 'lead' : 'leads'}`;
  return failed === 0 ? `${leads} delivered` : `${tried - failed} of ${leads} delivered, ${failed} failed`;
}
