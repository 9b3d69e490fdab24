import { execFile } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { projectWithPackage } from '../package/installed-package.ts';
import { printedExamples } from '../package/printed-examples.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const types = ['@types/node', 'undici-types'];
const strict = [
  ...['--strict', '--exactOptionalPropertyTypes', '--types', 'node', '--noEmit'],
  ...['--module', 'nodenext', '--target', 'es2023', '--lib', 'es2023'],
];

/** What the compiler says of files of a project: nothing, where all is well. */
async function compile(project: string, argv: readonly string[]): Promise<string> {
  writeFileSync(join(project, 'package.json'), '{"private":true,"type":"module"}');
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const { stdout } = await promisify(execFile)(process.execPath, [compiler, ...strict, ...argv], {
    cwd: project,
  }).catch((error: unknown) => error as { stdout: string });
  return stdout;
}

it('of the package hold in a strict project that checks the types of libraries too', async () => {
  const project = await projectWithPackage(types);
  copyFileSync(join(root, 'test/library/package/strict-consumer.txt'), join(project, 'consumer.ts'));
  const more = ['--noUncheckedIndexedAccess', '--noPropertyAccessFromIndexSignature'];
  expect(await compile(project, [...more, '--skipLibCheck', 'false', 'consumer.ts'])).toBe('');
});

it('of the examples of docs/library.md are strict', async () => {
  const project = await projectWithPackage([...types, 'express', 'hono', '@hono/node-server']);
  // Its types are a package of their own.
  writeFileSync(
    join(project, 'express.d.ts'),
    `declare module 'express' {
      interface Response { status(code: number): Response; json(body: unknown): void }
      type Handler = (request: import('node:http').IncomingMessage, response: Response) => unknown;
      interface Application { post(path: string, handler: Handler): void; use(handler: unknown): void; listen(port: unknown): void }
      const express: { (): Application; json(): unknown };
      export default express;
    }`,
  );
  const files = printedExamples().map((code, i) => {
    writeFileSync(join(project, `example-${i}.ts`), code);
    return `example-${i}.ts`;
  });
  expect(files.length).toBeGreaterThan(0);
  expect(await compile(project, ['--skipLibCheck', 'express.d.ts', ...files])).toBe('');
});
