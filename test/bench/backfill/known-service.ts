import { servePages } from '../../support/page-service.ts';

/** A service of so many leads in a process of its own, so that a bench measures the receiver alone. */
const service = await servePages({ leads: Number(process.argv[2]), pageSize: 1000, pagination: 'cursor' });
process.stdout.write(`${service.url}\n`);
