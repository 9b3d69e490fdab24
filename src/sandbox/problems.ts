/** What is wrong with the settings of a sandbox, or with its leads. */
export type SandboxProblem =
  | { readonly kind: 'unknown-fault'; readonly name: string; readonly known: readonly string[] }
  | { readonly kind: 'fault-without-share'; readonly name: string; readonly share: string }
  /** Forged so, a delivery of this scheme would be genuine. */
  | { readonly kind: 'fault-not-of-scheme'; readonly scheme: string; readonly fault: string }
  /** `number` from 1; `why` in one sentence. */
  | { readonly kind: 'not-servable'; readonly number: number; readonly why: string };
