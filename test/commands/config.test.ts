import {
  chmodSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
  lchownSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { processHost } from '../../src/host.ts';
import { freshHome, homeWith, leads } from '../support/run.ts';

const key = 'sk_test_1234567890abcd';

function configOf(home: string): unknown {
  return JSON.parse(readFileSync(join(home, 'config', 'config.json'), 'utf8'));
}

describe('leads config', () => {
  it('stores, shows and removes settings', async () => {
    const home = freshHome();
    expect((await leads(['config', 'set', 'base-url', 'https://api.example.com/'], { home })).exitCode).toBe(
      0,
    );
    await leads(['config', 'set', 'api.params.since', 'created_after'], { home });
    await leads(['config', 'set', 'api.params.limit', 'null'], { home });
    await leads(['config', 'set', 'api.page-size', '500'], { home });
    expect(configOf(home)).toEqual({
      version: 1,
      profiles: {
        default: {
          'base-url': 'https://api.example.com',
          api: { params: { since: 'created_after', limit: null }, 'page-size': 500 },
        },
      },
    });
    expect((await leads(['config', 'get', 'base-url'], { home })).stdout).toBe('https://api.example.com\n');
    for (const name of ['api.params.since', 'api.params.limit', 'api.page-size', 'base-url']) {
      await leads(['config', 'unset', name], { home });
    }
    expect(configOf(home)).toEqual({ version: 1, profiles: {} });
  });

  it('keeps what is not known in the file, and says that it is ignored', async () => {
    const home = homeWith({ api: { 'page-size': 50 }, later: { a: 1 } });
    expect(await leads(['config', 'get', 'api.page-size'], { home })).toEqual({
      exitCode: 0,
      stdout: '50\n',
      stderr: 'note: the configuration file holds what this release ignores: profiles.default.later\n',
    });
    await leads(['config', 'set', 'api.page-size', '60'], { home });
    expect(configOf(home)).toEqual({
      version: 1,
      profiles: { default: { api: { 'page-size': 60 }, later: { a: 1 } } },
    });
  });

  it('checks where the lead is in an element, and shows an empty pointer that is set', async () => {
    const home = freshHome();
    const wrong = await leads(['config', 'set', 'api.item', 'doc'], { home });
    expect(wrong).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('JSON Pointer') as string });
    for (const pointer of ['/doc', 'auto', '']) {
      expect((await leads(['config', 'set', 'api.item', pointer], { home })).exitCode).toBe(0);
      expect((await leads(['config', 'get', 'api.item'], { home })).stdout).toBe(`${pointer}\n`);
    }
    expect((await leads(['config', 'set', 'api.id', ''], { home })).exitCode).toBe(2);
    const { stdout } = await leads(['help', 'dialect']);
    expect(stdout).toMatch(/^ +api\.item .*JSON Pointer to the lead inside each element/m);
    expect(stdout).toMatch(/^ +api\.id .*identifies/m);
  });

  it('reads a secret from stdin, binds an API key to the origin, and never shows it', async () => {
    const home = freshHome();
    const first = await leads(['config', 'set', 'api-key', '-'], { home, stdin: `${key}\n` });
    expect(first.exitCode).toBe(3);
    await leads(['config', 'set', 'base-url', 'https://api.example.com/v1'], { home });
    await leads(['config', 'set', 'api-key', '-'], { home, stdin: `${key}\n` });
    expect(configOf(home)).toMatchObject({
      profiles: { default: { 'api-key': key, 'api-key-origin': 'https://api.example.com' } },
    });
    const shown = await leads(['config', 'list', '--json'], { home });
    expect(shown.stdout).not.toContain(key);
    expect(JSON.parse(shown.stdout)).toContainEqual({ key: 'api-key', value: '…abcd', from: 'profile' });
    expect((await leads(['config', 'get', 'api-key'], { home })).stdout).toBe('…abcd\n');
    await leads(['config', 'unset', 'api-key'], { home });
    expect(configOf(home)).toEqual({
      version: 1,
      profiles: { default: { 'base-url': 'https://api.example.com/v1' } },
    });
  });

  it('tells where each setting comes from: flag, environment, profile, default', async () => {
    const home = freshHome();
    await leads(['config', 'set', 'base-url', 'https://stored.example.com'], { home });
    const sources = async (argv: string[], env = {}): Promise<unknown> =>
      (
        JSON.parse((await leads(['config', 'list', '--json', ...argv], { home, env })).stdout) as unknown[]
      )[1];
    const env = { LEADS_BASE_URL: 'https://env.example.com' };
    expect(await sources([])).toMatchObject({ value: 'https://stored.example.com', from: 'profile' });
    expect(await sources([], env)).toMatchObject({ value: 'https://env.example.com', from: 'environment' });
    expect(await sources(['--base-url', 'https://flag.example.com'], env)).toMatchObject({ from: 'flag' });
  });

  it.each([
    [['set', 'api.pagination', 'sideways'], 'one of auto, link, cursor'],
    [['set', 'nonsense', 'x'], 'settings: base-url'],
    [['set', 'api.paginaton', 'cursor'], "did you mean 'api.pagination'?"],
    [['set', 'api.pagination=cursor'], "'leads config set api.pagination cursor'"],
    [['use', 'nobody'], 'leads login --base-url https://… --profile nobody'],
    [['set', 'api.page-size', '-3'], 'a whole number from 1'],
    [['set', 'timeout', 'soon'], 'duration'],
    [['set', 'api.path', 'leads'], "did you mean '/leads'?"],
    [['set', 'api.path', 'https://api.example.com/v2/leads?a=b'], "did you mean '/v2/leads?a=b'?"],
    [['set', 'api.path', '/leads list'], 'neither blanks nor #'],
    [['set', 'api.next', 'none'], 'or empty: nothing names it'],
    [['set', 'webhook.id', '/contact/id'], "did you mean 'contact.id'?"],
    [['set', 'webhook.id', 'contact.'], 'such as contact.id'],
    [['set', 'api.id', 'auto'], 'the name of a field such as uuid'],
    [['set', 'api.next', 'meta.next'], "did you mean '/meta/next'?"],
    [['set', 'api.next', '/meta/~next'], 'JSON Pointer such as /meta/next'],
    [['set', 'api.items', '$.result.items'], "did you mean '/result/items'?"],
    [['set', 'webhook.lead', "data['lead']"], "did you mean '/data/lead'?"],
    [['set', 'api.status-field', '/status'], 'the name of a field'],
    [['set', 'api.status-field', ''], 'the value is empty'],
    [['set', 'api.params.limit', 'per_page=100'], "did you mean 'per_page'?"],
    [['set', 'api.params.offset', 'auto'], 'the name of a query parameter'],
  ])('rejects %j', async (argv, says) => {
    const { exitCode, stderr } = await leads(['config', ...argv]);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^error: /);
    expect(stderr).toContain(says);
  });

  it.each([
    ['api.next', ''],
    ['webhook.id', 'Lead ID'],
    ['webhook.id', 'contact.id'],
    ['api.params.page', 'page[number]'],
    ['api.path', '/v2/leads?_page=1'],
  ])('sets %s to %j', async (key, value) => {
    expect((await leads(['config', 'set', key, value])).exitCode).toBe(0);
  });

  it.each(['http://api.example.com', 'ftp://api.example.com', 'https://user:pw@api.example.com', 'example'])(
    'refuses %s as a base URL',
    async (url) => {
      expect((await leads(['config', 'set', 'base-url', url])).exitCode).toBe(3);
    },
  );

  it('replaces a base URL that was edited into one that cannot be used', async () => {
    const home = freshHome();
    await leads(['config', 'set', 'retries', '3'], { home });
    const plain = { version: 1, profiles: { default: { 'base-url': 'http://api.example.com' } } };
    writeFileSync(join(home, 'config', 'config.json'), JSON.stringify(plain));
    expect((await leads(['list'], { home })).stderr).toContain('is plain HTTP');
    expect((await leads(['config', 'edit'], { home, env: { EDITOR: 'true' } })).exitCode).toBe(3);
    const set = await leads(['config', 'set', 'base-url', 'https://api.example.com'], { home });
    expect(set).toMatchObject({ exitCode: 0, stderr: '' });
    expect(configOf(home)).toMatchObject({
      profiles: { default: { 'base-url': 'https://api.example.com' } },
    });
  });

  it('keeps the file 0600 in a 0700 directory and tightens looser ones', async () => {
    const home = freshHome();
    const directory = join(home, 'config');
    const file = join(directory, 'config.json');
    await leads(['config', 'set', 'retries', '3'], { home });
    const modes = (): string[] => [directory, file].map((path) => (statSync(path).mode & 0o777).toString(8));
    expect(modes()).toEqual(['700', '600']);
    chmodSync(directory, 0o755);
    chmodSync(file, 0o644);
    await leads(['config', 'list'], { home });
    expect(modes()).toEqual(['700', '600']);
  });

  it('leaves a directory that is shared by everybody as it is', async () => {
    const home = freshHome();
    const shared = join(home, 'config');
    mkdirSync(shared);
    chmodSync(shared, 0o1777);
    await leads(['config', 'set', 'retries', '3'], { home });
    expect((statSync(shared).mode & 0o7777).toString(8)).toBe('1777');
    expect((statSync(join(shared, 'config.json')).mode & 0o777).toString(8)).toBe('600');
  });

  it.each([
    '{"profiles": ',
    '[]',
    '{"profiles":{"default":{"base-url":7}}}',
    '{"version":"2"}',
    '{"profiles":{"default":{"timeout":"soon"}}}',
  ])('reports and never overwrites a broken file: %s', async (content) => {
    const home = freshHome();
    const file = join(home, 'config', 'config.json');
    mkdirSync(join(home, 'config'));
    writeFileSync(file, content);
    for (const argv of [['list'], ['set', 'retries', '3'], ['unset', 'retries']]) {
      const { exitCode, stderr } = await leads(['config', ...argv], { home });
      expect(exitCode).toBe(3);
      expect(stderr).toContain(file);
    }
    expect(readFileSync(file, 'utf8')).toBe(content);
  });

  it.each([
    ['{\n  "profiles": {},\n}\n', 'in line 2, which ends with a comma too many'],
    ['{\r\n  "profile": "x",\r\n  profiles: {}\r\n}', 'in line 3'],
    ['{"profiles":\n', 'in line 1'],
  ])('names the line of %j that is no JSON', async (content, says) => {
    const home = homeWith({});
    writeFileSync(join(home, 'config', 'config.json'), content);
    const { exitCode, stderr } = await leads(['config', 'list'], { home });
    expect(exitCode).toBe(3);
    expect(stderr).toContain(says);
  });

  it.runIf(process.platform === 'linux')(
    'is edited with $EDITOR, a broken one too, and then checked',
    async () => {
      const home = homeWith({});
      const file = join(home, 'config', 'config.json');
      const edit = (script: string) => leads(['config', 'edit'], { home, env: { EDITOR: script } });
      expect(await edit('sed -i \'s/{}/{"retries":3}/\'')).toEqual({ exitCode: 0, stdout: '', stderr: '' });
      expect(configOf(home)).toEqual({ version: 1, profiles: { default: { retries: 3 } } });
      const broken = await edit("sed -i 's/: 3/: 3,/'");
      expect([broken.exitCode, broken.stderr]).toEqual([
        3,
        expect.stringContaining('in line 4, which ends with'),
      ]);
      expect((await edit("sed -i 's/: 3,/: 4/'")).exitCode).toBe(0);
      expect(readFileSync(file, 'utf8')).toContain('"retries": 4');
      expect((await edit("sed -i 's/retries/retry/'")).stderr).toContain('ignores: profiles.default.retry');
      expect((await edit('false')).stderr).toBe(
        `error: the editor 'false' ended with 1\nhint: the file is ${file}\n`,
      );
      expect((await edit('/none')).stderr).toContain('ended with 127\nhint: set EDITOR');
      const nowhere = await edit('');
      expect([nowhere.exitCode, nowhere.stdout, nowhere.stderr]).toEqual([
        3,
        '',
        expect.stringMatching(new RegExp(`needs a terminal\nhint: set EDITOR .* or edit ${file}`)),
      ]);
      const fresh = freshHome();
      expect((await leads(['config', 'edit'], { home: fresh, env: { VISUAL: 'true' } })).exitCode).toBe(0);
      expect(configOf(fresh)).toEqual({ version: 1 });
    },
  );

  it('reads a file with a byte order mark and with line ends of Windows', async () => {
    const home = homeWith({});
    const content = '\uFEFF{\r\n  "profiles": { "default": { "retries": 3 } }\r\n}\r\n';
    writeFileSync(join(home, 'config', 'config.json'), content.replace('3', '"3"'));
    expect((await leads(['config', 'get', 'retries'], { home })).exitCode).toBe(3);
    writeFileSync(join(home, 'config', 'config.json'), content);
    expect((await leads(['config', 'get', 'retries'], { home })).stdout).toBe('3\n');
    expect(await leads(['config', 'set', 'retries', '4'], { home })).toMatchObject({
      exitCode: 0,
      stderr: '',
    });
    expect(configOf(home)).toMatchObject({ profiles: { default: { retries: 4 } } });
  });

  it.runIf(userInfo().uid === 0)('refuses a symbolic link that belongs to another user', async () => {
    const home = freshHome();
    const file = join(home, 'config', 'config.json');
    mkdirSync(join(home, 'config'));
    writeFileSync(join(home, 'target.json'), '{}');
    symlinkSync(join(home, 'target.json'), file);
    lchownSync(file, 12345, 12345);
    expect((await leads(['config', 'set', 'retries', '3'], { home })).exitCode).toBe(3);
    expect(readFileSync(join(home, 'target.json'), 'utf8')).toBe('{}');
  });

  it('shows no password of a base URL, wherever it is from', async () => {
    const url = 'https://ann:p4ss@api.example.com';
    const home = homeWith({ 'base-url': url });
    for (const env of [{}, { LEADS_BASE_URL: url }]) {
      for (const words of [['list'], ['list', '--json'], ['get', 'base-url']]) {
        const { stdout } = await leads(['config', ...words], { home, env });
        expect(stdout).toContain('https://…@api.example.com');
        expect(stdout).not.toContain('p4ss');
      }
    }
    const { stdout } = await leads(['config', 'list', '--base-url', url], { home: freshHome() });
    expect(stdout).toContain('https://…@api.example.com');
  });

  it.each([
    ['https://api.example.com/@acme/v1', 'https://api.example.com/@acme/v1'],
    ['https://ann:p4ss@api.example.com/@acme/v1', 'https://…@acme/v1'],
    ['https://ann:p/4ss@api.example.com', 'https://…@api.example.com'],
    ['HTTPS://ann:p@4ss@api.example.com', 'HTTPS://…@api.example.com'],
    ['ann:p4ss@api.example.com', '…@api.example.com'],
  ])('shows the base URL %j as %j', async (baseUrl, shown) => {
    const { stdout } = await leads(['config', 'get', 'base-url'], {
      home: homeWith({ 'base-url': baseUrl }),
    });
    expect(stdout).toBe(`${shown}\n`);
  });

  it('lists profiles, and uses the one that was chosen', async () => {
    const home = freshHome();
    const base = (name: string): string => `https://${name}.example.com`;
    for (const name of ['default', 'big']) {
      await leads(['config', 'set', 'base-url', base(name), '--profile', name], { home });
    }
    await leads(['config', 'set', 'api-key', '-', '--profile', 'big'], { home, stdin: `${key}\n` });
    expect((await leads(['config', 'use', 'big'], { home })).exitCode).toBe(0);
    expect((await leads(['config', 'get', 'base-url'], { home })).stdout).toBe(`${base('big')}\n`);
    const { stdout } = await leads(['config', 'profiles', '--json'], { home });
    expect(JSON.parse(stdout)).toEqual([
      { name: 'default', current: false, baseUrl: base('default'), hasKey: false },
      { name: 'big', current: true, baseUrl: base('big'), hasKey: true },
    ]);
    expect((await leads(['config', 'profiles'], { home })).stdout).toMatch(/\* +big +https:/);
    const unknown = await leads(['config', 'use', 'bgi'], { home });
    expect([unknown.exitCode, unknown.stderr]).toEqual([2, expect.stringContaining("did you mean 'big'?")]);
  });

  it('names the profile in every hint to log in, and the known ones for an unknown one', async () => {
    const home = freshHome();
    await leads(['config', 'set', 'base-url', 'https://big.example.com', '--profile', 'big'], { home });
    const errorOf = async (...argv: string[]): Promise<string> =>
      (await leads(['list', ...argv], { home })).stderr;
    expect(await errorOf('--profile', 'big')).toContain(
      "'leads login --base-url https://big.example.com --profile big'",
    );
    expect(await errorOf('--profile', 'bgi')).toBe(
      "error: there is no profile 'bgi'\nhint: profiles: big; or make it with 'leads login --base-url https://… --profile bgi'\n",
    );
    await leads(['config', 'set', 'api-key', '-', '--profile', 'big'], { home, stdin: `${key}\n` });
    expect(await errorOf('--profile', 'big', '--base-url', 'https://other.example.com')).toContain(
      "'leads login --base-url https://other.example.com --profile big'",
    );
  });

  it.each([
    ['listen', '--token', 'secret', '--port', '0'],
    ['inbox', 'list'],
    ['list'],
    ['config', 'list'],
    ['logout'],
  ])('an unknown profile that is named is exit 3: %s %s', async (...argv) => {
    const home = freshHome();
    await leads(['config', 'set', 'base-url', 'https://big.example.com', '--profile', 'big'], { home });
    const env = { LEADS_API_KEY: key, LEADS_BASE_URL: 'http://127.0.0.1:1' };
    const byFlag = await leads([...argv, '--profile', 'bgi'], { home, env });
    expect(byFlag.exitCode).toBe(3);
    expect(byFlag.stderr).toContain("there is no profile 'bgi'\nhint: profiles: big;");
    const byVariable = await leads(argv, { home, env: { ...env, LEADS_PROFILE: 'bgi' } });
    expect(byVariable.exitCode).toBe(3);
  });

  it('a profile is made by config set, and config profiles lists the others when one is unknown', async () => {
    const home = freshHome();
    const set = (name: string) => leads(['config', 'set', 'retries', '3', '--profile', name], { home });
    expect([(await set('big')).exitCode, (await set('small')).exitCode]).toEqual([0, 0]);
    const env = { LEADS_PROFILE: 'bgi' };
    expect((await leads(['config', 'profiles'], { home, env })).stdout).toMatch(/big[^]*small/);
    expect((await leads(['config', 'use', 'small'], { home, env })).exitCode).toBe(0);
    expect((await leads(['inbox', 'list', '--profile', 'default'], { home })).exitCode).toBe(0);
    const fresh = await leads(['inbox', 'list', '--profile', 'bgi'], { home: freshHome() });
    expect(fresh.exitCode).toBe(0);
  });

  it('loses nothing between writers at the same time', async () => {
    const home = freshHome();
    const names = ['limit', 'status', 'category', 'since', 'until', 'cursor', 'page', 'offset'];
    const { clock } = processHost();
    const runs = await Promise.all(
      names.map((name) => leads(['config', 'set', `api.params.${name}`, name], { home, clock })),
    );
    expect(runs.map((run) => run.exitCode)).toEqual(names.map(() => 0));
    expect(configOf(home)).toEqual({
      version: 1,
      profiles: { default: { api: { params: Object.fromEntries(names.map((name) => [name, name])) } } },
    });
  });
});
