import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startProgram } from '../support/beside.ts';
import { binary, environment } from '../support/listen-process.ts';
import { freshHome } from '../support/run.ts';
import { type ScriptedService, scriptedService } from '../support/scripted-service.ts';
import { until } from '../support/until.ts';

const startService = (): Promise<ScriptedService> =>
  scriptedService((_, response) => {
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end('{"data":[{"id":"a"}],"has_more":false}');
  });

let service: ScriptedService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

describe('--jq of the real program', { concurrent: true }, () => {
  it.for(['list', 'export', 'api /x'])(
    '%s: a filter that never ends is ended by Ctrl-C: 130',
    async (line, { onTestFinished }) => {
      // Of this run alone: what another one asks does not say that this one is so far as to hear a signal.
      const own = await startService();
      onTestFinished(() => own.close());
      const run = startProgram([...line.split(' '), '--jq', 'last(range(infinite))'], freshHome(), own.env);
      await until(() => own.asked.length > 0);
      run.child.kill('SIGINT');
      expect(await run.done).toEqual({ exitCode: 130 });
      expect(run.stdout()).toBe('');
    },
  );

  it.each([
    ['list --json', false],
    ['list --jq .[].id', true],
  ])('%s: jq is loaded: %s', async (line, isLoaded) => {
    const run = startProgram(line.split(' '), freshHome(), { ...service.env, NODE_DEBUG: 'module' });
    expect(await run.done).toEqual({ exitCode: 0 });
    expect(run.stderr().includes('jq-web')).toBe(isLoaded);
    expect(run.stdout()).toBe(isLoaded ? 'a\n' : '[\n{"id":"a"}\n]\n');
  });

  it.each([
    ['> /dev/full', 8, /^\{"error":\{"code":"[a-z_]+","message":"cannot write the output: no space left/],
    ['| true', 141, /^$/],
  ])('api --jq %s ends with %s, as it does without a filter', async (redirection, code, message) => {
    const line = `set -o pipefail; "$NODE" "$LEADS" api /x --jq 'range(100000)' ${redirection}`;
    const child = spawn('bash', ['-c', line], {
      env: {
        PATH: process.env['PATH'],
        ...environment(freshHome()),
        ...service.env,
        NODE: process.execPath,
        LEADS: binary,
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let stderr = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    expect(await once(child, 'close')).toEqual([code, null]);
    expect(stderr).toMatch(message);
  });
});
