import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openInbox } from '../../src/inbox/open-inbox.ts';
import { arrivalOf } from '../support/both-sides.ts';
import { FakeClock } from '../support/clock.ts';
import { homeWithLeads } from '../support/home-with-leads.ts';
import { freshHome, leads } from '../support/run.ts';

/** What is offered for the last word, apart from what is said about it. */
async function offered(words: readonly string[], home = freshHome(), env = {}): Promise<string[]> {
  const { exitCode, stdout, stderr } = await leads(
    ['completion', '--complete', `.${words.at(-1) ?? ''}`, ...words.slice(0, -1)],
    { home, env },
  );
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return stdout
    .split('\n')
    .slice(1, -1)
    .map((line) => line.split('\t')[0] ?? '');
}

describe('completion', () => {
  it.each([
    { words: ['lis'], found: ['list', 'listen'] },
    { words: ['inbox', 'sh'], found: ['show'] },
    { words: ['help', 'inbox', 'sh'], found: ['show'] },
    { words: ['help', 'exit'], found: ['exit-codes'] },
    { words: ['--profile', 'x', 'inbox', 'sh'], found: ['show'] },
    { words: ['list', '--form'], found: ['--format'] },
    { words: ['list', '--format', 'j'], found: ['json'] },
    { words: ['list', '--format=j'], found: ['--format=json'] },
    { words: ['list', '-n', '3', '--js'], found: ['--json'] },
    { words: ['list', '-qn', ''], found: [] },
    { words: ['export', '--no-g'], found: ['--no-gzip'] },
    { words: ['send', 'http://localhost', '--dry-run', 'c'], found: [] },
    { words: ['send', '--dry-run=c'], found: ['--dry-run=curl'] },
    { words: ['config', 'set', 'api.pagin'], found: ['api.pagination'] },
    { words: ['config', 'set', 'api.pagination', 'cur'], found: ['cursor'] },
    { words: ['completion', 'z'], found: ['zsh'] },
    { words: ['list', '--fields', 'id,contact.na'], found: ['id,contact.name'] },
    { words: ['list', '--', '--'], found: [] },
    { words: ['unknown', ''], found: [] },
    { words: ['inbox', 'unknown', ''], found: [] },
  ])('of $words is $found', async ({ words, found }) => {
    expect(await offered(words)).toEqual(found);
  });

  it('offers plain words of what is stored, and nothing else', async () => {
    const home = await homeWithLeads('/never');
    expect(await offered(['inbox', 'show', ''], home)).toEqual(['lead_old-1', 'lead_new-2']);
    expect(await offered(['list', '--category', ''], home)).toEqual(['solar']);
    expect(await offered(['list', '--where', 'metadata.'], home)).toEqual([
      'metadata.source=',
      'metadata.campaign=',
    ]);
    expect((await offered(['--profile', ''], home)).sort()).toEqual(['default', 'work']);
  });

  it('reads while a receiver writes, and changes nothing', async () => {
    const home = freshHome();
    const location = join(home, 'data', 'inbox.db');
    const inbox = await openInbox({ location, clock: new FakeClock(0) });
    await inbox.take([arrivalOf('lead_1', Buffer.from('{"id":"lead_1","category":"solar"}'), 0)]);
    // Two connections of one process share the log's index, in which each marks how far it reads.
    const bytesOf = (name: string): Buffer | undefined =>
      name.endsWith('-shm') ? undefined : readFileSync(join(home, 'data', name));
    const files = (): unknown[] =>
      readdirSync(join(home, 'data'))
        .sort()
        .map((name) => [name, statSync(join(home, 'data', name)).mode, bytesOf(name)]);
    const before = files();
    expect(await offered(['inbox', 'show', ''], home)).toEqual(['lead_1']);
    expect(await offered(['list', '--category', ''], home)).toEqual(['solar']);
    expect(files()).toEqual(before);
    await inbox.close();
    const closed = files();
    expect(await offered(['inbox', 'show', ''], home)).toEqual(['lead_1']);
    expect(files()).toEqual(closed);
  });

  it('is silent, and makes nothing, where there is nothing or the inbox is no file', async () => {
    const home = freshHome();
    expect(await offered(['inbox', 'show', ''], home)).toEqual([]);
    expect(await offered(['--profile', ''], home)).toEqual([]);
    expect(existsSync(join(home, 'data')) || existsSync(join(home, 'config'))).toBe(false);
    const filled = await homeWithLeads('/never');
    const named = ['inbox', 'show', '--inbox', 'postgres://localhost/leads', ''];
    expect(await offered(named, filled)).toEqual([]);
    expect(await offered(['inbox', 'show', ''], filled, { LEADS_INBOX: 'postgres://localhost/x' })).toEqual(
      [],
    );
    expect(await offered(['inbox', 'show', '--inbox', join(filled, 'capture.http'), ''], filled)).toEqual([]);
    const pipe = join(filled, 'pipe');
    execFileSync('mkfifo', [pipe]);
    expect(await offered(['inbox', 'show', '--inbox', pipe, ''], filled)).toEqual([]);
  });

  it('offers no more fields than a person can look through', async () => {
    const home = freshHome();
    const inbox = await openInbox({ location: join(home, 'data', 'inbox.db'), clock: new FakeClock(0) });
    const metadata = Object.fromEntries(Array.from({ length: 4000 }, (_, i) => [`f${i}`, 1]));
    await inbox.take([arrivalOf('lead_1', Buffer.from(JSON.stringify({ id: 'lead_1', metadata })), 0)]);
    await inbox.close();
    expect((await offered(['list', '--fields', ''], home)).length).toBeLessThan(250);
  });
});

it.each(['bash', 'zsh', 'fish', 'powershell'])('the script for %s evaluates nothing', async (shell) => {
  const { exitCode, stdout } = await leads(['completion', shell]);
  expect(exitCode).toBe(0);
  expect(stdout).toContain('completion --complete ');
  expect(stdout).not.toMatch(/\beval\b|compgen -W|Invoke-Expression|\biex\b|_init_completion/i);
});

it('calls what was not run untested', async () => {
  const { stdout } = await leads(['completion', '--help']);
  expect(stdout).toMatch(/powershell .*\n?.*untested/i);
  expect((await leads(['completion', 'powershell'])).stdout).toContain('untested');
});
