// The hub behind the gate and behind the bare proxy: a small page, from a process of its own. Usage: node bench/bare-hub.ts
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const page = Buffer.alloc(2048, 'a page of the hub ');
const server = createServer((_request, answer) => {
  answer.writeHead(200, { 'content-type': 'text/html', 'content-length': page.length }).end(page);
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ port: (server.address() as AddressInfo).port })}\n`);
});
process.on('SIGTERM', () => process.exit(0));
