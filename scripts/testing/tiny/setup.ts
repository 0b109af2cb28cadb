// With TINY_ENDLESS the run is never cleaned up: vitest reports and does not end.
export default function setup(): () => Promise<void> {
  return async () => {
    if (process.env.TINY_ENDLESS) await new Promise((resolve) => setTimeout(resolve, 600_000));
  };
}
