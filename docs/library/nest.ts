// Nest on Express: without its body parser, which would take the bytes that are signed.
import 'reflect-metadata';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Controller, Module, Post, Req, Res } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { createReceiver, fileInbox } from 'leads-cli/receiver';

const receiver = createReceiver({
  scheme: 'github',
  secrets: process.env['WEBHOOK_SECRET'],
  inbox: fileInbox('leads.db'),
  onLead: (lead) => console.log(lead.id),
});

@Controller('leads')
class LeadsController {
  @Post()
  async take(@Req() request: IncomingMessage, @Res() response: ServerResponse): Promise<void> {
    await receiver.node(request, response);
  }
}

@Module({ controllers: [LeadsController] })
class AppModule {}

const app = await NestFactory.create(AppModule, { bodyParser: false });
await app.listen(Number(process.env['PORT']));
