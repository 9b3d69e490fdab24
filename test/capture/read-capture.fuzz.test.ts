import fc from 'fast-check';
import { expect, it } from 'vitest';
import { LeadsError } from '../../src/errors.ts';
import { captureOf } from './capture-of.ts';
import { chromiumEntry, har } from './har.ts';

const seeds = [
  har([chromiumEntry('https://a.example/', [{ name: 'x-webhook-token', value: 'x' }], '{}')]),
  '* Trying\n> POST / HTTP/1.1\r\n> Host: a\r\n> \r\n< Date: x\r\n',
  `printf %s 'e30=' | base64 -d | curl -sXPOST "https://a.example/$X" -H $'a: \\x41\\u00eb' --data-binary @- <<'E'\n{}\nE\n`,
  'POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
  '{"type":"delivery","verdict":"accepted","lead":{"id":"1"}}\n',
];

/** A seed with some of its parts cut out, doubled, or replaced. */
const changed = fc
  .tuple(
    fc.constantFrom(...seeds),
    fc.array(
      fc.tuple(
        fc.nat(),
        fc.nat(40),
        fc.oneof(fc.string(), fc.constantFrom("'", '"', '\\', '$', '<', '<<', '`', '\n', '\0', '|')),
      ),
    ),
  )
  .map(([seed, edits]) =>
    edits.reduce((text, [at, length, insert]) => {
      const start = at % (text.length + 1);
      return text.slice(0, start) + insert + text.slice(start + length);
    }, seed),
  );

it('whatever a capture holds, it is a request or an error that says what is wrong', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(changed, fc.string({ unit: 'binary' })), async (text) => {
      try {
        const capture = await captureOf(text, { readFile: () => Promise.resolve(Buffer.alloc(0)) });
        expect(capture.method.length).toBeGreaterThan(0);
      } catch (error) {
        expect(error).toBeInstanceOf(LeadsError);
      }
    }),
    { numRuns: 1500 },
  );
});
