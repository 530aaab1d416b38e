import { defineConfig } from 'vitest/config';

// Deadlines for what hangs, not measurements: a busy machine takes several times as long as an idle one.
const deadlines = { testTimeout: 60_000, hookTimeout: 60_000 };

export default defineConfig({
  test: {
    // As many as there are cores: each waits for the database and for processes as much as it works.
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
          globalSetup: ['server/testing/database-server.ts'],
          ...deadlines,
        },
      },
    ],
  },
});
