import { otherPeople, type People, westernPeople } from './people.ts';
import { drawsFrom, pick, scatter, unscatter } from './seeded-random.ts';

/** `Anna=anna James=james`, where a name as it is written may hold spaces. */
const readNames = (names: string): string[][] =>
  [...names.matchAll(/(\S[^=]*)=(\S+)/g)].map(([, written = '', ascii = '']) => [written, ascii]);

const withNames = (people: People) => ({
  ...people,
  given: readNames(people.given),
  family: readNames(people.family),
});

const western = withNames(westernPeople);
const others = otherPeople.map(withNames);

/** The name, e-mail address and phone of one person as JSON members: the same draws give the same person. */
function person(draw: () => number): string {
  const people = draw() < 0.5 ? western : pick(others, draw);
  const [given = '', mailGiven = ''] = pick(people.given, draw);
  const [family = '', mailFamily = ''] = pick(people.family, draw);
  const number = Math.floor(draw() * 1000);
  const name = people.familyFirst === true ? family + given : `${given} ${family}`;
  const email = `${mailGiven}.${mailFamily}${number}@${pick(people.domains, draw)}`;
  const phone = pick(people.phones, draw).replace(/#/g, () => String(Math.floor(draw() * 10)));
  return `"name":"${name}","email":"${email}","phone":"${phone}"`;
}

const languages = ['en', 'de', 'es', 'ar', 'ja', 'uk', 'hi'];
const sources = ['facebook', 'google', 'website', 'tiktok', 'referral', 'linkedin', 'phone'];
const media = ['cpc', 'organic', 'email', 'social'];
const amounts = ['1200.50', '1.0', '9.5e3', '250000', '0.1', '75E+2'];

/** JSON as services really write it: escapes and plain characters, exponents, trailing zeros. It is never parsed and written again. */
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

/** The draws are taken in the order of the text. */
function record(id: string, category: string, draw: () => number, createdAt: number): string {
  const nineDigits = (): number => Math.floor(1e8 + draw() * 9e8);
  const score = (): string => (Math.round(draw() * 100) / 100).toFixed(2);
  const contact = `{${person(draw)},"language":"${pick(languages, draw)}"}`;
  const source = `"source":"${pick(sources, draw)}","campaignId":9${nineDigits()}${nineDigits()}`;
  const utm = `{"medium":"${pick(media, draw)}","term":"${category} near me","clickId":"${nineDigits()}"}`;
  const budget = `{"amount":${pick(amounts, draw)},"currency":"EUR"},"score":${score()}`;
  const form = `"form":{"id":${nineDigits()}${nineDigits()}`;
  const answers = `[{"q":"timeframe","a":"${Math.floor(draw() * 12)} months"},{"q":"owner","a":${draw() < 0.5}}]`;
  const metadata = `{${source},"utm":${utm},"budget":${budget},${form},"answers":${answers}},"note":${pick(notes, draw)}}`;
  const time = new Date(createdAt).toISOString();
  return `{"id":"${id}","category":"${category}","contact":${contact},"metadata":${metadata},"createdAt":"${time}"}`;
}

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
  return Buffer.from(record(id, category, draw, createdAt));
}
