import type { Context } from '../../context.ts';
import type { Secret } from '../../secret.ts';
import type { Account, AccountSettings, CommandKey } from '../settings.ts';
import { runKeyCommand } from './run-key-command.ts';

const known = new WeakMap<object, Promise<Account>>();

/** The account with the key that its command prints; within one run of ours, the command runs once for it. */
export function commandAccount(
  account: AccountSettings & CommandKey,
  context: Context,
  run: object,
): Promise<Account> {
  const made = known.get(run) ?? makeAccount(account, context);
  known.set(run, made);
  return made;
}

async function makeAccount(
  { profile, baseUrl, apiKeyCommand }: AccountSettings & CommandKey,
  context: Context,
): Promise<Account> {
  let key = await runKeyCommand(apiKeyCommand, context);
  let renewal: Promise<void> | undefined;
  const renew = async (): Promise<void> => {
    context.messages.verbose('the key was refused: api-key-command runs again');
    key = await runKeyCommand(apiKeyCommand, context);
  };
  return {
    profile,
    baseUrl,
    get apiKey() {
      return key;
    },
    // Several requests may be refused at the same time: one new key is for all of them.
    renewKey: async (refused: Secret) => {
      if (key !== refused) return;
      renewal ??= renew().finally(() => (renewal = undefined));
      await renewal;
    },
  };
}
