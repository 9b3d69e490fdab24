// app/leads/route.ts of Next: made at the first request, since a build loads the route without its environment.
import { createReceiver, fileInbox, type WebhookReceiver } from 'leads-cli/receiver';

let receiver: WebhookReceiver | undefined;

export async function POST(request: Request): Promise<Response> {
  receiver ??= createReceiver({
    scheme: 'github',
    secrets: process.env['WEBHOOK_SECRET'],
    inbox: fileInbox('leads.db'),
    onLead: (lead) => console.log(lead.id),
  });
  return receiver.fetch(request);
}
