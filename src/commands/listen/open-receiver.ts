import { shellWord } from '../../front.ts';
import { explanationLines } from '../../output/explanation.ts';
import type { ForwardWorker } from '../../receiver/forward-worker.ts';
import { type HostGuard, hostGuard } from '../../receiver/host-guard.ts';
import { createReceiver, type Receiver, type ReceiverOptions } from '../../receiver/receiver.ts';
import type { Clock } from '../../time/clock.ts';
import { type Rejection, rejection } from '../../webhook/delivery-answer.ts';
import type { Delivery } from '../../webhook/delivery.ts';
import { explain } from '../../webhook/explain/explain-delivery.ts';
import { leadPlaceOf, otherEventsOf } from '../flags/delivery-flags.ts';
import type { Simulation } from './command.ts';
import type { DeliveryOutput } from './print.ts';
import type { ListenSession } from './session.ts';
import { untilNoneWaits } from './stop-condition.ts';

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
    failures: simulate === undefined ? undefined : simulatedFailures(simulate, { clock, stop }),
    explain: flags.explain ? explainerFor(session) : undefined,
    metrics,
    onAnswered(event) {
      const { verdict, leadId = '', pointer } = event;
      metrics?.delivered(event);
      const whenPrinted = output.delivery(event);
      if (verdict === 'accepted') {
        stop.countAccepted(leadId, (leadIds) => untilNoneWaits(leadIds, inbox, clock, signal));
      }
      const isPlaceFound = place.leadAt === 'auto' && pointer !== undefined;
      if (isPlaceFound) {
        const advice = `--lead-at ${shellWord(pointer)} keeps to that place`;
        context.messages.note('lead place', `leads are taken from ${pointer} of the body; ${advice}`);
      }
      return whenPrinted;
    },
  });
}

/**
 * Rejects requests for other hosts than this one. Without a credential and without HTTPS, a page in a browser on this machine
 * could otherwise deliver leads, by a host name of its own that leads to the loopback address (DNS rebinding).
 */
function hostGuardFor({ flags, context: { messages } }: ListenSession): HostGuard | undefined {
  const { http, verify, host } = flags;
  if (!http || verify) return undefined;
  const hostInUrl = host.includes(':') ? `[${host}]` : host;
  return hostGuard(hostInUrl, (foreign) => {
    const advice = 'if that is your tunnel, it must send the host localhost';
    messages.note('foreign host', `a request for the host '${foreign}' was answered 403; ${advice}`);
  });
}

/** `--explain`: the lines for a person about a delivery that was not authentic. They do not change its verdict. */
function explainerFor({ context, verifier }: ListenSession): ReceiverOptions['explain'] {
  const { clock, platform } = context;
  // Anybody can send such deliveries, and each explanation computes many signatures.
  const explainSome = withinTenth(clock, (delivery: Delivery) =>
    explanationLines(explain(delivery, verifier, clock.now()), platform),
  );
  return (delivery, { status, reason }) => {
    // The signature of a replayed delivery is right, so there is no other scheme to look for.
    const isNotAuthentic = status === 401 && reason !== 'replayed_nonce';
    return (isNotAuthentic ? explainSome(delivery) : undefined) ?? [];
  };
}

/** After a quiet time, so much work is done at once before calls are skipped, in milliseconds. */
const burstMs = 250;

/**
 * Limits work to a tenth of the time: the result skips a call, and returns undefined, while earlier calls have used up more.
 * Each call adds its duration to a debt, and a tenth of the time that passes pays it off.
 */
export function withinTenth<Args extends readonly unknown[], T>(
  clock: Pick<Clock, 'steady'>,
  work: (...args: Args) => T,
): (...args: Args) => T | undefined {
  let debtMs = 0;
  let lastCallAt = clock.steady();
  return (...args) => {
    const startedAt = clock.steady();
    debtMs = Math.max(0, debtMs - (startedAt - lastCallAt) / 10);
    lastCallAt = startedAt;
    if (debtMs > burstMs) return undefined;
    const result = work(...args);
    debtMs += clock.steady() - startedAt;
    return result;
  };
}

/** `--simulate`: fails on purpose, so that a service is seen to send again. A failed delivery counts for each of its leads. */
function simulatedFailures(
  { status: simulatedStatus, failFirst = 0, delayMs }: Simulation,
  { clock, stop: { signal } }: { readonly clock: Pick<Clock, 'sleep'>; readonly stop: ListenSession['stop'] },
): ReceiverOptions['failures'] {
  const failuresOf = new Map<string, number>();
  const countFailure = (leadId: string): Rejection | undefined => {
    const times = (failuresOf.get(leadId) ?? 0) + 1;
    if (times > failFirst) return undefined;
    failuresOf.set(leadId, times);
    return rejection('told_to_fail', `failed on purpose, ${times} of ${failFirst} (--simulate)`);
  };
  return {
    failureFor(leadIds) {
      if (simulatedStatus !== undefined && simulatedStatus >= 300)
        return {
          ...rejection('told_to_fail', `answered ${simulatedStatus}, as --simulate says`),
          status: simulatedStatus,
        };
      const failures = [...new Set(leadIds)].map(countFailure);
      return failures.find((failure) => failure !== undefined);
    },
    // A 200 is answered as the 2xx of `--simulate status`.
    statusFor: (status) => (status === 200 ? (simulatedStatus ?? status) : status),
    wait() {
      if (delayMs === undefined || signal.aborted) return undefined;
      // At the end of the run the answer is sent at once: an interrupted delay is no failure.
      return clock.sleep(delayMs, signal).catch(() => undefined);
    },
  };
}
