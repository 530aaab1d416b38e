import { defineConfig } from 'vitest/config';

// Timeouts for hangs, not measurements: a busy machine takes several times as long as an idle one.
const deadlines = { testTimeout: 60_000, hookTimeout: 60_000 };

export default defineConfig({
  test: {
    // One per core: each waits for the database and processes as much as it computes.
    maxWorkers: '100%',
    projects: [
      {
        oxc: { jsx: { runtime: 'automatic' } },
        test: { name: 'pages', include: ['contract/**/*.test.ts', 'web/**/*.test.{ts,tsx}'], ...deadlines },
      },
      {
        test: {
          name: 'server',
          include: ['server/**/*.test.ts'],
          globalSetup: ['testing/database-server.ts'],
          ...deadlines,
        },
      },
    ],
  },
});
