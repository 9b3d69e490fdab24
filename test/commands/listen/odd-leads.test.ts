import { expect, it } from 'vitest';
import { leads } from '../../support/run.ts';
import { listenInEachTest } from './support.ts';

const listen = listenInEachTest();

const deep = (open: string, close: string, depth: number): string => open.repeat(depth) + close.repeat(depth);

/** Leads that are valid, and that careless code falls over. */
const odd: Readonly<Record<string, (id: string) => string>> = {
  'nests deeper than the stack': (id) => `{"id":"${id}","metadata":${deep('[', ']', 50_000)}}`,
  'nests objects deeper than the stack': (id) =>
    `{"id":"${id}","m":${deep('{"a":', '}', 30_000).replace('}', '1}')}}`,
  'has __proto__ for a key': (id) =>
    `{"id":"${id}","__proto__":{"category":"x"},"constructor":1,"toString":null}`,
  'has numbers that no double holds': (id) => `{"id":"${id}","n":[1e400,12345678901234567890,-0,1.0]}`,
  'has lone surrogates': (id) => `{"id":"${id}\\ud800","name":"\\udfff"}`,
  'has a NUL in its id': (id) => `{"id":"${id}\\u0000x"}`,
  'has null for everything': (id) =>
    `{"id":"${id}","contact":null,"metadata":null,"category":null,"createdAt":null}`,
  'has the longest id': (id) => `{"id":"${id}${'x'.repeat(511)}"}`,
  'has 20,000 keys': (id) =>
    `{"id":"${id}",${Array.from({ length: 20_000 }, (_, i) => `"k${i}":${i}`).join()}}`,
  'begins with a byte order mark': (id) => `\ufeff{"id":"${id}"}`,
};

it.each(Object.entries(odd))(
  'accepts a lead that %s, and a changed repetition as a duplicate',
  async (_, body) => {
    for (const format of ['pretty', 'events']) {
      const listener = await listen(['--format', format, '--verbose']);
      const text = body('a');
      expect(await listener.post(text)).toMatchObject({ status: 200, body: { status: 'accepted' } });
      const changed = text.replace(/\}$/, ',"more":{"x":[1]}}');
      expect(await listener.post(changed)).toMatchObject({ status: 200, body: { status: 'duplicate' } });
      const run = await listener.stop();
      expect(run.exitCode).toBe(0);
      expect(run.stdout).toMatch(/"differs":\["(more|\*)|payload differs from the first one/);
      const exported = await leads(['inbox', 'export'], { home: listener.home });
      expect(exported.stdout).toBe(`${text.replace('\ufeff', '')}\n`);
    }
  },
);
