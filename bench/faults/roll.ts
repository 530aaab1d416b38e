import type { TwoPortals } from '#test/support/two-portals.ts';

/** Stops an instance as an upgrade does, and starts it anew; `preload` is a module's source that runs in it first. */
export async function roll(portals: TwoPortals, index: number, preload?: string): Promise<void> {
  portals.instances[index]?.child.kill('SIGTERM');
  await portals.instances[index]?.exit;
  await portals.start(index, preload);
}
