import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { PartialFile } from '../../src/files/partial.ts';
import { readJsonState, writeJsonState } from '../../src/files/json-state.ts';

const place = () => join(mkdtempSync(join(tmpdir(), 'leads-partial-')), 'file');

describe('a partial file', () => {
  it('continues where the checkpoint says, and cuts off the bytes after it', async () => {
    const path = place();
    writeFileSync(path, 'kept and torn');
    const file = await PartialFile.resume(path, 5);
    await file.write(Buffer.from('on'));
    await file.sync();
    await file.close();
    expect(file.size).toBe(7);
    expect(readFileSync(path, 'utf8')).toBe('kept on');
  });

  it('fails every step after one failure: a later write must not hide it', async () => {
    const file = await PartialFile.create('/dev/full');
    await expect(file.write(Buffer.from('x'))).rejects.toMatchObject({ code: 'output' });
    await expect(file.sync()).rejects.toMatchObject({
      message: 'cannot write /dev/full: no space left on the device',
      hint: 'free some space, or write to another place',
    });
    await file.close();
  });
});

describe('a state file', () => {
  const schema = z.object({ version: z.literal(1), n: z.number() });

  it('is read as it was written, and is undefined when it does not exist', async () => {
    const path = place();
    expect(await readJsonState(path, schema, 'checkpoint')).toBeUndefined();
    await writeJsonState(path, { version: 1, n: 2 });
    expect(await readJsonState(path, schema, 'checkpoint')).toEqual({ version: 1, n: 2 });
  });

  it.each(['', '{"version":1,', '{"version":2,"n":1}', '[]'])(
    'is rejected, and kept, when it is %j',
    async (text) => {
      const path = place();
      writeFileSync(path, text);
      await expect(readJsonState(path, schema, 'checkpoint')).rejects.toMatchObject({ code: 'invalid_data' });
      expect(readFileSync(path, 'utf8')).toBe(text);
    },
  );
});
