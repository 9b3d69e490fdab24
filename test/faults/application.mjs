// An application that receives leads into the inbox of its first argument, and writes each to the file of its second one.
// With `hang`, `onLead` writes it and never resolves.
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createReceiver, fileInbox } from 'leads-cli/receiver';

const [inbox, file, mode] = process.argv.slice(2);
const receiver = createReceiver({
  scheme: 'github',
  secrets: 'octo',
  inbox: fileInbox(inbox),
  async onLead(lead, { attempt }) {
    appendFileSync(file, `${JSON.stringify({ mode, id: lead.id, attempt })}\n`);
    if (mode === 'hang') await new Promise(() => undefined);
  },
});
const server = createServer(receiver.node);
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.on('SIGTERM', async () => {
  server.close();
  server.closeIdleConnections();
  await receiver.close();
});
