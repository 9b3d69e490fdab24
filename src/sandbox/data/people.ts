export interface People {
  /** Pairs such as `Anna=anna`: the written name, and its form in an e-mail address. */
  readonly given: string;
  readonly family: string;
  /** The family name comes first, without a space after it. */
  readonly familyFirst?: true;
  readonly domains: readonly string[];
  /** `#` is a digit. The rest is free text, as people fill in forms. */
  readonly phones: readonly string[];
}

export const westernPeople: People = {
  given:
    'Anna=anna James=james María José=mariajose François=francois Søren=soren Zoë=zoe Łukasz=lukasz ' +
    'Siobhán=siobhan Priya=priya Sam ☀️=sam 👩‍💻 Tess=tess',
  family:
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

export const otherPeople: readonly People[] = [
  {
    given: 'Олена=olena Дмитро=dmytro',
    family: 'Шевченко=shevchenko Коваленко=kovalenko',
    domains: ['poshta.example.org'],
    phones: ['+380 44 ### ####', '8 (9##) ###-##-##'],
  },
  {
    given: 'Ελένη=eleni Μαρία=maria',
    family: 'Παπαδοπούλου=papadopoulou Γεωργίου=georgiou',
    domains: ['example.com'],
    phones: ['+30 210 ### ####'],
  },
  {
    given: 'محمد=mohammed فاطمة=fatima',
    family: 'الأحمد=alahmad الحسيني=alhusseini',
    domains: ['barid.example.org'],
    phones: ['+966 5# ### ####', '٠٥٠ ١٢٣ ٤٥٦٧'],
  },
  {
    given: 'נועה=noa דוד=david',
    family: 'כהן=cohen לוי=levi',
    domains: ['example.com'],
    phones: ['05#-###-####'],
  },
  {
    given: '美咲=misaki 大輔=daisuke',
    family: '佐藤=sato 鈴木=suzuki',
    familyFirst: true,
    domains: ['mail.example.jp'],
    phones: ['+81 90-####-####', '０３-１２３４-５６７８'],
  },
  {
    given: '小明=xiaoming 秀英=xiuying',
    family: '王=wang 陳=chen',
    familyFirst: true,
    domains: ['example.com'],
    phones: ['+86 1## #### ####'],
  },
  {
    given: '서연=seoyeon 민준=minjun',
    family: '김=kim 이=lee',
    familyFirst: true,
    domains: ['example.com'],
    phones: ['010-####-####'],
  },
  {
    given: 'आरव=aarav प्रिया=priya',
    family: 'शर्मा=sharma गुप्ता=gupta',
    domains: ['example.in'],
    phones: ['+91 9#### #####'],
  },
  {
    given: 'ลลิตา=lalita',
    family: 'ใจดี=jaidee',
    domains: ['example.com'],
    phones: ['WhatsApp only: +66 8# ### ####'],
  },
];
