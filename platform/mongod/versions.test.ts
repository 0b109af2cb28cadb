import { expect, test } from 'vitest';
import { opens, versionsToDownload } from './versions.ts';

const majors = (versions: readonly string[]): number[] => versions.map((version) => Number.parseInt(version, 10));

test('MongoDB 8 is asked for first, but not on the Linux kernels on which it does not start', () => {
  expect(majors(versionsToDownload(undefined, 'linux', '6.1.0-13-amd64'))).toEqual([8, 7]);
  expect(majors(versionsToDownload(undefined, 'linux', '6.18.4'))).toEqual([8, 7]);
  expect(majors(versionsToDownload(undefined, 'linux', '6.19.0-arch1'))).toEqual([7]);
  expect(majors(versionsToDownload(undefined, 'linux', '7.0.0-30-generic'))).toEqual([7]);
  expect(majors(versionsToDownload(undefined, 'darwin', '25.1.0'))).toEqual([8, 7]);
  expect(majors(versionsToDownload(undefined, 'win32', '10.0.26100'))).toEqual([8, 7]);
});

test('files are opened by their own major version and by the next, and only such versions are asked for', () => {
  expect(['6.0', '7.0', '8.0'].map((version) => opens(version, '6.0'))).toEqual([true, true, false]);
  expect(['6.0', '7.0', '8.2'].map((version) => opens(version, '7.0'))).toEqual([false, true, true]);
  expect(opens('8.0', undefined)).toBe(true);
  expect(majors(versionsToDownload('6.0', 'linux', '6.1.0'))).toEqual([7]);
  expect(majors(versionsToDownload('8.0', 'linux', '6.1.0'))).toEqual([8]);
  expect(majors(versionsToDownload('5.0', 'linux', '6.1.0'))).toEqual([]);
});
