import type { AnsweredDelivery } from '../../receiver/answered-delivery.ts';
import { createReceiver as createCore, type Receiver } from '../../receiver/create-receiver.ts';
import { inboxRequirements } from '../../receiver/inbox-requirements.ts';
import type { Target } from '../../receiver/targets/target.ts';
import { withOptionNames } from '../webhook/option-names.ts';
import { type CheckedOptions, settled } from './checked-options.ts';
import type { ReceiverInbox } from './inbox/inbox-opener.ts';
import type { ReceivedDelivery } from './receiver-options.ts';
import { toldInbox } from './inbox/told-inbox.ts';

/** A receiver whose inbox is open. */
export interface OpenReceiver {
  readonly receiver: Receiver;
  readonly inbox: ReceiverInbox;
  /** Closes the inbox, unless it is the application's own. */
  close(): Promise<void>;
}

/** Opens the inbox, and puts the CLI's receiver in front of it. Rejects when the inbox cannot be opened. */
export async function openReceiver(options: CheckedOptions, target: Target): Promise<OpenReceiver> {
  const { policy, clock, onDelivery, onError, onWarning } = options;
  const requirements = { ...inboxRequirements(policy, [target]), clock, warn: onWarning };
  const isOwn = 'open' in options.inbox;
  const inbox = 'open' in options.inbox ? await options.inbox.open(requirements) : options.inbox;
  const receiver = createCore({
    policy,
    inbox: toldInbox(inbox, onError),
    targets: [target],
    clock,
    messages: { note: (_, text) => onWarning(text) },
  });
  receiver.events.subscribe((event) => {
    // The lead is stored and handed over: a hook that fails is no reason to ask for it again.
    void settled(
      () => onDelivery?.(deliveryOf(event)),
      (error) => onError(error, { leadId: event.leadId }),
    );
  });
  return { receiver, inbox, close: () => (isOwn ? inbox.close() : Promise.resolve()) };
}

function deliveryOf(event: AnsweredDelivery): ReceivedDelivery {
  const { verdict, status, reason, detail, leadId, attempt, warnings, receivedAt, durationMs } = event;
  const hint = detail === undefined ? undefined : withOptionNames(detail);
  return { verdict, status, reason, hint, leadId, attempt, warnings, receivedAt, durationMs };
}
