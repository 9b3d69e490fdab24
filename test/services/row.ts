export interface Lead {
  readonly id: string;
  readonly category: string;
  readonly status: string;
  readonly createdAt: string;
  readonly contact: { readonly email: string };
}

const firstAt = Date.UTC(2025, 2, 1);

/** Lead number n, 37 minutes younger than the one before. */
export const leadNumber = (n: number): Lead => ({
  id: `L${10_000 + n}`,
  category: ['solar', 'roofing', 'legal'][n % 3] ?? '',
  status: n % 4 === 1 ? 'contacted' : 'new',
  createdAt: new Date(firstAt + n * 37 * 60_000).toISOString(),
  contact: { email: `p${n}@example.com` },
});

export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface Asked {
  readonly url: URL;
  readonly query: URLSearchParams;
  /** All leads there are, in the order of the service. */
  readonly list: readonly Lead[];
}

/** The part of the list that a request asks for. */
export interface Page {
  readonly leads: readonly Lead[];
  /** Leads in front of it, and those with it. */
  readonly start: number;
  readonly end: number;
  /** Leads that fit on a page. */
  readonly size: number;
  /** Leads that match in all. */
  readonly total: number;
  readonly isLast: boolean;
  /** As the service counts its pages. */
  readonly number: number;
  readonly pages: number;
  /** The address of this page with other parameters. */
  readonly link: (changes: Readonly<Record<string, string | number>>) => string;
}

/** How a request says where in the list its page begins. */
export interface Way {
  readonly params: readonly string[];
  /** The number of the first page. */
  readonly base: number;
  /** Undefined: a value that is none. */
  readonly start: (query: URLSearchParams, list: readonly Lead[], size: number) => number | undefined;
}

/** One service that lists leads. */
export interface Row {
  readonly name: string;
  /**
   * What the answers let a client know. `everything`: how to go on, and where the end is. `caution`: nothing tells one whole
   * answer from the first part of a list, or the parameter that leads on has to be learnt. `alarm`: they speak against what
   * they hold.
   */
  readonly outlook: 'everything' | 'caution' | 'alarm';
  /**
   * Counts at which nothing tells that a page is the last one: those that fill a page of a service of `everything` else, and
   * those below five of a service of `caution`.
   */
  readonly quietAt?: readonly number[];
  /** Why no client can see that leads are missing. */
  readonly invisible?: string;
  /** Differs from the row before in a name alone: what `doctor` makes of it is the same. */
  readonly isVariant?: boolean;
  /** Most leads of an answer; all of them where it is not set. */
  readonly cap?: number;
  /** Leads of an answer where no size is asked for; as many as the cap says. */
  readonly usual?: number;
  /** Parameters that take the size of a page. */
  readonly size?: readonly string[];
  /** The answer to a size above the cap, where the page is not simply cut. */
  readonly tooLarge?: number;
  readonly way?: Way;
  /** What comes behind the last lead: an empty page by default. */
  readonly behind?: 'empty' | 'last page' | 'first page' | 204 | 400 | 404;
  /** The youngest first by default. */
  readonly order?: 'oldest first' | 'none';
  readonly filters?: readonly ('status' | 'category')[];
  /** Answers 400 to every parameter that it does not know. */
  readonly isStrict?: boolean;
  readonly body?: (page: Page) => unknown;
  readonly headers?: (page: Page) => Readonly<Record<string, string>>;
  readonly status?: (page: Page) => number;
  /** Goes before all of it; undefined leaves the answer to the rest. */
  readonly answer?: (asked: Asked) => Answer | undefined;
  /** What the profile says of it. */
  readonly settings?: Readonly<Record<string, string>>;
}

type Shape = Omit<Row, 'name' | 'outlook' | 'body'>;
type MakeRow = (name: string, shape: Shape, body?: (page: Page) => unknown) => Row;

const rowsOf =
  (outlook: Row['outlook']): MakeRow =>
  (name, shape, body) => ({ name, outlook, ...shape, ...(body !== undefined && { body }) });

export const everything: MakeRow = rowsOf('everything');
export const caution: MakeRow = rowsOf('caution');
export const speaksAgainst: MakeRow = rowsOf('alarm');

export const plainArray = ({ leads }: Page): unknown => leads;
