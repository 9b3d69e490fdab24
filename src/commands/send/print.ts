import type { Context } from '../../context.ts';
import { curlCommand, type CurlRequest, withVariables } from '../../output/curl-command.ts';
import { jsonText, write } from '../../output/stdout.ts';
import { Secret, withoutSecrets } from '../../secret.ts';
import { paletteFor, sanitize, terminalWidth } from '../../output/terminal/terminal.ts';
import type { Attempt, outgoingDeliveries } from '../../sender/sender.ts';
import { type Signer, signRequest } from '../../sender/sign-request.ts';
import { formatDuration } from '../../time/time-text.ts';
import type { ResolvedTarget } from '../flags/delivery-target.ts';
import type { SendOptions } from './command.ts';
import { truncate } from '../../output/text-width.ts';
import { counted, grouped } from '../../output/terminal/progress.ts';
import type { DeliveryRunResult, RunTally, TimedAttempt } from '../../sender/delivery-run.ts';
import { explainFailure } from '../../sender/explain-failure.ts';

export interface Sending {
  readonly source: ReturnType<typeof outgoingDeliveries>;
  readonly signer: Signer;
  readonly target: ResolvedTarget;
}

/** `--dry-run`: prints each signed request as a curl line or as HTTP, and how long the signature is fresh. */
export async function printRequests(
  { source, signer, target: { trust, caFile } }: Sending,
  { dryRun, count }: SendOptions,
  { stdout, clock, messages }: Context,
): Promise<void> {
  const variable = signer.scheme.name === 'token' ? 'LEADS_WEBHOOK_TOKEN' : 'LEADS_WEBHOOK_SECRET';
  const secrets = signer.key === undefined ? [] : [{ secret: signer.key.secret, variable }];
  let printed = 0;
  for await (const delivery of source) {
    const { headers, body } = signRequest(signer, delivery, clock.now());
    const url = delivery.target;
    const request = { method: 'POST', url, headers, body, secrets, caFile, insecure: trust.insecure };
    const isHttp = dryRun === 'http';
    await write(stdout, isHttp ? httpText(request, stdout.isTTY === true) : `${curlCommand(request)}\n`);
    printed += 1;
    if (printed === count) break;
  }
  if (printed === 0) messages.note('nothing', 'there is no lead to send');
  else messages.say(validity(signer, clock.now()));
}

function validity({ scheme, key }: Signer, now: number): string {
  if (key === undefined) return 'nothing is signed: a receiver that verifies rejects it';
  const { name, toleranceMs } = scheme;
  const subject = name === 'token' ? 'set LEADS_WEBHOOK_TOKEN to the token; it' : 'the signature';
  if (toleranceMs === undefined) return `${subject} does not expire`;
  const until = new Date(now + toleranceMs).toISOString();
  return `${subject} is fresh until ${until}, for ${formatDuration(toleranceMs)}`;
}

/**
 * `--dry-run=http`: the request in HTTP/1.1, with a variable in place of a secret: its bytes, or, for a terminal, what can be
 * shown there. An empty line ends it, which may stand before the next request (RFC 9112, section 2.2).
 */
function httpText(
  { url, method, headers, body, secrets = [] }: CurlRequest,
  isTerminal: boolean,
): Buffer | string {
  const { host, pathname, search } = new URL(url);
  const sent = headers.some(([name]) => /^host$/i.test(name))
    ? headers
    : [['Host', host] as const, ...headers];
  const head = [
    `${method} ${pathname}${search} HTTP/1.1`,
    ...sent.map(([name, value]) => `${name}: ${withVariables(value, secrets)}`),
    `Content-Length: ${body.length}`,
  ];
  const text = Buffer.concat([
    Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'),
    body,
    Buffer.from('\r\n\r\n'),
  ]);
  return isTerminal ? text.toString('utf8').split(/\r?\n/).map(sanitize).join('\n') : text;
}

export async function attemptPrinter(
  format: 'pretty' | 'json',
  signer: Signer,
  context: Pick<Context, 'stdout' | 'env' | 'globals'>,
) {
  const { stdout } = context;
  if (format === 'json') {
    return {
      attempt: (timed: TimedAttempt) => jsonText(stdout, attemptRecord(timed, signer)),
      summary: (summary: SendSummary) => jsonText(stdout, summary),
    };
  }
  const colours = await paletteFor(stdout, context);
  const width = terminalWidth(stdout);
  return {
    attempt({ attempt }: TimedAttempt) {
      const { delivery, outcome, result, retryInMs } = attempt;
      const paint = outcome === 'acknowledged' ? colours.green : colours.red;
      const retry = retryInMs === undefined ? '' : `retry in ${formatDuration(retryInMs)}`;
      const texts = [delivery.leadId, retry, answerText(attempt, signer)];
      const details = texts
        .filter((text) => text !== '')
        .map(sanitize)
        .join('  ');
      const fitting = width === undefined ? details : truncate(details, Math.max(20, width - detailsColumn));
      const status = result.ok ? String(result.status) : '---';
      return `${paint(status)}  ${formatLatency(result.durationMs).padStart(6)}  ${fitting}\n`;
    },
    summary: (summary: SendSummary, elapsedMs: number) =>
      `\n${summaryLines(summary, elapsedMs).join('\n')}\n`,
  };
}

function attemptRecord({ attempt, latencyMs }: TimedAttempt, signer: Signer) {
  const { delivery, number, result, retryInMs } = attempt;
  return {
    type: 'attempt',
    id: delivery.leadId === '' ? null : delivery.leadId,
    attempt: number,
    status: result.ok ? result.status : null,
    latencyMs: Math.round(latencyMs * 1000) / 1000,
    answer: answerText(attempt, signer),
    ...(result.ok ? {} : { error: result.code }),
    ...(retryInMs === undefined ? {} : { retryInMs }),
  };
}

/** A status of three columns and a latency of six, each with a gap of two. */
const detailsColumn = 3 + 2 + 6 + 2;

const formatLatency = (ms: number): string => (ms < 9.95 ? `${ms.toFixed(1)}ms` : formatDuration(ms));

type SendSummary = ReturnType<typeof sendSummary>;

export function sendSummary(
  { attempts, acknowledged, failed, byStatus, latency }: RunTally,
  { started, late, startingMs }: DeliveryRunResult,
  openLoop: boolean,
) {
  return {
    ...{ type: 'summary', openLoop, deliveries: started, attempts, acknowledged, failed },
    byStatus: Object.fromEntries([...byStatus].sort(([, a], [, b]) => b - a)),
    latencyMs: latency.percentiles() ?? null,
    achievedRate: Math.round((started * 1_000_000) / Math.max(startingMs, 1)) / 1000,
    late,
  };
}

function summaryLines(summary: SendSummary, elapsedMs: number): string[] {
  const { openLoop, deliveries, attempts, acknowledged, failed, latencyMs, achievedRate, late } = summary;
  const interrupted = deliveries - acknowledged - failed;
  const rate = achievedRate < 10 ? achievedRate.toFixed(1) : grouped(Math.round(achievedRate));
  const parts = [
    `${grouped(acknowledged)} of ${counted(deliveries, 'delivery', 'deliveries')} acknowledged in ${formatDuration(elapsedMs)}`,
    ...(attempts > deliveries ? [counted(attempts, 'attempt', 'attempts')] : []),
    ...(interrupted > 0 ? [`${grouped(interrupted)} cut off`] : []),
    ...(deliveries > 1 ? [`${rate}/s, ${openLoop ? 'open' : 'closed'} loop`] : []),
  ];
  const statuses = Object.entries(summary.byStatus).map(([status, count]) => `${status} × ${grouped(count)}`);
  const percentiles =
    latencyMs &&
    Object.entries(latencyMs)
      .map(([name, ms]) => `${name} ${formatLatency(ms)}`)
      .join('  ');
  return [
    parts.join(', '),
    ...(statuses.length === 0 ? [] : [`status   ${statuses.join(', ')}`]),
    ...(percentiles === null
      ? []
      : [`latency  ${percentiles}${openLoop ? ', from the intended start' : ''}`]),
    ...(openLoop ? [`late     ${grouped(late)} waited for a free slot`] : []),
  ];
}

const longestAnswer = 1000;

/**
 * The answer in one line, or what happened instead of one. A receiver may send back what it was sent: the secret and the
 * signature of this attempt are replaced.
 */
function answerText({ result, request }: Attempt, { key, scheme }: Signer): string {
  if (!result.ok) return explainFailure({ error: result.code });
  const answer = result.body.toString('utf8');
  const credentials = request.headers.filter(([name]) =>
    scheme.credentialHeaders.includes(name.toLowerCase()),
  );
  const signatures = credentials.flatMap(([, value]) => value.match(/[\w+/]{20,}/g) ?? []);
  const secrets = [...(key === undefined ? [] : [key.secret]), ...signatures.map((text) => new Secret(text))];
  // A secret that is cut would not be found any more, so that the text is cut last.
  const text = withoutSecrets(answer, secrets, '[redacted]').replace(/\s+/g, ' ').trim();
  return text.length > longestAnswer ? `${text.slice(0, longestAnswer)}…` : text;
}
