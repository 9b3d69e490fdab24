import { ConfigError, LeadsError } from '../../errors.ts';
import { forApplication } from '../../messages/application.ts';
import { type Catalogue, messageIn } from '../../messages/message.ts';
import { secretMessages } from '../../messages/shared-secret.ts';

/** What is wrong with a scheme or a secret, as a `ConfigError` whose text names options; any other error as it is. */
export const errorsIn =
  (catalogue: Catalogue) =>
  (thrown: unknown): unknown => {
    if (!(thrown instanceof LeadsError) || thrown.problem === undefined) return thrown;
    const { message, hint, cause } = forApplication(thrown, (found) =>
      messageIn(catalogue, found),
    ) as LeadsError;
    return new ConfigError(message, { hint, cause });
  };

/** Of a shared secret. */
export const schemeError = errorsIn(secretMessages);
