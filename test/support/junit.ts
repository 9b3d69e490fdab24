import { expect } from 'vitest';
import { elementsOf } from './xml.ts';

/** What junit-10.xsd of Jenkins' xUnit plugin allows: attributes (* required) and elements inside. */
const schema: Readonly<Record<string, { readonly attributes: string; readonly children: string }>> = {
  testsuites: { attributes: 'name time tests failures errors', children: 'testsuite' },
  testsuite: {
    attributes:
      'name* tests* failures* errors* group time skipped timestamp hostname id package file log url',
    children: 'testsuite properties testcase system-out system-err',
  },
  testcase: {
    attributes: 'name* time classname group',
    children: 'skipped error failure system-out system-err',
  },
  skipped: { attributes: 'type message', children: '' },
  failure: { attributes: 'type message', children: '' },
  'system-out': { attributes: '', children: '' },
};

/** Expects the elements and attributes of that schema, and no others. */
export function expectJunit(document: string): void {
  for (const { name, parent, attributes } of elementsOf(document)) {
    const rule = schema[name];
    expect(rule, name).toBeDefined();
    const known = rule?.attributes.split(' ') ?? [];
    for (const attribute of Object.keys(attributes)) {
      expect(known.map((one) => one.replace('*', ''))).toContain(attribute);
    }
    for (const required of known.filter((one) => one.endsWith('*'))) {
      expect(Object.keys(attributes)).toContain(required.slice(0, -1));
    }
    if (parent !== undefined) expect(schema[parent]?.children.split(' ')).toContain(name);
    if (attributes['time'] !== undefined) expect(attributes['time']).toMatch(/^\d+\.\d{3}$/);
  }
}
