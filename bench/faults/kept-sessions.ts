import { statusesOf, type TwoPortals } from '#test/support/two-portals.ts';
import { report } from '../figures.ts';

/** Whether the latest acknowledged sign-ins still are, at most `most`, and the latest acknowledged sign-outs. */
export async function areKept(portals: TwoPortals, most = 500): Promise<boolean> {
  const latest = (sessions: ReadonlySet<string>) => new Set([...sessions].slice(-most));
  const signedIn = await statusesOf(portals, latest(portals.load.sessions));
  const ended = await statusesOf(portals, latest(portals.load.ended));
  return [...signedIn].every((status) => status === 200) && [...ended].every((status) => status === 401);
}

/** Reports whether all acknowledged sign-ins and sign-outs are what they were. */
export async function measureSessions(portals: TwoPortals): Promise<void> {
  const { sessions, ended } = portals.load;
  const isKept = await areKept(portals, Infinity);
  const counts = `${sessions.size} valid and ${ended.size} ended`;
  report('all sessions after all that', isKept ? `${counts} as acknowledged` : 'CHANGED', 'as acknowledged', isKept);
}
