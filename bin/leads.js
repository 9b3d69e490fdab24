#!/usr/bin/env node
'use strict';
// Loads the files of dist/ with the code that V8 compiled in earlier runs of the same command, because compiling takes a
// quarter of the time of a short command: it reads the cache of the command, loads the program, and when the run has succeeded,
// writes the cache again if a file was compiled. Node 20 has no such cache, and that of later releases lacks the functions that
// V8 compiles only when they are called. NODE_COMPILE_CACHE and NODE_DISABLE_COMPILE_CACHE have the same meaning as in node.
const fs = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { Script } = require('node:vm');

const dist = join(__dirname, '../dist/');
const entry = 'main.cjs';
// The cache holds this text, to be compared: V8 does not notice that compiled code is of another text. All other files have a
// name that changes with their content.
const entryText = fs.readFileSync(dist + entry, 'utf8');

// On Windows the temporary folder belongs to the user, and modes have no meaning.
const filesHaveOwners = process.getuid !== undefined;
const user = filesHaveOwners ? process.getuid() : 0;
const command = process.argv.slice(2).find((word) => /^[a-z]+$/.test(word));
const cacheFolder = process.env.NODE_COMPILE_CACHE || join(tmpdir(), 'node-compile-cache');
const cacheFile = join(cacheFolder, `leads-${user}-${process.arch}-${process.version}-${command}`);
// Without a command, as for --version, so little is loaded that reading the cache would take longer.
const isCaching = command !== undefined && !process.env.NODE_DISABLE_COMPILE_CACHE;

const modules = new Map();
const compiledCode = isCaching ? readCache() : new Map();
const newScripts = new Map();

if (isCaching) {
  process.on('exit', (code) => {
    if (code === 0 && newScripts.size > 0) writeCache();
  });
}
load(entry);

/** Loads a file of dist/ as node loads a CommonJS module, and returns its exports. */
function load(name) {
  const loaded = modules.get(name);
  if (loaded !== undefined) return loaded.exports;
  const filename = dist + name;
  const text = name === entry ? entryText : fs.readFileSync(filename, 'utf8');
  const cachedData = compiledCode.get(name);
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
 * Returns the compiled code by the name of its file in dist/, and nothing where another user could have written the cache,
 * since that code would run. The cache is a line of JSON with the text of the entry and the names and sizes of the codes, and
 * then these codes. It is in its file twice, because V8 crashes on damaged code: to compare the halves takes less time than to
 * load the module for a digest.
 */
function readCache() {
  const code = new Map();
  try {
    // Another user may put something else at this path: a pipe would block, and a link may lead to any file of this user.
    const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW = 0 } = fs.constants;
    const file = fs.openSync(cacheFile, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
    try {
      const stat = fs.fstatSync(file);
      const isOwn = stat.uid === user && (stat.mode & 0o022) === 0 && stat.nlink === 1;
      if (!stat.isFile() || (filesHaveOwners && !isOwn)) return code;
      const twice = fs.readFileSync(file);
      const cache = twice.subarray(0, twice.length / 2);
      let position = cache.indexOf('\n') + 1;
      const [text, sizes] = JSON.parse(cache.toString('utf8', 0, position));
      if (text !== entryText || !cache.equals(twice.subarray(cache.length))) return code;
      for (const [name, size] of sizes) code.set(name, cache.subarray(position, (position += size)));
    } finally {
      fs.closeSync(file);
    }
  } catch {
    // Without a readable cache everything is compiled, as in a first run.
  }
  return code;
}

function writeCache() {
  for (const [name, script] of newScripts) compiledCode.set(name, script.createCachedData());
  const sizes = [...compiledCode].map(([name, { length }]) => [name, length]);
  const firstLine = Buffer.from(`${JSON.stringify([entryText, sizes])}\n`);
  const cache = Buffer.concat([firstLine, ...compiledCode.values()]);
  const temporary = `${cacheFile}.${process.pid}`;
  try {
    fs.mkdirSync(cacheFolder, { recursive: true });
    // An earlier process with the same number may have been killed while it wrote.
    fs.rmSync(temporary, { force: true });
    fs.writeFileSync(temporary, Buffer.concat([cache, cache]), { flag: 'wx', mode: 0o600 });
    fs.renameSync(temporary, cacheFile);
  } catch {
    // The cache only saves time, so the command succeeds without it. No temporary file may remain.
    try {
      fs.rmSync(temporary, { force: true });
    } catch {
      // The file belongs to another user.
    }
  }
}
