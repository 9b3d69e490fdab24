import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { binary, environment } from '../support/listen-process.ts';
import { hasTerminals, onTerminal } from '../support/pty.ts';
import { freshHome } from '../support/run.ts';
import { until } from '../support/until.ts';

describe.skipIf(process.platform === 'win32')('SIGHUP', () => {
  it('does not end what has no terminal, as under nohup', async () => {
    const child = spawn(process.execPath, [binary, 'sandbox', '--port', '0', '--leads', '3'], {
      env: { PATH: process.env['PATH'], ...environment(freshHome()) },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const ended = new Promise((resolve) => child.on('close', resolve));
    await once(child.stderr, 'data');
    child.kill('SIGHUP');
    child.kill('SIGINT');
    expect(await ended).toBe(0);
  });

  it.skipIf(!hasTerminals())('ends a receiver whose terminal closes', async () => {
    const said = join(freshHome(), 'said');
    const text = (): string => (existsSync(said) ? readFileSync(said, 'utf8') : '');
    const argv = `listen --http --port 0 --token secret --inbox :memory: 2> ${said}`;
    const terminal = onTerminal(`exec $LEADS ${argv}`);
    await until(() => text().includes('http://'), 'a receiver');
    terminal.child.kill('SIGKILL');
    await until(() => /\d accepted/.test(text()), 'its end');
  });
});
