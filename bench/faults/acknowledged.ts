import { setTimeout as pause } from 'node:timers/promises';
import type { MailServerForTest } from '#test/support/mail-for-test.ts';
import { statusesOf, type TwoPortals } from '#test/support/two-portals.ts';
import { report } from '../figures.ts';
import { formHeaders } from '../people.ts';

/** The addresses to which an email was promised. */
export type AskedMails = string[];

/** An email that was refused waits 10 s for the next try, and longer each time; then no second one may follow. */
const patience = 120_000;
const quiet = 5000;

/** Asks for a reset link as somebody who forgot their password; throws unless that is acknowledged. */
export async function askForReset({ env }: TwoPortals, username: string, asked: AskedMails): Promise<void> {
  const address = `${username}@acme.test`;
  const answer = await fetch(`${env.PUBLIC_URL}/portal/password/forgotten`, {
    method: 'POST',
    headers: formHeaders,
    body: new URLSearchParams({ username: address }),
  });
  if (answer.status !== 204) throw new Error(`a reset was answered ${answer.status}`);
  asked.push(address);
}

/** Reports whether each promised email came, and came once. */
export async function measureMails({ mails }: MailServerForTest, asked: AskedMails): Promise<void> {
  const countOf = (address: string) => mails.filter(({ envelope }) => envelope.to.includes(address)).length;
  const end = performance.now() + patience;
  while (asked.some((address) => countOf(address) === 0) && performance.now() < end) await pause(100);
  await pause(quiet);
  const counts = asked.map(countOf);
  const once = counts.filter((count) => count === 1).length;
  report('emails asked for meanwhile', `${once} of ${counts.length} came once`, 'each once', once === counts.length);
}

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
