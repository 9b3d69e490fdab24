import { LeadsError } from '../../../errors.ts';
import { withOptionNames } from '../../webhook/option-names.ts';

/** The same error of an inbox, with a hint that names options in place of the program's flags and variables. */
export function inboxError(error: unknown): unknown {
  if (!(error instanceof LeadsError) || error.hint === undefined) return error;
  const hint = withOptionNames(
    error.hint.replace('PGPASSWORD, and PGPASSFILE or ~/.pgpass', 'password and passwordFile'),
  );
  return Object.defineProperty(error, 'hint', { value: hint, enumerable: true });
}
