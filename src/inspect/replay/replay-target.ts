import { randomBytes } from 'node:crypto';
import { isLoopback } from '../../config/base-url.ts';
import type { TlsTrust } from '../../http/client/trust.ts';
import { replayHeader, splitCredentials } from '../../receiver/targets/forward-request.ts';
import { problemSentence } from '../../messages/find-message.ts';
import { forwardTarget } from '../../receiver/targets/forward.ts';
import type { Target } from '../../receiver/targets/target.ts';
import { signatureHeaders, type Signer } from '../../sender/sign-request.ts';
import type { WireTarget } from '../wire.ts';

/** Where a delivery may be replayed to. */
export interface ReplayTarget {
  readonly target: Target;
  readonly wire: WireTarget;
  /** Without credentials. */
  readonly url: string;
}

export interface ReplayTargetOptions {
  readonly url: URL;
  readonly keepPath?: { readonly urlSaidBy: string } | undefined;
  /** Without a key, and where it is undefined, deliveries are sent unsigned. */
  readonly signer: Signer | undefined;
  readonly proxy: URL | undefined;
  readonly timeoutMs: number;
  /** Our own authority as PEM, trusted for loopback. */
  readonly loopbackCa: string | undefined;
  readonly trust?: TlsTrust | undefined;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Aborts what is in flight. */
  readonly signal: AbortSignal;
}

/** Sends what was received as it came, with a new signature and with the mark of a replay. */
export function replayTarget({ signer, now, ...options }: ReplayTargetOptions): ReplayTarget {
  const { url, keepPath, proxy, timeoutMs, loopbackCa, trust, signal } = options;
  const { bare } = splitCredentials(url);
  const target = forwardTarget({
    url,
    keepPath,
    // The inbox does not keep which scheme verified a delivery.
    scheme: undefined,
    proxy,
    timeoutMs,
    bestEffort: false,
    keepBody: false,
    loopbackCa,
    trust,
    now,
    sentenceOf: problemSentence,
    signal,
    headersOf: (request) => [
      ...(signer === undefined ? [] : signatureHeaders(signer, contentOf(request), now())),
      ...(signer?.headers ?? []),
      [replayHeader, '1'],
    ],
  });
  return {
    target,
    url: bare.href,
    wire: {
      name: target.name,
      isLocal: isLoopback(url.hostname),
      scheme: signer?.key === undefined ? null : signer.scheme.name,
    },
  };
}

/** Every request has an id of its own: a receiver may refuse one that it knows with another body. */
const contentOf = ({ url, body }: { readonly url: string; readonly body: Uint8Array }) => ({
  id: `msg_${randomBytes(12).toString('hex')}`,
  target: url,
  body,
});
