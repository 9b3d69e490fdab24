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
    ['Ngọc Ánh', 'ngocanh'],
    ['Priya', 'priya'],
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

const cyrillicAndGreek: People = {
  given: [
    ['Ольга', 'olga'],
    ['Дмитро', 'dmytro'],
    ['Ελένη', 'eleni'],
    ['Γιώργος', 'giorgos'],
  ],
  family: [
    ['Шевченко', 'shevchenko'],
    ['Иванова', 'ivanova'],
    ['Παπαδοπούλου', 'papadopoulou'],
  ],
  domains: ['example.com', 'poshta.example.org'],
  phones: ['+380 44 ### ####', '8 (9##) ###-##-##', '+30 210 ### ####'],
};

const rightToLeft: People = {
  given: [
    ['محمد', 'mohammed'],
    ['فاطمة', 'fatima'],
    ['נועה', 'noa'],
    ['یاسمین', 'yasmin'],
  ],
  family: [
    ['الأحمد', 'alahmad'],
    ['حسینی', 'hosseini'],
    ['כהן', 'cohen'],
  ],
  domains: ['example.com', 'barid.example.org'],
  phones: ['+966 5# ### ####', '٠٥٠ ١٢٣ ٤٥٦٧', '05#-###-####'],
};

const eastAsian: People = {
  given: [
    ['小明', 'xiaoming'],
    ['美咲', 'misaki'],
    ['서연', 'seoyeon'],
    ['大輔', 'daisuke'],
  ],
  family: [
    ['王', 'wang'],
    ['佐藤', 'sato'],
    ['김', 'kim'],
    ['陳', 'chen'],
  ],
  familyFirst: true,
  domains: ['example.com', 'mail.example.jp'],
  phones: ['+81 90-####-####', '０３-１２３４-５６７８', '+86 1## #### ####'],
};

const southAsian: People = {
  given: [
    ['आरव', 'aarav'],
    ['ลลิตา', 'lalita'],
    ['Dev 🚀', 'dev'],
  ],
  family: [
    ['शर्मा', 'sharma'],
    ['ใจดี', 'jaidee'],
    ['👩‍💻 & Co.', 'andco'],
  ],
  domains: ['example.com', 'example.in'],
  phones: ['+91 9#### #####', '02-###-####', 'WhatsApp only: +66 8# ### ####'],
};

/** Half of the leads are western; each other group has its share. */
const groups: readonly People[] = [
  western,
  western,
  western,
  western,
  cyrillicAndGreek,
  rightToLeft,
  eastAsian,
  southAsian,
];

/** Somebody: the same draws give the same person. */
export function person(draw: () => number): { name: string; email: string; phone: string } {
  const people = pick(groups, draw);
  const [given, mailGiven] = pick(people.given, draw);
  const [family, mailFamily] = pick(people.family, draw);
  const number = Math.floor(draw() * 1000);
  return {
    name: people.familyFirst ? family + given : `${given} ${family}`,
    email: `${mailGiven}.${mailFamily}${number}@${pick(people.domains, draw)}`,
    phone: numbered(pick(people.phones, draw), draw),
  };
}

/** Puts digits where the pattern has `#`. */
function numbered(pattern: string, draw: () => number): string {
  let text = '';
  for (let i = 0; i < pattern.length; i += 1) {
    const letter = pattern.charAt(i);
    text += letter === '#' ? String(Math.floor(draw() * 10)) : letter;
  }
  return text;
}

export function pick<T>(from: readonly T[], draw: () => number): T {
  return from[Math.floor(draw() * from.length)] as T;
}
