import { expect, it } from 'vitest';
import { LeadDatabase } from '../../src/audit/temporary-lead-database.ts';

it('names no directory that SQLite may not have chosen where the leads cannot be kept', async () => {
  const database = await LeadDatabase.open();
  await database.close();
  expect(() => database.add([{ id: 'a', body: undefined }])).toThrow(
    expect.objectContaining({
      message: expect.stringMatching(/^cannot keep the leads in a temporary file: /) as string,
      hint: expect.stringContaining('SQLITE_TMPDIR') as string,
    }),
  );
});
