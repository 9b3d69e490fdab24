import type { Host, Output } from '../../host.ts';

type Paint = (text: string) => string;

type ColourContext = Pick<Host, 'env'> & { readonly globals: { readonly color: boolean } };

/** The few colours that the tool uses; every one is the identity where colour is off. */
export interface Palette {
  readonly bold: Paint;
  readonly dim: Paint;
  readonly red: Paint;
  readonly green: Paint;
  readonly yellow: Paint;
  readonly cyan: Paint;
}

const same: Paint = (text) => text;
const plain: Palette = { bold: same, dim: same, red: same, green: same, yellow: same, cyan: same };

/** Colours for what is written to `stream`; chalk loads only where they show. */
export async function paletteFor(stream: Output, context: ColourContext): Promise<Palette> {
  if (!showsColour(stream, context)) return plain;
  const { Chalk } = await import('chalk');
  return new Chalk({ level: 1 });
}

/** `--no-color`, then `NO_COLOR`, then `FORCE_COLOR`, then whether it is a terminal that can (no-color.org). */
function showsColour(stream: Output, { env, globals }: ColourContext): boolean {
  if (!globals.color || (env['NO_COLOR'] ?? '') !== '') return false;
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  return stream.isTTY === true && env['TERM'] !== 'dumb';
}

/** What stands before a line that says how a check ended, all of one width. */
export interface Marks {
  readonly pass: string;
  readonly fail: string;
  readonly warn: string;
  readonly skip: string;
}

const drawn: Marks = { pass: '✓', fail: '✗', warn: '!', skip: '-' };
const ascii: Marks = { pass: 'ok', fail: 'X ', warn: '! ', skip: '- ' };

/** Signs, or plain ASCII where locale or `TERM` ask for it. */
export const marksFor = (context: Pick<Host, 'env'>): Marks => (asksForAscii(context) ? ascii : drawn);

/** Whether locale or `TERM` ask for plain ASCII. Where nothing is said, terminals of today can do more. */
export function asksForAscii({ env }: Pick<Host, 'env'>): boolean {
  const locale = [env['LC_ALL'], env['LC_CTYPE'], env['LANG']].find(
    (value) => value !== undefined && value !== '',
  );
  // The console of Linux has a font of 256 or 512 characters.
  return ['dumb', 'linux'].includes(env['TERM'] ?? '') || (locale !== undefined && !/utf-?8/i.test(locale));
}
