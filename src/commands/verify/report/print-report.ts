import type { Context } from '../../../context.ts';
import { escapeJson, sanitize } from '../../../output/sanitize.ts';
import { asksForAscii } from '../../../output/terminal/character-set.ts';
import { paletteFor } from '../../../output/terminal/colour.ts';
import { marksFor } from '../../../output/terminal/marks.ts';
import { terminalWidth } from '../../../output/terminal/terminal-width.ts';
import { write } from '../../../output/write-stream.ts';
import { wrap } from '../../help/layout.ts';
import type { Check, Report } from './report.ts';

/** One JSON document. */
export async function printJson(report: Report, { stdout }: Context): Promise<void> {
  const json = JSON.stringify(report, null, 2);
  await write(stdout, `${stdout.isTTY === true ? escapeJson(json) : json}\n`);
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
  if (report.base !== undefined) {
    out.push('signature base:', ...report.base.split('\n').map((line) => `  ${drawn(line)}`));
  }
  const { ok, reason, wouldMatch, explanation, tried } = report;
  if (ok === true) out.push(bold(green('genuine')));
  else if (ok === null) out.push(bold(yellow('cannot be shown')));
  else out.push(bold(red(`not genuine: ${reason ?? ''}`)));
  const sentence = wouldMatch?.what ?? explanation;
  const count = tried > 0 ? ` (${tried} combinations tried)` : '';
  if (sentence !== null) out.push(lines(`${sentence}${count}`).join('\n'));
  const fix = wouldMatch?.fix ?? null;
  if (fix !== null) out.push(`fix: ${bold(drawn(fix))}`);
  const [variable] = /LEADS_WEBHOOK_\w+/.exec(fix ?? '') ?? [];
  if (variable !== undefined) out.push(...lines(`(with ${variable} set to the secret that was given)`));
  await write(stdout, `${out.join('\n')}\n`);
}
