import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Ajv from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { breaks, jsonSchemas } from '../../.config/schemas/json-schemas.ts';
import { freshHome, leads } from '../support/run.ts';

const published = fileURLToPath(new URL('published.json', import.meta.url));
const now = Object.fromEntries(jsonSchemas('open'));

describe('published schemas', () => {
  it('change only by what is added, without a step of their version', () => {
    const before = JSON.parse(readFileSync(published, 'utf8')) as Readonly<Record<string, { $id: string }>>;
    const broken = Object.entries(before).flatMap(([name, schema]) =>
      now[name] !== undefined && now[name].$id !== schema.$id ? [] : breaks(schema, now[name], name),
    );
    expect(broken).toEqual([]);
    // What is added belongs there too.
    expect(JSON.parse(JSON.stringify(now))).toEqual(before);
  });

  it('are open, and those of the tests are closed', () => {
    const ajv = new Ajv({ strict: false, validateFormats: false });
    const said = { version: '1.0.0', node: 'v22', platform: 'linux', singleFile: false, added: true };
    const closed = jsonSchemas('closed').get('version');
    expect(ajv.compile(now['version'] ?? false)(said)).toBe(true);
    expect(new Ajv({ strict: false }).compile(closed ?? false)(said)).toBe(false);
  });
});

describe('files', () => {
  const ajv = new Ajv({ strict: false, validateFormats: false });
  const valid = (name: string, text: string): void => {
    const validate = ajv.compile(now[name] ?? false);
    expect(validate(JSON.parse(text)), ajv.errorsText(validate.errors)).toBe(true);
  };

  it('a configuration with settings of every kind is', async () => {
    const home = freshHome();
    const file = join(home, 'config/config.json');
    for (const words of [
      'base-url https://a.example',
      'retries 3',
      'api.headers {"x-a":"b"}',
      'api.params.page null',
      'api.next-seen true',
      'webhook.token s3cret',
    ])
      expect(await leads(['config', 'set', ...words.split(' ')], { home })).toMatchObject({ exitCode: 0 });
    valid('file.config', readFileSync(file, 'utf8'));
  });
});

it.each([
  ['a field that is gone', { properties: {} }, ['/properties/a']],
  ['another kind', { properties: { a: { type: 'string' } }, required: ['a'] }, ['/properties/a/type']],
  ['a field that is added', { properties: { a: { type: 'integer' }, b: {} }, required: ['a', 'b'] }, []],
])('finds %s', (_, changed, found) => {
  const before = {
    properties: { a: { type: 'integer' } },
    ...('required' in changed && { required: ['a'] }),
  };
  expect(breaks(before, changed)).toEqual(found);
});
