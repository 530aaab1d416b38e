import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { folderTransport, outboxFile, outboxOf } from './folder-transport.ts';

const link = `https://hub.example.com/portal/forgotten-change?hash=${'T0k_'.padEnd(43, 'aB3-')}&lang=de`;
const words = {
  subject: 'Gr\u00fc\u00dfe',
  text: `Sch\u00f6nen Tag!\n\n${link}\n\nbis bald`,
  html: `<p><a href="${link}">\u00c4ndern</a></p>`,
};
const mail = { id: '0198c7e2-6f3b', recipient: 'ada@acme.example', queuedAt: new Date('2026-03-04T10:00:00Z') };
const sender = { name: 'Hub', address: 'no-reply@hub.example.com', host: 'hub.example.com' };

let dataFolder: string;
let outbox: string;
beforeEach(async () => {
  dataFolder = await mkdtemp(join(tmpdir(), 'vestibule-outbox-'));
  outbox = outboxOf(dataFolder);
});
afterEach(() => rm(dataFolder, { recursive: true }));

const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

test('writes an email to the outbox as a file that email programs open', async () => {
  await folderTransport(outbox, sender).send(mail, words);
  expect(await readdir(outbox)).toEqual(['2026-03-04T10-00-00.000Z-0198c7e2-6f3b.eml']);
  const parsed = await PostalMime.parse(await readFile(outboxFile(outbox, mail)));
  expect(parsed).toMatchObject({
    from: { name: 'Hub', address: 'no-reply@hub.example.com' },
    to: [{ address: 'ada@acme.example' }],
    subject: 'Gr\u00fc\u00dfe',
    messageId: '<0198c7e2-6f3b@hub.example.com>',
    date: '2026-03-04T10:00:00.000Z',
    text: expect.stringContaining('Sch\u00f6nen Tag!'),
    html: expect.stringContaining('\u00c4ndern'),
  });
});

test('keeps the link unencoded in the file, on its own line', async () => {
  await folderTransport(outbox, sender).send(mail, words);
  const lines = (await readFile(outboxFile(outbox, mail), 'utf8')).split('\n');
  expect(lines).toContain(link);
  expect(lines).toContain('Sch\u00f6nen Tag!');
});

test("only the portal's user can read the folder and the file, even if the folder was open", async () => {
  await mkdir(outbox);
  await chmod(outbox, 0o755);
  const before = process.umask(0);
  try {
    await folderTransport(outbox, sender).send(mail, words);
  } finally {
    process.umask(before);
  }
  expect(await modeOf(outbox)).toBe(0o700);
  expect(await modeOf(outboxFile(outbox, mail))).toBe(0o600);
  const fresh = outboxOf(join(dataFolder, 'new', 'data'));
  await folderTransport(fresh, sender).send(mail, words);
  expect([await modeOf(fresh), await modeOf(join(fresh, '..'))]).toEqual([0o700, 0o700]);
});

test('writes the same email to the same file, complete', async () => {
  const transport = folderTransport(outbox, sender);
  await Promise.all([transport.send(mail, words), transport.send(mail, words), transport.send(mail, words)]);
  expect(await readdir(outbox)).toHaveLength(1);
  await transport.send({ ...mail, id: '0198c7e2-0000' }, words);
  expect(await readdir(outbox)).toHaveLength(2);
});

test('reports a folder that cannot be written to as down for all emails', async () => {
  await writeFile(outbox, 'a file in its place');
  await expect(folderTransport(outbox, sender).send(mail, words)).rejects.toMatchObject({
    why: 'away',
    message: `the outbox ${outbox} cannot be written (mkdir: EEXIST)`,
  });
  await rm(outbox);
  await mkdir(outboxFile(outbox, mail), { recursive: true });
  await expect(folderTransport(outbox, sender).send(mail, words)).rejects.toMatchObject({ why: 'away' });
  expect(await readdir(outbox)).toHaveLength(1);
});
