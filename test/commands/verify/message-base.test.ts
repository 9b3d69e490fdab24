import { describe, expect, it } from 'vitest';
import { compareBases, messageBase } from '../../../src/commands/verify/message-base.ts';
import { delivered, type Headers, outgoing } from '../../webhook/delivery.ts';

const params = '("@method" "@target-uri" "x-a");created=1768478400;keyid="k"';
const headers: Headers = [
  ['x-a', ' 1'],
  ['x-a', '2'],
  ['signature-input', `sig1=${params}`],
  ['signature', 'sig1=:AAAA:'],
];
const base = [
  '"@method": POST',
  '"@target-uri": https://hooks.example.com/leads?source=a%20b',
  '"x-a": 1, 2',
  `"@signature-params": ${params}`,
].join('\n');
const delivery = delivered(headers, outgoing());

describe('the signature base of a message', () => {
  it('is that of RFC 9421, section 2.5', () => {
    expect(messageBase(delivery)).toEqual({ label: 'sig1', base: Buffer.from(base), missing: undefined });
  });

  it('names the component that the request does not have', () => {
    const without = { ...delivery, rawHeaders: delivery.rawHeaders.filter(([name]) => name !== 'x-a') };
    expect(messageBase(without)).toEqual({ label: 'sig1', base: undefined, missing: '"x-a"' });
  });

  it('is absent where no signature can be read', () => {
    expect(messageBase({ ...delivery, rawHeaders: [] })).toBeUndefined();
    const other: Headers = [
      ['signature-input', 'a=()'],
      ['signature', 'b=:AAAA:'],
    ];
    expect(messageBase({ ...delivery, rawHeaders: other })).toBeUndefined();
  });
});

it.each([
  ['nothing', base, undefined],
  ['a line break at its end', `${base}\n`, 'ends with a line break'],
  ['lines in CR LF', base.replaceAll('\n', '\r\n'), 'CR LF'],
  ['a byte order mark', `\ufeff${base}`, 'byte order mark'],
  [
    'another value',
    base.replace('https://', 'http://'),
    `the component "@target-uri" is 'https://hooks.example.com/leads?source=a%20b' in ours and 'http://hooks.example.com/leads?source=a%20b' in theirs`,
  ],
  [
    'another component',
    base.replace('"@method"', '"@path"'),
    `component 1 is "@method" in ours and '"@path"' in theirs`,
  ],
  ['an end before ours', base.split('\n').slice(0, 2).join('\n'), 'ends before the component "x-a"'],
  ['lines behind ours', `${base}\n"x-b": 3`, `behind the last line of ours: '"x-b": 3'`],
  ['other parameters', base.replace('keyid="k"', 'keyid="q"'), 'the component "@signature-params"'],
])('what differs between two bases is said in a sentence: %s', (_, theirs, sentence) => {
  const difference = compareBases(Buffer.from(base), Buffer.from(theirs));
  if (sentence === undefined) expect(difference).toBeUndefined();
  else expect(difference).toContain(sentence);
});
