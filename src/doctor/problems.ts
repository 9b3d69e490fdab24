import type { KindsOf } from '../errors.ts';

/** What helps where it is not known how pages follow each other. */
export type PagingAdvice =
  'learn' | 'name-parameter' | 'affirm-one-page' | 'more-leads' | 'more-leads-or-affirm' | 'repeat';

/** What a check finds that only a front can say, since it, or what to do about it, names commands or flags. */
export type DoctorProblem = KindsOf<{
  'inbox-place-full': { directory: string };
  'inbox-place-unwritable': { directory: string; code: string };
  /** `on`: the kind of file system. */
  'inbox-place-volatile': { directory: string; on: string };
  'inbox-file-damaged': { inbox: string; damage: string };
  'database-without-inbox': { inbox: string };
  'partitions-missing': { months: readonly string[] };
  /** The same lead, listed and delivered, would have two ids. */
  'two-id-fields': { listed: string; delivered: string };
  'secret-old': { setting: string; days: number };
  'port-of-listen': { address: string };
  'port-taken': { address: string };
  'port-needs-rights': { address: string };
  'service-host-unknown': { host: string; why: string };
  /** `where` the leads are, and fields that may be their id. */
  'leads-without-id': { where: string; name: string; candidates: readonly string[] };
  /** The list operation seems to take POST. */
  'list-by-post': { status: number | undefined };
  'paging-undecided': { why: string; advice: PagingAdvice };
  'limit-harmful': { evidence: string };
  'filter-ignored': { name: string; evidence: string; isLearning: boolean };
  'filter-harmful': { name: string; evidence: string };
  /** `seen`: their values. */
  'two-status-fields': { fields: readonly [string, string]; seen: string };
}>;
