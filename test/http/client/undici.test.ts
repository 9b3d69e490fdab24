import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as undici from 'undici';
import { expect, test } from 'vitest';
import { buildProgram } from '../../support/program.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const require = createRequire(import.meta.url);

/**
 * What is loaded past undici's public entry, which takes 46 ms more at the start of every command that asks the service.
 * None of it is promised to stay: the version is exact, and raising it begins with this test.
 */
const privateModules = {
  'undici/lib/api/api-request.js': Reflect.get(undici.Dispatcher.prototype, 'request') as unknown,
  'undici/lib/core/connect.js': undici.buildConnector,
  'undici/lib/dispatcher/pool.js': undici.Pool,
};

test('each private module of undici is what its public entry exports', () => {
  for (const [name, exported] of Object.entries(privateModules)) expect(require(name), name).toBe(exported);
});

test('no other one is loaded, and the version is exact', () => {
  const loaded = new Set<string>();
  for (const file of readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts') || file.endsWith('.d.ts')) continue;
    const text = readFileSync(`${root}src/${file}`, 'utf8');
    for (const [, name = ''] of text.matchAll(/'(undici\/[^']+)'/g)) loaded.add(name);
  }
  expect([...loaded].sort()).toEqual(Object.keys(privateModules).sort());
  const manifest = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as {
    readonly devDependencies: Readonly<Record<string, string>>;
  };
  const installed = require('undici/package.json') as { readonly version: string };
  expect(manifest.devDependencies['undici']).toBe(installed.version);
});

test('its parser is compiled once, and the flags of V8 are the same afterwards', async () => {
  // Where node finds undici.
  const cache = `${root}.cache`;
  mkdirSync(cache, { recursive: true });
  const program = await buildProgram(new URL('repeated-requests.ts', import.meta.url), cache);
  const { stdout } = await promisify(execFile)(process.execPath, ['--trace-wasm-compilation-times', program]);
  expect(stdout).toContain('using Liftoff');
  expect(stdout).not.toContain('using TurboFan');
  expect(stdout).toContain('same flags');
});
