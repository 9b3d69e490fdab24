import { ConfigError, LeadsError, messageOf } from '../../errors.ts';
import { backgroundClock, type Clock, systemClock } from '../../time/clock.ts';
import { longestTimerMs } from '../../time/time-text.ts';
import type { Policy, OtherEvents } from '../../webhook/check-delivery.ts';
import { definedScheme } from '../webhook/defined-scheme.ts';
import { idFieldOption } from '../webhook/id-field-option.ts';
import { leadPlace, schemeOptions, withKeys } from '../webhook/make-verifier.ts';
import { ownVerifier } from '../webhook/own-verifier.ts';
import { requireKnownOptions } from '../webhook/option-fault.ts';
import { type OptionNames, sharedOptions } from '../webhook/option-names.ts';
import { withSchemeErrors } from '../webhook/scheme-errors.ts';
import type { LazyLead, Lead } from '../webhook/lead.ts';
import { type Fitted, fitterOf } from '../webhook/lead-schema.ts';
import { defaultBodyLimits } from '../webhook/options.ts';
import type { LeadContext, ReceiverOptions } from './receiver-options.ts';

/** The options with their defaults. Durations in milliseconds. */
export interface CheckedOptions extends Pick<ReceiverOptions, 'inbox' | 'onDelivery'> {
  readonly onLead: (lead: LazyLead<string>, context: LeadContext) => unknown;
  readonly onLeadTimeoutMs: number;
  readonly concurrency: number;
  readonly retryEveryMs: number;
  readonly maxBodyBytes: number;
  readonly bodyTimeoutMs: number;
  readonly policy: Policy;
  readonly otherEvents: OtherEvents;
  readonly name: string;
  readonly clock: Clock;
  /** For what waits while nothing is to be done: it keeps no process alive. */
  readonly background: Clock;
  readonly onError: NonNullable<ReceiverOptions['onError']>;
  /** Never throws. */
  readonly onWarning: NonNullable<ReceiverOptions['onWarning']>;
}

const receiverOptions: OptionNames<ReceiverOptions<unknown>> = {
  ...sharedOptions,
  inbox: true,
  onLead: true,
  onLeadTimeoutMs: true,
  concurrency: true,
  retryEveryMs: true,
  name: true,
  path: true,
  leadAt: true,
  idField: true,
  otherEvents: true,
  onDelivery: true,
  onError: true,
  onWarning: true,
  clock: true,
  schema: true,
};

/**
 * Throws a `TypeError` for an option that is unknown, and a `ConfigError` for what is missing, of another kind or out of
 * range: a receiver that starts can receive.
 */
export function checkOptions<Output>(options: ReceiverOptions<Output>): CheckedOptions {
  requireKnownOptions(options, receiverOptions, 'createReceiver');
  const { inbox, onLead, onDelivery, path, name = 'onLead' } = options;
  if (typeof onLead !== 'function') throw new ConfigError('onLead is no function');
  // Null in JavaScript.
  if (typeof inbox !== 'object' || !(inbox as unknown)) {
    throw new ConfigError('no inbox is given', { hint: "such as inbox: fileInbox('leads.db')" });
  }
  if (path?.startsWith('/') === false) throw new ConfigError(`path '${path}' does not begin with /`);
  if (!/^[\w.-]{1,64}$/.test(name)) {
    throw new ConfigError(`name '${name}' is not of 1 to 64 letters, digits, '_', '.' and '-'`);
  }
  const { scheme, otherEvents = 'reject' } = options;
  if (!['accept', 'reject'].includes(otherEvents)) {
    throw new ConfigError("otherEvents must be 'accept' or 'reject'");
  }
  const onError = hook(options.onError, showError);
  const verifier =
    typeof scheme === 'function'
      ? ownVerifier(scheme, options, options.clock, (error) => onError(error, {}))
      : withSchemeErrors(() => withKeys(definedScheme(scheme, schemeOptions(options)), options));
  const fitAll = options.schema && fitterOf(options.schema);
  return {
    inbox,
    onLead: async (lead, context) => {
      await fitAll?.([lead]);
      await onLead(lead as unknown as Fitted<Lead, Output>, context);
    },
    onDelivery,
    policy: { path, ...verifier, ...leadPlace(options.leadAt), idField: idFieldOption(options.idField) },
    otherEvents: { areTaken: otherEvents === 'accept', option: "otherEvents: 'accept'" },
    name,
    clock: options.clock ?? systemClock,
    background: options.clock ?? backgroundClock,
    onLeadTimeoutMs: positive('onLeadTimeoutMs', options.onLeadTimeoutMs ?? 10_000, longestTimerMs),
    concurrency: positive('concurrency', options.concurrency ?? 16),
    retryEveryMs: positive('retryEveryMs', options.retryEveryMs ?? 60_000),
    maxBodyBytes: positive('maxBodyBytes', options.maxBodyBytes ?? defaultBodyLimits.maxBytes),
    bodyTimeoutMs: positive('bodyTimeoutMs', options.bodyTimeoutMs ?? defaultBodyLimits.timeoutMs),
    onError,
    onWarning: hook(options.onWarning, showWarning),
  };
}

/** Calls a function of the application, which may throw, or return a promise that rejects. Never rejects itself. */
export async function callHook(call: () => unknown, onFailure: (error: unknown) => void): Promise<void> {
  try {
    await call();
  } catch (error) {
    onFailure(error);
  }
}

/** A failure of the hook itself is shown where there is no other place for it. */
const hook =
  <T extends readonly unknown[]>(
    own: ((...what: T) => unknown) | undefined,
    otherwise: (...what: T) => void,
  ) =>
  (...what: T): void =>
    own === undefined
      ? otherwise(...what)
      : void callHook(
          () => own(...what),
          (error) => showError(error, {}),
        );

function positive(name: string, value: number, most = Number.MAX_SAFE_INTEGER): number {
  if (Number.isInteger(value) && value > 0 && value <= most) return value;
  throw new ConfigError(`${name} must be a whole number from 1 to ${most}`);
}

// Without a hook, the console is the only place where a failure can be seen.
const showError: CheckedOptions['onError'] = (error, { leadId }) => {
  // eslint-disable-next-line no-console
  console.error(`leads-cli/receiver: ${leadId === undefined ? '' : `lead '${leadId}': `}${errorText(error)}`);
};

const showWarning: CheckedOptions['onWarning'] = (text) => {
  // eslint-disable-next-line no-console
  console.warn(`leads-cli/receiver: ${text}`);
};

/** Message and hint as one text. */
export const withHint = ({ message, hint }: Pick<LeadsError, 'message' | 'hint'>): string =>
  hint === undefined ? message : `${message}. ${hint}`;

/** For the console. Of an error of the application its stack, which says where; no property of it, which may be a secret. */
export function errorText(error: unknown): string {
  if (error instanceof LeadsError) return withHint(error);
  return error instanceof Error && error.stack !== undefined ? error.stack : messageOf(error);
}
