import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** The given port, or else 8080 or any free one. Throws an error with one readable sentence if the given one is taken. */
export async function portFor(given: number | null): Promise<number> {
  if (given === null) return await freePort(8080);
  if ((await tryPort(given)) !== null) return given;
  throw new Error(`port ${given} is in use by another process; choose another --port, or none for a free one`);
}

/** The port if nothing listens on it, else any free one. */
export async function freePort(wanted: number): Promise<number> {
  return (await tryPort(wanted)) ?? ((await tryPort(0)) as number);
}

async function tryPort(port: number): Promise<number | null> {
  const probe = createServer().listen(port, '127.0.0.1');
  const isFree = await once(probe, 'listening').then(
    () => true,
    () => false,
  );
  if (!isFree) return null;
  const address = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return address.port;
}
