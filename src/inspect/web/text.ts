import type { WireRow } from '../wire.ts';

// Times are local, since people compare them with a clock on the wall; the exact time, in UTC, is beside them.

const timeOfDay = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });
const dayAndTime = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});
const dayOnly = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' });

/** `14:02:11` of today, `21 Nov, 14:02` of this year, or `21 Nov 2024`. */
export function shortTime(ms: number, now: number): string {
  const [time, today] = [new Date(ms), new Date(now)];
  if (time.toDateString() === today.toDateString()) return timeOfDay.format(time);
  return (time.getFullYear() === today.getFullYear() ? dayAndTime : dayOnly).format(time);
}

export const minuteTime = (time: number): string => dayAndTime.format(time);

export const exactTime = (time: number): string =>
  new Date(time).toISOString().replace('T', ' ').replace('Z', ' UTC');

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
  ['ms', 1],
] as const;

export function durationText(ms: number): string {
  const [unit, length] = units.find(([, length]) => ms >= length) ?? ['ms', 1];
  const value = ms / length;
  return `${value < 10 && unit !== 'ms' ? Number(value.toFixed(1)) : Math.round(value)} ${unit}`;
}

export function sizeText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

const grouped = new Intl.NumberFormat('en');

export const countText = (count: number): string => grouped.format(count);

export const plural = (count: number, word: string, words = `${word}s`): string =>
  `${countText(count)} ${count === 1 ? word : words}`;

/** Texts of problems begin in lower case and have no full stop. */
export const sentence = (text: string): string => `${capitalized(text)}${/[.!?:]$/.test(text) ? '' : '.'}`;

export const capitalized = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

export function deliveryTitle({ seq, name, leadId }: Pick<WireRow, 'seq' | 'name' | 'leadId'>): string {
  return [name, leadId].find((text) => text !== null && text.trim() !== '') ?? `Delivery ${seq}`;
}

/**
 * Matches characters that show nothing or change the order of the text around them: controls, bidi controls,
 * invisible characters, halves of a surrogate pair. It excludes tab, line feed, and the joiners that emoji and
 * some scripts need.
 */
const hidden =
  /(?![\t\n\u200c\u200d]|\r\n)(?:\u034f|[\p{Cc}\p{Cs}\u00ad\u061c\u115f\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}])/gu;

export interface TextPart {
  readonly text: string;
  readonly isHidden: boolean;
}

/** Hidden characters are named, such as `U+202E`. */
export function visibleParts(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let from = 0;
  for (const { 0: character, index } of text.matchAll(hidden)) {
    if (index > from) parts.push({ text: text.slice(from, index), isHidden: false });
    parts.push({ text: codePointName(character), isHidden: true });
    from = index + character.length;
  }
  if (from < text.length) parts.push({ text: text.slice(from), isHidden: false });
  return parts;
}

export function withNamedCharacters(text: string): string {
  return text.replace(hidden, (character) => `⟨${codePointName(character)}⟩`);
}

function codePointName(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** In characters and lines. A million elements would stop the page, and hostile bodies are made for that. */
const shownLength = 60_000;
const mostLines = 2_000;

export function firstLines(text: string) {
  const lines = text.slice(0, shownLength).split('\n');
  return { lines: lines.slice(0, mostLines), isCut: text.length > shownLength || lines.length > mostLines };
}

export interface JsonToken {
  readonly kind: 'name' | 'string' | 'number' | 'word' | 'other';
  readonly text: string;
}

/** A string with the colon of a name, a number, or a word. A string without an end goes to the end of the line. */
const token = /("(?:[^"\\]|\\.)*(?:"|\\?$))(\s*:)?|(-?\d[\d.eE+-]*)|\b(true|false|null)\b/g;

export function jsonTokens(line: string): JsonToken[] {
  const tokens: JsonToken[] = [];
  let from = 0;
  const add = (kind: JsonToken['kind'], text: string): void => {
    if (text !== '') tokens.push({ kind, text });
  };
  for (const match of line.matchAll(token)) {
    const [whole, string, colon, number] = match;
    add('other', line.slice(from, match.index));
    if (string !== undefined) {
      add(colon === undefined ? 'string' : 'name', string);
      add('other', colon ?? '');
    } else add(number === undefined ? 'word' : 'number', whole);
    from = match.index + whole.length;
  }
  add('other', line.slice(from));
  return tokens;
}
