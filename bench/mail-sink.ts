// A mail server that accepts and counts everything, in a separate process; a numeric argument delays each email by that
// many milliseconds, like a server that writes to disk. Prints its port, then answers each input line with what it
// received since the last one, as JSON.
import { createInterface } from 'node:readline';
import { SMTPServer } from 'smtp-server';

const pause = Number(process.argv[2] ?? 0);
let ids: string[] = [];
let first = 0;
let last = 0;

const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS', 'AUTH'],
  onData(stream, _session, done) {
    let head = '';
    stream.on('data', (chunk: Buffer) => {
      if (head.length < 4096) head += chunk.toString('latin1');
    });
    stream.on('end', () => {
      ids.push(/^Message-ID: (.*)\r$/im.exec(head)?.[1] ?? '');
      last = performance.now();
      first ||= last;
      if (pause === 0) done();
      else setTimeout(done, pause);
    });
  },
});

server.listen(0, '127.0.0.1', () => {
  const address = server.server.address();
  console.log(JSON.stringify({ port: typeof address === 'object' && address ? address.port : 0 }));
});

createInterface({ input: process.stdin }).on('line', (line) => {
  if (line === 'count') console.log(JSON.stringify({ count: ids.length }));
  else {
    console.log(JSON.stringify({ count: ids.length, distinct: new Set(ids).size, ms: last - first }));
    [ids, first, last] = [[], 0, 0];
  }
});
