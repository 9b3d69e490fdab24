import type { Context } from '../../context.ts';
import { write } from '../../output/stdout.ts';
import { besideMark, styleFor } from '../../output/report.ts';
import { counted } from '../../output/terminal/progress.ts';
import { asksForAscii, sanitize, terminalWidth, wrap } from '../../output/terminal/terminal.ts';
import { type Secret, withoutSecrets } from '../../secret.ts';

/**
 * The verdict of `verify` on one delivery, printed as JSON; it holds no secret and no expected signature. `ok` is null where the
 * credential is not in the capture. `tried` counts the combinations of the search for an explanation.
 */
export interface Report {
  readonly ok: boolean | null;
  readonly scheme: string;
  readonly reason: string | null;
  readonly checks: readonly Check[];
  readonly wouldMatch: { readonly what: string; readonly fix: string | null } | null;
  readonly explanation: string | null;
  readonly tried: number;
  readonly form: string;
  readonly at: string;
  /** Remarks on parts that the capture does not hold exactly, or that a receiver would refuse besides. */
  readonly notes: readonly string[];
}

/** A failed check named `now` is a remark: the delivery was in time when it came, or when that was is not known. */
export interface Check {
  readonly name: 'secret' | 'header' | 'signature' | 'token' | 'time' | 'now';
  readonly ok: boolean | null;
  readonly detail: string;
}

/** In characters. A shorter text would be found by chance, in the words of a sentence too. */
const shortestSecret = 8;

/** A text without the secrets: a capture may hold them in its URL, or in a header that is shown. */
export const redact = (text: string, secrets: readonly Secret[]): string =>
  withoutSecrets(
    text,
    secrets.filter((secret) => secret.reveal().length >= shortestSecret),
    '[redacted]',
  );

export function redactReport(report: Report, secrets: readonly Secret[]): Report {
  const clean = JSON.parse(JSON.stringify(report), (_, value: unknown) =>
    typeof value === 'string' ? redact(value, secrets) : value,
  ) as Report;
  // A fix would not verify with a part of it hidden.
  const isFixWhole = clean.wouldMatch?.fix === report.wouldMatch?.fix;
  return isFixWhole || clean.wouldMatch === null
    ? clean
    : { ...clean, wouldMatch: { ...clean.wouldMatch, fix: null } };
}

/** A line for each check, then the verdict; a fix is not broken, so that it can be copied. */
export async function printText(report: Report, head: string, context: Context): Promise<void> {
  const style = { ...(await styleFor(context)), width: terminalWidth(context.stdout) ?? Infinity };
  const { colours, marks, width } = style;
  const drawn = (text: string): string =>
    asksForAscii(context) ? sanitize(text).replaceAll('…', '...') : sanitize(text);
  const markOf = ({ ok, name }: Check): string => {
    if (ok === true) return colours.green(marks.pass);
    const isRemark = ok === null || name === 'now';
    return isRemark ? colours.yellow(marks.warn) : colours.red(marks.fail);
  };
  const { ok, reason, wouldMatch, explanation, tried } = report;
  const sentence = wouldMatch?.what ?? explanation;
  const count = tried > 0 ? ` (${counted(tried, 'combination', 'combinations')} tried)` : '';
  const refusal =
    ok === null ? colours.yellow('cannot be shown') : colours.red(`not genuine: ${reason ?? ''}`);
  const lines = [
    colours.dim(wrap(drawn(head), width).join('\n')),
    ...report.checks.flatMap((check) => besideMark(markOf(check), check.name, drawn(check.detail), style)),
    ...report.notes.flatMap((note) => besideMark(colours.yellow(marks.warn), 'note', drawn(note), style)),
    colours.bold(ok === true ? colours.green('genuine') : refusal),
    ...(sentence === null ? [] : wrap(drawn(sentence + count), width)),
    ...(wouldMatch?.fix == null ? [] : [`fix: ${colours.bold(drawn(wouldMatch.fix))}`]),
  ];
  await write(context.stdout, `${lines.join('\n')}\n`);
}
