import { createServer } from 'node:http';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { startProgram } from '../support/listen-process.ts';
import { full, printFigure } from '../support/faults.ts';
import { seeded } from '../support/faulty-service.ts';
import { filesIn, temporaryIn } from '../support/files-in.ts';
import { inParallel } from '../support/in-parallel.ts';
import { freshHome } from '../support/run.ts';
import { openServer } from '../support/open-server.ts';

const forms = [
  ['-o', 'all.csv'],
  ['-o', 'all.ndjson.gz'],
  ['-o', 'all.ndjson'],
  ['-o', 'all.ndjson', '--fields', 'id,createdAt'],
];
const nights = full ? 4 : 3;
const perNight = full ? 1500 : 500;
/** A night takes as long either way. */
const latencyMs = full ? 4 : 12;

interface Stored {
  readonly url: string;
  /** Adds the leads of a night. */
  grow(): void;
  close(): Promise<void>;
}

/** A list that grows at its end, in pages of 100 with a total. The leads of each night have a field more. */
async function growingService(latencyMs: number): Promise<Stored> {
  const records: string[] = [];
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '/', 'http://localhost');
    const from = Number(searchParams.get('offset') ?? 0);
    const page = records.slice(from, from + 100).join(',');
    setTimeout(() => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(`{"data":[${page}],"offset":${from},"total":${records.length}}`);
    }, latencyMs);
  });
  const opened = await openServer(server);
  return {
    url: opened.url,
    grow() {
      for (let i = 0; i < perNight; i += 1) {
        const n = records.length;
        const created = new Date(Date.now() - 3_600_000 + n).toISOString();
        const more = n < perNight ? '' : `,"night_${Math.floor(n / perNight)}":${n}`;
        records.push(`{"id":"lead-${n}","note":"${'x'.repeat(n % 300)}","createdAt":"${created}"${more}}`);
      }
    },
    close: opened.close,
  };
}

const idsIn = (file: string): string[] => {
  const bytes = readFileSync(file);
  const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8');
  return [...text.matchAll(/(?:"id":"|^)(lead-\d+)/gm)].map(([, id = '']) => id);
};

it('promise 10: a file that is appended to night after night and killed at random moments has every lead once', async () => {
  const runs = full ? 60 : 2;
  const random = seeded(9);
  let [kills, hit, whole, same] = [0, 0, 0, 0];
  const one = async (i: number): Promise<void> => {
    const form = forms[i % forms.length] ?? [];
    const service = await growingService(latencyMs);
    const home = freshHome();
    const reference = freshHome();
    const nightly = (place: string) => {
      const [flag = '', name = '', ...rest] = form;
      const argv = ['export', '--bookmark', join(place, 'b'), flag, join(place, name), ...rest];
      const env = { LEADS_BASE_URL: service.url, LEADS_API_KEY: 'key-0123456789' };
      return startProgram(argv, place, { ...env, ...temporaryIn(home) });
    };
    mkdirSync(temporaryIn(home).TMPDIR);
    const file = (place: string): string => join(place, form[1] ?? '');
    for (let night = 0; night < nights; night += 1) {
      service.grow();
      const begun = Date.now();
      expect(await nightly(reference).done).toEqual({ exitCode: 0 });
      const took = Date.now() - begun;
      for (let attempt = 0; attempt < 1 + (i % 2); attempt += 1) {
        const program = nightly(home);
        await Promise.race([pause(random() * took * 1.1), program.done]);
        program.child.kill('SIGKILL');
        kills += 1;
        if ((await program.done).exitCode === null) hit += 1;
      }
      // Some nights end with the kill: the next one has to heal them.
      if (night < nights - 1 && random() < 0.4) continue;
      const healed = nightly(home);
      expect({ ...(await healed.done), said: healed.stderr() }).toMatchObject({ exitCode: 0 });
    }
    await service.close();
    const ids = idsIn(file(home));
    if (new Set(ids).size === ids.length && ids.length === nights * perNight) whole += 1;
    if (form[1]?.endsWith('.gz') === true || readFileSync(file(home)).equals(readFileSync(file(reference))))
      same += 1;
    expect(filesIn(home)).toEqual([form[1], 'b', 'tmp'].sort());
  };
  const numbers = Array.from({ length: runs }, (_, i) => i);
  await inParallel(numbers, 3, one);
  printFigure(
    10,
    `${runs} files appended to on ${nights} nights, ${kills} kill -9 (${hit} hit): every lead once in ${whole}, the same bytes in ${same}`,
  );
  expect([whole, same]).toEqual([runs, runs]);
  expect(hit).toBeGreaterThan(kills / 3);
});
