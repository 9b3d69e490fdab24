/** The faults of deliveries that the inbox holds. */
export type ReceiverProblem =
  | { readonly kind: 'no-delivery-of-lead'; readonly leadId: string }
  /** `number`: of the delivery in the inbox. */
  | { readonly kind: 'delivery-without-lead'; readonly number: number };

/** A request that was made for another host, or by a page of another one. */
export type ForeignRequest =
  | { readonly kind: 'request-for-foreign-host'; readonly host: string }
  | { readonly kind: 'request-from-foreign-page'; readonly origin: string };

/** Why a target did not take a lead. */
export type TargetProblem =
  /** `url`: what names the URL that the delivery's path leads out of. */
  | { readonly kind: 'target-path-left'; readonly url: string }
  /** `proxy`: its host. `code`, `reason`: the system's. */
  | {
      readonly kind: 'target-unreached';
      readonly why:
        'timeout' | 'refused' | 'speaks-plain-http' | 'closed-on-plain-http' | 'aborted' | 'other';
      readonly timeoutMs: number;
      readonly reason: string;
      readonly proxy: string | undefined;
    };

/** The notes for the operator of a receiver, most of them once a run for each kind, cause, or set of leads. `why` is a sentence. */
export type ReceiverNote =
  /** `number` from 1, of so many secrets: the first one is the current one. */
  | { readonly kind: 'former-secret-used'; readonly number: number; readonly secrets: number }
  /** `hours`: for so long. */
  | {
      readonly kind: 'former-secret-unused';
      readonly number: number;
      readonly secrets: number;
      readonly hours: number;
    }
  | { readonly kind: 'rejected-not-kept'; readonly why: string }
  /** What was authentic when it came is forwarded without a credential: only its sender can sign. */
  | { readonly kind: 'forward-unsigned'; readonly scheme: string }
  /** The target did not take so many leads for too long: they are kept, and dead. `target`: its label. */
  | { readonly kind: 'given-up'; readonly target: string; readonly leads: number }
  | { readonly kind: 'forwards-stopped'; readonly why: string }
  | { readonly kind: 'lead-not-sent'; readonly leadId: string; readonly why: string }
  /** None of the targets is for such a lead. */
  | { readonly kind: 'lead-for-no-target'; readonly leadId: string }
  /** Another program cut the output file to `left` bytes of `size`: lines of leads may be gone from it. */
  | { readonly kind: 'output-cut'; readonly path: string; readonly size: number; readonly left: number }
  /** No inbox can hold them, since it tells leads apart by their ids. */
  | { readonly kind: 'pulled-without-id'; readonly leads: number };
