// The browser's camera, microphone and place. What is opened is closed: a light that stays on is a fault.

export interface Opened {
  readonly stream: MediaStream;
  close(): void;
}

/** @throws DOMException, TypeError: there is none, or it may not be used */
export async function openMedia(constraints: MediaStreamConstraints): Promise<Opened> {
  // Pages that came over plain HTTP from another machine have no `mediaDevices`.
  if (!('mediaDevices' in navigator)) throw new TypeError('https');
  const stream = await navigator.mediaDevices.getUserMedia(constraints);
  return { stream, close: () => stream.getTracks().forEach((track) => track.stop()) };
}

export const CAMERA: MediaStreamConstraints = { video: { facingMode: 'environment', width: { ideal: 1920 } } };

const PHOTO_QUALITY = 0.85;

/** @param maxWidth in pixels */
export function toJpeg(source: CanvasImageSource, width: number, height: number, maxWidth: number): Promise<Blob> {
  const scale = Math.min(1, maxWidth / width);
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(width * scale));
  canvas.height = Math.max(1, Math.round(height * scale));
  const context = canvas.getContext('2d');
  if (!context) throw new Error('canvas');
  context.fillStyle = '#ffffff'; // what is transparent would be black in a JPEG
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(source, 0, 0, canvas.width, canvas.height);
  return jpegOf(canvas);
}

export const jpegOf = (canvas: HTMLCanvasElement): Promise<Blob> =>
  new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('JPEG'))), 'image/jpeg', PHOTO_QUALITY),
  );

/** In which the browser finds the place; the time in which it asks the person whether it may is not counted. */
export const PLACE_WAIT_MS = 10_000;
const PLACE_AGE_MS = 60_000;
const DIGITS = 6;

const rounded = (degrees: number): number => Number(degrees.toFixed(DIGITS));

/** @throws Error: it is not known, or may not be */
export function whereAmI(): Promise<{ longitude: number; latitude: number }> {
  return new Promise((resolve, reject) => {
    if (!('geolocation' in navigator)) return reject(new Error('geolocation'));
    navigator.geolocation.getCurrentPosition(
      ({ coords }) => resolve({ longitude: rounded(coords.longitude), latitude: rounded(coords.latitude) }),
      ({ message }) => reject(new Error(message)),
      { enableHighAccuracy: true, timeout: PLACE_WAIT_MS, maximumAge: PLACE_AGE_MS },
    );
  });
}
