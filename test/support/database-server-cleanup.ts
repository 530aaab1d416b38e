import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { clusterFolder } from '#server/database/embedded/cluster.ts';
import { stopPostgres } from '#server/database/embedded/process.ts';

const [dataFolder] = process.argv.slice(2);
if (!dataFolder) throw new Error('name the data folder of the test run');

process.stdin.resume();
await once(process.stdin, 'end');
await stopPostgres(clusterFolder(dataFolder), 5000);
await rm(dataFolder, { recursive: true, force: true, maxRetries: 5 });
