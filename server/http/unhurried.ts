import type { Socket } from 'node:net';

const unhurried = new WeakSet<Socket>();

/** Lets the request on a connection take any time to arrive, until what is returned is called. */
export function letTakeTime(socket: Socket): () => void {
  unhurried.add(socket);
  return () => void unhurried.delete(socket);
}

/** Whether the request on a connection may take any time: Node's limit is one for the whole server. */
export function mayTakeTime(socket: Socket): boolean {
  return unhurried.has(socket);
}
