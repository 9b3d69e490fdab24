import { LeadsError, messageOf } from '../../errors.ts';

/** Message and hint as one text. */
export const withHint = ({ message, hint }: Pick<LeadsError, 'message' | 'hint'>): string =>
  hint === undefined ? message : `${message}. ${hint}`;

/** For the console. Of an error of the application its stack, which says where; no property of it, which may be a secret. */
export function errorText(error: unknown): string {
  if (error instanceof LeadsError) return withHint(error);
  return error instanceof Error && error.stack !== undefined ? error.stack : messageOf(error);
}
