// The baseline for the gate: a bare Fastify that passes everything on with the same library.
// Usage: node bench/bare-proxy.ts HUB-ORIGIN
import { Agent } from 'node:http';
import Fastify from 'fastify';
import { createProxyServer } from 'httpxy';

const proxy = createProxyServer({ target: process.argv[2] ?? '', agent: new Agent({ keepAlive: true }) });
const app = Fastify();
app.all('/*', (request, reply) => {
  reply.hijack();
  proxy.web(request.raw, reply.raw).catch(() => reply.raw.destroy());
});
await app.listen({ host: '127.0.0.1', port: 0 });
const address = app.server.address();
process.stdout.write(`${JSON.stringify({ port: typeof address === 'object' ? address?.port : null })}\n`);
process.on('SIGTERM', () => process.exit(0));
