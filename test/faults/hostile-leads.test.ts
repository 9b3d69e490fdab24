import { expect, it } from 'vitest';
import { printFigure } from '../support/faults.ts';
import { leads } from '../support/run.ts';
import { scripted, sendJson } from '../support/service.ts';

/** What could drive a terminal, hide text or reorder it. */
const weapons = {
  escape: '\u001b[2J\u001b[31m',
  link: '\u001b]8;;http://evil.example\u0007click\u001b]8;;\u0007',
  clipboard: '\u001b]52;c;ZXZpbA==\u0007',
  c1: '\u009b2J\u009d0;title\u009c',
  bidi: '\u202eexe.gpj\u2066x\u2069',
  return: 'safe\rgone\b\b',
  newline: 'one\ntwo\u2028three\u0085four',
  tags: 'a\u{e0041}b\u200bc\ufeff',
};
const dangerous =
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]/u;

const env = (url: string) => ({ LEADS_API_KEY: 'key-0123456789', LEADS_BASE_URL: url, NO_COLOR: '1' });

function hostile(weapon: string): string {
  const lead = {
    id: `id${weapon}`,
    category: weapon,
    contact: { name: weapon, email: weapon, phone: weapon },
    metadata: { source: weapon, [weapon]: weapon },
    createdAt: weapon,
    status: weapon,
  };
  return JSON.stringify({ data: [lead, { ...lead, id: `${weapon}2`, createdAt: '2026-01-01T00:00:00Z' }] });
}

const drawn = [
  ['list'],
  ['list', '--format', 'json'],
  ['list', '--format', 'ndjson'],
  ['list', '--format', 'csv'],
  ['list', '--fields', 'id,contact.name,metadata'],
  ['show', `id`],
  ['export'],
  ['export', '--format', 'csv'],
  ['export', '--json'],
  ['export', '--fields', 'contact', '--format', 'csv'],
];

it('promise 13, pulled: nothing in a lead drives the terminal', async () => {
  let [runs, through] = [0, 0];
  for (const [name, weapon] of Object.entries(weapons)) {
    const service = await scripted((_, response) => sendJson(response, hostile(weapon)));
    for (const argv of drawn) {
      const words = argv[0] === 'show' ? ['show', `id${weapon}`] : argv;
      const { stdout, stderr } = await leads([...words, '--verbose'], {
        env: env(service.url),
        terminal: 100,
      });
      runs += 1;
      if (!dangerous.test(stdout + stderr)) continue;
      through += 1;
      expect.soft({ name, argv, text: JSON.stringify(stdout + stderr) }).toBe('harmless');
    }
    await service.close();
  }
  printFigure(
    13,
    `${runs} leads of ESC, OSC 8, OSC 52, C1, bidi, CR drawn on a terminal: through ${through}`,
  );
  expect(through).toBe(0);
});

it('promise 13, pulled: nothing in an answer’s errors, headers or paths drives the terminal', async () => {
  let through = 0;
  for (const weapon of Object.values(weapons)) {
    const header = Buffer.from(weapon.replaceAll(/[\r\n]/g, ''), 'utf8')
      .toString('latin1')
      .replaceAll(/[^\x20-\xff]/g, '');
    for (const status of [400, 401, 404, 422, 429, 500, 302]) {
      const service = await scripted((_, response) => {
        response.writeHead(status, {
          'x-request-id': header,
          location: `/${encodeURIComponent(weapon)}`,
          'content-type': `text/${header}`,
        });
        response.end(JSON.stringify({ error: weapon, message: weapon }));
      });
      for (const argv of [['list'], ['export'], ['show', weapon], ['export', '--json']]) {
        const { stdout, stderr } = await leads([...argv, '--verbose'], {
          env: env(service.url),
          terminal: 100,
        });
        if (!dangerous.test(stdout + stderr)) continue;
        through += 1;
        expect.soft({ status, argv, text: JSON.stringify(stdout + stderr) }).toBe('harmless');
      }
      await service.close();
    }
  }
  printFigure(13, `server messages, request ids and redirects on a terminal: through ${through}`);
  expect(through).toBe(0);
});
