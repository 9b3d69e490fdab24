import { drawsFrom, pick, scatter } from './seeded-random.ts';

/**
 * Names of one script or region. A list of names holds pairs such as `Anna=anna`: the written name, and its form
 * in an e-mail address.
 */
interface People {
  readonly givenNames: string;
  readonly familyNames: string;
  /** The family name comes first, without a space after it. */
  readonly familyFirst?: true;
  readonly domains: readonly string[];
  /** `#` is a digit. The rest is free text, as people fill in forms. */
  readonly phones: readonly string[];
}

const westernPeople: People = {
  givenNames:
    'Anna=anna James=james María José=mariajose François=francois Søren=soren Zoë=zoe Łukasz=lukasz ' +
    'Siobhán=siobhan Priya=priya Sam ☀️=sam 👩‍💻 Tess=tess',
  familyNames:
    "O'Brien=obrien Müller-Lüdenscheidt=mueller García Márquez=garcia Nguyễn=nguyen Smith=smith " +
    'Øvergård=overgard Čapek=capek Yılmaz=yilmaz van der Berg=vandenberg Iyer=iyer',
  domains: ['example.com', 'mail.example.org', 'example.co.uk', 'post.example.net'],
  phones: [
    '+49 30 ### ####',
    '(415) 555-01## ext. #',
    '07### ######',
    '+34 6## ## ## ##',
    '555.01##, after 6pm',
  ],
};

const otherPeople: readonly People[] = [
  {
    givenNames: 'Олена=olena Дмитро=dmytro',
    familyNames: 'Шевченко=shevchenko Коваленко=kovalenko',
    domains: ['poshta.example.org'],
    phones: ['+380 44 ### ####', '8 (9##) ###-##-##'],
  },
  {
    givenNames: 'Ελένη=eleni Μαρία=maria',
    familyNames: 'Παπαδοπούλου=papadopoulou Γεωργίου=georgiou',
    domains: ['example.com'],
    phones: ['+30 210 ### ####'],
  },
  {
    givenNames: 'محمد=mohammed فاطمة=fatima',
    familyNames: 'الأحمد=alahmad الحسيني=alhusseini',
    domains: ['barid.example.org'],
    phones: ['+966 5# ### ####', '٠٥٠ ١٢٣ ٤٥٦٧'],
  },
  {
    givenNames: 'נועה=noa דוד=david',
    familyNames: 'כהן=cohen לוי=levi',
    domains: ['example.com'],
    phones: ['05#-###-####'],
  },
  {
    givenNames: '美咲=misaki 大輔=daisuke',
    familyNames: '佐藤=sato 鈴木=suzuki',
    familyFirst: true,
    domains: ['mail.example.jp'],
    phones: ['+81 90-####-####', '０３-１２３４-５６７８'],
  },
  {
    givenNames: '小明=xiaoming 秀英=xiuying',
    familyNames: '王=wang 陳=chen',
    familyFirst: true,
    domains: ['example.com'],
    phones: ['+86 1## #### ####'],
  },
  {
    givenNames: '서연=seoyeon 민준=minjun',
    familyNames: '김=kim 이=lee',
    familyFirst: true,
    domains: ['example.com'],
    phones: ['010-####-####'],
  },
  {
    givenNames: 'आरव=aarav प्रिया=priya',
    familyNames: 'शर्मा=sharma गुप्ता=gupta',
    domains: ['example.in'],
    phones: ['+91 9#### #####'],
  },
  {
    givenNames: 'ลลิตา=lalita',
    familyNames: 'ใจดี=jaidee',
    domains: ['example.com'],
    phones: ['WhatsApp only: +66 8# ### ####'],
  },
];

type Draw = () => number;

/** The written name in `Anna=anna James=james` may hold spaces. */
const namePairs = (names: string): [written: string, ascii: string][] =>
  [...names.matchAll(/(\S[^=]*)=(\S+)/g)].map(([, written = '', ascii = '']) => [written, ascii]);

const withNamePairs = ({ givenNames, familyNames, phones, ...people }: People) => ({
  ...people,
  phones: phones.map((pattern) => pattern.split('#')),
  givenNames: namePairs(givenNames),
  familyNames: namePairs(familyNames),
});

const western = withNamePairs(westernPeople);
const otherScripts = otherPeople.map(withNamePairs);

function personMembers(draw: Draw): string {
  const people = draw() < 0.5 ? western : pick(otherScripts, draw);
  const [givenName, mailGiven] = pick(people.givenNames, draw);
  const [familyName, mailFamily] = pick(people.familyNames, draw);
  const number = Math.floor(draw() * 1000);
  const name = people.familyFirst === true ? familyName + givenName : `${givenName} ${familyName}`;
  const email = `${mailGiven}.${mailFamily}${number}@${pick(people.domains, draw)}`;
  const [phoneStart = '', ...phoneParts] = pick(people.phones, draw);
  let phone = phoneStart;
  for (const part of phoneParts) phone += `${Math.floor(draw() * 10)}${part}`;
  return `"name":"${name}","email":"${email}","phone":"${phone}"`;
}

const nineDigits = (draw: Draw): number => Math.floor(1e8 + draw() * 9e8);

const languages = ['en', 'de', 'es', 'ar', 'ja', 'uk', 'hi'];
const sources = ['facebook', 'google', 'website', 'tiktok', 'referral', 'linkedin', 'phone'];
const media = ['cpc', 'organic', 'email', 'social'];
const ownerAnswers = ['true', 'false'];
const amounts = ['1200.50', '1.0', '9.5e3', '250000', '0.1', '75E+2'];
/** JSON texts: a service may escape a character or write it as it is, and no receiver may rewrite either. */
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

/**
 * Compact JSON of about 550 bytes, as the service sends it. Here and below, an odd constant such as 0x85ebca6b
 * gives each property draws of its own from one seed.
 */
export function leadText(seed: number, seq: number, { id, category }: Outline, createdAt: number): string {
  const draw = drawsFrom(scatter(seed ^ Math.imul(seq, 0x85ebca6b)));
  // The order of the draws decides what each seed makes: JavaScript evaluates a template from left to right.
  return (
    `{"id":"${id}","category":"${category}","contact":{${personMembers(draw)},"language":"${pick(languages, draw)}"},` +
    `"metadata":{"source":"${pick(sources, draw)}","campaignId":9${nineDigits(draw)}${nineDigits(draw)},` +
    `"utm":{"medium":"${pick(media, draw)}","term":"${category} near me","clickId":"${nineDigits(draw)}"},` +
    `"budget":{"amount":${pick(amounts, draw)},"currency":"EUR"},"score":${(Math.round(draw() * 100) / 100).toFixed(2)},` +
    `"form":{"id":${nineDigits(draw)}${nineDigits(draw)},"answers":[` +
    `{"q":"timeframe","a":"${Math.floor(draw() * 12)} months"},{"q":"owner","a":${pick(ownerAnswers, draw)}}]},` +
    `"note":${pick(notes, draw)}},"createdAt":"${new Date(createdAt).toISOString()}"}`
  );
}

const categories = ['solar', 'roofing', 'heat-pump', 'insurance', 'mortgage', 'legal', 'dental', 'moving'];
const slotMs = 15 * 60_000;

/** Members by which a list is filtered: they cost less than the text. */
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

const sharedTimeEvery = 16;

/**
 * In milliseconds since the epoch: a time within the slot of this lead, where the slots follow each other up to
 * `newest`. Every 16th lead has the time of the previous one, as leads of one import do.
 */
export function seededTime(seed: number, seq: number, count: number, newest: number): number {
  const timedSeq = seq % sharedTimeEvery === 0 ? seq - 1 : seq;
  const slotStart = newest - (count - timedSeq + 1) * slotMs;
  return slotStart + (scatter(seed ^ timedSeq) % slotMs);
}

export type DeliveryStatus = 'new' | 'delivered' | 'failed';

export function seededStatus(seed: number, seq: number): DeliveryStatus {
  const drawn = scatter(seed ^ Math.imul(seq, 0xc2b2ae35)) % 100;
  return drawn < 20 ? 'new' : drawn < 97 ? 'delivered' : 'failed';
}
