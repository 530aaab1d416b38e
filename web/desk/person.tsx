import type { ReactNode } from 'react';
import { customerPath, type DeskAct, type DeskViewOf } from '#contract/desk.ts';
import { languageNames, languages } from '#contract/languages.ts';
import type { AccountKey } from '../account/account-context.tsx';
import { Panel, Row } from '../account/account-form.tsx';
import { Title } from '../account/account-screen.tsx';
import { TextAt, Time } from '../account/times.tsx';
import { Door, Verdict } from './chain.tsx';
import { useDesk } from './desk-context.tsx';
import { EventTable } from './events.tsx';
import { Act, type EntryOfForm } from './form.tsx';
import { StateMark } from './table.tsx';

type View = DeskViewOf<'person'>;

/** A person: why a sign-in failed and what the door would ask now; beside it what can be done, and how they sign in. */
export function Person(view: View) {
  const { text, toDesk, actor } = useDesk();
  const { displayName, username, email, customers, role, chain, door } = view;
  const acts = view.acts.filter((act) => act !== chain?.act);
  const entries = entriesOf(view, actor.isAdministrator, text('desk-language-browser'));
  const name = displayName ?? username;
  const groups = customers.flatMap(({ groups }) => groups);
  const facts = [displayName !== null && username !== email && username, email].filter(Boolean);
  return (
    <>
      <Title name={name} beside={<StateMark {...view.state} />}>
        <h1>{name}</h1>
        <p className="soft">
          {facts.map((fact) => `${fact} · `)}
          {customers.map(({ key, name }, at) => (
            <span key={key}>
              {at > 0 && ', '}
              <a href={toDesk(customerPath(key))}>{name}</a>
            </span>
          ))}
          {groups.length > 0 && ` · ${text('desk-groups-are', { groups: groups.join(', ') })}`}
          {role !== null && ` · ${text(`desk-is-${role}`)}`}
        </p>
      </Title>
      <div className="cols">
        <div className="stackup">
          {chain && (
            <Verdict {...chain}>
              <Hint act={chain.act} {...view} />
            </Verdict>
          )}
          {door.length > 0 && <Door door={door} name={name} />}
          <Panel title="desk-last-events">
            <EventTable events={view.events} />
          </Panel>
        </div>
        <div className="stackup">
          {acts.length > 0 && (
            <Panel title="desk-acts">
              <ul className="rows">
                {acts.map((act) => (
                  <li key={act}>
                    <Act act={act} hint={<Hint act={act} {...view} />} entries={entries[act]} />
                  </li>
                ))}
              </ul>
            </Panel>
          )}
          <Factors {...view} />
          <Sessions {...view} />
        </div>
      </div>
    </>
  );
}

/** What will happen, in a sentence. */
function Hint({ act, username, displayName, email, factors, resetAt, sessions }: View & { act: DeskAct | null }) {
  const { text, actor } = useDesk();
  if (act === 'keepFactor') return <TextAt text="desk-will-keepFactor" at={resetAt} />;
  const isInvitation = act === 'sendLink' && factors?.password === 'none';
  const does = isInvitation ? 'invite' : act === 'customers' && actor.isAdministrator ? 'leave' : act;
  const values = { name: displayName ?? username, email: email ?? '', count: sessions.length };
  return text(`desk-will-${does}` as AccountKey, values);
}

/** What is typed or chosen for an act. */
function entriesOf(view: View, isAdministrator: boolean, noLanguage: string): { [Act in DeskAct]?: EntryOfForm[] } {
  const { displayName, email, language, customers, role, roles } = view;
  const named = languages.map((key) => ({ key, name: languageNames[key] }));
  const groups = customers.flatMap(({ key, groups }) => groups.map((group) => `${key}:${group}`));
  const customer = { name: 'customer', options: customers };
  const administers = customers[0]?.administers ? 'on' : 'off';
  return {
    change: [
      { name: 'name', value: displayName },
      { name: 'email', value: email, isRequired: true },
      { name: 'language', value: language, options: [{ key: '', name: noLanguage }, ...named] },
    ],
    groups: [{ name: 'groups', value: groups.join('\n'), isLines: true }],
    customers: isAdministrator ? [customer] : [{ name: 'customers', value: customers.map(({ key }) => key).join(' ') }],
    administer: [customer, { name: 'administers', value: administers, options: ['on', 'off'] }],
    role: [{ name: 'role', value: role ?? 'none', options: ['none', ...roles] }],
    resetFactor: roles.includes('operator') ? [{ name: 'when', options: ['later', 'now'] }] : [],
  };
}

/** How they sign in. */
function Factors({ factors, resetAt }: View) {
  const { text } = useDesk();
  if (factors === null) return null;
  const { password, passkeys, appSince, recoveryCodesLeft, devices } = factors;
  return (
    <Panel title="desk-factors">
      <ul className="rows">
        <Fact name={text('account-password-title')}>{text(`desk-password-${password}`)}</Fact>
        {passkeys.map(({ name, lastUsedAt: at }) => (
          <Fact key={name} name={text('desk-passkey', { name })}>
            <TextAt text={at ? 'account-last-used' : 'account-passkeys-unused'} at={at} isDay />
          </Fact>
        ))}
        <Fact name={text('account-app-title')}>
          <TextAt text={appSince ? 'account-since' : 'account-app-none'} at={appSince} isDay />
        </Fact>
        {appSince && (
          <Fact name={text('account-recovery-codes-title')}>
            {text('account-count-left', { count: recoveryCodesLeft })}
          </Fact>
        )}
        {devices > 0 && <Fact name={text('account-devices-title')}>{devices}</Fact>}
        {resetAt && (
          <Fact name={text('desk-reset-at')}>
            <Time at={resetAt} />
          </Fact>
        )}
      </ul>
    </Panel>
  );
}

/** Where they are signed in. */
function Sessions({ sessions }: View) {
  const { text } = useDesk();
  if (sessions.length === 0) return null;
  return (
    <Panel title="desk-signed-in">
      <ul className="rows">
        {sessions.map(({ browser, address, lastSeenAt, provider }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: they have no identity but their order
          <Fact key={at} name={browser ?? text('account-browser-unknown')}>
            {address} {provider !== null && text('account-by-provider', { provider })} <Time at={lastSeenAt} />
          </Fact>
        ))}
      </ul>
    </Panel>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <Row name={name} facts={[]}>
      <span className="soft">{children}</span>
    </Row>
  );
}
