import { drawsFrom, scatter } from './chance.ts';
import { person, pick } from './people.ts';
import { packed } from './slab.ts';

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

const sources = ['facebook', 'google', 'website', 'tiktok', 'referral', 'linkedin', 'phone'];
const mediums = ['cpc', 'organic', 'email', 'social'];
const slotMs = 15 * 60_000;

/** JSON as services really write it: escapes and plain characters, exponents, trailing zeros. Never re-serialised. */
const notes = [
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
];
const amounts = ['1200.50', '1.0', '9.5e3', '250000', '0.1', '75E+2'];
const languages = ['en', 'de', 'es', 'ar', 'ja', 'uk', 'hi'];

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
  const { name, email, phone } = person(draw);
  const nine = (): string => String(Math.floor(1e8 + draw() * 9e8));
  return packed(
    `{"id":"${id}","category":"${category}",` +
      `"contact":{"name":${JSON.stringify(name)},"email":"${email}","phone":${JSON.stringify(phone)},` +
      `"language":"${pick(languages, draw)}"},` +
      `"metadata":{"source":"${pick(sources, draw)}","campaignId":9${nine()}${nine()},` +
      `"utm":{"medium":"${pick(mediums, draw)}","term":"${category} near me","clickId":"${nine()}"},` +
      `"budget":{"amount":${pick(amounts, draw)},"currency":"EUR"},"score":${draw().toFixed(2)},` +
      `"form":{"id":${nine()}${nine()},"answers":[{"q":"timeframe","a":"${Math.floor(draw() * 12)} months"},` +
      `{"q":"owner","a":${draw() < 0.5}}]},` +
      `"note":${pick(notes, draw)}},"createdAt":"${new Date(createdAt).toISOString()}"}`,
  );
}
