import { drawsFrom, scatter } from './seeded-random.ts';
import { pick, writePerson } from './people.ts';
import { pen, piece } from './byte-arena.ts';

const categories = [
  'solar',
  'roofing',
  'heat-pump',
  'insurance',
  'mortgage',
  'legal',
  'dental',
  'moving',
] as const;

const sources = ['facebook', 'google', 'website', 'tiktok', 'referral', 'linkedin', 'phone'].map(piece);
const mediums = ['cpc', 'organic', 'email', 'social'].map(piece);
const slotMs = 15 * 60_000;

/** JSON as services really write it: escapes and plain characters, exponents, trailing zeros. Never re-serialised. */
const messages = [
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
].map(piece);
const amounts = ['1200.50', '1.0', '9.5e3', '250000', '0.1', '75E+2'].map(piece);
const languages = ['en', 'de', 'es', 'ar', 'ja', 'uk', 'hi'].map(piece);
const owner = { yes: piece('true'), no: piece('false') };

/** What stands between the values, in their order. */
const between = {
  id: piece('{"id":"'),
  category: piece('","category":"'),
  contact: piece('","contact":{'),
  language: piece('","language":"'),
  source: piece('"},"metadata":{"source":"'),
  campaign: piece('","campaignId":9'),
  medium: piece(',"utm":{"medium":"'),
  term: piece('","term":"'),
  click: piece(' near me","clickId":"'),
  amount: piece('"},"budget":{"amount":'),
  score: piece(',"currency":"EUR"},"score":'),
  point: piece('.'),
  form: piece(',"form":{"id":'),
  months: piece(',"answers":[{"q":"timeframe","a":"'),
  owner: piece(' months"},{"q":"owner","a":'),
  note: piece('}]},"note":'),
  createdAt: piece('},"createdAt":"'),
  colon: piece(':'),
  end: piece('Z"}'),
};

/** What is known of a generated lead before its text is made. */
export interface Outline {
  readonly id: string;
  readonly category: string;
}

/** Lead number `seq` (from 1) of this seed. Ids of one seed never meet: `scatter` is a bijection. */
export function outline(seed: number, seq: number): Outline {
  const id = scatter(scatter(seq) ^ seed).toString(32);
  const category =
    categories[scatter(seed + Math.imul(seq, 0x9e3779b1)) % categories.length] ?? categories[0];
  return { id: `lead_${id.padStart(7, '0')}`, category };
}

/**
 * When lead `seq` of the first `count` came, in milliseconds: one in each quarter of an hour up to `newest`.
 * Every 16th shares the time of the one before it, as leads of one import do.
 */
export function seededTime(seed: number, seq: number, count: number, newest: number): number {
  const own = seq % 16 === 0 ? seq - 1 : seq;
  return newest - (count - own + 1) * slotMs + (scatter(seed ^ own) % slotMs);
}

/** Where the delivery of a lead stands; shown by the list operation as `status`. */
export type DeliveryStatus = 'new' | 'delivered' | 'failed';

/** How the delivery of lead `seq` went, where nobody is there to deliver it to. */
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
  const nine = (): void => pen.digits(Math.floor(1e8 + draw() * 9e8));
  pen.begin();
  pen.put(between.id);
  pen.ascii(id);
  pen.put(between.category);
  pen.ascii(category);
  pen.put(between.contact);
  writePerson(draw);
  pen.put(between.language);
  pen.put(pick(languages, draw));
  pen.put(between.source);
  pen.put(pick(sources, draw));
  pen.put(between.campaign);
  nine();
  nine();
  pen.put(between.medium);
  pen.put(pick(mediums, draw));
  pen.put(between.term);
  pen.ascii(category);
  pen.put(between.click);
  nine();
  pen.put(between.amount);
  pen.put(pick(amounts, draw));
  pen.put(between.score);
  const hundredths = Math.round(draw() * 100);
  pen.digits(Math.floor(hundredths / 100));
  pen.put(between.point);
  pen.digits(hundredths % 100, 2);
  pen.put(between.form);
  nine();
  nine();
  pen.put(between.months);
  pen.digits(Math.floor(draw() * 12));
  pen.put(between.owner);
  pen.put(draw() < 0.5 ? owner.yes : owner.no);
  pen.put(between.note);
  pen.put(pick(messages, draw));
  pen.put(between.createdAt);
  writeInstant(createdAt);
  pen.put(between.end);
  return pen.end();
}

const dayMs = 86_400_000;
let day = Number.NaN;
let date: Uint8Array = piece('');

/** ISO 8601; leads of one day follow one another, so that its date is made once. */
function writeInstant(at: number): void {
  const inDay = at - Math.floor(at / dayMs) * dayMs;
  if (at - inDay !== day) {
    day = at - inDay;
    date = piece(new Date(day).toISOString().slice(0, 11));
  }
  pen.put(date);
  pen.digits(Math.floor(inDay / 3_600_000), 2);
  pen.put(between.colon);
  pen.digits(Math.floor(inDay / 60_000) % 60, 2);
  pen.put(between.colon);
  pen.digits(Math.floor(inDay / 1000) % 60, 2);
  pen.put(between.point);
  pen.digits(inDay % 1000, 3);
}
