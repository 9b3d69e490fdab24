import { access, constants } from 'node:fs/promises';
import { LeadsError } from '../../errors.ts';
import { type InboxLocation, isInboxThere, openInboxReader } from '../../inbox/open-inbox.ts';
import { checkIntegrity } from '../../inbox/sqlite/check-integrity.ts';
import type { Clock } from '../../time/clock.ts';
import { type CheckResult, checkNamed } from '../check-result.ts';
import type { StorageProbe } from './storage.ts';

export interface OpenedInbox {
  readonly check: CheckResult;
  /** When the newest delivery came, ms. */
  readonly newestDelivery: number | undefined;
}

/** Whether the inbox opens, and keeps what it is given. An inbox that is not there yet is not made. */
export async function checkInbox(
  location: string,
  storage: StorageProbe,
  clock: Clock,
): Promise<OpenedInbox> {
  const check = checkNamed('receiver.inbox');
  const of = (result: CheckResult, newestDelivery?: number): OpenedInbox => ({
    check: result,
    newestDelivery,
  });
  if (location === ':memory:') return of(check.warn('in memory: it is lost when listen ends'));
  if (storage.problem === 'ENOSPC') {
    return of(
      check.fail(`${storage.directory} has no space left`, 'free some, or name another place with --inbox'),
    );
  }
  if (storage.problem !== undefined) {
    return of(
      check.fail(
        `${storage.directory} cannot be written (${storage.problem})`,
        'make it writable, or name another place with --inbox or LEADS_DATA_DIR',
      ),
    );
  }
  const isDurable = storage.volatile === undefined;
  const lost = `${storage.directory} is on ${storage.volatile ?? ''}`;
  const elsewhere = 'name an inbox on a local disk with --inbox or LEADS_DATA_DIR';
  if (!isInboxThere(location)) {
    return of(
      isDurable ? check.pass(`${location} is made by the first listen`) : check.warn(lost, elsewhere),
    );
  }
  try {
    await access(location, constants.R_OK | constants.W_OK);
    const newest = await readNewest(location, clock);
    const damage = await (await checkIntegrity(location)).found;
    if (damage !== undefined) {
      const hint = `'leads inbox recover --inbox ${location} -o NEW' saves what it still holds`;
      return of(check.fail(`${location} is damaged: ${damage}`, hint), newest);
    }
    return of(
      isDurable ? check.pass(`${location} opens, and syncs to disk`) : check.warn(lost, elsewhere),
      newest,
    );
  } catch (error) {
    if (error instanceof LeadsError) return of(check.fail(error.message, error.hint));
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return of(check.fail(`${location} cannot be read and written (${code})`, 'it must belong to you'));
  }
}

/** When the newest delivery came, ms since the epoch; undefined: there is none. */
export async function readNewest(location: InboxLocation, clock: Clock): Promise<number | undefined> {
  const reader = await openInboxReader({ location, clock });
  try {
    for await (const { receivedAt } of reader.list({})) return receivedAt;
    return undefined;
  } finally {
    await reader.close();
  }
}
