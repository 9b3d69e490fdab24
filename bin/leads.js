#!/usr/bin/env node
'use strict';
// Loads the files of dist/ with the code that V8 compiled in earlier runs of the same command: compiling is a quarter of
// what a short command costs. Node's own cache holds only what V8 compiles before a file first runs, and node 20 has none.
// NODE_COMPILE_CACHE and NODE_DISABLE_COMPILE_CACHE mean here what they mean there.
const fs = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { Script } = require('node:vm');

const dist = join(__dirname, '../dist/');
const entry = 'main.cjs';
// V8 does not compare compiled code with the text. The names of all other files change with their content.
const entryText = fs.readFileSync(dist + entry, 'utf8');

// On Windows the temporary folder is the user's own, and modes say nothing.
const hasOwners = process.getuid !== undefined;
const user = hasOwners ? process.getuid() : 0;
const command = process.argv.slice(2).find((word) => /^[a-z]+$/.test(word));
const cacheFolder = process.env.NODE_COMPILE_CACHE || join(tmpdir(), 'node-compile-cache');
const cacheFile = join(cacheFolder, `leads-${user}-${process.arch}-${process.version}-${command}`);
// Without a command, as for --version, little is loaded: reading the cache would cost more.
const isCaching = command !== undefined && !process.env.NODE_DISABLE_COMPILE_CACHE;

const modules = new Map();
const compiled = isCaching ? readCompiled() : new Map();
const newScripts = new Map();

if (isCaching) {
  process.on('exit', (code) => {
    if (code === 0 && newScripts.size > 0) writeCompiled();
  });
}
load(entry);

/** As node loads a CommonJS module. */
function load(name) {
  const before = modules.get(name);
  if (before !== undefined) return before.exports;
  const filename = dist + name;
  const text = name === entry ? entryText : fs.readFileSync(filename, 'utf8');
  const cachedData = compiled.get(name);
  const script = new Script(`(function(exports,require,module,__filename,__dirname){${text}\n})`, {
    filename,
    cachedData,
  });
  if (isCaching && (cachedData === undefined || script.cachedDataRejected)) {
    newScripts.set(name, script);
  }
  const module = { exports: {} };
  modules.set(name, module);
  const requireFromDist = (id) => (id.startsWith('./') ? load(id.slice(2)) : require(id));
  script.runInThisContext()(module.exports, requireFromDist, module, filename, dist);
  return module.exports;
}

/**
 * By the name of the file in dist/. Nothing where others could have written the cache: its code would run. V8 runs damaged
 * code until the process crashes, so that all is there twice: a comparison costs less than loading what computes a digest.
 */
function readCompiled() {
  const code = new Map();
  try {
    // Anyone can put something else at that path: a pipe would block, and a link lead to any file of the user's.
    const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW = 0 } = fs.constants;
    const file = fs.openSync(cacheFile, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
    try {
      const stat = fs.fstatSync(file);
      const isOwn = stat.uid === user && (stat.mode & 0o022) === 0 && stat.nlink === 1;
      if (!stat.isFile() || (hasOwners && !isOwn)) return code;
      const both = fs.readFileSync(file);
      const bytes = both.subarray(0, both.length / 2);
      const headLength = bytes.indexOf('\n') + 1;
      const [text, sizes] = JSON.parse(bytes.toString('utf8', 0, headLength));
      if (text !== entryText || !bytes.equals(both.subarray(bytes.length))) return code;
      let at = headLength;
      for (const [name, size] of sizes) code.set(name, bytes.subarray(at, (at += size)));
    } finally {
      fs.closeSync(file);
    }
  } catch {
    // What cannot be read is compiled anew, as in a first run.
  }
  return code;
}

function writeCompiled() {
  for (const [name, script] of newScripts) compiled.set(name, script.createCachedData());
  const sizes = [...compiled].map(([name, { length }]) => [name, length]);
  const head = Buffer.from(`${JSON.stringify([entryText, sizes])}\n`);
  const bytes = Buffer.concat([head, ...compiled.values()]);
  const temporary = `${cacheFile}.${process.pid}`;
  try {
    fs.mkdirSync(cacheFolder, { recursive: true });
    // Of a process that had this number and was killed.
    fs.rmSync(temporary, { force: true });
    fs.writeFileSync(temporary, Buffer.concat([bytes, bytes]), { flag: 'wx', mode: 0o600 });
    fs.renameSync(temporary, cacheFile);
  } catch {
    // The cache only saves time, and the next run tries again; where none can be, nothing else may pile up.
    try {
      fs.rmSync(temporary, { force: true });
    } catch {
      // It is another user's.
    }
  }
}
