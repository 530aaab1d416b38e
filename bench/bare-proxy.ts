// The baseline for the gate: a bare Fastify that passes everything on by Node's own client.
// Usage: node bench/bare-proxy.ts HUB-ORIGIN
import { Agent, request as httpRequest } from 'node:http';
import Fastify from 'fastify';

const hub = process.argv[2] ?? '';
const agent = new Agent({ keepAlive: true });
const app = Fastify();
app.all('/*', ({ raw: { method, url, headers } }, reply) => {
  reply.hijack();
  const outgoing = httpRequest(hub + url, { method, headers, agent }, (answer) => {
    reply.raw.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
    answer.pipe(reply.raw);
  });
  outgoing.on('error', () => reply.raw.destroy()).end();
});
await app.listen({ host: '127.0.0.1', port: 0 });
const address = app.server.address();
process.stdout.write(`${JSON.stringify({ port: typeof address === 'object' ? address?.port : null })}\n`);
process.on('SIGTERM', () => process.exit(0));
