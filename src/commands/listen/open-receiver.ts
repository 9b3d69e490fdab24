import { shellWord } from '../../front.ts';
import { explanationLines } from '../../output/explanation.ts';
import type { ForwardWorker } from '../../receiver/forward-worker.ts';
import { type HostGuard, hostGuard } from '../../receiver/host-guard.ts';
import { createReceiver, type Receiver, type ReceiverOptions } from '../../receiver/receiver.ts';
import type { Clock } from '../../time/clock.ts';
import { type Rejection, rejection } from '../../webhook/delivery-answer.ts';
import type { Delivery } from '../../webhook/delivery.ts';
import { explain } from '../../webhook/explain/explain-delivery.ts';
import { leadPlaceOf, otherEventsOf } from '../flags/resolve-scheme.ts';
import type { Simulation } from './command.ts';
import type { DeliveryOutput } from './print.ts';
import type { ListenSession } from './session.ts';
import { everyTargetHad } from './stop-condition.ts';

/** The receiver as the flags ask for it. It prints and counts what it has answered. */
export function openReceiver(
  session: ListenSession,
  workers: readonly ForwardWorker[],
  output: DeliveryOutput,
): Receiver {
  const { flags, settings, context, verifier, inbox, note, metrics, stop } = session;
  const { clock } = context;
  const { path, simulate } = flags;
  const place = leadPlaceOf(settings, flags.leadAt);
  const { signal } = stop;
  return createReceiver({
    verifier,
    place: { path, ...place },
    otherEvents: otherEventsOf(settings),
    hostGuard: hostGuardFor(session),
    inbox,
    workers,
    clock,
    note,
    failures: simulate === undefined ? undefined : new SimulatedFailures({ ...simulate, clock, signal }),
    explain: flags.explain ? explainerFor(session) : undefined,
    metrics,
    onAnswered(event) {
      const { verdict, leadId = '', pointer } = event;
      metrics?.delivered(event);
      const room = output.delivery(event);
      if (verdict === 'accepted') {
        stop.countAccepted(leadId, (leadIds) => everyTargetHad(leadIds, inbox, clock, signal));
      }
      if (place.leadAt === 'auto' && pointer !== undefined) {
        const advice = `--lead-at ${shellWord(pointer)} keeps to that place`;
        context.messages.note('lead place', `leads are taken from ${pointer} of the body; ${advice}`);
      }
      return room;
    },
  });
}

/** Needed where neither a credential nor a certificate keeps out a page in a browser on this machine. */
function hostGuardFor({ flags, context: { messages } }: ListenSession): HostGuard | undefined {
  const { http, verify, host } = flags;
  if (!http || verify) return undefined;
  const hostInUrl = host.includes(':') ? `[${host}]` : host;
  return hostGuard(hostInUrl, (foreign) => {
    const advice = 'if that is your tunnel, it must send the host localhost';
    messages.note('foreign host', `a request for the host '${foreign}' was answered 403; ${advice}`);
  });
}

/** Nothing is ever accepted because of what is explained. */
function explainerFor({ context, verifier }: ListenSession): ReceiverOptions['explain'] {
  const { clock, platform } = context;
  const explained = withinTenth(clock, (delivery: Delivery) =>
    explanationLines(explain(delivery, verifier, clock.now()), platform),
  );
  return (delivery, { status, reason }) =>
    (status === 401 && reason !== 'replayed_nonce' ? explained(delivery) : undefined) ?? [];
}

/** Work that may be done at once, in milliseconds, so that all of a few in a row is done. */
const burstMs = 250;

/**
 * The same work, in at most a tenth of the time: undefined instead of what would take more. For what a stranger causes and
 * nothing depends on.
 */
export function withinTenth<Args extends readonly unknown[], T>(
  clock: Pick<Clock, 'steady'>,
  work: (...args: Args) => T,
): (...args: Args) => T | undefined {
  let owed = 0;
  let last = clock.steady();
  return (...args) => {
    const start = clock.steady();
    owed = Math.max(0, owed - (start - last) / 10);
    last = start;
    if (owed > burstMs) return undefined;
    const result = work(...args);
    owed += clock.steady() - start;
    return result;
  };
}

interface SimulatedFailuresOptions extends Simulation {
  readonly clock: Pick<Clock, 'sleep'>;
  readonly signal: AbortSignal;
}

/** `--simulate`: fails on purpose, so that a service is seen to send again. */
class SimulatedFailures {
  readonly #options: SimulatedFailuresOptions;
  readonly #failuresOf = new Map<string, number>();

  constructor(options: SimulatedFailuresOptions) {
    this.#options = options;
  }

  failureFor(leadIds: readonly string[]): Rejection | undefined {
    const { status, failFirst } = this.#options;
    if (status !== undefined && status >= 300) {
      return { ...rejection('told_to_fail', `answered ${status}, as --simulate says`), status };
    }
    if (failFirst === undefined) return undefined;
    const failures = [...new Set(leadIds)].map((leadId) => this.#nextFailureOf(leadId, failFirst));
    return failures.find((failure) => failure !== undefined);
  }

  #nextFailureOf(leadId: string, failFirst: number): Rejection | undefined {
    const times = (this.#failuresOf.get(leadId) ?? 0) + 1;
    if (times > failFirst) return undefined;
    this.#failuresOf.set(leadId, times);
    return rejection('told_to_fail', `failed on purpose, ${times} of ${failFirst} (--simulate)`);
  }

  /** The status of a success may be any 2xx. */
  statusFor(status: number): number {
    return status === 200 ? (this.#options.status ?? status) : status;
  }

  wait(): Promise<void> | undefined {
    const { delayMs, clock, signal } = this.#options;
    if (delayMs === undefined || signal.aborted) return undefined;
    // A delay that is interrupted is no failure: the answer is sent at once then.
    return clock.sleep(delayMs, signal).catch(() => undefined);
  }
}
