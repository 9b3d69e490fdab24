import { ConfigError, LeadsError, type Problem } from '../../errors.ts';
import { forApplication } from '../../messages/application.ts';
import { type Message, messageIn } from '../../messages/message.ts';
import { webhookMessages } from '../../messages/webhook.ts';

const messageFor = (problem: Problem): Message | undefined => messageIn(webhookMessages, problem);

/** What is wrong with a scheme or a secret, as a `ConfigError` whose text names options; any other error as it is. */
export function schemeError(thrown: unknown): unknown {
  if (!(thrown instanceof LeadsError) || thrown.problem === undefined) return thrown;
  const { message, hint, cause } = forApplication(thrown, messageFor) as LeadsError;
  return new ConfigError(message, { hint, cause });
}

/** Runs what reads a scheme or a secret. */
export function withSchemeErrors<T>(read: () => T): T {
  try {
    return read();
  } catch (thrown) {
    throw schemeError(thrown);
  }
}
