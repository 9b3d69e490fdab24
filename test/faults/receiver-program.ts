// A receiver with limits of its own, given as JSON, that speaks like `leads listen --format events`.
import { ensureAuthority } from '../../src/tls/local-authority.ts';
import { openHttpsServer } from '../../src/http/server/https-server.ts';

const { dataDir, plain, limits } = JSON.parse(process.argv[2] ?? '') as {
  dataDir: string;
  plain: boolean;
  limits: object;
};
const certificate = plain ? undefined : await ensureAuthority(dataDir, { now: Date.now });
const { url } = await openHttpsServer({
  host: '127.0.0.1',
  port: 0,
  tls: certificate,
  limits,
  clock: { now: Date.now },
  handle: () => Promise.resolve({ status: 200, body: { status: 'accepted' } }),
  onError: (error) => {
    throw error;
  },
});
process.stdout.write(`${JSON.stringify({ type: 'listening', url, ca: certificate?.caPath })}\n`);
