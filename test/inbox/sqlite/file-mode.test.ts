import { statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { open, takeOne } from '../stores.ts';
import { arrivalOf, freshDirectory } from '../support.ts';

it('keeps an inbox file, its companions and its directory to their owner', async () => {
  const path = join(freshDirectory(), 'deep', 'inbox.db');
  await takeOne(await open(path), arrivalOf({ id: 'a' }));
  const modes = [path, `${path}-wal`, `${path}-shm`, dirname(path)].map(
    (file) => statSync(file).mode & 0o777,
  );
  expect(modes).toEqual([0o600, 0o600, 0o600, 0o700]);
});
