import { afterAll, describe, it } from 'vitest';
import { startProgram } from '../support/listen-process.ts';
import { faultyService } from '../support/faulty-service.ts';
import { hasTerminals, onTerminal } from '../support/pty.ts';
import { freshHome } from '../support/run.ts';
import { type Scripted, scripted, sendJson } from '../support/service.ts';
import { until } from '../support/until.ts';

const services: Scripted[] = [];
afterAll(() => Promise.all(services.map((service) => service.close())));

async function serviceThat(answer: Parameters<typeof scripted>[0]): Promise<Scripted> {
  const service = await scripted(answer);
  services.push(service);
  return service;
}

const env = (url: string) => ({ LEADS_API_KEY: 'key-0123456789', LEADS_BASE_URL: url });
const lead = { data: [{ id: '1' }], has_more: false };

// Nearly all of their time is waiting, so these tests run at the same time.

/** The rate is limited for four seconds, then there is one lead. */
const limitingService = (): Promise<Scripted> =>
  serviceThat((_, response, nth) => {
    if (nth === 0) response.writeHead(429, { 'retry-after': '4' }).end();
    else sendJson(response, lead);
  });

describe('on a terminal', { concurrent: true, skip: !hasTerminals() }, () => {
  it('progress shows time, total and share, and a stall shows in it', async ({ expect }) => {
    let answer: (() => void) | undefined;
    const service = await serviceThat((request, response) => {
      const second = request.url?.includes('page=2') === true;
      const data = Array.from({ length: second ? 10 : 30 }, (_, i) => ({ id: `${second ? 'b' : 'a'}${i}` }));
      const send = (): void => sendJson(response, { data, page: second ? 2 : 1, total: 40 });
      if (second) answer = send;
      else send();
    });
    const run = onTerminal('$LEADS export --page-size 30 > /dev/null', env(service.url));
    await until(() => run.drawn().includes('asking … 2s'));
    answer?.();
    expect(await run.exitCode).toBe(0);
    expect(run.drawn()).toMatch(/30 of 40 leads, 75%, \d+\/s, \ds, .*asking … 2s/);
    expect(run.drawn()).toMatch(/\r\u001b\[K40 leads in \S+ /);
  });

  it('Ctrl-C says how many leads were written, and that they are not all', async ({ expect }) => {
    const slow = await faultyService({ leads: 500, pageSize: 10, style: 'cursor', seed: 1, latencyMs: 100 });
    const run = onTerminal('$LEADS export --page-size 10 > /dev/null', env(slow.url));
    await until(() => /[1-9]\d* leads, /.test(run.drawn()));
    run.pressCtrlC();
    expect(await run.exitCode).toBe(130);
    await slow.close();
    expect(run.drawn()).toMatch(/\d+ leads were written; the output is incomplete/);
  });

  it('nothing is drawn under --quiet', async ({ expect }) => {
    const service = await limitingService();
    const quiet = onTerminal('$LEADS -q list --fields id', env(service.url));
    expect(await quiet.exitCode).toBe(0);
    expect(quiet.drawn().replaceAll('\r', '')).toBe('id\n1\n');
  });

  it('a wait is a line of its own where the terminal cannot draw', async ({ expect }) => {
    const service = await limitingService();
    const dumb = onTerminal('TERM=dumb $LEADS list --fields id', env(service.url));
    expect(await dumb.exitCode).toBe(0);
    expect(dumb.drawn()).not.toContain('\u001b');
    expect(dumb.drawn()).toContain('note: waiting 4s: rate limited, retry 1 of 5');
  });
});

it.concurrent('in a pipe a silence of three seconds is said once', async ({ expect }) => {
  const service = await serviceThat((_, response, nth) => {
    const silenceMs = nth < 2 ? 3300 : 0;
    const answer = nth === 0 ? { data: [{ id: '0' }], next_cursor: '1' } : lead;
    setTimeout(() => sendJson(response, answer), silenceMs);
  });
  const program = startProgram(['list', '--limit', 'all', '--fields', 'id'], freshHome(), env(service.url));
  expect(await program.done).toEqual({ exitCode: 0 });
  expect(program.stderr()).toBe('note: asking … no answer for 3s\n');
});
