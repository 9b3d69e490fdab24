/**
 * What the page and its server say to each other: JSON objects, times in milliseconds since the epoch. Shared by both, so
 * this file imports nothing that a browser lacks.
 */

/**
 * The address of the page, as it is printed: `http://127.0.0.1:PORT/#key=KEY`. No request holds the key but `POST
 * /api/session`; it is in the characters of base64url, works once, and for ten minutes.
 */
export const keyParameter = 'key';

/** Every request to `/api/` but `POST /api/session` carries the token in this header. */
export const tokenHeader = 'x-inspect-token';

/** In the order in which they are shown. */
export const verdicts = ['accepted', 'duplicate', 'pending', 'rejected', 'other'] as const;

export type WireVerdict = (typeof verdicts)[number];

/** The body of every answer of 400 and above. `code` is stable. */
export interface WireProblem {
  readonly code:
    | 'bad-request'
    | 'wrong-key'
    | 'no-token'
    | 'forbidden'
    | 'not-found'
    | 'not-replayable'
    | 'too-many-streams'
    | 'busy'
    | 'inbox-failed';
  /** One sentence. */
  readonly problem: string;
  readonly hint?: string;
}

/**
 * `POST /api/session` with `{"key": …}` of the URL's fragment, or `{"kept": …}`: the reload key of this page before it was
 * loaded again, or the token of another one. The answer to an old token or kept one is 401 `no-token`, to a used or old key
 * 401 `wrong-key`.
 */
export interface WireSession {
  /** As long as the server runs. */
  readonly token: string;
  /** Works once, while the page follows the events and a moment longer. */
  readonly reloadKey: string;
}

/** `GET /api/inbox` */
export interface WireInbox {
  /** Path of the file, `:memory:`, or the URL of the database without its password. */
  readonly location: string;
  /** The number of the newest delivery that can be read; 0 for an empty inbox. */
  readonly newestSeq: number;
  /** Where a delivery may be replayed to: what was named on the command line, in that order. */
  readonly targets: readonly WireTarget[];
  readonly program: string;
}

export interface WireTarget {
  /** Such as `forward http://localhost:3000/webhook`. */
  readonly name: string;
  /** How deliveries are signed for it, such as `svix`; null: not at all. */
  readonly scheme: string | null;
}

/** One row of the list. */
export interface WireRow {
  readonly seq: number;
  readonly receivedAt: number;
  readonly leadId: string | null;
  /** From the lead; null where it has none that is text. At most 200 characters each. */
  readonly name: string | null;
  readonly category: string | null;
  readonly verdict: WireVerdict;
  /** Stable code of a rejection. */
  readonly reason: string | null;
  /** Of the answer. */
  readonly status: number;
  readonly attempt: number;
  /** `replay`: it says of itself that it was sent once more, by a header that anybody may send. */
  readonly source: 'push' | 'backfill' | 'replay';
  /** Of the body, in bytes. */
  readonly size: number;
  /** Targets that took it, and those of the ones that it is meant for that did not, while one of them has not had it. */
  readonly delivered: number;
  readonly failed: number;
}

/**
 * `GET /api/deliveries?before=&verdict=&since=&until=&lead=&limit=`: newest first, `before` a `seq`, `verdict` repeatable,
 * `limit` at most 200 (default 100).
 */
export interface WirePage {
  readonly rows: readonly WireRow[];
  /** What to ask `before` for the next page; null at the end. */
  readonly next: number | null;
  /** With `lead`: what the inbox knows of that lead, although nothing of it is kept any more. */
  readonly lead: 'pruned' | 'erased' | null;
}

/** One word of a search; all of them must be found. `since` limits the time, `any` is looked for everywhere. */
export interface SearchWord {
  readonly field: 'any' | 'reason' | 'status' | 'target' | 'since';
  readonly text: string;
}

/** `ada "two words" reason:stale status:401 target:crm since:1h`; a phone number is one word, however it is grouped. */
export function searchWords(text: string): readonly SearchWord[] {
  if (/^[+\d\s().\-/]+$/.test(text) && text.replace(/\D/g, '').length >= 5) return [{ field: 'any', text }];
  return Array.from(
    text.matchAll(/"([^"]+)"|(?:(reason|status|target|since):)?(\S+)/gi),
    (match): SearchWord => {
      const [, quoted, field = 'any', word = ''] = match;
      return { field: field.toLowerCase() as SearchWord['field'], text: quoted ?? word };
    },
  );
}

/**
 * `GET /api/search?q=&verdict=&since=&until=&before=&after=`: newest first, one JSON object a line, as they are found; all
 * of the `searchWords`, letters of any case, in id, name, e-mail, phone, the body's text with escapes decoded, reason, status,
 * headers and addresses. Closing the connection ends the search.
 */
export type WireFound =
  | { readonly type: 'found'; readonly row: WireRow; readonly where: string }
  /** Now and then: how many deliveries were looked at so far, and how many there are; null: not known yet. */
  | { readonly type: 'searched'; readonly deliveries: number; readonly total: number | null }
  /** The last line. `next`: where the limit of 200 found ones stopped it; null where everything was looked at. */
  | {
      readonly type: 'end';
      readonly deliveries: number;
      readonly total: number | null;
      readonly next: number | null;
    };

/** Of a body in hexadecimal, in bytes. */
export const mostDumped = 8 * 1024;

/** `GET /api/deliveries/SEQ` */
export interface WireDelivery extends WireRow {
  readonly remote: string;
  readonly method: string;
  readonly path: string;
  /** Credentials are redacted. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The body as text: UTF-8, each byte that is not as U+FFFD. At most the first 1 MiB. */
  readonly text: string;
  /** The text is shorter than the body: `GET /api/deliveries/SEQ/body` has all of it, as an attachment. */
  readonly isCut: boolean;
  /** The body has bytes that are not UTF-8. */
  readonly hasInvalidText: boolean;
  /** Its first `mostDumped` bytes, 16 a line, in hexadecimal and ASCII; null where it is text. */
  readonly hex: string | null;
  /** The body was not read, was pruned or erased, or only its beginning was kept: why there is no more than this; null: it is all there. */
  readonly missing: string | null;
  /** JSON, indented by two spaces, every number digit by digit; null where the body is none or is too large. */
  readonly formatted: string | null;
  /** Of a delivery with several leads: the bytes of this one in the body, and the number of the first one. */
  readonly place: { readonly start: number; readonly end: number } | null;
  readonly firstSeq: number | null;
  /** Fields that differ from the lead's first delivery; null where it is the first one. */
  readonly differs: readonly string[] | null;
  /** Why it was rejected, as `leads verify` explains it: a sentence each; null where it was not. */
  readonly explanation: readonly string[] | null;
  /** Every time it was handed to a target, oldest first. */
  readonly results: readonly WireResult[];
  /** Targets that have not had its lead. */
  readonly lacking: readonly WireLacking[];
  /** All deliveries of this lead, oldest first: at most 100. */
  readonly attempts: readonly WireRow[];
  /** Why it cannot be replayed; null where it can. */
  readonly notReplayable: string | null;
}

interface WireLacking {
  readonly target: string;
  readonly tries: number;
  /** When it may be tried again by itself; null: it is not. */
  readonly dueAt: number | null;
  /** It was given up. */
  readonly dead: boolean;
}

export interface WireResult {
  readonly target: string;
  /** Without what may be a credential; null where it is no forward, or was not kept. */
  readonly address: string | null;
  /** Null: not kept, by an earlier version. */
  readonly kind: 'forward' | 'retry' | 'replay' | 'repair' | null;
  readonly ok: boolean;
  /** The target's answer in a few words. */
  readonly answer: string;
  readonly durationMs: number;
  /** When it ended. */
  readonly at: number;
}

/** `GET /api/deliveries/SEQ/curl` */
export interface WireCurl {
  /** For a POSIX shell, ready to paste. */
  readonly command: string;
  /** That it has https, and nothing says how the delivery came. */
  readonly isHttpsAssumed: boolean;
}

/** `GET /api/charts?since=&until=&buckets=`: at most 240 buckets of the same length; without `since` the window fits the last day. */
export interface WireCharts {
  readonly since: number;
  readonly until: number;
  readonly bucketMs: number;
  readonly buckets: readonly WireBucket[];
  /** Those of the buckets' deliveries that are not stored any more. */
  readonly removed: Readonly<Record<WireVerdict, number>>;
}

/** `GET /api/counts?since=&until=`: how many rows the list has of each verdict; 1,000 of `pending` stand for more. */
export type WireCounts = Readonly<Record<WireVerdict, number>>;

/** How many of each verdict, and when the bucket begins. */
export interface WireBucket extends WireCounts {
  readonly at: number;
  /** Milliseconds from the lead's creation to its first delivery: median and greatest of those that are known; null: of none. */
  readonly delayP50: number | null;
  readonly delayMax: number | null;
  /** Leads that came first then, and whose delay is not known, since their deliveries were removed. */
  readonly delaysUnknown: number;
}

/**
 * `GET /api/events?after=SEQ`: one JSON object a line, at most ten lines a second, and never ends. An empty line every
 * few seconds shows that the connection lives.
 */
export type WireEvent =
  | {
      readonly type: 'deliveries';
      /** Oldest first, at most 100: of more only the newest, and `skipped` counts the others. */
      readonly rows: readonly WireRow[];
      readonly skipped: number;
      /** Ask `after` this to resume. */
      readonly newestSeq: number;
    }
  /** What is known of older deliveries changed: a pending one was settled, a replay was kept. */
  | { readonly type: 'changed'; readonly rows: readonly WireRow[] }
  /** Deliveries were pruned or erased: what is shown may be gone. */
  | { readonly type: 'removed' }
  /** The inbox cannot be read now, and again can. */
  | { readonly type: 'inbox'; readonly problem: string | null };

/** `POST /api/replays`, a request; answered by `WireReplayed`. */
export interface WireReplay {
  readonly seq: number;
  /** One of `WireInbox.targets`. */
  readonly target: string;
}

export interface WireReplayed {
  readonly ok: boolean;
  readonly answer: string;
  readonly durationMs: number;
  /** The target from which the lead is not outstanding any more; null where it was not. */
  readonly settled: string | null;
}
