/**
 * Names of one script or region. A list of names holds pairs such as `Anna=anna`: the written name, and its form
 * in an e-mail address.
 */
export interface People {
  readonly givenNames: string;
  readonly familyNames: string;
  /** The family name comes first, without a space after it. */
  readonly familyFirst?: true;
  readonly domains: readonly string[];
  /** `#` is a digit. The rest is free text, as people fill in forms. */
  readonly phones: readonly string[];
}

export const westernPeople: People = {
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

export const otherPeople: readonly People[] = [
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
