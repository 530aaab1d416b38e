import { setTimeout as pause } from 'node:timers/promises';
import type { Fault } from './fault.ts';
import { roll } from './roll.ts';

/** How long the instances have what they have read of the provider before. */
const before = 10_000;

/** An instance that has just started has to ask the provider for its addresses first. */
export const providerFaults: readonly Fault[] = [
  {
    name: 'an identity provider silent to the portal for 20 s',
    lasts: 10_000,
    mayLose: 0,
    sparesPasswords: true,
    begin: async ({ portals, provider }) => {
      provider.answerPortal(false);
      await pause(before);
      for (const index of [0, 1]) await roll(portals, index);
      return () => provider.answerPortal(true);
    },
  },
  {
    name: 'an identity provider away for 10 s',
    lasts: 10_000,
    mayLose: 0,
    sparesPasswords: true,
    begin: async ({ portals, provider }) => {
      for (const index of [0, 1]) await roll(portals, index);
      await provider.shut();
      return provider.reopen;
    },
  },
];
