import { expect, it } from 'vitest';
import type { AccountPage } from '#contract/account.ts';
import { assetsForTest, pageForTest } from '#test/support/page-for-test.ts';
import { renderAccount } from './account-screen.tsx';

const account: AccountPage = {
  section: 'app',
  view: { name: 'app', since: null, isRequired: false, isPart: false, next: null },
  username: 'anna',
  sessionId: 'id',
  notice: null,
  reason: null,
  begun: 'setUp',
  ask: 'signIn',
  kept: { id: '7' },
};

it('the button that signs in again keeps what was begun', () => {
  const page = pageForTest('/portal/account/app?do=setUp&lang=en');
  const [, action = ''] = /action="([^"]+destination=[^"]+)"/.exec(renderAccount(page, account, assetsForTest)) ?? [];
  const { pathname, searchParams } = new URL(action.replaceAll('&amp;', '&'), 'https://portal.example');
  expect([pathname, searchParams.get('destination')]).toEqual([
    '/portal/logout',
    '/portal/account/app?do=setUp&id=7&lang=en',
  ]);
});
