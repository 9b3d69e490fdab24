// Loaded into a process by --require: writes each address that it connects to, looks up or sends a datagram to, a line each,
// to the file that SOCKETS names; and where node gives up the first addresses of a host after its default time.
const { appendFileSync } = require('node:fs');
const dgram = require('node:dgram');
const dns = require('node:dns');
const net = require('node:net');

const note = (text) => appendFileSync(process.env.SOCKETS, `${text}\n`);
const watch = (owner, name, textOf) => {
  const own = owner[name];
  owner[name] = function (...args) {
    const text = textOf(args);
    if (text !== undefined) note(text);
    return own.apply(this, args);
  };
};

watch(net.Socket.prototype, 'connect', ([first, second]) => {
  const [options] = Array.isArray(first) ? first : [first];
  const { host, port, path, autoSelectFamilyAttemptTimeout = 250 } = options;
  const isHasty = net.isIP(host ?? '') === 0 && autoSelectFamilyAttemptTimeout <= 250;
  if (typeof options === 'object') return path ?? `${host}:${port}${isHasty ? ', 250 ms an address' : ''}`;
  return `${typeof second === 'string' ? second : ''}:${options}`;
});
watch(dgram.Socket.prototype, 'send', (args) => `datagram ${args.find((arg) => typeof arg === 'string')}`);
for (const name of ['lookup', 'resolve', 'resolve4', 'resolve6']) {
  const text = ([host]) => (net.isIP(host) === 0 && host !== 'localhost' ? `look up ${host}` : undefined);
  watch(dns, name, text);
  watch(dns.promises, name, text);
}
