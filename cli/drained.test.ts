import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { drained } from './user-export-command.ts';

const names = ['drain', 'close', 'error'];

it('waits for a slow reader any number of times, and listens to none of them afterwards', async () => {
  const stream = new Writable({ highWaterMark: 1, write: (_chunk, _encoding, done) => setImmediate(done) });
  const before = names.map((name) => stream.listenerCount(name));
  for (let n = 0; n < 20; n += 1) {
    expect(stream.write('xx')).toBe(false);
    await drained(stream);
    expect(stream.writableNeedDrain).toBe(false);
  }
  expect(names.map((name) => stream.listenerCount(name))).toEqual(before);
});

it('fails if the reader is gone, before or meanwhile', async () => {
  const stream = new Writable({ highWaterMark: 1, write() {} });
  stream.write('xx');
  const waiting = drained(stream);
  stream.destroy();
  await expect(waiting).rejects.toThrow('the export is incomplete');
  await expect(drained(stream)).rejects.toThrow('the export is incomplete');
  const broken = new Writable({ highWaterMark: 1, write: (_chunk, _encoding, done) => done(new Error('EPIPE')) });
  broken.on('error', () => {});
  broken.write('xx');
  await expect(drained(broken)).rejects.toThrow('the export is incomplete');
});
