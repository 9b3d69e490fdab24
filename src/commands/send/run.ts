import type { Context, Outcome } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { descriptorLimit } from '../../http/server/server-options.ts';
import { createPoster } from '../../http/client/poster.ts';
import { StdoutWriter } from '../../output/stdout.ts';
import { runDeliveries, RunTally } from '../../sender/delivery-run.ts';
import { createSender, outgoingDeliveries, waitsAskedFor } from '../../sender/sender.ts';
import { openSource } from './lead-sources.ts';
import { resolveSigner } from '../flags/resolve-scheme.ts';
import {
  notReached,
  type ResolvedTarget,
  resolveTarget,
  whyNotAcknowledged,
} from '../flags/delivery-target.ts';
import { attemptPrinter, printRequests, type Sending, sendSummary } from './print.ts';
import type { SendOptions } from './command.ts';

export async function run(options: SendOptions, context: Context): Promise<Outcome> {
  const target = await resolveTarget(options.url, options, context);
  if (options.dryRun === undefined) rejectGeneratedElsewhere(options, target);
  const signer = { ...(await resolveSigner(options, context)), headers: options.header };
  const source = outgoingDeliveries(
    await openSource(options, target, context),
    target.url.href,
    options.repeat,
    context.random,
  );
  if (options.dryRun !== undefined) {
    await printRequests({ source, signer, target }, options, context);
    return 'done';
  }
  return send({ source, signer, target }, options, context);
}

/** In production a person would call the phone number of a test lead. */
function rejectGeneratedElsewhere(options: SendOptions, { isLocal, url }: ResolvedTarget): void {
  const isGenerated = options.lead === undefined && options.id.length === 0 && options.from === undefined;
  const hasNewId = options.newId || options.set.some(({ path }) => path.join('.') === 'id');
  if (isLocal || options.yes || !(isGenerated || hasNewId)) return;
  const leads = isGenerated ? 'generated leads' : 'leads with new ids';
  throw new UsageError(`${leads} would go to ${url.hostname}, which is another machine`, {
    hint: 'add --yes if somebody there expects test leads; --dry-run shows what would be sent',
  });
}

async function send(
  { source, signer, target }: Sending,
  options: SendOptions,
  context: Context,
): Promise<Outcome> {
  const { clock, signal, stdout, messages } = context;
  const { rate, retry = [] } = options;
  // An open loop keeps its pace whatever the receiver does, with all descriptors but some for everything else.
  const defaultConcurrency = rate === undefined ? 10 : Math.max(10, (await descriptorLimit()) - 64);
  const concurrency = options.concurrency ?? defaultConcurrency;
  const { timeoutMs } = await context.settings();
  const { trust, proxy } = target;
  const printer = await attemptPrinter(options.format, signer, context);
  const poster = createPoster({ connections: concurrency, timeoutMs, trust, proxy });
  const schedule = waitsAskedFor(retry, () => clock.now());
  const sender = createSender({ signer, schedule, poster, clock });
  const outputFailed = new AbortController();
  const endOfRun = AbortSignal.any([signal, outputFailed.signal]);
  const writer = new StdoutWriter(stdout, (error) => outputFailed.abort(error));
  const tally = new RunTally();
  try {
    const result = await runDeliveries({
      source,
      sender,
      concurrency,
      intervalMs: rate && rate.windowMs / rate.requests,
      forMs: options.for,
      count: options.count,
      clock,
      signal: endOfRun,
      onAttempt: (timed) => {
        tally.add(timed);
        return writer.write(printer.attempt(timed));
      },
    });
    // A program reads the summary from the last line, whatever was sent.
    if (result.started > 0 || options.format === 'json') {
      const summary = sendSummary(tally, result, rate !== undefined);
      void writer.write(printer.summary(summary, result.elapsedMs));
    }
    await writer.drained();
    endOfRun.throwIfAborted();
    if (result.failure !== undefined) throw result.failure.error as Error;
    if (result.started === 0) messages.note('nothing', 'there is no lead to send');
    return outcomeOf(tally, target, context);
  } finally {
    poster.close();
  }
}

/** Throws a `ServiceError` when no attempt was answered. */
function outcomeOf(tally: RunTally, target: ResolvedTarget, { messages }: Context): Outcome {
  const { firstFailure, answered } = tally;
  if (firstFailure === undefined) return 'done';
  const { result } = firstFailure;
  if (answered === 0 && !result.ok) throw notReached(result.code, target);
  if (tally.failed === 0) return 'done';
  messages.note('failed', `not acknowledged: ${whyNotAcknowledged(result)}`);
  return 'problems';
}
