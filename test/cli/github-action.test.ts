import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { expect, it } from 'vitest';
import { binary, environment, listenProcess } from '../support/listen-process.ts';
import { freshHome } from '../support/run.ts';

const action = readFileSync(new URL('../../.github/actions/check/action.yml', import.meta.url), 'utf8');
const [, script = ''] = /^ {6}run: \|\n([^]*)/m.exec(action) ?? [];
const variables = [...action.matchAll(/^ {8}(\w+): \$\{\{ inputs\.(\w+) \}\}$/gm)];

/** Its step in the shell that GitHub starts, with what is in this repository in place of the package. */
async function step(inputs: Readonly<Record<string, string>>) {
  const cwd = mkdtempSync(join(tmpdir(), 'leads-action-'));
  // The name of a file that a pattern could be taken for.
  writeFileSync(join(cwd, 'delivery.txt'), '');
  const npx = `npx() { shift 2; '${process.execPath}' '${binary}' "$@"; }\n`;
  writeFileSync(join(cwd, 'step.sh'), npx + script);
  const given = variables.map(([, variable = '', input = '']) => [variable, inputs[input]] as const);
  const env = { ...environment(freshHome()), ...Object.fromEntries(given) };
  const words = ['--noprofile', '--norc', '-eo', 'pipefail', 'step.sh'];
  const { exitCode } = await execa('bash', words, { cwd, env, reject: false });
  return { exitCode, report: readFileSync(join(cwd, 'leads-check.xml'), 'utf8') };
}

it('checks a receiver by token and by signature, and leaves its JUnit', async () => {
  const secret = `whsec_${Buffer.from('the secret of the action').toString('base64')}`;
  for (const [scheme, flags] of [
    ['token', ['--token', secret]],
    ['svix', ['--scheme', 'svix', '--secret', secret]],
  ] as const) {
    const receiver = await listenProcess(['--http', '--port', '0', '--inbox', ':memory:', ...flags]);
    const more = { arguments: '--only delivery*', report: 'leads-check.xml', version: 'latest' };
    const inputs = { url: receiver.url, scheme, secret, ...more };
    const { exitCode, report } = await step(inputs);
    expect(exitCode).toBe(0);
    expect(report).toContain('classname="leads.check.delivery" name="valid"');
    expect((await step({ ...inputs, secret: secret.replace('_d', '_e') })).exitCode).toBe(7);
    await receiver.end('SIGINT');
  }
});
