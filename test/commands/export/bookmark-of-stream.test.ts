import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { InterruptedError } from '../../../src/errors.ts';
import { FakeClock } from '../../support/clock.ts';
import { freshHome, leads, startLeads } from '../../support/run.ts';
import { type Scripted, scripted, sendJson } from '../../support/service.ts';
import { until } from '../../support/until.ts';
import { serving } from './support.ts';

let service: Scripted;
let home: string;
let bookmark: string;
beforeEach(async () => {
  home = freshHome();
  bookmark = join(home, 'b');
  const data = [
    { id: '1', contact: { email: 'ANNA@example.com' } },
    { id: '2', contact: { email: null } },
  ];
  service = await scripted((_, response) => sendJson(response, { data, has_more: false }));
});
afterEach(() => service.close());

/** A regular file for which the system has no fsync. */
const unsyncable = '/proc/self/status';

const options = () => ({ env: { LEADS_API_KEY: 'key-0123456789', LEADS_BASE_URL: service.url }, home });

describe('the bookmark of an export to stdout stays', () => {
  it.each([[[]], [['--gzip']]])('where its reader is gone: %j', async (flags) => {
    const live = startLeads(['export', '--bookmark', bookmark, ...flags], options());
    live.stdout.destroy();
    expect((await live.done).exitCode).toBe(141);
    expect(existsSync(bookmark)).toBe(false);
  });

  it.runIf(existsSync(unsyncable))('where the file behind stdout cannot be made durable', async () => {
    const fd = openSync(unsyncable, 'r');
    const live = startLeads(['export', '--bookmark', bookmark], options());
    Object.assign(live.stdout, { fd });
    const { exitCode, stderr } = await live.done;
    closeSync(fd);
    expect([exitCode, stderr]).toEqual([8, expect.stringContaining('fsync')]);
    expect(live.stdout.text()).not.toBe('');
    expect(existsSync(bookmark)).toBe(false);
  });
});

const lead = (id: string) => ({ id, createdAt: new Date(Date.now() - 60_000).toISOString() });

describe('export --follow --bookmark', () => {
  it('has written all leads of a walk, compressed, when the bookmark moves', async () => {
    const clock = new FakeClock();
    const live = startLeads(['export', '--follow', '10s', '--gzip', '--bookmark', bookmark], {
      ...options(),
      clock,
    });
    await until(() => clock.sleeps.includes(10_000));
    // Killed now, it would have written no more than this.
    const written = live.stdout.bytes();
    expect(existsSync(bookmark)).toBe(true);
    live.abort(new InterruptedError('SIGINT'));
    expect((await live.done).exitCode).toBe(0);
    expect(
      gunzipSync(written)
        .toString()
        .match(/"id":"."/g),
    ).toEqual(['"id":"1"', '"id":"2"']);
    expect(live.stdout.bytes()).toEqual(written);
  });

  it('stays where it is when what was under way at Ctrl-C could not be written', async () => {
    const stored = [lead('1')];
    const polled = await serving((_, response) => sendJson(response, { data: stored, next_cursor: null }));
    const clock = new FakeClock(Date.now());
    const env = { ...options().env, LEADS_BASE_URL: polled.url };
    const live = startLeads(['export', '--bookmark', bookmark, '--follow', '10s'], { env, home, clock });
    await until(() => clock.sleeps.includes(10_000));
    const before = readFileSync(bookmark, 'utf8');
    stored.unshift(lead('2'));
    let fail: ((error: Error) => void) | undefined;
    live.stdout.on('error', () => undefined);
    live.stdout._write = (_, __, done) => {
      fail = done;
    };
    clock.advance(10_000);
    await until(() => fail !== undefined);
    live.abort(new InterruptedError('SIGINT'));
    fail?.(Object.assign(new Error('EIO: i/o error, write'), { code: 'EIO', syscall: 'write' }));
    const { exitCode } = await live.done;
    expect([exitCode, readFileSync(bookmark, 'utf8')]).toEqual([130, before]);
  });

  it('knows what an interrupted poll has written', async () => {
    const stored = [lead('1')];
    let [isHeld, held] = [false, false];
    const polled = await serving((request, response) => {
      const isFirst = !(request.url ?? '').includes('cursor=');
      if (stored.length === 1) sendJson(response, { data: stored, next_cursor: null });
      else if (isFirst) sendJson(response, { data: stored.slice(0, 2), next_cursor: 'behind-two' });
      else if (isHeld) held = true;
      else sendJson(response, { data: stored.slice(2), next_cursor: null });
    });
    const clock = new FakeClock(Date.now());
    const env = { ...options().env, LEADS_BASE_URL: polled.url };
    const argv = ['export', '--bookmark', bookmark];
    const live = startLeads([...argv, '--follow', '10s'], { env, home, clock });
    await until(() => clock.sleeps.includes(10_000));
    stored.unshift(lead('3'), lead('2'));
    isHeld = true;
    clock.advance(10_000);
    await until(() => held && live.stdout.text().includes('"3"'));
    live.abort(new InterruptedError('SIGINT'));
    const first = await live.done;
    isHeld = false;
    const second = await leads(argv, { env, home });
    expect([first.exitCode, second.exitCode]).toEqual([0, 0]);
    const ids = `${first.stdout}${second.stdout}`.match(/(?<="id":")./g);
    expect(ids?.toSorted()).toEqual(['1', '2', '3']);
  });
});
