import { describeWarning } from '../../../src/messages/command-line.ts';
import { copyFileSync, existsSync, renameSync, rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import { CannotStoreError } from '../../../src/inbox/inbox.ts';
import { open, takeOne } from '../stores.ts';
import { arrivalOf, freshFile } from '../support.ts';

it.each([
  ['deleted', 'was deleted or moved', (path: string) => rmSync(path)],
  [
    'replaced',
    'was replaced',
    (path: string) => {
      copyFileSync(path, `${path}.copy`);
      renameSync(`${path}.copy`, path);
    },
  ],
  ['deprived of its log', 'was deleted or moved', (path: string) => rmSync(`${path}-wal`)],
])('takes nothing any more, and says it once, when its file is %s', async (_, what, happens) => {
  const path = freshFile('inbox.db');
  const warnings: string[] = [];
  const inbox = await open(path, { warn: (found) => warnings.push(describeWarning(found)) });
  await takeOne(inbox, arrivalOf({ id: 'before' }));
  happens(path);
  const existed = existsSync(path);
  for (const id of ['a', 'b']) {
    await expect(takeOne(inbox, arrivalOf({ id }))).rejects.toThrow(CannotStoreError);
  }
  expect(warnings).toHaveLength(1);
  expect(warnings[0]).toContain(what);
  expect(warnings[0]).toContain('503 until this receiver is restarted');
  expect(existsSync(path)).toBe(existed);
});
