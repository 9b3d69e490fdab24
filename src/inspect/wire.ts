/**
 * Messages between the page and its server: JSON objects, with times in milliseconds since the epoch. Both
 * import this file, so it imports nothing that a browser lacks.
 */

/**
 * The printed URL is `http://127.0.0.1:PORT/#key=KEY`. Only `POST /api/session` sends the key, which is
 * base64url, works once, and for ten minutes.
 */
export const keyParameter = 'key';

/** Every request to `/api/` but `POST /api/session` carries the token in this header. */
export const tokenHeader = 'x-inspect-token';

export const verdicts = ['accepted', 'duplicate', 'rejected', 'other'] as const;

type WireVerdict = (typeof verdicts)[number];

/** `waiting` and `dead` are first deliveries of leads that some target does not have. */
export const listFilters = ['accepted', 'waiting', 'dead', 'duplicate', 'rejected', 'other'] as const;

export type WireListFilter = (typeof listFilters)[number];

/** The body of every response with status 400 and above. `code` is stable. */
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
  readonly problem: string;
  readonly hint?: string;
}

/**
 * `POST /api/session` with `{"key": …}`, or with `{"reloadKey": …}` after a reload. An old token or reload key
 * gets 401 `no-token`, a used or old key 401 `wrong-key`.
 */
export interface WireSession {
  readonly token: string;
  /** The key works once, until a moment after the page's last request. */
  readonly reloadKey: string;
}

/** `GET /api/inbox` */
export interface WireInbox {
  readonly location: string;
  readonly targets: readonly WireTarget[];
  /** This text changes whenever a process has written to the inbox. */
  readonly mark: string;
}

export interface WireTarget {
  /** For example `forward http://localhost:3000/webhook`. */
  readonly name: string;
  /** The scheme that signs deliveries to this target, such as `svix`; null where they are not signed. */
  readonly scheme: string | null;
}

export interface WireRow {
  readonly seq: number;
  readonly receivedAt: number;
  readonly leadId: string | null;
  /** At most 200 characters each; null where the lead has no such text. */
  readonly name: string | null;
  readonly category: string | null;
  readonly verdict: WireVerdict;
  readonly reason: string | null;
  readonly status: number;
  readonly attempt: number;
  /** `replay` comes from a header, which anybody may send. */
  readonly source: 'push' | 'backfill' | 'replay';
  readonly size: number;
  /** The numbers of targets where the lead is done, waiting and dead; 0 in the rows of later deliveries. */
  readonly done: number;
  readonly waiting: number;
  readonly dead: number;
}

/**
 * `GET /api/deliveries?before=&after=&verdict=&since=&until=&text=&limit=`: newest first. `before` and `after`
 * are a `seq`, `verdict` is repeatable, `limit` is at most 200 (default 100), and `text` are words that must
 * all be in the id, the name, the category or the reason.
 */
export interface WirePage {
  readonly rows: readonly WireRow[];
  /** The `before` of the next page, which misses no delivery; null on the last page. */
  readonly next: number | null;
}

/** `GET /api/deliveries/SEQ` */
export interface WireDelivery extends WireRow {
  readonly remote: string;
  readonly method: string;
  readonly path: string;
  /** Credentials are redacted. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** UTF-8 text of at most 1 MiB, or hexadecimal and ASCII of at most 8 KiB. */
  readonly raw: string;
  readonly isHex: boolean;
  /** Then `GET /api/deliveries/SEQ/body` returns the whole body, as an attachment. */
  readonly isCut: boolean;
  readonly curl: string;
  /** Says why the body is not complete: not read, pruned, erased, or only its beginning kept; null where it is. */
  readonly missing: string | null;
  /** JSON indented by two spaces, with every digit; null where the body is not JSON, or too large. */
  readonly formatted: string | null;
  /** The `seq` of the first lead, where one request had several. */
  readonly firstSeq: number | null;
  /** Fields that differ from the lead's first delivery; null on the first delivery. */
  readonly differs: readonly string[] | null;
  readonly explanation: readonly string[];
  readonly results: readonly WireResult[];
  readonly forwards: readonly WireForward[];
  /** All deliveries of this lead, oldest first: at most 100. */
  readonly leadDeliveries: readonly WireRow[];
  readonly notReplayable: string | null;
}

interface WireForward {
  readonly target: string;
  readonly state: 'waiting' | 'done' | 'dead';
  readonly tries: number;
  readonly dueAt: number | null;
}

interface WireResult extends WireReplayed {
  readonly target: string;
  /** The address without what may be a credential; null where the target is no forward. */
  readonly address: string | null;
  readonly kind: 'forward' | 'retry' | 'replay' | 'repair';
  readonly at: number;
}

/** `GET /api/counts?since=&until=`. The chart also counts what was received and not stored. */
export interface WireCounts {
  /** For `waiting` and `dead`, 1,000 means 1,000 or more. */
  readonly rows: Readonly<Record<WireListFilter, number>>;
  /** The beginning of the first bucket. Without a `since` in the request, it fits the last day. */
  readonly since: number;
  readonly bucketMs: number;
  readonly buckets: readonly WireBucket[];
}

export interface WireBucket extends Readonly<Record<WireVerdict, number>> {
  readonly at: number;
}

/** `POST /api/replays`, answered by `WireReplayed`. */
export interface WireReplay {
  readonly seq: number;
  readonly target: string;
}

export interface WireReplayed {
  readonly ok: boolean;
  readonly answer: string;
  readonly durationMs: number;
}
