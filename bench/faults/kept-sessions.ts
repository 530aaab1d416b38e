import { statusesOf, type TwoPortals } from '#testing/two-portals.ts';

/** Whether all acknowledged sign-ins still are, and all acknowledged sign-outs. */
export async function areKept(portals: TwoPortals): Promise<boolean> {
  const signedIn = await statusesOf(portals, new Set(portals.load.sessions));
  const ended = await statusesOf(portals, new Set(portals.load.ended));
  return [...signedIn].every((status) => status === 200) && [...ended].every((status) => status === 401);
}

/** Forgets those of the load's sessions, other than the earlier ones, that have ended; says how many they are. */
export async function forgetEnded(portals: TwoPortals, earlier: ReadonlySet<string>): Promise<string> {
  const later = [...portals.load.sessions].filter((session) => !earlier.has(session));
  let count = 0;
  for (const session of later) {
    const statuses = await statusesOf(portals, new Set([session]));
    if (statuses.has(200)) continue;
    portals.load.sessions.delete(session);
    count += 1;
  }
  return `${count} of ${later.length} sessions begun meanwhile ended`;
}
