// The load: keep-alive connections over TLS 1.3, each with one genuine lead under way, every lead with an id of its own.
// It writes prepared bytes and looks for status lines, so that it costs less than any server that it drives.
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect } from 'node:tls';

interface Load {
  readonly port: number;
  readonly caPath: string;
  readonly connections: number;
  readonly requests: number;
  /** How each delivery shows that it is genuine: `x-hub-signature-256`, or `x-webhook-token`. */
  readonly proof: 'hmac' | 'token';
  readonly secret: string;
  /** Begins every id. */
  readonly prefix: string;
}

export interface Outcome {
  readonly seconds: number;
  readonly accepted: number;
  readonly others: Readonly<Record<string, number>>;
  /** Milliseconds. */
  readonly median: number;
  readonly p99: number;
}

const load = JSON.parse(process.argv[2] ?? '') as Load;
const ca = readFileSync(load.caPath, 'utf8');

/** A lead of 490 bytes. */
function lead(n: number): string {
  const id = `${load.prefix}-${String(n).padStart(9, '0')}`;
  const start =
    `{"id":"${id}","category":"solar","contact":{"name":"Ada Lovelace","email":"ada.${n}@example.com",` +
    `"phone":"+44 20 7946 0958"},"metadata":{"source":"facebook","campaign":"spring","note":"`;
  const end = `"},"createdAt":"2026-01-15T12:00:00.000Z","status":"new"}`;
  return start + 'x'.repeat(490 - start.length - end.length) + end;
}

let sent = 0;
let accepted = 0;
const others: Record<string, number> = {};
const times: number[] = [];

function next(): string | undefined {
  if (sent === load.requests) return undefined;
  sent += 1;
  const body = lead(sent);
  return (
    `POST / HTTP/1.1\r\nHost: localhost:${load.port}\r\nUser-Agent: lead-service/1\r\n` +
    `Content-Type: application/json\r\n${proofOf(body)}\r\n` +
    `Content-Length: ${body.length}\r\n\r\n${body}`
  );
}

function proofOf(body: string): string {
  if (load.proof === 'token') return `X-Webhook-Token: ${load.secret}`;
  return `X-Hub-Signature-256: sha256=${createHmac('sha256', load.secret).update(body).digest('hex')}`;
}

function drive(): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      port: load.port,
      host: '127.0.0.1',
      servername: 'localhost',
      ca,
      minVersion: 'TLSv1.3',
    });
    let since = 0;
    let text = '';
    const send = (): void => {
      const request = next();
      if (request === undefined) {
        socket.end();
        resolve();
        return;
      }
      since = performance.now();
      socket.write(request, 'latin1');
    };
    socket.setNoDelay(true);
    socket.setEncoding('latin1');
    socket.on('secureConnect', send);
    socket.on('data', (chunk: string) => {
      text += chunk;
      const head = text.indexOf('\r\n\r\n');
      if (head < 0) return;
      const length = Number(/content-length: *(\d+)/i.exec(text)?.[1] ?? 0);
      if (text.length < head + 4 + length) return;
      const status = text.slice(9, 12);
      if (status === '200') accepted += 1;
      else others[status] = (others[status] ?? 0) + 1;
      times.push(performance.now() - since);
      text = '';
      send();
    });
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('the server closed a connection')));
  });
}

const start = performance.now();
await Promise.all(Array.from({ length: load.connections }, drive));
const seconds = (performance.now() - start) / 1000;
times.sort((a, b) => a - b);
const outcome: Outcome = {
  seconds,
  accepted,
  others,
  median: times[times.length >> 1] ?? 0,
  p99: times[Math.floor(times.length * 0.99)] ?? 0,
};
process.stdout.write(JSON.stringify(outcome));
process.exit();
