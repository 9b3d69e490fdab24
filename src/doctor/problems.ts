/** What helps where it is not known how pages follow each other. */
export type PagingAdvice =
  'learn' | 'name-parameter' | 'affirm-one-page' | 'more-leads' | 'more-leads-or-affirm' | 'repeat';

/** What a check finds that only a front can say, since it, or what to do about it, names commands or flags. */
export type DoctorProblem =
  | { readonly kind: 'inbox-place-full'; readonly directory: string }
  | { readonly kind: 'inbox-place-unwritable'; readonly directory: string; readonly code: string }
  /** `on`: the kind of file system. */
  | { readonly kind: 'inbox-place-volatile'; readonly directory: string; readonly on: string }
  | { readonly kind: 'inbox-file-damaged'; readonly inbox: string; readonly damage: string }
  | { readonly kind: 'database-without-inbox'; readonly inbox: string }
  | { readonly kind: 'partitions-missing'; readonly months: readonly string[] }
  /** The same lead, listed and delivered, would have two ids. */
  | { readonly kind: 'two-id-fields'; readonly listed: string; readonly delivered: string }
  | { readonly kind: 'secret-old'; readonly setting: string; readonly days: number }
  | { readonly kind: 'port-of-listen'; readonly address: string }
  | { readonly kind: 'port-taken'; readonly address: string }
  | { readonly kind: 'port-needs-rights'; readonly address: string }
  | { readonly kind: 'service-host-unknown'; readonly host: string; readonly why: string }
  /** `where` the leads are, and fields that may be their id. */
  | {
      readonly kind: 'leads-without-id';
      readonly where: string;
      readonly name: string;
      readonly candidates: readonly string[];
    }
  /** The list operation seems to take POST. */
  | { readonly kind: 'list-by-post'; readonly status: number | undefined }
  | { readonly kind: 'paging-undecided'; readonly why: string; readonly advice: PagingAdvice }
  | { readonly kind: 'limit-harmful'; readonly evidence: string }
  | {
      readonly kind: 'filter-ignored';
      readonly name: string;
      readonly evidence: string;
      readonly isLearning: boolean;
    }
  | { readonly kind: 'filter-harmful'; readonly name: string; readonly evidence: string }
  /** `seen`: their values. */
  | {
      readonly kind: 'two-status-fields';
      readonly fields: readonly [string, string];
      readonly seen: string;
    };
