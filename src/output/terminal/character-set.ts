import type { Context } from '../../context.ts';

/** Whether locale or `TERM` ask for plain ASCII. Where nothing is said, terminals of today can do more. */
export function asksForAscii({ env }: Pick<Context, 'env'>): boolean {
  const locale = [env['LC_ALL'], env['LC_CTYPE'], env['LANG']].find(
    (value) => value !== undefined && value !== '',
  );
  // The console of Linux has a font of 256 or 512 characters.
  return ['dumb', 'linux'].includes(env['TERM'] ?? '') || (locale !== undefined && !/utf-?8/i.test(locale));
}
