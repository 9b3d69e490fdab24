import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const folder = fileURLToPath(new URL('../../src/messages/', import.meta.url));

test('no two rooms give one name to a kind of problem, since the catalogue is one', async () => {
  const makers = new Map<string, unknown>();
  for (const file of readdirSync(folder)) {
    const exported = (await import(folder + file)) as Readonly<Record<string, object>>;
    for (const [name, messages] of Object.entries(exported)) {
      if (!name.endsWith('Messages')) continue;
      for (const [kind, make] of Object.entries(messages)) {
        expect(makers.get(kind) ?? make, `${kind} in ${file}`).toBe(make);
        makers.set(kind, make);
      }
    }
  }
  expect(makers.size).toBeGreaterThan(300);
});
