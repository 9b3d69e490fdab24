import { type Secret, withoutSecrets } from '../../../secret.ts';
import type { Report } from './report.ts';

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
  const { checks, wouldMatch, explanation, form, notes, base } = report;
  return {
    ...report,
    checks: checks.map((check) => ({ ...check, detail: clean(check.detail) })),
    wouldMatch: wouldMatch && {
      what: clean(wouldMatch.what),
      fix: wouldMatch.fix === null ? null : clean(wouldMatch.fix),
    },
    explanation: explanation === null ? null : clean(explanation),
    form: clean(form),
    notes: notes.map(clean),
    ...(base !== undefined && { base: clean(base) }),
  };
}
