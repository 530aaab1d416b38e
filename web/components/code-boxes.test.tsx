import { renderToStaticMarkup } from 'react-dom/server';
import { expect, it } from 'vitest';
import en from '#messages/en.json' with { type: 'json' };
import { Messages } from '../messages.tsx';
import { documentForTest } from '../page-for-test.ts';
import { type Visit, VisitContext } from '../visit.ts';
import { boxesOf, CodeBoxes } from './code-boxes.tsx';

/** The attributes of each field, with lower-case names. */
const fieldsOf = (html: string) =>
  [...html.matchAll(/<input([^>]*)>/g)].map(([, text = '']) =>
    Object.fromEntries(
      [...text.matchAll(/ ([\w-]+)="([^"]*)"/g)].map(([, key = '', value]) => [key.toLowerCase(), value]),
    ),
  );

it('each box has its own name and id for autofill; the code itself is one field', () => {
  const html = renderToStaticMarkup(
    <VisitContext value={{ isLeaving: false } as Visit}>
      <Messages language="en" texts={en}>
        <CodeBoxes boxes={boxesOf('123456')} isWrong={false} takesFocus={false} onMove={() => {}} />
      </Messages>
    </VisitContext>,
  );
  const names = ['code-1', 'code-2', 'code-3', 'code-4', 'code-5', 'code-6'];
  const fields = fieldsOf(html);
  expect(fields.map(({ name }) => name)).toEqual([...names, 'code']);
  expect(fields.map(({ id }) => id)).toEqual([...names, undefined]);
  expect(fields.at(-1)).toEqual({ type: 'hidden', name: 'code', value: '123456' });
});

it.each(['/portal/twoFactor', '/portal/twoFactor?codeSentViaEmail=true', '/portal/twoFactorRegistration'])(
  'without JavaScript there are no boxes, and %s posts one code',
  (url) => {
    const secondFactor = { account: 'ada', mayRemember: true, mayRecover: true, sendAgainAfter: 30 };
    const names = fieldsOf(documentForTest(url, { secondFactor })).map(({ name }) => name ?? '');
    expect(names.filter((name) => /^code(?:-|$)/.test(name))).toEqual(['code']);
  },
);
