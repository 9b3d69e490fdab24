import type { Context } from '../../context.ts';
import { write } from '../../output/stdout.ts';
import {
  asksForAscii,
  marksFor,
  paletteFor,
  terminalWidth,
  sanitize,
} from '../../output/terminal/terminal.ts';
import { type Secret, withoutSecrets } from '../../secret.ts';
import { wrap } from '../../output/wrap.ts';

/** What `verify` says of one delivery, and prints as JSON; it holds no secret and no expected signature. */
export interface Report {
  /** Whether it is genuine; null where the capture does not hold what would show it. */
  readonly ok: boolean | null;
  readonly scheme: string;
  /** Why it is not, as `listen` would name it. */
  readonly reason: string | null;
  readonly checks: readonly Check[];
  /** What would match, and the flags with which `verify` takes it, where there are any. */
  readonly wouldMatch: {
    readonly what: string;
    readonly fix: string | null;
    /** Where the fix names a `scheme.json`: its text. */
    readonly schemeFile?: string | undefined;
    /** Which variable must hold which secret then. */
    readonly environment?: string | undefined;
  } | null;
  /** One sentence where nothing would match. */
  readonly explanation: string | null;
  /** How many combinations were tried. */
  readonly tried: number;
  readonly form: string;
  /** The time for which it was checked. */
  readonly at: string;
  /** What the capture does not hold exactly, and what a receiver would reject besides. */
  readonly notes: readonly string[];
}

export interface Check {
  readonly name: 'secret' | 'header' | 'signature' | 'token' | 'time' | 'now';
  /** Null where it cannot be checked. */
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

/** The report without the secrets, wherever a part of the capture stands in it. */
export function redactReport(report: Report, secrets: readonly Secret[]): Report {
  const clean = (text: string): string => redact(text, secrets);
  const { checks, wouldMatch, explanation, form, notes } = report;
  return {
    ...report,
    checks: checks.map((check) => ({ ...check, detail: clean(check.detail) })),
    // A fix would not verify with a part of it hidden.
    wouldMatch: wouldMatch && {
      ...([wouldMatch.fix, wouldMatch.schemeFile].every((text) => clean(text ?? '') === (text ?? ''))
        ? wouldMatch
        : { fix: null }),
      what: clean(wouldMatch.what),
    },
    explanation: explanation === null ? null : clean(explanation),
    form: clean(form),
    notes: notes.map(clean),
  };
}

/** A line for each check, then what it comes to; fixes stand unbroken, to be copied. */
export async function printText(report: Report, head: string, context: Context): Promise<void> {
  const { stdout } = context;
  const { bold, dim, green, red, yellow } = await paletteFor(stdout, context);
  const isAscii = asksForAscii(context);
  const width = Math.max(40, terminalWidth(stdout) ?? Number.POSITIVE_INFINITY);
  const drawn = (text: string): string => (isAscii ? sanitize(text).replaceAll('…', '...') : sanitize(text));
  const lines = (text: string, indent = 0): string[] =>
    wrap(drawn(text), width - indent).map((line, i) => (i === 0 ? line : ' '.repeat(indent) + line));
  const marks = marksFor(context);
  const markOf = ({ ok, name }: Check): string => {
    if (ok === true) return green(marks.pass);
    return ok === null || name === 'now' ? yellow(marks.warn) : red(marks.fail);
  };
  const indent = marks.pass.length + 13;
  const out = [dim(lines(head).join('\n'))];
  for (const check of report.checks) {
    out.push(`${markOf(check)} ${check.name.padEnd(11)} ${lines(check.detail, indent).join('\n')}`);
  }
  for (const note of report.notes)
    out.push(`${yellow(marks.warn)} ${'note'.padEnd(11)} ${lines(note, indent).join('\n')}`);
  const { ok, reason, wouldMatch, explanation, tried } = report;
  if (ok === true) out.push(bold(green('genuine')));
  else if (ok === null) out.push(bold(yellow('cannot be shown')));
  else out.push(bold(red(`not genuine: ${reason ?? ''}`)));
  const sentence = wouldMatch?.what ?? explanation;
  const count = tried > 0 ? ` (${tried} combinations tried)` : '';
  if (sentence !== null) out.push(lines(`${sentence}${count}`).join('\n'));
  const { fix = null, schemeFile, environment } = wouldMatch ?? {};
  if (fix !== null) out.push(`fix: ${bold(drawn(fix))}`);
  if (schemeFile !== undefined) out.push(`scheme.json: ${bold(drawn(schemeFile))}`);
  if (environment !== undefined)
    out.push(...lines(fix === null ? `fix: ${environment}` : `(${environment})`));
  await write(stdout, `${out.join('\n')}\n`);
}
