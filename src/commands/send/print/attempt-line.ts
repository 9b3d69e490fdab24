import type { Palette } from '../../../output/terminal/colour.ts';
import { truncate } from '../../../output/terminal/text-width.ts';
import { sanitize } from '../../../output/sanitize.ts';
import type { Attempt } from '../../../sender/attempt.ts';
import { formatDuration } from '../../../time/duration.ts';

export interface AttemptLineOptions {
  readonly colours: Palette;
  /** Of the terminal, in columns; undefined: lines are as long as they are. */
  readonly width: number | undefined;
  /** The whole answer below the line. */
  readonly showAnswer: boolean;
}

/** `200   41ms  lead_1  {"status":"accepted"}`, with what comes next where the attempt is repeated. */
export function attemptLine(
  { delivery, outcome, result, retryInMs }: Attempt,
  answer: string,
  { colours, width, showAnswer }: AttemptLineOptions,
): string {
  const status = result.ok ? String(result.status) : '---';
  const paint = outcome === 'acknowledged' ? colours.green : colours.red;
  const time = formatLatency(result.durationMs).padStart(6);
  const retry = retryInMs === undefined ? [] : [`retry in ${formatDuration(retryInMs)}`];
  const shown = showAnswer && result.ok ? [] : [sanitize(answer)];
  const rest = [sanitize(delivery.leadId), ...retry, ...shown].filter((text) => text !== '').join('  ');
  const fitting = width === undefined ? rest : truncate(rest, Math.max(20, width - 13));
  const line = `${paint(status)}  ${time}  ${fitting}\n`;
  if (!showAnswer || !result.ok || answer === '') return line;
  return (
    line +
    answer
      .trimEnd()
      .split(/\r?\n/)
      .map((text) => `    ${sanitize(text)}\n`)
      .join('')
  );
}

/** `0.8ms`, `41ms`, `1.2s`. */
export const formatLatency = (ms: number): string => (ms < 9.95 ? `${ms.toFixed(1)}ms` : formatDuration(ms));
