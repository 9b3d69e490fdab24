import { inWords } from '../../support/in-words.ts';
import { describeWarning } from '../../../src/messages/command-line.ts';
import { expect, it } from 'vitest';
import { until } from '../../support/until.ts';
import { open, takeOne } from '../stores.ts';
import { all, arrivalOf } from '../support.ts';
import { damagedInbox, ids } from './damaged-inbox.ts';

it('with a damaged page refuses the leads on that page alone, and says once how to save the rest', async () => {
  const path = await damagedInbox('leads', 3);
  const warnings: string[] = [];
  const inbox = await open(path, { warn: (found) => warnings.push(describeWarning(found)) });
  const batch = [...ids, ...ids.map((id) => `new-${id}`)].map((id) => arrivalOf({ id }));
  for (let round = 0; round < 2; round += 1) {
    const taken = await Promise.allSettled(batch.map((arrival) => takeOne(inbox, arrival)));
    const failed = batch.filter((_, i) => taken[i]?.status === 'rejected').map(({ leadId }) => leadId);
    expect(failed.length).toBeGreaterThan(5);
    expect(failed.length).toBeLessThan(100);
    expect(failed.every((id) => id.startsWith('lead-'))).toBe(true);
  }
  await until(() => warnings.length > 0, 'the warning');
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain(`leads inbox recover --inbox ${path} -o NEW`);
});

it('is checked as soon as it is opened, before any delivery', async () => {
  const path = await damagedInbox('deliveries', 10);
  const warnings: string[] = [];
  const inbox = await open(path, { warn: (found) => warnings.push(describeWarning(found)) });
  await until(() => warnings.length > 0, 'the warning');
  expect(warnings[0]).toContain('is damaged');
  expect(await takeOne(inbox, arrivalOf({ id: 'a' }))).toMatchObject({ kind: 'accepted' });
  await expect(inWords(all(inbox.list({})))).rejects.toThrow(
    /cannot read the inbox .*: the database is damaged/,
  );
});
