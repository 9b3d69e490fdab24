import { randomBytes } from 'node:crypto';
import type { TlsTrust } from '../../http/client/trust.ts';
import { replayHeader } from '../../receiver/targets/forward-request.ts';
import { forwardTarget } from '../../receiver/targets/forward.ts';
import type { Target } from '../../receiver/targets/target.ts';
import { signatureHeaders, type Signer } from '../../sender/sign-request.ts';
import type { WireTarget } from '../wire.ts';

export interface ReplayTarget {
  readonly target: Target;
  readonly wire: WireTarget;
}

export interface ReplayTargetOptions {
  readonly url: URL;
  /** Without it, deliveries are sent unsigned. */
  readonly signer: Signer | undefined;
  readonly proxy: URL | undefined;
  readonly timeoutMs: number;
  readonly trust?: TlsTrust | undefined;
  readonly now: () => number;
  readonly signal: AbortSignal;
}

/** Sends the stored body with a new signature and with the header of a replay. */
export function replayTarget({ signer, now, ...options }: ReplayTargetOptions): ReplayTarget {
  const { url, proxy, timeoutMs, trust, signal } = options;
  const target = forwardTarget({
    url,
    // The inbox does not keep which scheme verified a delivery.
    scheme: undefined,
    proxy,
    timeoutMs,
    keepBody: false,
    loopbackCa: undefined,
    trust,
    now,
    signal,
    headersOf: (request) => [
      ...(signer === undefined ? [] : signatureHeaders(signer, contentOf(request), now())),
      ...(signer?.headers ?? []),
      [replayHeader, '1'],
    ],
  });
  return {
    target,
    wire: {
      name: target.name,
      scheme: signer?.key === undefined ? null : signer.scheme.name,
    },
  };
}

/** A receiver may refuse an id that it knows with another body, so every request has a new id. */
const contentOf = ({ url, body }: { readonly url: string; readonly body: Uint8Array }) => ({
  id: `msg_${randomBytes(12).toString('hex')}`,
  target: url,
  body,
});
