// Builds one application, and the examples of docs/, with everything that package.json names, runs them on the node that runs
// this, and prints what worked. The package is installed beside the others.
import { execFile, spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const here = fileURLToPath(new URL('.', import.meta.url));
const docs = join(here, '../../docs/');
const place = join(here, '.cache/');
const program = (path) => join(here, 'node_modules', path);
const expected = '[true,false,200,20,true]';
const run = (file, words, options) => promisify(execFile)(file, words, { timeout: 600_000, ...options });

const isOurs = /^leads-cli/;

const bundlers = {
  async esbuild(input, { format, isBundled, file }) {
    const { build } = await import('esbuild');
    const external = isBundled ? [] : ['leads-cli'];
    await build({ entryPoints: [input], outfile: file, format, external, bundle: true, platform: 'node' });
  },
  async rollup(input, { format, isBundled, file }) {
    const { rollup } = await import('rollup');
    const { nodeResolve } = await import('@rollup/plugin-node-resolve');
    const external = isBundled ? [] : isOurs;
    const bundle = await rollup({ input, external, plugins: [nodeResolve({ preferBuiltins: true })] });
    await bundle.write({ file, format, inlineDynamicImports: true });
    await bundle.close();
  },
  async webpack(input, { format, isBundled, file, folder }) {
    const { default: webpack } = await import('webpack');
    const isModule = format === 'esm';
    const compiler = webpack({
      ...{ mode: 'production', target: 'node20', entry: input, experiments: { outputModule: isModule } },
      ...{ optimization: { minimize: false }, devtool: false },
      externals: isBundled ? [] : isOurs,
      externalsType: isModule ? 'module' : 'commonjs',
      output: {
        path: folder,
        filename: file.slice(folder.length),
        module: isModule,
        chunkFormat: isModule ? 'module' : 'commonjs',
      },
    });
    const stats = await promisify(compiler.run.bind(compiler))();
    if (stats.hasErrors()) throw new Error(stats.toString('errors-only'));
  },
  async tsup(input, { format, isBundled, file, folder }) {
    const { build } = await import('tsup');
    await build({
      ...{ entry: { main: input }, outDir: folder, format: [format], config: false, silent: true },
      ...{ outExtension: () => ({ js: file.slice(folder.length + 'main'.length) }) },
      ...(isBundled ? { noExternal: [isOurs] } : { external: [isOurs] }),
    });
  },
};

const node = async (words, options) => {
  const { stdout } = await run(process.execPath, words, {
    ...options,
    env: { ...process.env, ...options?.env },
  });
  return stdout.trim();
};

function requireEqual(found, wanted) {
  if (found !== wanted) throw new Error(`${found} in place of ${wanted}`);
}

async function folderOf(name, files = {}) {
  const folder = join(place, `${name}/`);
  await mkdir(folder, { recursive: true });
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(folder, path, '..'), { recursive: true });
    await writeFile(join(folder, path), typeof text === 'string' ? text : JSON.stringify(text));
  }
  return folder;
}

async function bundled(host, format, isBundled) {
  const folder = await folderOf(`${host}-${format}-${isBundled ? 'bundled' : 'external'}`);
  const file = join(folder, format === 'cjs' ? 'main.cjs' : 'main.mjs');
  await bundlers[host](join(place, 'main.mjs'), { format, isBundled, file, folder });
  requireEqual(await node([file]), expected);
}

async function jest() {
  const folder = await folderOf('jest', {
    'package.json': { private: true },
    'leads.test.js': `const { application } = require('./application.cjs');
      test('works', async () => expect(await application()).toBe('${expected}'));`,
  });
  const file = join(folder, 'application.cjs');
  await bundlers.esbuild(join(place, 'application.mjs'), { format: 'cjs', isBundled: false, file });
  await node([program('jest/bin/jest.js'), '--rootDir', folder]);
}

async function vitest() {
  const folder = await folderOf('vitest', {
    'leads.test.mjs': `import { expect, test } from 'vitest';
      import { application } from '../application.mjs';
      test('works', async () => expect(await application()).toBe('${expected}'));`,
  });
  await node([program('vitest/vitest.mjs'), 'run', '--root', folder]);
}

const strict = {
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: true,
  target: 'es2023',
  types: ['node'],
};

async function tsNode() {
  const folder = await folderOf('ts-node', {
    'package.json': { private: true },
    'tsconfig.json': { compilerOptions: { ...strict, module: 'node16' } },
    'application.ts': await readFile(join(here, 'application.mjs'), 'utf8'),
    'main.ts': `import { application } from './application';\nvoid application().then(console.log);`,
  });
  requireEqual(await node([program('ts-node/dist/bin.js'), join(folder, 'main.ts')]), expected);
}

/** The examples of docs/, by the name of the framework. */
async function examples() {
  const printed = [...(await readFile(join(docs, 'library.md'), 'utf8')).matchAll(/```js\n([\s\S]*?)```/g)];
  const blocks = printed.map(([, code]) => code).filter((code) => code.includes('process.env.PORT'));
  const found = {};
  for (const code of blocks) found[/from '(?:@|node:)?(\w+)/.exec(code)[1]] = code;
  for (const name of await readdir(join(docs, 'library'))) {
    found[name.replace('.ts', '')] = await readFile(join(docs, 'library', name), 'utf8');
  }
  found.express4 = found.express.replace("'express'", "'express4'");
  return found;
}

const code = await examples();

/** Type-checked in both ways in which a project may resolve packages; the first one compiles them. */
async function types(module) {
  const isFirst = module === 'nodenext';
  const options = {
    ...{
      ...strict,
      module: isFirst ? module : 'preserve',
      moduleResolution: module,
    },
    ...(isFirst ? { outDir: 'out' } : { noEmit: true }),
  };
  const folder = await folderOf('examples', {
    'package.json': { private: true, type: 'module' },
    [`tsconfig.${module}.json`]: { compilerOptions: options, include: ['*.ts'] },
    'types.d.ts':
      "declare module 'express4' {\n  import express from 'express';\n  export default express;\n}\n",
    ...Object.fromEntries(Object.entries(code).map(([name, text]) => [`${name}.ts`, text])),
  });
  await node([program('typescript/bin/tsc'), '-p', `tsconfig.${module}.json`], { cwd: folder }).catch(
    ({ stdout }) => {
      throw new Error(stdout);
    },
  );
}

async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const listens = (port) =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.once('error', () => resolve(false)).once('connect', () => socket.destroy());
  });

/** Starts an example, and delivers leads to it with the program of the package. */
async function served(name) {
  const cwd = await folderOf(name);
  const [, scheme] = /scheme: '([^']+)'/.exec(code[name]);
  const secret = `whsec_${Buffer.from('a secret of the matrix').toString('base64')}`;
  const port = await freePort();
  const env = { ...process.env, PORT: String(port), WEBHOOK_SECRET: secret };
  const child = spawn(process.execPath, [join(place, 'examples/out', `${name}.js`)], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text));
  const ended = new Promise((resolve) => child.once('close', resolve));
  try {
    while (!(await listens(port))) {
      if (child.exitCode !== null) throw new Error(said);
      await setTimeout(50);
    }
    const send = [
      'send',
      `http://127.0.0.1:${port}/leads`,
      '--scheme',
      scheme,
      '--secret',
      secret,
      '--sample',
      '2',
    ];
    await node([program('leads-cli/bin/leads.js'), ...send], { cwd, env: { HOME: cwd } }).catch((error) => {
      throw new Error(`${error.stdout}${error.stderr}${said}`);
    });
    if (said.match(/leads-send-/g)?.length !== 2) throw new Error(`it took other leads: ${said}`);
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}

/** The zip is unpacked where nothing else is, and its handler is given what API Gateway sent for these requests. */
async function lambda() {
  const folder = await folderOf('lambda', { 'index.ts': code.lambda });
  const unpacked = await mkdtemp(join(tmpdir(), 'leads-lambda-'));
  await bundlers.esbuild(join(folder, 'index.ts'), {
    format: 'cjs',
    isBundled: true,
    file: join(folder, 'index.js'),
  });
  await run('python3', ['-m', 'zipfile', '-c', 'function.zip', 'index.js'], { cwd: folder });
  await run('python3', ['-m', 'zipfile', '-e', join(folder, 'function.zip'), unpacked]);
  const events = JSON.parse(await readFile(join(here, 'api-gateway.json'), 'utf8'));
  const call = `const events = ${JSON.stringify(events)};
    const { handler } = require('./index.js');
    console.log = () => undefined;
    Promise.all(events.map(handler)).then((answers) => process.stdout.write(answers.map(({ statusCode }) => statusCode).join(' ')));`;
  requireEqual(
    await node(['--eval', call], { cwd: unpacked, env: { WEBHOOK_SECRET: 'a secret of the matrix' } }),
    '200 200 401',
  );
  await rm(unpacked, { recursive: true });
}

await rm(place, { recursive: true, force: true });
await folderOf('', {
  'main.mjs': "import { application } from './application.mjs';\nvoid application().then(console.log);\n",
});
await cp(join(here, 'application.mjs'), join(place, 'application.mjs'));

const cells = [];
for (const host of Object.keys(bundlers)) {
  for (const format of ['cjs', 'esm']) {
    for (const isBundled of [true, false]) {
      cells.push([
        `${host}, ${format}, ${isBundled ? 'bundled' : 'external'}`,
        () => bundled(host, format, isBundled),
      ]);
    }
  }
}
cells.push(['jest', jest], ['vitest', vitest], ['ts-node', tsNode], ['lambda', lambda]);
let compiled;
const typed = () => (compiled ??= types('nodenext'));
cells.push(['types, nodenext', typed], ['types, bundler', () => types('bundler')]);
for (const name of Object.keys(code)) {
  if (name === 'lambda') continue;
  cells.push([`example, ${name}`, () => typed().then(() => served(name))]);
}
// `matrix.mjs jest` runs what has a name that matches.
const wanted = new RegExp(process.argv[2] ?? '');
const left = cells.filter(([name]) => wanted.test(name));
const failed = [];
const started = Date.now();
/** Two at a time: most of each is one process. */
async function work() {
  for (let cell = left.shift(); cell !== undefined; cell = left.shift()) {
    const [name, check] = cell;
    const from = Date.now();
    const error = await check().then(
      () => undefined,
      (thrown) => thrown,
    );
    if (error !== undefined) failed.push([name, error]);
    console.log(
      `${error === undefined ? 'ok    ' : 'FAILED'} ${name} (${((Date.now() - from) / 1000).toFixed(1)} s)`,
    );
  }
}
await Promise.all([work(), work()]);
for (const [name, error] of failed)
  console.error(`\n${name}:\n${[error.stack ?? error, error.stdout ?? ''].join('\n').slice(0, 4000)}`);
console.log(
  `node ${process.version}: ${failed.length} failed, in ${((Date.now() - started) / 1000).toFixed(0)} s`,
);
await rm(place, { recursive: true, force: true });
process.exitCode = failed.length === 0 ? 0 : 1;
