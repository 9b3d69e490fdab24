/**
 * The messages between the page and its server: JSON objects, times in milliseconds since the epoch. Both import this file, so
 * that it imports nothing that a browser lacks.
 */

/**
 * The address of the page, as it is printed: `http://127.0.0.1:PORT/#key=KEY`. No request holds the key but `POST
 * /api/session`; it is in the characters of base64url, works once, and for ten minutes.
 */
export const keyParameter = 'key';

/** Every request to `/api/` but `POST /api/session` carries the token in this header. */
export const tokenHeader = 'x-inspect-token';

/** The verdicts in the order in which the page shows them. */
export const verdicts = ['accepted', 'duplicate', 'rejected', 'other'] as const;

type WireVerdict = (typeof verdicts)[number];

/** The kinds that the list can be filtered by: `waiting` and `dead` are first deliveries of leads that some target has not had. */
export const listFilters = ['accepted', 'waiting', 'dead', 'duplicate', 'rejected', 'other'] as const;

export type WireListFilter = (typeof listFilters)[number];

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
  /** A sentence. */
  readonly problem: string;
  readonly hint?: string;
}

/**
 * `POST /api/session` with `{"key": …}` of the address, or with `{"reloadKey": …}` of this page before it was loaded again. The
 * answer to an old token or reload key is 401 `no-token`, to a used or old key 401 `wrong-key`.
 */
export interface WireSession {
  /** The token works as long as the server runs. */
  readonly token: string;
  /** The key works once, until a moment after the page's last request. */
  readonly reloadKey: string;
}

/** `GET /api/inbox` */
export interface WireInbox {
  /** Path of the file, or the URL of the database without its password. */
  readonly location: string;
  /** The targets of replays, in the order in which the command line named them. */
  readonly targets: readonly WireTarget[];
}

export interface WireTarget {
  /** For example `forward http://localhost:3000/webhook`. */
  readonly name: string;
  /** The scheme by which deliveries are signed for it, such as `svix`; null: they are not signed. */
  readonly scheme: string | null;
}

/** A row of the list. */
export interface WireRow {
  readonly seq: number;
  readonly receivedAt: number;
  readonly leadId: string | null;
  /** The lead's name and category, at most 200 characters each; null where it has none that is text. */
  readonly name: string | null;
  readonly category: string | null;
  readonly verdict: WireVerdict;
  /** The stable code of a rejection. */
  readonly reason: string | null;
  /** The status that the sender was answered. */
  readonly status: number;
  readonly attempt: number;
  /** `replay`: a header says that the delivery is a replay; anybody may send that header. */
  readonly source: 'push' | 'backfill' | 'replay';
  /** The size of the body, in bytes. */
  readonly size: number;
  /** At how many targets the lead is done, waits, and is dead; 0 in the rows of its later deliveries. */
  readonly done: number;
  readonly waiting: number;
  readonly dead: number;
}

/** `GET /api/changes` */
export interface WireChanges {
  /** The text differs after any process has written to the inbox. */
  readonly mark: string;
}

/**
 * `GET /api/deliveries?before=&after=&verdict=&since=&until=&text=&limit=`: newest first, `before` and `after` a `seq`, `verdict`
 * repeatable, `limit` at most 200 (default 100). All words of `text` are in the id, the name, the category or the reason.
 */
export interface WirePage {
  readonly rows: readonly WireRow[];
  /** The `before` of the next page: no delivery from this number on is missing here. Null: these are all. */
  readonly next: number | null;
}

/** `GET /api/deliveries/SEQ` */
export interface WireDelivery extends WireRow {
  readonly remote: string;
  readonly method: string;
  readonly path: string;
  /** Credentials are redacted. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The body as UTF-8 text, at most the first 1 MiB; or in hexadecimal and ASCII, at most the first 8 KiB. */
  readonly raw: string;
  /** The body is not text: `raw` is in hexadecimal. */
  readonly isHex: boolean;
  /** `raw` has less than the body: `GET /api/deliveries/SEQ/body` has all of it, as an attachment. */
  readonly isCut: boolean;
  /** The delivery as a command for a POSIX shell, ready to paste. */
  readonly curl: string;
  /** Why the body is not all there: it was not read, was pruned or erased, or only its beginning was kept. Null: it is. */
  readonly missing: string | null;
  /** The body as JSON, indented by two spaces, with every digit; null where it is not JSON, or too large. */
  readonly formatted: string | null;
  /** The number of the first one of several leads that came in one request. */
  readonly firstSeq: number | null;
  /** Fields that differ from the lead's first delivery; null where it is the first one. */
  readonly differs: readonly string[] | null;
  /** Why no lead was taken from it, a sentence each; empty where one was. */
  readonly explanation: readonly string[];
  /** The attempts to forward the lead, oldest first. */
  readonly results: readonly WireResult[];
  /** The state of the lead at each of its targets. */
  readonly forwards: readonly WireForward[];
  /** All deliveries of this lead, oldest first: at most 100. */
  readonly attempts: readonly WireRow[];
  /** Why it cannot be replayed; null where it can. */
  readonly notReplayable: string | null;
}

interface WireForward {
  readonly target: string;
  readonly state: 'waiting' | 'done' | 'dead';
  readonly tries: number;
  /** When it is tried again; null: it is not. */
  readonly dueAt: number | null;
}

interface WireResult {
  readonly target: string;
  /** The address without what may be a credential; null where the target is no forward. */
  readonly address: string | null;
  readonly kind: 'forward' | 'retry' | 'replay' | 'repair';
  readonly ok: boolean;
  /** The target's answer in a few words. */
  readonly answer: string;
  readonly durationMs: number;
  /** When the attempt ended. */
  readonly at: number;
}

/** `GET /api/counts?since=&until=`: the counts of the list, and a chart of all that was received, stored or not. */
export interface WireCounts {
  /** The number of rows of each kind; 1,000 of `waiting` and `dead` stand for more. */
  readonly rows: Readonly<Record<WireListFilter, number>>;
  /** The beginning of the first bucket. Without a `since` it fits what came in the last day. */
  readonly since: number;
  readonly bucketMs: number;
  readonly buckets: readonly WireBucket[];
}

/** The counts of one bucket, and the time at which it begins. */
export interface WireBucket extends Readonly<Record<WireVerdict, number>> {
  readonly at: number;
}

/** `POST /api/replays`, a request; answered by `WireReplayed`. */
export interface WireReplay {
  readonly seq: number;
  /** The name of one of `WireInbox.targets`. */
  readonly target: string;
}

export interface WireReplayed {
  readonly ok: boolean;
  readonly answer: string;
  readonly durationMs: number;
}
