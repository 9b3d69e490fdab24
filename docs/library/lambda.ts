// AWS Lambda behind API Gateway (HTTP API, payload 2.0) or a function URL. It keeps no files: answer 200 only when your queue or
// database has the lead.
import type { APIGatewayProxyEventV2, APIGatewayProxyStructuredResultV2 } from 'aws-lambda';
import { verify } from 'leads-cli/webhook';

export async function handler(event: APIGatewayProxyEventV2): Promise<APIGatewayProxyStructuredResultV2> {
  const checked = await verify(
    {
      method: event.requestContext.http.method,
      url: [event.rawPath, event.rawQueryString].filter(Boolean).join('?'),
      headers: event.headers,
      body: Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8'),
    },
    { scheme: 'github', secrets: process.env['WEBHOOK_SECRET'] },
  );
  if (!checked.ok) return { statusCode: checked.status, body: checked.reason };
  for (const lead of checked.leads) console.log(lead.id, lead.value.category); // await yourQueue.send(lead.bytes)
  return { statusCode: 200, body: '{"status":"accepted"}' };
}
