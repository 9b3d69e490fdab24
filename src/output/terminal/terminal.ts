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

const usual = 80;

/** Columns to fit into; undefined in a pipe, where nothing is cut. A terminal that does not know its size says 0. */
export const terminalWidth = (stream: Output): number | undefined =>
  stream.isTTY === true ? columnsOf(stream) : undefined;

/** The same for text that is wrapped in a pipe too. */
export const wrapWidth = (stream: Output): number => terminalWidth(stream) ?? usual;

const columnsOf = ({ columns = 0 }: Output): number => (columns > 0 ? columns : usual);

/**
 * Characters that can drive a terminal or reorder what it shows: C0 and C1 controls (ESC, CR, BEL, CSI, OSC …),
 * DEL, bidirectional controls, line and paragraph separators, zero-width joins' relatives that hide text, and tags.
 */
const unsafe =
  /[\u0000-\u001f\u007f-\u009f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]|[\ud800-\udfff]/gu;

/** Text from outside as it may be drawn on a terminal: nothing in it moves the cursor or hides. */
export function sanitize(text: string): string {
  return text.replace(unsafe, (found) => (found === '\n' || found === '\t' ? ' ' : '\ufffd'));
}

/** JSON text as it may be drawn on a terminal: the same value, with every unsafe character as a `\u` escape. */
export function escapeJson(json: string): string {
  return json.replace(unsafe, (found) =>
    found === '\n'
      ? found
      : Array.from(
          { length: found.length },
          (_, i) => `\\u${found.charCodeAt(i).toString(16).padStart(4, '0')}`,
        ).join(''),
  );
}
