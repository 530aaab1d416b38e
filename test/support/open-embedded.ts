import { once } from 'node:events';
import { openEmbedded } from '#server/database/embedded/embedded.ts';

// For tests that need another process: opens a folder's database, reports that, and closes it when its input ends.
const [dataFolder] = process.argv.slice(2);
if (!dataFolder) throw new Error('name the data folder');

const write = (text: string) => process.stdout.write(`${text}\n`);
const embedded = await openEmbedded({ dataFolder, log: { info: write, warn: write }, durable: false });
write('open');
process.stdin.resume();
await once(process.stdin, 'end');
await embedded.close();
write('closed');
