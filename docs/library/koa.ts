// Koa 3: above any body parser.
import Koa from 'koa';
import { createReceiver, fileInbox } from 'leads-cli/receiver';

const receiver = createReceiver({
  scheme: 'github',
  secrets: process.env['WEBHOOK_SECRET'],
  inbox: fileInbox('leads.db'),
  onLead: (lead) => console.log(lead.id),
});
const app = new Koa();
app.use(async (ctx, next) => {
  if (ctx.path !== '/leads') return next();
  ctx.respond = false;
  await receiver.node(ctx.req, ctx.res);
});
app.listen(process.env['PORT']);
