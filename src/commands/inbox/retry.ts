import { isLoopback } from '../../config/base-url.ts';
import type { Context, Outcome } from '../../context.ts';
import type { Output } from '../../host.ts';
import { ServiceError, UsageError } from '../../errors.ts';
import { proxyFor } from '../../http/client/http-client.ts';
import type { Outstanding } from '../../inbox/inbox.ts';
import { sanitize } from '../../output/terminal/terminal.ts';
import { counted } from '../../output/terminal/progress.ts';
import { write } from '../../output/stdout.ts';
import { unrenewedLeaseMs } from '../../receiver/lease-renewal.ts';
import { type Retried, retryDelivery, untried } from '../../receiver/retry-delivery.ts';
import { problemSentence, sentenceOf } from '../../messages/find-message.ts';
import {
  firstDelivery,
  type FirstDelivery,
  groupByRequest,
  isUnreadable,
  pendingIds,
} from '../../receiver/stored-deliveries.ts';
import { forwardTarget } from '../../receiver/targets/forward.ts';
import { formatDuration } from '../../time/time-text.ts';
import { authorityFor } from '../../tls/local-authority.ts';
import type { InboxRetryOptions } from './options.ts';
import { objectWriter } from './delivery-json.ts';
import { withInbox } from './with-inbox.ts';

export async function run(options: InboxRetryOptions, context: Context): Promise<Outcome> {
  const to = checked(options);
  if (to === undefined) return beginAnew(options, context);
  const { timeoutMs } = await context.settings();
  const target = forwardTarget({
    url: to,
    // The inbox does not keep which scheme verified a delivery.
    scheme: undefined,
    proxy: proxyFor(to, context.env),
    timeoutMs,
    bestEffort: false,
    keepBody: false,
    loopbackCa: await authorityFor(to, context.paths.dataDir),
    now: () => context.clock.now(),
    sentenceOf: problemSentence,
    signal: context.signal,
  });
  const { pid, clock, signal } = context;
  const store = { pid, targets: [target.name], leaseMs: unrenewedLeaseMs(timeoutMs) };
  const printer = await retryPrinter(options.format, context.stdout);
  const retried: Retried[] = [];
  try {
    const rest = await withInbox(
      options,
      context,
      async (inbox) => {
        const found: FirstDelivery[] = [];
        const done = async (one: Retried): Promise<void> => {
          retried.push(one);
          await printer.write(one);
        };
        for (const id of options.pending ? await pendingIds(inbox) : options.id) {
          try {
            found.push(await firstDelivery(inbox, id));
          } catch (error) {
            // Of ids that were named nothing is sent where one is wrong.
            if (!options.pending || !isUnreadable(error)) throw error;
            await done(untried(id, sentenceOf(error), clock.now()));
          }
        }
        const retrying = { target, inbox, clock, hasMoved: options.pending, sentenceOf };
        for (const leads of groupByRequest(found)) {
          signal.throwIfAborted();
          const results = await retryDelivery(leads, retrying);
          if (options.pending) await inbox.beginAnew(leads.map(({ leadId }) => leadId));
          for (const one of results) await done(one);
        }
        signal.throwIfAborted();
        return options.pending ? await inbox.outstanding() : [];
      },
      store,
    );
    await printer.end();
    if (rest !== undefined) say(retried, to, rest, context);
  } finally {
    await target.close?.();
  }
  return retried.every(({ ok }) => ok) ? 'done' : 'problems';
}

/** Leads that begin anew in one transaction. */
const leadsAtOnce = 500;

/** Whatever is outstanding is tried again by the receivers that run. */
async function beginAnew(options: InboxRetryOptions, context: Context): Promise<Outcome> {
  const leads = await withInbox(options, context, async (inbox) => {
    const ids = await pendingIds(inbox);
    let begun = 0;
    for (let i = 0; i < ids.length; i += leadsAtOnce) {
      begun += await inbox.beginAnew(ids.slice(i, i + leadsAtOnce));
    }
    return { begun, left: ids.length - begun };
  });
  await (await retryPrinter(options.format, context.stdout)).end();
  if (leads === undefined) return 'done';
  const { begun, left } = leads;
  const { messages } = context;
  if (begun > 0)
    messages.say(`${counted(begun, 'lead begins', 'leads begin')} anew: receivers that run try again`);
  else if (left === 0) messages.say('nothing is outstanding');
  if (left > 0) {
    const which = counted(left, 'lead does', 'leads do');
    messages.note('left', `${which} not begin anew: no delivery is kept, or the target has had it meanwhile`);
  }
  return 'done';
}

/** Undefined: no address is needed. Throws a `UsageError` for flags that do not say what and where to. */
function checked({ id, pending, to }: InboxRetryOptions): URL | undefined {
  if (pending === id.length > 0) throw new UsageError('give the ids of leads, or --pending');
  if (to === undefined && pending) return undefined;
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

/** `rest`: what is outstanding afterwards. Throws a `ServiceError` where nothing answered at all. */
function say(
  retried: readonly Retried[],
  to: URL,
  rest: readonly Outstanding[],
  { messages }: Pick<Context, 'messages'>,
): void {
  const [first] = retried;
  if (first === undefined) {
    messages.say(rest.length === 0 ? 'nothing is outstanding' : `nothing is outstanding for ${to.origin}`);
    sayOutstanding(rest, messages);
    return;
  }
  if (retried.every(({ reached }) => !reached)) {
    throw new ServiceError(`cannot reach ${to.origin}: ${first.answer}`, {
      hint: 'start the app, or check --to; what is outstanding stays so',
    });
  }
  const leads = `${retried.length} ${retried.length === 1 ? 'lead' : 'leads'}`;
  const delivered = retried.filter(({ isDelivered }) => isDelivered).length;
  const failed = retried.filter(({ ok }) => !ok).length;
  const hadBefore = retried.length - delivered - failed;
  const parts = [
    delivered === retried.length ? `${leads} delivered` : `${delivered} of ${leads} delivered`,
    hadBefore > 0 ? `${hadBefore} had been before` : undefined,
    failed > 0 ? `${failed} failed` : undefined,
  ];
  messages.say(parts.filter((part) => part !== undefined).join(', '));
  if (failed === 0) sayOutstanding(rest, messages);
}

function sayOutstanding(rest: readonly Outstanding[], messages: Pick<Context['messages'], 'note'>): void {
  for (const { target, leads: count, wanted, wantedElsewhere } of rest) {
    if (wanted || count === 0) continue;
    const what = count === 1 ? '1 lead is' : `${count} leads are`;
    const why =
      wantedElsewhere && target.startsWith('forward ')
        ? ': a receiver that runs forwards to it; if the app has moved, stop that receiver and run this again'
        : '';
    messages.note(`outstanding ${target}`, `${what} still outstanding, for ${target}${why}`);
  }
}

interface RetryPrinter {
  write(retried: Retried): Promise<void>;
  end(): Promise<void>;
}

/** A line for each lead as soon as it was delivered, or failed. */
async function retryPrinter(format: 'table' | 'json' | 'ndjson', stdout: Output): Promise<RetryPrinter> {
  if (format === 'table') {
    return {
      write({ leadId, ok, isDelivered, answer, durationMs, insteadOf }) {
        const what = isDelivered ? 'delivered' : ok ? 'settled  ' : 'failed   ';
        const parts = [what, leadId, answer, formatDuration(durationMs)];
        if (insteadOf !== undefined) parts.push(`instead of ${insteadOf}`);
        return write(stdout, `${parts.map((part) => sanitize(part)).join('  ')}\n`);
      },
      end: () => Promise.resolve(),
    };
  }
  const writer = await objectWriter(format, stdout);
  return {
    write: ({ leadId, ok, answer, durationMs, at, insteadOf = null }) =>
      writer.write({ leadId, ok, answer, durationMs, at: new Date(at).toISOString(), insteadOf }),
    end: () => writer.end(),
  };
}
