import type { TlsCause } from '../service/client/tls-failure.ts';
import type { KindsOf } from '../errors.ts';

/** What helps where it is not known how pages follow each other. */
export type PagingAdvice =
  'learn' | 'name-parameter' | 'affirm-one-page' | 'more-leads' | 'more-leads-or-affirm' | 'repeat';

/** In which order a page lists its leads, by their time of creation. */
export type LeadOrder = 'newest-first' | 'oldest-first' | 'neither-by-time';

/** A field that may hold the delivery status, with the values seen, the most frequent first. */
export interface StatusField {
  readonly name: string;
  readonly values: readonly string[];
}

/** File systems on which an acknowledged lead may be lost. */
export type VolatileStorage = 'tmpfs' | 'ramfs' | 'NFS' | 'SMB';

/** Kinds that have the same facts. */
type Alike<Kinds extends string, Facts = object> = KindsOf<Record<Kinds, Facts>>;

/** How pages follow each other. */
export type PagingStyle =
  | Alike<'paged' | 'paged-by-link' | 'paged-by-url' | 'one-page'>
  | Alike<'paged-by-id' | 'paged-by-cursor' | 'paged-by-offset', { param: string }>
  | Alike<'paged-by-number', { param: string; from: number }>;

/** The leads that a filter should leave. */
export type Selection =
  Alike<'leads-since' | 'leads-until'> | Alike<'leads-of-field', { field: string; text: string }>;

/** What the answers of a service showed of its dialect, or why they show nothing; `asked`: the parameter that was sent. */
export type DialectEvidence =
  | Alike<'no-request-for-it' | 'no-parameter' | 'leads-alike' | 'times-alike' | 'next-page-named'>
  | Alike<'walk-begins-elsewhere' | 'walk-of-one-page' | 'walk-goes-on-elsewhere' | 'more-leads-unreached'>
  | Alike<'leads-listed-few' | 'leads-at-once' | 'leads-in-one-answer' | 'leads-in-array', { count: number }>
  | Alike<'leads-on-one-page' | 'leads-came-there' | 'nothing-counts' | 'proven-up-to', { count: number }>
  | Alike<'brought' | 'brought-part' | 'brought-others', { asked: string; count: number }>
  | Alike<'limit-alone' | 'id-distinct', { name: string }>
  | KindsOf<{
      /** What an error says. */
      said: { text: string };
      /** `status`: of the answer, or what it was instead. */
      'parameter-rejected': { asked: string; status: number | string };
      'no-effect-of-names': { count: number; name: string };
      'brought-selection': { asked: string; wanted: Selection };
      'brought-other-selection': { asked: string; count: number; wanted: Selection };
      'size-rejected': { name: string; size: number; status: number | undefined; taken: number };
      'pages-followed': { first: number; second: number };
      'name-failed': { name: string; why: DialectEvidence };
      'learnt-walk-failed': { style: PagingStyle; why: DialectEvidence };
      'leads-missing': { missing: number; asked: number };
      'list-cut': { evidence: DialectEvidence };
    }>;

/** What a check finds, in order or not. */
export type DoctorProblem =
  | Alike<'key-accepted' | 'key-unseen' | 'no-key' | 'no-answer' | 'no-leads-answered'>
  | Alike<'secret-undated' | 'inbox-in-memory' | 'database-read-only' | 'plain-http'>
  | Alike<
      'clock-unsent' | 'clock-agrees' | 'status-unseen' | 'order-unseen' | 'rate-untold' | 'requests-spent'
    >
  | Alike<'authority-unmade'>
  | Alike<'config-missing' | 'config-unwritable', { path: string }>
  | Alike<'file-open' | 'config-open' | 'config-closed', { path: string; mode: string }>
  | Alike<'inbox-opens' | 'inbox-unmade' | 'database-without-inbox', { inbox: string }>
  | Alike<'port-free' | 'port-of-listen' | 'port-taken' | 'port-needs-rights', { address: string }>
  | Alike<'host-by-proxy' | 'tls-by-proxy', { proxy: string }>
  | Alike<'authority-valid' | 'authority-early', { path: string; at: number }>
  | Alike<'limit-honoured' | 'limit-ignored', { name: string; evidence: DialectEvidence }>
  | Alike<'limit-harmful' | 'filter-unused' | 'filter-unknown', { evidence: DialectEvidence }>
  | KindsOf<{
      'node-current': { version: string };
      'node-old': { version: string; oldest: string };
      'config-in-order': { path: string; hasModes: boolean; profile: string };
      'secret-old': { setting: string; days: number };
      'secret-stored': { days: number };
      'clock-behind-delivery': { ms: number };
      /** `other`: whose clock. */
      'clocks-apart': { other: string; ms: number };
      'clock-shows': { now: number };
      'inbox-place-full': { directory: string };
      'inbox-place-unwritable': { directory: string; code: string };
      'inbox-place-volatile': { directory: string; on: VolatileStorage };
      'inbox-file-damaged': { inbox: string; damage: string };
      'inbox-file-unreadable': { inbox: string; code: string };
      'disk-space': { directory: string; bytes: number };
      'database-opens': { inbox: string; version: string };
      /** The same lead, listed and delivered, would have two ids. */
      'two-id-fields': { listed: string; delivered: string };
      'port-unusable': { address: string; code: string };
      'authority-ends': { path: string; at: number; isOver: boolean };
      /** `why`: the path of the key that is not its own, or what the system says. */
      'authority-unusable': { path: string; directory: string; why: string | { otherKey: string } };
      'host-is-address': { host: string };
      'host-found': { host: string; addresses: readonly string[] };
      /** `why`: the system's code or message, or `timeout`. */
      'service-host-unknown': { host: string; why: string };
      'tls-failed': { code: string; cause: TlsCause | undefined };
      'certificate-ended': { days: number };
      'certificate-of-others': { names: string; host: string };
      'certificate-untrusted': { issuer: string; why: string };
      'certificate-valid': { protocol: string; issuer: string; days: number };
      /** `drift`: of the service's clock against ours, ms. */
      'clock-drifts': { drift: number; isHarmful: boolean };
      'no-lead-listed': { items: string };
      'leads-listed': { items: string; count: number };
      /** `candidates`: fields that may be their id. */
      'leads-without-id': { items: string; name: string; candidates: readonly string[] };
      /** The list operation seems to take POST. */
      'list-by-post': { status: number | undefined };
      'paging-found': { style: PagingStyle; evidence: DialectEvidence };
      'paging-undecided': { why: DialectEvidence; advice: PagingAdvice };
      'page-cap': { size: number; evidence: DialectEvidence };
      'page-cap-unknown': { name: string; size: number };
      'page-cap-unreached': { name: string; count: number };
      'filter-ignored': { name: string; evidence: DialectEvidence; isLearning: boolean };
      'filter-harmful': { name: string; evidence: DialectEvidence };
      'status-field': { field: StatusField };
      'two-status-fields': { fields: readonly [StatusField, StatusField, ...StatusField[]] };
      'leads-in-order': { order: LeadOrder };
      'requests-limited': { requests: number; ms: number | undefined };
      /** `names`: of the headers that tell it. */
      'rate-told': { names: readonly string[]; limit: string | undefined };
    }>
  | PagingStyle
  | Selection
  | DialectEvidence;
