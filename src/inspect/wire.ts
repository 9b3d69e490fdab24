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

/** Verdicts, and in `waiting` and `dead` the first deliveries of leads that stand so at one target at least. */
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
 * gets 401 `no-token`, a used or old key 401 `wrong-key`. The reload key works once, until a moment after the page's last request.
 */
export interface WireSession {
  readonly token: string;
  readonly reloadKey: string;
}

/** `GET /api/inbox`. The `mark` changes whenever a process has written to the inbox. */
export interface WireInbox {
  readonly location: string;
  readonly targets: readonly WireTarget[];
  readonly mark: string;
}

/**
 * For example `forward http://localhost:3000/webhook`, with the scheme that signs deliveries to this target, such as `svix`; null
 * where they are not signed.
 */
export interface WireTarget {
  readonly name: string;
  readonly scheme: string | null;
}

/**
 * A delivery in a list. `name` and `category` have at most 200 characters, and are null where the lead has no such text. The
 * source `replay` comes from a header, which anybody may send. `done`, `waiting` and `dead` are the numbers of targets where the
 * lead stands so; 0 in the rows of later deliveries of the lead.
 */
export interface WireRow {
  readonly seq: number;
  readonly receivedAt: number;
  readonly leadId: string | null;
  readonly name: string | null;
  readonly category: string | null;
  readonly verdict: WireVerdict;
  readonly reason: string | null;
  readonly status: number;
  readonly attempt: number;
  readonly source: 'push' | 'backfill' | 'replay';
  readonly size: number;
  readonly done: number;
  readonly waiting: number;
  readonly dead: number;
}

/**
 * `GET /api/deliveries?before=&after=&verdict=&since=&until=&text=&limit=`: newest first. `before` and `after`
 * are a `seq`, `verdict` is repeatable, `limit` is at most 200 (default 100), and `text` are words that must
 * all be in the id, the name, the category or the reason. `next` is the `before` of the next page, which misses no delivery; null on
 * the last page.
 */
export interface WirePage {
  readonly rows: readonly WireRow[];
  readonly next: number | null;
}

/**
 * `GET /api/deliveries/SEQ`. Null means that there is no such value.
 *
 * - `headers`: credentials are redacted.
 * - `raw`: the body as UTF-8 text, or in hexadecimal and ASCII (`isHex`).
 * - `missing`: why the inbox does not have the whole body: not read, pruned, erased, or only its beginning kept.
 * - `formatted`: JSON indented by two spaces, with every digit; null where the body is not JSON, or too large.
 * - `firstSeq`: the `seq` of the first lead, where one request had several.
 * - `differs`: fields that differ from the lead's first delivery; null on the first delivery.
 * - `leadDeliveries`: all deliveries of this lead, oldest first, at most 100.
 * - `notReplayable`: why the delivery cannot be replayed.
 */
export interface WireDelivery extends WireRow {
  readonly remote: string;
  readonly method: string;
  readonly path: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly raw: string;
  readonly isHex: boolean;
  readonly curl: string;
  readonly missing: string | null;
  readonly formatted: string | null;
  readonly firstSeq: number | null;
  readonly differs: readonly string[] | null;
  readonly explanation: readonly string[];
  readonly results: readonly WireResult[];
  readonly forwards: readonly WireForward[];
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

/**
 * `GET /api/counts?since=&until=`. In `rows`, 1,000 means 1,000 or more for `waiting` and `dead`. The first of the `buckets`, which
 * also count deliveries that are not stored any more, begins at `since`. Without a `since` in the request they cover the last day.
 */
export interface WireCounts {
  readonly rows: Readonly<Record<WireListFilter, number>>;
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
