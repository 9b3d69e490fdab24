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
    | 'busy'
    | 'inbox-failed';
  /** One sentence. */
  readonly problem: string;
  readonly hint?: string;
}

/**
 * `POST /api/session` with `{"key": …}` of the address, or with `{"reloadKey": …}` of this page before it was loaded again. The
 * answer to an old token or reload key is 401 `no-token`, to a used or old key 401 `wrong-key`.
 */
export interface WireSession {
  /** As long as the server runs. */
  readonly token: string;
  /** Works once, until a moment after the page's last request. */
  readonly reloadKey: string;
}

/** `GET /api/inbox` */
export interface WireInbox {
  /** Path of the file, or the URL of the database without its password. */
  readonly location: string;
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
  /** Targets that took it. */
  readonly done: number;
  /** Targets that have not had its lead: those that are tried again, and those that were given up. */
  readonly waiting: number;
  readonly dead: number;
}

/** `GET /api/changes` */
export interface WireChanges {
  /** Another text after something was written to the inbox, by whichever process. */
  readonly mark: string;
}

/**
 * `GET /api/deliveries?before=&after=&verdict=&since=&until=&text=&limit=`: newest first, `before` and `after` a `seq`, `verdict`
 * repeatable, `limit` at most 200 (default 100). All words of `text` are in the id, the name, the category or the reason.
 */
export interface WirePage {
  readonly rows: readonly WireRow[];
  /** What to ask `before` for the next page: no delivery from this number on is missing here; null: these are all. */
  readonly next: number | null;
}

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
  /** The number of the first one of several leads that came in one request. */
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
  /** Without what may be a credential; null where it is no forward. */
  readonly address: string | null;
  readonly kind: 'forward' | 'retry' | 'replay' | 'repair';
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

/** `GET /api/chart?since=&until=&buckets=`: at most 240 buckets of the same length; without `since` the window fits the last day. */
export interface WireChart {
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
}

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
