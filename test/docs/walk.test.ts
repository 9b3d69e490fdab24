import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { environment } from '../support/listen-process.ts';
import { blocksOf } from '../support/printed-lines.ts';
import { inTerminal } from './terminal.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const blocks = blocksOf(readFileSync(join(root, 'docs/library.md'), 'utf8'));
const application = blocks.find(({ kind }) => kind === 'js')?.code ?? '';
const ciLines = blocks
  .filter(({ marks }) => marks.includes('ci'))
  .flatMap(({ code }) => code.trim().split('\n'));

it(
  "leads from a fresh clone to a receiver of one's own that passes check in CI",
  { timeout: 600_000 },
  async () => {
    const place = mkdtempSync(join(tmpdir(), 'leads-walk-'));
    const app = join(place, 'app');
    const port = await freePort();
    const { PATH = '', npm_config_registry: registry } = process.env;
    const npm = registry === undefined ? {} : { npm_config_registry: registry };
    const env = {
      ...environment(join(place, 'home')),
      ...npm,
      HOME: process.env['HOME'] ?? place,
      PATH,
      TMPDIR: tmpdir(),
    };
    const started = Date.now();
    let commands = 0;
    const type = async (line: string, cwd: string): Promise<string> => {
      commands += line.split('\n').length;
      const { exitCode, text } = await inTerminal(line, { env, cwd });
      expect(exitCode, `${line}\n${text}`).toBe(0);
      return text;
    };
    await type(`git clone --quiet --depth 1 'file://${root}' leads`, place);
    await type('npm ci --silent', join(place, 'leads'));
    await type('npm pack --silent', join(place, 'leads'));
    await type('mkdir app', place);
    await type('npm init --yes --silent', app);
    await type('npm install --silent ../leads/leads-cli-*.tgz express', app);
    writeFileSync(join(app, 'app.mjs'), application);
    const lines = ciLines.map((line) => line.replaceAll('3000', String(port)));
    const drawn = await type(`set -e; ${lines.join('\n')}`, app);
    expect(drawn).toMatch(/\d\d passed, 0 failed/);
    expect(readFileSync(join(app, 'check.xml'), 'utf8')).toContain('<testsuites');
    console.log(
      `${commands} commands, ${Math.round((Date.now() - started) / 1000)} s from a clone to a passed check`,
    );
  },
);
