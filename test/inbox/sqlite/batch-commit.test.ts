import { expect, it } from 'vitest';
import { processHost } from '../../../src/host.ts';
import { BatchCommit } from '../../../src/inbox/sqlite/batch-commit.ts';
import { loadLibsql } from '../../../src/inbox/sqlite/libsql.ts';
import { cannotWrite } from '../../../src/inbox/sqlite/sqlite-errors.ts';
import { diskError, freshFile } from '../support.ts';

it('fails the steps of a transaction as a whole where the files cannot be looked at once it is committed', async () => {
  const path = freshFile('inbox.db');
  const Libsql = await loadLibsql();
  const database = new Libsql(path, { timeout: 0 });
  database.exec('CREATE TABLE taken (id)');
  const commits = new BatchCommit({
    database,
    createWriter: () => ({ begin: () => undefined, end: () => undefined }),
    clock: processHost().clock,
    verify() {
      throw cannotWrite(path, diskError);
    },
    failure: (error) => error as Error,
  });
  const insert = (id: string) => commits.add(() => database.exec(`INSERT INTO taken VALUES ('${id}')`));
  const settled = await Promise.allSettled(['a', 'b', 'c'].map(insert));
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(database.prepare('SELECT id FROM taken').all([])).toHaveLength(3);
  database.close();
});
