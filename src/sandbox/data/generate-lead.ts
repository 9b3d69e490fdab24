import { otherPeople, type People, westernPeople } from './people.ts';
import { drawsFrom, pick, scatter, unscatter } from './seeded-random.ts';

const blockBytes = 1 << 20;
/** Every record is shorter than this, so it fits where so much is left of a block. */
const longestRecord = 8192;
const zero = 0x30;

let block = new Uint8Array(0);
let start = 0;
let used = 0;

/**
 * Writes records piece by piece, many into one large block: a buffer for each of a hundred thousand records, or strings
 * that become bytes at the end, cost more time than their content. For records that live as long as their neighbours.
 */
const recordArena = {
  beginRecord(): void {
    if (block.length - used < longestRecord) {
      block = new Uint8Array(blockBytes);
      used = 0;
    }
    start = used;
  },
  /** A loop, since the pieces are short: `set` takes longer than copying them. */
  append(bytes: Uint8Array): void {
    const { length } = bytes;
    const [into, offset] = [block, used];
    for (let i = 0; i < length; i += 1) into[offset + i] = bytes[i] ?? 0;
    used = offset + length;
  },
  appendAscii(text: string): void {
    const [into, offset] = [block, used];
    for (let i = 0; i < text.length; i += 1) into[offset + i] = text.charCodeAt(i);
    used = offset + text.length;
  },
  /** A whole number, with zeros in front where it has fewer than `minDigits` digits. */
  appendDigits(value: number, minDigits = 1): void {
    let length = 1;
    for (let limit = 10; limit <= value || length < minDigits; limit *= 10) length += 1;
    let rest = value;
    for (let i = used + length - 1; i >= used; i -= 1) {
      const tens = Math.floor(rest / 10);
      block[i] = zero + rest - tens * 10;
      rest = tens;
    }
    used += length;
  },
  /** Where the next byte goes. */
  get position(): number {
    return used;
  },
  overwriteDigit(position: number, digit: number): void {
    block[position] = zero + digit;
  },
  /** The record's bytes. */
  endRecord: (): Uint8Array => block.subarray(start, used),
};

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Of one record, in their order: draws, and what is known before. */
interface RecordValues extends Outline {
  readonly draw: () => number;
  readonly createdAt: number;
}

type WriteValue = (values: RecordValues) => void;

/** A record as JSON, with what writes each value in its place. The text between them is encoded once. */
function template(texts: TemplateStringsArray, ...writers: readonly WriteValue[]): WriteValue {
  const [first = utf8(''), ...others] = texts.map(utf8);
  const after = others.map((text, i) => ({ write: writers[i], text }));
  return (values) => {
    recordArena.append(first);
    for (const { write, text } of after) {
      write?.(values);
      recordArena.append(text);
    }
  };
}

const oneOf = (texts: readonly string[]): WriteValue => {
  const encoded = texts.map(utf8);
  return ({ draw }) => recordArena.append(pick(encoded, draw));
};

const digits =
  (number: (draw: () => number) => number): WriteValue =>
  ({ draw }) =>
    recordArena.appendDigits(number(draw));

const nineDigits = digits((draw) => Math.floor(1e8 + draw() * 9e8));

/** `Anna=anna James=james`, where a name as it is written may hold spaces. */
const encodeNames = (names: string): Uint8Array[][] =>
  [...names.matchAll(/(\S[^=]*)=(\S+)/g)].map(([, written = '', ascii = '']) => [utf8(written), utf8(ascii)]);

const encode = ({ given, family, familyFirst, domains, phones }: People) => ({
  given: encodeNames(given),
  family: encodeNames(family),
  familyFirst: familyFirst === true,
  domains: domains.map(utf8),
  phones: phones.map(utf8),
});

const western = encode(westernPeople);
const others = otherPeople.map(encode);
const [space, dot, at, nothing] = [utf8(' '), utf8('.'), utf8('@'), utf8('')];
const [nameIs, emailIs, phoneIs] = [utf8('"name":"'), utf8('","email":"'), utf8('","phone":"')];
const hash = 0x23;

/** The name, e-mail address and phone of one person as JSON members: the same draws give the same person. */
function writePerson({ draw }: RecordValues): void {
  const people = draw() < 0.5 ? western : pick(others, draw);
  const [given = nothing, mailGiven = nothing] = pick(people.given, draw);
  const [family = nothing, mailFamily = nothing] = pick(people.family, draw);
  const number = Math.floor(draw() * 1000);
  recordArena.append(nameIs);
  recordArena.append(people.familyFirst ? family : given);
  if (!people.familyFirst) recordArena.append(space);
  recordArena.append(people.familyFirst ? given : family);
  recordArena.append(emailIs);
  recordArena.append(mailGiven);
  recordArena.append(dot);
  recordArena.append(mailFamily);
  recordArena.appendDigits(number);
  recordArena.append(at);
  recordArena.append(pick(people.domains, draw));
  recordArena.append(phoneIs);
  const pattern = pick(people.phones, draw);
  const start = recordArena.position;
  recordArena.append(pattern);
  for (let i = 0; i < pattern.length; i += 1) {
    if (pattern[i] === hash) recordArena.overwriteDigit(start + i, Math.floor(draw() * 10));
  }
}

const dayMs = 86_400_000;
let day = Number.NaN;
let date: Uint8Array = utf8('');
const [colon, point] = [utf8(':'), utf8('.')];

/** ISO 8601. The date is kept for the next lead, which is mostly of the same day. */
function writeInstant({ createdAt }: RecordValues): void {
  const inDay = createdAt - Math.floor(createdAt / dayMs) * dayMs;
  if (createdAt - inDay !== day) {
    day = createdAt - inDay;
    date = utf8(new Date(day).toISOString().slice(0, 11));
  }
  recordArena.append(date);
  recordArena.appendDigits(Math.floor(inDay / 3_600_000), 2);
  recordArena.append(colon);
  recordArena.appendDigits(Math.floor(inDay / 60_000) % 60, 2);
  recordArena.append(colon);
  recordArena.appendDigits(Math.floor(inDay / 1000) % 60, 2);
  recordArena.append(point);
  recordArena.appendDigits(inDay % 1000, 3);
}

/** With two decimals. */
function writeScore({ draw }: RecordValues): void {
  const hundredths = Math.round(draw() * 100);
  recordArena.appendDigits(Math.floor(hundredths / 100));
  recordArena.append(point);
  recordArena.appendDigits(hundredths % 100, 2);
}

const id: WriteValue = (values) => recordArena.appendAscii(values.id);
const category: WriteValue = (values) => recordArena.appendAscii(values.category);
const language = oneOf(['en', 'de', 'es', 'ar', 'ja', 'uk', 'hi']);
const source = oneOf(['facebook', 'google', 'website', 'tiktok', 'referral', 'linkedin', 'phone']);
const medium = oneOf(['cpc', 'organic', 'email', 'social']);
const amount = oneOf(['1200.50', '1.0', '9.5e3', '250000', '0.1', '75E+2']);
const months = digits((draw) => Math.floor(draw() * 12));
const isOwner = oneOf(['true', 'false']);

/** JSON as services really write it: escapes and plain characters, exponents, trailing zeros. It is never parsed and written again. */
const note = oneOf([
  '"Please call back"',
  '"Caf\\u00e9 on the corner, 2nd floor"',
  '"Café next door \\ud83d\\udc4d"',
  '"line one\\nline two\\ttabbed"',
  '"says \\"urgent\\" \\/ asap"',
  '"=HYPERLINK(\\"https:\\/\\/example.com\\")"',
  '"مستعجل جدا"',
  '"至急お願いします 🙏"',
  '""',
  'null',
]);

// prettier-ignore
const writeRecord = template`{"id":"${id}","category":"${category}","contact":{${writePerson}","language":"${language
}"},"metadata":{"source":"${source}","campaignId":9${nineDigits}${nineDigits},"utm":{"medium":"${medium
}","term":"${category} near me","clickId":"${nineDigits}"},"budget":{"amount":${amount
},"currency":"EUR"},"score":${writeScore},"form":{"id":${nineDigits}${nineDigits
},"answers":[{"q":"timeframe","a":"${months} months"},{"q":"owner","a":${isOwner}}]},"note":${note
}},"createdAt":"${writeInstant}Z"}`;

const categories = ['solar', 'roofing', 'heat-pump', 'insurance', 'mortgage', 'legal', 'dental', 'moving'];
const slotMs = 15 * 60_000;

/** What is known of a generated lead before its text is made. */
export interface Outline {
  readonly id: string;
  readonly category: string;
}

/** Lead number `seq` (from 1) of this seed. Ids of one seed are distinct, because `scatter` is a bijection. */
export function outline(seed: number, seq: number): Outline {
  const id = scatter(scatter(seq) ^ seed).toString(32);
  const category = categories[scatter(seed + Math.imul(seq, 0x9e3779b1)) % categories.length] ?? '';
  return { id: `lead_${id.padStart(7, '0')}`, category };
}

/** The number of the lead that has this id by the seed; undefined for an id that no seed gives. */
export function seqOf(seed: number, id: string): number | undefined {
  const [, digits] = /^lead_([0-3][0-9a-v]{6})$/.exec(id) ?? [];
  return digits === undefined ? undefined : unscatter(unscatter(Number.parseInt(digits, 32)) ^ seed);
}

/**
 * When lead `seq` of the first `count` was created, in milliseconds: one in each quarter of an hour up to `newest`.
 * Every 16th has the same time as the one before it, as leads of one import do.
 */
export function seededTime(seed: number, seq: number, count: number, newest: number): number {
  const own = seq % 16 === 0 ? seq - 1 : seq;
  return newest - (count - own + 1) * slotMs + (scatter(seed ^ own) % slotMs);
}

/** Where the delivery of a lead stands; shown by the list operation as `status`. */
export type DeliveryStatus = 'new' | 'delivered' | 'failed';

/** The delivery status of lead `seq` where there is no webhook to deliver it to. */
export function seededStatus(seed: number, seq: number): DeliveryStatus {
  const drawn = scatter(seed ^ Math.imul(seq, 0xc2b2ae35)) % 100;
  return drawn < 20 ? 'new' : drawn < 97 ? 'delivered' : 'failed';
}

/** The record as the service sends it: compact JSON in UTF-8, about 550 bytes. */
export function leadText(
  seed: number,
  seq: number,
  { id, category }: Outline,
  createdAt: number,
): Uint8Array {
  const draw = drawsFrom(scatter(seed ^ Math.imul(seq, 0x85ebca6b)));
  recordArena.beginRecord();
  writeRecord({ id, category, draw, createdAt });
  return recordArena.endRecord();
}
