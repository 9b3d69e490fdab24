import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  type Comparison,
  differingFields,
  type DifferingFields,
  StatusField,
} from '../../src/audit/compare-payloads.ts';
import { PushedForms } from '../../src/audit/pushed-forms.ts';
import { drawsFrom } from '../../src/sandbox/data/seeded-random.ts';

const comparison: Comparison = {
  statusField: new StatusField(['status', 'state']),
  idNames: ['id'],
  ignored: ['noise'],
  isStrict: false,
};

interface Forms {
  /** What the digest of what was pushed shows. */
  readonly see: (pulled: string, pushed: string) => DifferingFields | undefined;
  readonly learn: (pulled: string, pushed: string) => boolean;
  /** Leads of new shapes. */
  readonly shapes: string[];
}

function formsFor(how: Partial<Comparison> = {}): Forms {
  const shapes: string[] = [];
  const forms = new PushedForms({ ...comparison, ...how }, (pulled, pushed) =>
    shapes.push(`${Buffer.from(pulled).toString()} ${Buffer.from(pushed).toString()}`),
  );
  const digest = (json: string): string => hash('sha256', json);
  return {
    shapes,
    see: (pulled, pushed) => forms.fieldsBy(Buffer.from(pulled), digest(pushed)),
    learn: (pulled, pushed) => forms.learn(Buffer.from(pulled), Buffer.from(pushed), digest(pushed)),
  };
}

const equal: DifferingFields = { differing: [], absent: [] };
const absent = (...paths: string[]): DifferingFields => ({ differing: [], absent: paths });

it('knows at once what was pushed with its delivery status and without', () => {
  const { see, shapes } = formsFor();
  const pulled = '{"id":"a","status":"new"}';
  for (const pushed of [pulled, '{"id":"a"}', pulled, pulled]) {
    expect(see(pulled, pushed)).toEqual(equal);
    expect(see(pulled, '{"id":"a","status":"sent"}')).toBeUndefined();
    expect(see(pulled, '{"id":"b"}')).toBeUndefined();
  }
  expect(shapes).toEqual([`${pulled} ${pulled}`, `${pulled} {"id":"a"}`]);
});

describe.each([
  ['an earlier status', '"status":"sent"', '"status":"new"', equal],
  ['a status that only the push has', '"n":1', '"n":1,"status":"new"', undefined],
  ['a member more', '"x":{"y":[1]},"n":1', '"n":1', absent('x')],
  ['several, at the beginning and at the end', '"x":1,"y":2,"n":3,"z":4', '"n":3', absent('x', 'y', 'z')],
  ['all inside of a member', '"m":{"x":1,"y":2}', '"m":{}', absent('m.x', 'm.y')],
  ['a member inside', '"m":{"x":1,"y":2},"status":"new"', '"m":{"y":2}', absent('m.x')],
  ['null, and what is ignored', '"x":null,"noise":{"a":1}', '"status":"new"', undefined],
  ['null', '"x":null,"noise":{"a":1},"n":1', '"n":1', equal],
  ['another value', '"x":1,"n":1', '"n":2', undefined],
  ['another order', '"n":1,"x":1', '"x":1,"n":1', undefined],
  ['white space', '"x":1,"n":1', '"n": 1', undefined],
  ['a name that is repeated', '"x":1,"x":2,"n":1', '"n":1', undefined],
])('%s', (_, more, kept, expected) => {
  const pulled = (id: string): string => `{"id":"${id}",${more}}`;
  const pushed = (id: string): string => `{"id":"${id}",${kept}}`;

  it('is recognised once one lead has taught it, as the comparison of the bytes says it', () => {
    const { see, learn } = formsFor();
    expect(see(pulled('a'), pushed('a'))).toBeUndefined();
    expect(learn(pulled('a'), pushed('a'))).toBe(expected !== undefined);
    for (const id of ['b', 'c']) expect(see(pulled(id), pushed(id))).toEqual(expected);
    expect(see(pulled('b'), pushed('c'))).toBeUndefined();
  });
});

it('compares a state of the lead beside its delivery status, whatever other leads have', () => {
  const { see, learn } = formsFor();
  const pulled = (id: string, state: string): string => `{"id":"${id}","state":"${state}","status":"sent"}`;
  const pushed = (id: string, state: string): string => `{"id":"${id}","state":"${state}"}`;
  expect(learn(pulled('a', 'TX'), pushed('a', 'NY'))).toBe(false);
  expect(see(pulled('b', 'NY'), pushed('b', 'NY'))).toEqual(equal);
  expect(see(pulled('c', 'TX'), pushed('c', 'NY'))).toBeUndefined();
});

it('is as strict as the comparison of the bytes', () => {
  const { see, learn } = formsFor({ isStrict: true });
  expect(learn('{"id":"a","x":null,"y":1}', '{"id":"a"}')).toBe(true);
  expect(see('{"id":"b","x":null,"y":1}', '{"id":"b"}')).toEqual({ differing: ['x', 'y'], absent: [] });
});

it('says of records whose members are drawn what the comparison of their bytes says', () => {
  const draw = drawsFrom(26);
  const { see, learn } = formsFor();
  const member = (name: string): string[] =>
    draw() < 0.5
      ? []
      : [`"${name}":${['1', 'null', '"n"', '{"a":1,"b":null}', '[1,{"a":2}]'][Math.floor(draw() * 5)]}`];
  let seen = 0;
  for (let i = 0; i < 5000; i += 1) {
    const id = `"id":"${i}"`;
    const inside = [...member('p'), ...member('q')];
    const members = [id, ...member('x'), `"m":{${inside.join()}}`, ...member('y'), ...member('status')];
    const pulled = `{${members.join()}}`;
    const lost =
      [/"x":[^,{[\]}]+,/, /"p":[^,{[\]}]+,?/, /,"y":null/, /,"status":[^,{[\]}]+/][Math.floor(draw() * 4)] ??
      /^$/;
    const pushed = pulled.replace(lost, '');
    const exact = differingFields(Buffer.from(pulled), Buffer.from(pushed), comparison);
    const found = see(pulled, pushed);
    if (found === undefined) learn(pulled, pushed);
    else expect([pulled, pushed, found]).toEqual([pulled, pushed, exact]);
    if (found !== undefined) seen += 1;
  }
  expect(seen).toBeGreaterThan(4000);
});
