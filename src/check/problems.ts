/** What a check, or one of its probes, finds that only a front can say in its own words. */
export type CheckProblem =
  | { readonly kind: 'no-credential-sent' }
  | { readonly kind: 'credential-needed' }
  | { readonly kind: 'oracle-needed' }
  | { readonly kind: 'oracle-says-nothing' }
  | { readonly kind: 'rate-limited-probe' }
  | { readonly kind: 'writes-not-allowed' }
  | { readonly kind: 'pattern-without-probe'; readonly option: 'only' | 'skip'; readonly pattern: string }
  | { readonly kind: 'no-probe-left' }
  | { readonly kind: 'baseline-missing'; readonly path: string }
  /** `since`: the probe that did it. */
  | {
      readonly kind: 'receiver-restarted' | 'receiver-dead' | 'receiver-failing';
      readonly since: string | undefined;
    }
  | { readonly kind: 'nothing-acknowledged'; readonly probe: string }
  | { readonly kind: 'run-over' }
  | { readonly kind: 'probe-too-slow'; readonly ms: number }
  | { readonly kind: 'probe-connection-failed'; readonly code: string };
