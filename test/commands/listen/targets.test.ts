import { execFileSync } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { targetKeys } from '../../../src/commands/listen/targets.ts';
import { targetLabel } from '../../../src/inbox/target-name.ts';
import { openAppendTarget } from '../../../src/receiver/targets/append.ts';
import { execTarget } from '../../../src/receiver/targets/exec.ts';
import { FakeClock } from '../../support/clock.ts';
import { freshHome, leads } from '../../support/run.ts';
import { until } from '../../support/until.ts';
import { damagedInbox } from '../../inbox/sqlite/damaged-inbox.ts';
import { answering, appInEachTest, startApp } from './app.ts';
import { listenInEachTest } from './support.ts';

const start = listenInEachTest();
const app = appInEachTest();
const refused = async (...flags: string[]): Promise<string> => {
  const { exitCode, stderr } = await leads(['listen', '--port', '0', '--token', 't', ...flags]);
  expect(exitCode).toBe(2);
  return stderr;
};

describe('several targets', () => {
  it('get each lead once each, whichever of them fails meanwhile', async () => {
    const down = await startApp(answering(200));
    await down.close();
    const [up, file, seen] = [await app(answering(200)), join(freshHome(), 'a'), join(freshHome(), 'seen')];
    const targets = ['--forward-to', down.url, '--forward-to', up.url, '--output', file];
    const listener = await start([...targets, '--exec', `cat >> '${seen}'`, '--format', 'events']);
    expect((await listener.post({ id: 'a' })).body).toMatchObject({ status: 'accepted' });
    await until(() => listener.forwards().length === 4);
    const states = listener.forwards().map(({ target, state }) => [target, state]);
    expect(Object.fromEntries(states)).toEqual({
      exec: 'done',
      [`forward ${down.url}`]: 'waiting',
      [`forward ${up.url}`]: 'done',
      [`output ${file}`]: 'done',
    });
    const again = await app(answering(200), down.port);
    expect((await listener.post({ id: 'a' })).body).toMatchObject({ status: 'duplicate' });
    await listener.passUntil(() => listener.forwards().length === 5);
    expect(listener.forwards()[4]).toMatchObject({ target: `forward ${down.url}`, ok: true });
    expect([up.received.length, again.received.length]).toEqual([1, 1]);
    expect([file, seen].map((path) => readFileSync(path, 'utf8'))).toEqual(['{"id":"a"}\n', '{"id":"a"}']);
  });

  it('do without what waits where a damaged inbox does not give it, and leads are stored all the same', async () => {
    const inbox = await damagedInbox('forwards', 1, ['exec x']);
    const listener = await start(['--inbox', inbox]);
    expect(listener.stderr.text()).toContain('what waits for a target is not known: cannot read the inbox');
    expect(await listener.post({ id: 'new' })).toMatchObject({ status: 200, body: { status: 'accepted' } });
  });

  it('are told apart where a person reads what came of each', async () => {
    const [one, other] = [await app(answering(200)), await app(answering(418))];
    const listener = await start(['--forward-to', one.url, '--forward-to', other.url]);
    expect((await listener.post({ id: 'a' })).status).toBe(200);
    await until(() => /: 200[^]*: 418|: 418[^]*: 200/.test(listener.stdout.text()));
    expect(listener.stdout.text()).toContain(`forward ${one.url}: 200 (`);
    expect(listener.stdout.text()).toContain(`forward ${other.url}: 418 (`);
  });

  it('are an error where two are the same', async () => {
    const file = join(freshHome(), 'leads.ndjson');
    const link = join(freshHome(), 'link');
    writeFileSync(file, '');
    symlinkSync(file, link);
    const same = [
      ['--forward-to', 'https://app.test:443/a', '--forward-to', 'https://me:secret@APP.test/a#x'],
      ['--forward-to', 'https://app.test/a', '--target', '{"forward":"https://app.test/a","when":"x=1"}'],
      ['--exec', 'cat', '--exec', 'cat'],
      ['--output', file, '--target', JSON.stringify({ output: link })],
      ['--output', join(file, '..', 'new'), '--output', join(file, '..', '.', 'new')],
    ];
    for (const flags of same) {
      const stderr = await refused(...flags);
      expect(stderr).toContain('is a target already');
      expect(stderr).not.toContain('secret');
    }
  });

  it('of two hosts have two names in a shared inbox, and a label that shows no command', async () => {
    const shared = {
      host: 'web-1',
      timeoutMs: 1,
      signal: new AbortController().signal,
    };
    const exec = execTarget({
      ...{ ...shared, command: 'mail secret', env: {} },
      messages: { say: () => undefined },
      killGroup: () => undefined,
    });
    expect([exec.name, targetLabel(exec.name)]).toEqual(['exec web-1 mail secret', 'exec']);
    const file = join(freshHome(), 'leads.ndjson');
    const options = { ...shared, pid: process.pid, clock: new FakeClock(), note: () => undefined };
    const output = await openAppendTarget(file, options);
    await output.close?.();
    expect(output.name).toBe(`output web-1 ${file}`);
  });
});

describe('--target', () => {
  it('is JSON, or a file that holds it', async () => {
    const behind = await app(answering(200));
    const directory = freshHome();
    const [file, written] = [join(directory, 'target.json'), join(directory, 'written')];
    writeFileSync(file, JSON.stringify({ exec: `cat > '${written}'`, giveUp: '1d' }));
    const listener = await start([
      '--target',
      file,
      '--target',
      JSON.stringify({ forward: behind.url }),
      ...['--format', 'events'],
    ]);
    expect((await listener.post({ id: 'a' })).status).toBe(200);
    await until(() => listener.forwards().length === 2);
    expect(behind.received).toHaveLength(1);
    expect(readFileSync(written, 'utf8')).toBe('{"id":"a"}');
  });

  it.each([
    [
      '{"forward":"https://a.test","giveup":"1d"}',
      "'giveup' is no key of a target",
      "did you mean 'giveUp'?",
    ],
    [
      '{"forward":"https://a.test","exec":"cat"}',
      "one of 'forward', 'exec' and 'output'",
      'leads help targets',
    ],
    ['{"forward":"ftp://me:s3cret@a.test"}', 'forward: ', 'https://'],
    ['{"forward":7}', "'forward' must be a text", 'leads help targets'],
    ['{"forward":"http://a.test/hook"}', 'http://a.test is plain HTTP', '"insecure":true'],
    ['{"forward":"https://a.test/?a=1","keepPath":true}', "'keepPath' keeps the query", ''],
    ['{"forward":"https://a.test","keepPath":"yes"}', "'keepPath' must be true or false", ''],
    ['{"forward":"https://a.test","when":"solar"}', "when: 'solar' is not a condition", ''],
    ['{"forward":"https://a.test","when":[1]}', "'when' must be a condition, or a list of them", ''],
    ['{"forward":"https://a.test","giveUp":"soon"}', "giveUp: 'soon' is not a duration", ''],
    ['{"exec":"cat","insecure":true}', "'keepPath' and 'insecure' need 'forward'", ''],
    ['{"output":"-"}', 'stdout carries the results', ''],
    ['{"forward":"https://me:s3cret@a.test"', 'ends too early', ''],
    ['forward=https://me:s3cret@a.test', 'there is no such file', 'leads help targets'],
    ['[{"output":"a"}]', 'no JSON object', 'leads help targets'],
  ])('%s is an error', async (typed, message, hint) => {
    const stderr = await refused('--target', typed);
    expect(stderr).toContain(message);
    expect(stderr).toContain(hint);
    expect(stderr).not.toContain('s3cret');
  });
});

describe('a target with a condition', () => {
  it('gets the leads that meet all of it, and no other is waited for', async () => {
    const down = await startApp(answering(200));
    await down.close();
    const [solar, rich] = [await app(answering(200)), await app(answering(200))];
    const targets = [
      { forward: solar.url, when: 'category=solar' },
      { forward: rich.url, when: ['category=solar', 'score>=10'] },
      { forward: down.url, when: 'category=never' },
    ];
    const listener = await start(targets.flatMap((target) => ['--target', JSON.stringify(target)]));
    const leadsSent = [
      { id: 'a', category: 'solar', score: 9 },
      { id: 'b', category: 'solar', score: 10 },
      { id: 'c', category: 'moving', score: 10 },
      { id: 'd', category: 'moving' },
    ];
    for (const lead of leadsSent)
      expect((await listener.post(lead)).body).toMatchObject({ status: 'accepted' });
    await until(() => solar.received.length + rich.received.length === 3);
    expect([solar, rich].map(({ received }) => received.length)).toEqual([2, 1]);
    expect((await listener.post({ id: 'c', category: 'moving', score: 10 })).body).toMatchObject({
      status: 'duplicate',
    });
    const [note, ...more] =
      listener.stderr.text().match(/the lead '.' meets the condition of no target/g) ?? [];
    expect([note, more]).toEqual(["the lead 'c' meets the condition of no target", []]);
  });
});

describe('leads help targets', () => {
  /** The words of each example for another program, as a shell reads what is printed. */
  async function exampleOf(program: string): Promise<string[]> {
    const { stdout } = await leads(['help', 'targets']);
    const examples = stdout.slice(stdout.indexOf('Examples:')).split(/^ {2}\$ /m);
    const line = examples.find((one) => one.includes(` ${program} `) || one.includes(`'${program} `)) ?? '';
    const words = execFileSync('sh', ['-c', `leads() { printf '%s\\0' "$@"; }\n${line}`], {
      encoding: 'utf8',
    });
    return words.split('\0').slice(1, -1);
  }

  it.each([
    ['kcat', ['-P', '-b', 'kafka:9092', '-t', 'leads', '-k', 'a "b" $c', '-D', '\\x1e']],
    ['nats', ['pub', 'leads', '-J', '-q', '--force-stdin', '--no-templates']],
    [
      'aws',
      [
        ...['sqs', 'send-message', '--queue-url', 'https://sqs.eu-west-1.amazonaws.com/1/leads'],
        ...['--message-body', 'file:///dev/stdin'],
      ],
    ],
    ['psql', ['-X', '-v', 'ON_ERROR_STOP=1', '-d', 'leads', '-f', 'insert.sql']],
  ])('prints a line that gives %s the lead, and it is done when that ends with 0', async (program, args) => {
    const directory = freshHome();
    // What aws reads it opens anew, by its path.
    const input = program === 'aws' ? 'cat /dev/stdin' : 'cat';
    const stub = `#!/bin/sh\n${input} > '${directory}/stdin'; printf '%s\\n' "$@" > '${directory}/args'; [ -e '${directory}/up' ]\n`;
    writeFileSync(join(directory, program), stub, { mode: 0o755 });
    const env = { PATH: `${directory}:${process.env['PATH'] ?? ''}` };
    const listener = await start([...(await exampleOf(program)).filter((word) => word !== ''), '--http'], {
      env,
    });
    const body = '{ "id": "a \\"b\\" $c",\n "text": "{{ \\\\ \'x\' }}\\n" }';
    const headers = { 'x-webhook-token': 's3cret' };
    expect((await listener.post(body, headers)).status).toBe(200);
    await until(() => listener.stdout.text().includes('exec: exit 1'));
    writeFileSync(join(directory, 'up'), '');
    await listener.passUntil(() => listener.stdout.text().includes('exec: attempt 2: exit 0'));
    expect(readFileSync(join(directory, 'args'), 'utf8')).toBe(`${args.join('\n')}\n`);
    expect(readFileSync(join(directory, 'stdin'), 'utf8')).toBe(body);
  });

  it('has every key of a target', async () => {
    const { stdout } = await leads(['help', 'targets']);
    for (const key of targetKeys) expect(stdout).toMatch(new RegExp(`^ +${key} `, 'm'));
  });
});
