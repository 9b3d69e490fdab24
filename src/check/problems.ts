/** What a check, or one of its probes, finds that only a front can say in its own words. */
export type CheckProblem =
  | { readonly kind: 'no-credential-sent' | 'credential-needed' | 'oracle-needed' | 'oracle-says-nothing' }
  | { readonly kind: 'rate-limited-probe' | 'writes-not-allowed' | 'no-probe-left' | 'run-over' }
  | { readonly kind: 'pattern-without-probe'; readonly option: 'only' | 'skip'; readonly pattern: string }
  | { readonly kind: 'baseline-missing'; readonly path: string }
  /** `since`: the probe that did it. */
  | {
      readonly kind: 'receiver-restarted' | 'receiver-dead' | 'receiver-failing';
      readonly since: string | undefined;
    }
  | { readonly kind: 'nothing-acknowledged'; readonly probe: string }
  | { readonly kind: 'probe-too-slow'; readonly ms: number }
  | { readonly kind: 'probe-connection-failed'; readonly code: string };
