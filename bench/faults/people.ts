import { setTimeout as pause } from 'node:timers/promises';
import { generateSync } from 'otplib';
import { keysOf, seal } from '#server/crypto/keys.ts';
import { totpPlace } from '#server/factors/registration.ts';
import { insertTotp, newTotpSecret } from '#server/factors/totp.ts';
import { makeLink } from '#server/sign-in/reset-link.ts';
import { addCustomer, addUser } from '#test/support/accounts-for-test.ts';
import type { PortalForTest } from '#test/support/portal-for-test.ts';
import { portalSecret } from '#test/support/run-vestibule.ts';
import type { TwoPortals } from '#test/support/two-portals.ts';
import { report } from '../figures.ts';
import { type Crowd, countedCrowd } from './world.ts';

/** What a person did last that the portal acknowledged. */
type Acknowledged = { link: string; password: string; session?: string; timeStep?: number };

type Person = {
  id: string;
  username: string;
  appSecret: string;
  /** Null if a request got no answer, so that nobody knows whether it counted. */
  last: Acknowledged | null;
};

/** People who choose a new password by a link, and sign in with it and with their app's code, one after the other. */
export type People = Crowd & {
  stop: () => Promise<void>;
  /** What is no longer as it was acknowledged: nothing, if all is well. */
  missing: () => Promise<string[]>;
};

/** A code is valid once, so each person signs in at most once in its 30 s. */
const count = 100;
const pace = 330;
const timeStep = 30_000;

/** Lets people change their passwords until stopped. */
export async function peopleWhoChange(portals: TwoPortals): Promise<People> {
  const { sql, env } = portals;
  const origin = env.PUBLIC_URL as string;
  const post = poster(origin);
  const people = await addPeople(portals);
  const crowd = countedCrowd();
  let stopped = false;

  /** The answer, if it is a good one; `unknown` if nobody knows what became of the request. */
  async function counted(kind: string, posted: Promise<Answer>, isGood: (answer: Answer) => boolean) {
    const answer = await posted.catch((error: Error) => error);
    if (!(answer instanceof Error) && isGood(answer)) {
      crowd.well();
      return answer;
    }
    if (!(answer instanceof Error) && answer.isRefusal) {
      crowd.refused();
      return 'refused';
    }
    crowd.lost(`${kind} ${answer instanceof Error ? answer.message : `${answer.status} ${answer.location}`}`);
    return 'unknown';
  }

  async function change(person: Person, turn: number): Promise<void> {
    const password = passwordOf(turn);
    const { token: link } = await makeLink(sql, person.id, new Date());
    const form = { hash: link, password, repeat: password };
    const changed = await counted('password', post('password/change', { form }), isChanged);
    if (changed === 'unknown') person.last = null;
    if (typeof changed === 'string') return;
    person.last = { link, password };
    const half = await counted('sign-in', signIn(person, password), isHalfWay);
    if (typeof half === 'string') return;
    const now = Date.now();
    const code = generateSync({ secret: person.appSecret, epoch: Math.floor(now / 1000) });
    const verified = await counted(
      'code',
      post('two-factor-authentication/verify', { json: code, cookie: half.cookie }),
      ({ body }) => body === 'true',
    );
    if (typeof verified === 'string') return;
    person.last = { link, password, session: verified.cookie, timeStep: Math.floor(now / timeStep) };
  }

  const signIn = (person: Person, password: string) =>
    post('performlogin', { form: { username: person.username, password } });

  async function missingOf(person: Person): Promise<string[]> {
    if (!person.last) return [];
    const { link, password, session, timeStep: spent = 0 } = person.last;
    const [totp] = await sql<{ step: number }[]>`select last_step as step from totp where user_id = ${person.id}`;
    const checked = session && (await fetch(`${origin}/portal/session`, { headers: { cookie: session } }));
    const again = await post('password/change', {
      form: { hash: link, password: 'Lantern-Harbour-1', repeat: 'Lantern-Harbour-1' },
    });
    const wrong = {
      password: !isHalfWay(await signIn(person, password)),
      session: checked && checked.status !== 200,
      'spent code': (totp?.step ?? 0) < spent,
      'spent link': !again.location.includes('reason=3'),
    };
    return Object.entries(wrong).flatMap(([what, is]) => (is ? [`${what} of ${person.username}`] : []));
  }

  const working = (async () => {
    for (let turn = 0; !stopped; turn += 1) {
      // Without PostgreSQL there is no link to begin with.
      await change(people[turn % count] as Person, turn).catch(() => {});
      await pause(pace);
    }
  })();
  return {
    ...crowd,
    stop: async () => {
      stopped = true;
      await working;
    },
    missing: async () => (await Promise.all(people.map(missingOf))).flat(),
  };
}

/** Ends what people do, and reports what is left of all that was acknowledged. */
export async function measurePeople(people: People, after: string): Promise<void> {
  await people.stop();
  const missing = await people.missing();
  report(
    `passwords, sessions, spent codes and links after ${after}`,
    missing.length === 0 ? 'all as acknowledged' : `${missing.length} lost: ${missing.slice(0, 3).join(', ')}`,
    'all as acknowledged',
    missing.length === 0,
  );
}

/** Another one each turn; no digit follows itself, which the rules would refuse. */
const passwordOf = (turn: number) => `Harbour-${[...String(turn)].join('n')}-Lantern`;

const isChanged = ({ location }: Answer) => location.includes('/forgottenChangedInfo');
const isHalfWay = ({ location }: Answer) => location.includes('/twoFactor');

async function addPeople({ sql }: TwoPortals): Promise<Person[]> {
  const { seal: keys } = keysOf([portalSecret]);
  await addCustomer({ sql } as PortalForTest, 'app', { twoFactor: 'app' });
  const people: Person[] = [];
  for (let index = 0; index < count; index += 1) {
    const username = `person-${index}`;
    const id = await addUser({ sql } as PortalForTest, { username, customers: ['app'] });
    const appSecret = newTotpSecret();
    const sealedSecret = seal(keys, appSecret, totpPlace(id));
    await insertTotp(sql, { userId: id, sealedSecret, lastStep: 0, confirmedAt: new Date(0) });
    people.push({ id, username, appSecret, last: null });
  }
  return people;
}

/** What a browser learns from the answer to a form. */
export type Answer = {
  status: number;
  location: string;
  /** The session's, as it is sent back. */
  cookie: string;
  body: string;
  /** 503 with Retry-After: whoever asked knows that nothing happened, and when to ask again. */
  isRefusal: boolean;
};

type Posted = { form?: Record<string, string>; json?: string; cookie?: string };

/** In milliseconds. */
const patience = 60_000;

/** Posts forms, or strings as a script does, to a portal; throws if there is no answer. */
function poster(origin: string) {
  return async (path: string, { form, json, cookie = '' }: Posted): Promise<Answer> => {
    const response = await fetch(`${origin}/portal/${path}`, {
      method: 'POST',
      headers: { origin, cookie, ...(json && { 'content-type': 'application/json', accept: 'application/json' }) },
      body: form ? new URLSearchParams(form) : JSON.stringify(json),
      redirect: 'manual',
      signal: AbortSignal.timeout(patience),
    });
    const { status, headers } = response;
    const session = headers.getSetCookie().find((one) => one.startsWith('vestibule-session='));
    return {
      status,
      location: headers.get('location') ?? '',
      cookie: session?.split(';')[0] ?? '',
      body: await response.text(),
      isRefusal: status === 503 && headers.has('retry-after'),
    };
  };
}
