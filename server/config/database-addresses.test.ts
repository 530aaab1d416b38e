import { expect, it } from 'vitest';
import { databaseAddresses } from './database-addresses.ts';

it.each([
  ['postgres://u:p@db/x', ['postgres://u:p@db/x']],
  ['postgresql://u:p%40@db:6432/x?sslmode=verify-full', ['postgresql://u:p%40@db:6432/x?sslmode=verify-full']],
  [
    'postgres://u:p@one:1,two:2,[::1]/x',
    ['postgres://u:p@one:1/x', 'postgres://u:p@two:2/x', 'postgres://u:p@[::1]/x'],
  ],
  ['postgres://one,two/x?target_session_attrs=read-write', ['postgres://one/x', 'postgres://two/x']],
  ['postgres://one,two', ['postgres://one', 'postgres://two']],
])('%s', (text, addresses) => {
  expect(databaseAddresses(text)).toEqual(addresses);
});

it.each([
  '',
  'x',
  'mysql://u:p@db/x',
  'postgres:///x',
  'postgres://u:p@/x',
  'postgres://one,/x',
  'postgres://one,two:x/x',
  'postgres://one two/x',
])('%j is no address', (text) => {
  expect(databaseAddresses(text)).toBeNull();
});
