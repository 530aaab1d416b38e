import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // As many as there are cores: each waits for the database and for processes as much as it works.
    maxWorkers: '100%',
    projects: [
      {
        oxc: { jsx: { runtime: 'automatic' } },
        test: { name: 'pages', include: ['contract/**/*.test.ts', 'web/**/*.test.{ts,tsx}'] },
      },
      {
        test: {
          name: 'server',
          include: ['server/**/*.test.ts'],
          globalSetup: ['server/testing/database-server.ts'],
          testTimeout: 20_000,
          hookTimeout: 30_000,
        },
      },
    ],
  },
});
