import { pen, piece } from './byte-arena.ts';

/** A name as it is written, and as it stands in an e-mail address. */
type Name = readonly [written: string, ascii: string];

/** People of one script; `family` stands first and without a space where that is the custom. */
interface People {
  readonly given: readonly Name[];
  readonly family: readonly Name[];
  readonly familyFirst?: true;
  readonly domains: readonly string[];
  /** `#` is a digit. Free text, as people fill in forms. */
  readonly phones: readonly string[];
}

const western: People = {
  given: [
    ['Anna', 'anna'],
    ['James', 'james'],
    ['María José', 'mariajose'],
    ['François', 'francois'],
    ['Søren', 'soren'],
    ['Zoë', 'zoe'],
    ['Łukasz', 'lukasz'],
    ['Siobhán', 'siobhan'],
    ['Priya', 'priya'],
    ['Sam ☀️', 'sam'],
    ['👩‍💻 Tess', 'tess'],
  ],
  family: [
    ["O'Brien", 'obrien'],
    ['Müller-Lüdenscheidt', 'mueller'],
    ['García Márquez', 'garcia'],
    ['Nguyễn', 'nguyen'],
    ['Smith', 'smith'],
    ['Øvergård', 'overgard'],
    ['Čapek', 'capek'],
    ['Yılmaz', 'yilmaz'],
    ['van der Berg', 'vandenberg'],
    ['Iyer', 'iyer'],
  ],
  domains: ['example.com', 'mail.example.org', 'example.co.uk', 'post.example.net'],
  phones: [
    '+49 30 ### ####',
    '(415) 555-01## ext. #',
    '07### ######',
    '+34 6## ## ## ##',
    '555.01##, after 6pm',
  ],
};

const other: readonly People[] = [
  {
    given: [
      ['Олена', 'olena'],
      ['Дмитро', 'dmytro'],
    ],
    family: [
      ['Шевченко', 'shevchenko'],
      ['Коваленко', 'kovalenko'],
    ],
    domains: ['poshta.example.org'],
    phones: ['+380 44 ### ####', '8 (9##) ###-##-##'],
  },
  {
    given: [
      ['Ελένη', 'eleni'],
      ['Μαρία', 'maria'],
    ],
    family: [
      ['Παπαδοπούλου', 'papadopoulou'],
      ['Γεωργίου', 'georgiou'],
    ],
    domains: ['example.com'],
    phones: ['+30 210 ### ####'],
  },
  {
    given: [
      ['محمد', 'mohammed'],
      ['فاطمة', 'fatima'],
    ],
    family: [
      ['الأحمد', 'alahmad'],
      ['الحسيني', 'alhusseini'],
    ],
    domains: ['barid.example.org'],
    phones: ['+966 5# ### ####', '٠٥٠ ١٢٣ ٤٥٦٧'],
  },
  {
    given: [
      ['נועה', 'noa'],
      ['דוד', 'david'],
    ],
    family: [
      ['כהן', 'cohen'],
      ['לוי', 'levi'],
    ],
    domains: ['example.com'],
    phones: ['05#-###-####'],
  },
  {
    given: [
      ['美咲', 'misaki'],
      ['大輔', 'daisuke'],
    ],
    family: [
      ['佐藤', 'sato'],
      ['鈴木', 'suzuki'],
    ],
    familyFirst: true,
    domains: ['mail.example.jp'],
    phones: ['+81 90-####-####', '０３-１２３４-５６７８'],
  },
  {
    given: [
      ['小明', 'xiaoming'],
      ['秀英', 'xiuying'],
    ],
    family: [
      ['王', 'wang'],
      ['陳', 'chen'],
    ],
    familyFirst: true,
    domains: ['example.com'],
    phones: ['+86 1## #### ####'],
  },
  {
    given: [
      ['서연', 'seoyeon'],
      ['민준', 'minjun'],
    ],
    family: [
      ['김', 'kim'],
      ['이', 'lee'],
    ],
    familyFirst: true,
    domains: ['example.com'],
    phones: ['010-####-####'],
  },
  {
    given: [
      ['आरव', 'aarav'],
      ['प्रिया', 'priya'],
    ],
    family: [
      ['शर्मा', 'sharma'],
      ['गुप्ता', 'gupta'],
    ],
    domains: ['example.in'],
    phones: ['+91 9#### #####'],
  },
  {
    given: [['ลลิตา', 'lalita']],
    family: [['ใจดี', 'jaidee']],
    domains: ['example.com'],
    phones: ['WhatsApp only: +66 8# ### ####'],
  },
];

interface Encoded {
  readonly given: readonly (readonly Uint8Array[])[];
  readonly family: readonly (readonly Uint8Array[])[];
  readonly familyFirst: boolean;
  readonly domains: readonly Uint8Array[];
  readonly phones: readonly Uint8Array[];
}

const encoded = ({ given, family, familyFirst, domains, phones }: People): Encoded => ({
  given: given.map((name) => name.map(piece)),
  family: family.map((name) => name.map(piece)),
  familyFirst: familyFirst === true,
  domains: domains.map(piece),
  phones: phones.map(piece),
});

const westernPeople = encoded(western);
const otherPeople = other.map(encoded);
const [space, dot, at, nothing] = [piece(' '), piece('.'), piece('@'), piece('')];
const [nameIs, emailIs, phoneIs] = [piece('"name":"'), piece('","email":"'), piece('","phone":"')];
const hash = 0x23;

/** Writes name, e-mail address and phone of somebody, as JSON members: the same draws give the same person. */
export function writePerson(draw: () => number): void {
  const people = draw() < 0.5 ? westernPeople : pick(otherPeople, draw);
  const [given = nothing, mailGiven = nothing] = pick(people.given, draw);
  const [family = nothing, mailFamily = nothing] = pick(people.family, draw);
  const number = Math.floor(draw() * 1000);
  pen.put(nameIs);
  pen.put(people.familyFirst ? family : given);
  if (!people.familyFirst) pen.put(space);
  pen.put(people.familyFirst ? given : family);
  pen.put(emailIs);
  pen.put(mailGiven);
  pen.put(dot);
  pen.put(mailFamily);
  pen.digits(number);
  pen.put(at);
  pen.put(pick(people.domains, draw));
  pen.put(phoneIs);
  const pattern = pick(people.phones, draw);
  const from = pen.position;
  pen.put(pattern);
  for (let i = 0; i < pattern.length; i += 1) {
    if (pattern[i] === hash) pen.digitAt(from + i, Math.floor(draw() * 10));
  }
}

export function pick<T>(from: readonly T[], draw: () => number): T {
  return from[Math.floor(draw() * from.length)] as T;
}
