import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { createPoster, type PostResult } from '../../http/client/post.ts';
import { StdoutWriter } from '../../output/stdout-writer.ts';
import { runDeliveries } from '../../sender/delivery-run.ts';
import { waitsAskedFor } from '../../sender/retry-schedule.ts';
import { RunTally } from '../../sender/run-tally.ts';
import { createSender } from '../../sender/sender.ts';
import type { Signer } from '../../sender/sign-request.ts';
import { unverified } from '../../webhook/schemes/unverified.ts';
import type { Outcome } from '../flags/command-spec.ts';
import { resolveScheme } from '../flags/scheme/resolve-scheme.ts';
import { notReached, whyNotAcknowledged } from '../flags/target/not-reached.ts';
import { type ResolvedTarget, resolveTarget } from '../flags/target/resolve-target.ts';
import { printRequests } from './dry-run.ts';
import type { SendOptions } from './options.ts';
import { answerReader } from './print/answer-text.ts';
import { attemptPrinter } from './print/attempt-printer.ts';
import { sendSummary } from './print/send-summary.ts';
import { rejectContradictions } from './reject-contradictions.ts';
import { openSource } from './source/open-source.ts';
import { outgoingDeliveries } from './source/outgoing-deliveries.ts';

export async function run(options: SendOptions, context: Context): Promise<Outcome> {
  rejectContradictions(options);
  const target = await resolveTarget(options.url, options, context);
  if (options.dryRun === undefined) rejectGeneratedElsewhere(options, target);
  const { scheme, keys } = await resolveScheme(options, await context.settings(), context, 'sends');
  const signer: Signer = {
    scheme: keys.length > 0 ? scheme : unverified,
    key: keys[0],
    headers: options.header,
  };
  const source = outgoingDeliveries(await openSource(options, context), {
    target: target.url.href,
    repeat: options.repeat,
    random: context.random,
  });
  if (options.dryRun !== undefined) {
    await printRequests(source, signer, target, options, context);
    return 'done';
  }
  return send(source, signer, target, options, context);
}

/** In production, somebody would call the phone number of a test lead. */
function rejectGeneratedElsewhere(options: SendOptions, { isLocal, url }: ResolvedTarget): void {
  const isGenerated = options.lead === undefined && options.id.length === 0 && options.from === undefined;
  if (isLocal || options.yes || !(isGenerated || options.newId)) return;
  const what = isGenerated ? 'generated leads' : 'leads with new ids';
  throw new UsageError(`${what} would go to ${url.hostname}, which is another machine`, {
    hint: 'add --yes if somebody there expects test leads; --dry-run shows what would be sent',
  });
}

async function send(
  source: ReturnType<typeof outgoingDeliveries>,
  signer: Signer,
  target: ResolvedTarget,
  options: SendOptions,
  context: Context,
): Promise<Outcome> {
  const { clock, signal, stdout, messages } = context;
  const { concurrency, rate, retry = [], showAnswer } = options;
  const { timeoutMs } = await context.settings();
  const poster = createPoster({
    connections: concurrency,
    trust: target.trust,
    proxy: target.proxy,
    now: () => clock.steady(),
  });
  const schedule = waitsAskedFor(retry, () => clock.now());
  const sender = createSender({ signer, schedule, timeoutMs, poster, clock });
  const answerText = answerReader({
    whole: showAnswer,
    secrets: signer.key === undefined ? [] : [signer.key.secret],
    credentialHeaders: signer.scheme.credentialHeaders,
  });
  const printer = await attemptPrinter(options.format, { answerText, showAnswer }, context);
  const stop = new AbortController();
  const onInterrupt = (): void => stop.abort(signal.reason as Error);
  signal.addEventListener('abort', onInterrupt);
  const writer = new StdoutWriter(stdout, (error) => stop.abort(error));
  const tally = new RunTally();
  try {
    const result = await runDeliveries({
      source,
      sender,
      concurrency,
      intervalMs: rate && rate.windowMs / rate.requests,
      forMs: options.for,
      most: options.count,
      clock,
      signal: stop.signal,
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
    if (stop.signal.aborted) throw stop.signal.reason as Error;
    if (result.failure !== undefined) throw result.failure.error as Error;
    if (result.started === 0) messages.note('nothing', 'there is no lead to send');
    return outcomeOf(tally, target, context);
  } finally {
    signal.removeEventListener('abort', onInterrupt);
    poster.close();
  }
}

/** Throws a `ServiceError` when no attempt was answered. */
function outcomeOf(tally: RunTally, target: ResolvedTarget, { messages }: Context): Outcome {
  const { firstFailure, answered, attempts } = tally;
  if (firstFailure === undefined) return 'done';
  const { result } = firstFailure;
  if (answered === 0 && attempts > 0) throw notReached(result, target);
  if (tally.failed > 0)
    messages.note('failed', `not acknowledged: ${isClosed(result) ? closedWhy : whyNotAcknowledged(result)}`);
  return tally.failed === 0 ? 'done' : 'problems';
}

/** What a receiver does that answers other requests: the protocol is the right one. */
const closedWhy =
  'a connection was closed without an answer, as by a receiver that stopped, or that closes connections and does not ' +
  "say so with 'Connection: close'";

const isClosed = (result: PostResult): boolean => !result.ok && /^(ECONNRESET|EPIPE)$/.test(result.code);
