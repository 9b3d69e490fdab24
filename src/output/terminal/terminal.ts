import type { Host, Output } from '../../host.ts';

type Paint = (text: string) => string;

type ColourContext = Pick<Host, 'env'> & { readonly globals: { readonly color: boolean } };

/** The colours of the tool. Where colour is off, every function returns its text unchanged. */
export type Palette = Readonly<Record<keyof typeof plain, Paint>>;

const same: Paint = (text) => text;
const plain = { bold: same, dim: same, red: same, green: same, yellow: same, cyan: same };

/** Returns the colours for a stream; chalk loads only where they show. */
export async function paletteFor(stream: Output, context: ColourContext): Promise<Palette> {
  if (!showsColour(stream, context)) return plain;
  const { Chalk } = await import('chalk');
  return new Chalk({ level: 1 });
}

/**
 * The order is `--no-color`, `NO_COLOR`, `FORCE_COLOR`, then the abilities of the terminal (no-color.org).
 */
function showsColour(stream: Output, { env, globals }: ColourContext): boolean {
  if (!globals.color || (env['NO_COLOR'] ?? '') !== '') return false;
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  return stream.isTTY === true && env['TERM'] !== 'dumb';
}

export type Marks = Readonly<typeof drawn>;

const drawn = { pass: '✓', fail: '✗', warn: '!', skip: '-' };
const ascii: Marks = { pass: 'ok', fail: 'X ', warn: '! ', skip: '- ' };

export const marksFor = (context: Pick<Host, 'env'>): Marks => (asksForAscii(context) ? ascii : drawn);

/** Whether locale or `TERM` ask for plain ASCII. Without either, a terminal is taken to show UTF-8. */
export function asksForAscii({ env }: Pick<Host, 'env'>): boolean {
  const locale = [env['LC_ALL'], env['LC_CTYPE'], env['LANG']].find(
    (value) => value !== undefined && value !== '',
  );
  // The console of Linux has a font of 256 or 512 characters.
  return ['dumb', 'linux'].includes(env['TERM'] ?? '') || (locale !== undefined && !/utf-?8/i.test(locale));
}

const usualWidth = 80;

/** Returns the width to cut a text to; undefined in a pipe, where nothing is cut. A terminal of unknown size says 0. */
export function terminalWidth({ isTTY, columns = 0 }: Output): number | undefined {
  if (isTTY !== true) return undefined;
  return columns > 0 ? columns : usualWidth;
}

export const wrapWidth = (stream: Output): number => terminalWidth(stream) ?? usualWidth;

/**
 * Characters that can drive a terminal or reorder its text: C0 and C1 controls (ESC, CR, BEL, CSI, OSC …),
 * DEL, bidirectional controls, line and paragraph separators, zero-width characters that hide text, and tags.
 */
const unsafe =
  /[\u0000-\u001f\u007f-\u009f\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]|[\ud800-\udfff]/gu;

/** Replaces the unsafe characters of a text, which makes it one line. */
export function sanitize(text: string): string {
  return text.replace(unsafe, (character) => (character === '\n' || character === '\t' ? ' ' : '\ufffd'));
}

/** Writes every unsafe character of JSON but the line break as a `\u` escape, so that its value stays the same. */
export function escapeJson(json: string): string {
  return json.replace(unsafe, (character) => {
    if (character === '\n') return character;
    const units = Array.from({ length: character.length }, (_, i) => character.charCodeAt(i));
    return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
  });
}

/**
 * Wraps a text to lines of at most `width` columns, between words only; a longer word gets its own line.
 * Indentation stays.
 */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const paragraph of text.split('\n')) {
    const indent = /^ */.exec(paragraph)?.[0] ?? '';
    let line = indent;
    for (const word of paragraph.trimStart().split(' ')) {
      if (line !== indent && line.length + 1 + word.length > width) {
        lines.push(line);
        line = indent + word;
      } else {
        line = line === indent ? indent + word : `${line} ${word}`;
      }
    }
    lines.push(line);
  }
  return lines;
}
