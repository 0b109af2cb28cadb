// Debian's chromium, whose camera and microphone are not real.
import { type Browser, chromium } from 'playwright-core';

const PROGRAM = process.env['CASCADE_CHROMIUM'] ?? '/usr/bin/chromium';

/** This machine by a name that browsers don't take for it: what comes from there over plain HTTP may use less. */
export const ELSEWHERE = 'plant.test';

/** @param args further ones of its command line. @throws Error: it is not on this machine (CASCADE_CHROMIUM names another place) */
export const openChromium = (args: readonly string[] = []): Promise<Browser> =>
  chromium.launch({
    executablePath: PROGRAM,
    args: [
      ...['--no-sandbox', '--disable-gpu', '--use-fake-ui-for-media-stream', '--use-fake-device-for-media-stream'],
      `--host-resolver-rules=MAP ${ELSEWHERE} 127.0.0.1`,
      ...args,
    ],
  });
