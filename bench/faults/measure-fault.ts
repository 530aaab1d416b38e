import { setTimeout as pause } from 'node:timers/promises';
import type { MailServerForTest } from '#test/support/mail-for-test.ts';
import { statusesOf, type TwoPortals } from '#test/support/two-portals.ts';
import { median, report } from '../figures.ts';
import { formHeaders } from '../people.ts';
import type { AskedMails, Counts, Fault, UnderLoad } from './world.ts';

/** In milliseconds, from the end of the fault to a good answer of every kind. */
const recovery = 5000;

/** How long sign-ins are timed before a fault that may not slow them down, in milliseconds, and how much slower they may be. */
const usual = 5000;
const slower = 1.5;

/** Brings a fault about and ends it, under load, and reports what became of the requests and of what was acknowledged. */
export async function measureFault<W extends UnderLoad>(fault: Fault<W>, world: W): Promise<void> {
  const { portals, crowds } = world;
  const { load } = portals;
  const signIns = () => median(load.counts.signIns.times);
  if (fault.sparesPasswords) {
    load.begin();
    await pause(usual);
  }
  const before = signIns();
  load.begin();
  for (const crowd of crowds) crowd.begin();
  const end = await fault.begin(world);
  await pause(fault.lasts);
  const meanwhile = signIns();
  await end();
  const from = performance.now();
  await Promise.all([load, ...crowds].map((one) => one.wellAgain()));
  const took = performance.now() - from;
  const { lost, refused, well } = sumOf(world);
  const lostCount = Object.values(lost).reduce((sum, count) => sum + count, 0);
  const ways = Object.entries(lost).map(([how, count]) => `${count} ${how}`);
  const told = ways.length > 0 ? `${lostCount} lost (${ways.join(', ')})` : '0 lost';
  const isKept = await areKept(portals);
  report(
    fault.name,
    `${refused} of ${well} refused, ${told}, ${(took / 1000).toFixed(1)} s${isKept ? '' : '; SESSIONS CHANGED'}`,
    `at most ${fault.mayLose} lost, ${recovery / 1000} s, no session changed`,
    lostCount <= fault.mayLose && took <= recovery && isKept,
  );
  if (!fault.sparesPasswords) return;
  const ratio = meanwhile / before;
  const times = `${meanwhile.toFixed(1)} to ${before.toFixed(1)} ms`;
  const goal = `at most ${slower.toFixed(2)}`;
  report(
    'sign-ins by password meanwhile',
    `${ratio.toFixed(2)} of their time before (${times})`,
    goal,
    ratio <= slower,
  );
}

function sumOf({ portals: { load }, crowds }: UnderLoad): Counts {
  const sums = { well: Object.values(load.counts).reduce((sum, { well }) => sum + well, 0), ...load.unanswered() };
  for (const { counts } of crowds) {
    const { well, refused, lost } = counts();
    sums.well += well;
    sums.refused += refused;
    Object.assign(sums.lost, lost);
  }
  return sums;
}

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
