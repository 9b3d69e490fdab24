import { randomBytes } from 'node:crypto';
import type { Inbox } from '../inbox/inbox.ts';
import { retryRequest } from '../receiver/retry-request.ts';
import { storedDelivery } from '../receiver/stored-request.ts';
import { forwardTarget, replayHeader } from '../receiver/targets/forward.ts';
import type { Target } from '../receiver/targets/target.ts';
import { signatureHeaders, type Signer } from '../sender/sign-request.ts';
import type { Clock } from '../time/clock.ts';
import { whyNotReplayable } from './queries/describe-delivery.ts';
import { notInInbox, requestProblem, RequestProblem } from './request-problem.ts';
import type { WireReplay, WireReplayed, WireTarget } from './wire.ts';

export interface ReplayTarget extends Target {
  /** The scheme that signs replays; null where they are unsigned. */
  readonly scheme: string | null;
}

type ForwardOptions = Parameters<typeof forwardTarget>[0];
type ReplayOptions = Pick<ForwardOptions, 'url' | 'proxy' | 'trust' | 'timeoutMs' | 'now' | 'signal'>;

/** Sends the stored body with a new signature, if there is a signer, and with the header of a replay. */
export function replayTarget(options: ReplayOptions, signer: Signer | undefined): ReplayTarget {
  const target = forwardTarget({
    ...options,
    // Unknown: the inbox does not keep which scheme verified a delivery.
    scheme: undefined,
    headersOf: (request) => [
      ...(signer === undefined ? [] : signatureHeaders(signer, contentOf(request), options.now())),
      ...(signer?.headers ?? []),
      [replayHeader, '1'],
    ],
  });
  return { ...target, scheme: signer?.key === undefined ? null : signer.scheme.name };
}

/** A receiver may refuse an id that it knows with another body, so every request has a new id. */
const contentOf = ({ url, body }: { readonly url: string; readonly body: Uint8Array }) => ({
  id: `msg_${randomBytes(12).toString('hex')}`,
  target: url,
  body,
});

type ReplayInbox = Pick<Inbox, 'list' | 'claimLeads' | 'record' | 'close'>;

interface ReplayerOptions {
  readonly targets: readonly ReplayTarget[];
  readonly openInbox: (target: Target) => Promise<ReplayInbox>;
  readonly clock: Clock;
}

/** Makes the replays that the page asks for, one after the other: each waits for the `#previous` one. */
export class Replayer {
  readonly targets: readonly WireTarget[];
  readonly #options: ReplayerOptions;
  #previous: Promise<unknown> = Promise.resolve();

  constructor(options: ReplayerOptions) {
    this.#options = options;
    this.targets = options.targets.map(({ name, scheme }) => ({ name, scheme }));
  }

  /** Rejects with a `RequestProblem` where nothing was sent. A refusal by the target is a result. */
  async replay({ seq, target: name }: WireReplay): Promise<WireReplayed> {
    const target = this.#options.targets.find((candidate) => candidate.name === name);
    if (target === undefined) {
      const problem = 'The target is none of those that were named when leads was started.';
      throw new RequestProblem(403, 'forbidden', problem, '--replay-to names one more');
    }
    const turn = this.#previous.then(() => this.#send(seq, target));
    this.#previous = turn.catch(() => undefined);
    try {
      return await turn;
    } catch (error) {
      throw requestProblem(error, 'The replay failed: ');
    }
  }

  async close(): Promise<void> {
    await this.#previous;
    for (const target of this.#options.targets) await target.close?.();
  }

  async #send(seq: number, target: Target): Promise<WireReplayed> {
    const { clock } = this.#options;
    const inbox = await this.#options.openInbox(target);
    try {
      const stored = await storedDelivery(inbox, seq);
      if (stored === undefined) throw notInInbox(seq);
      const problem = whyNotReplayable(stored);
      if (problem !== undefined) throw new RequestProblem(409, 'not-replayable', problem);
      const { leadId = '' } = stored;
      const options = { target, inbox, clock, isMove: false };
      const [retried] = await retryRequest([{ ...stored, leadId }], options);
      if (retried === undefined) throw new Error('a target gave no result');
      const { ok, isTried, answer, durationMs } = retried;
      if (!isTried) throw new RequestProblem(409, 'not-replayable', `Nothing was sent: ${answer}.`);
      return { ok, answer, durationMs };
    } finally {
      await inbox.close();
    }
  }
}
