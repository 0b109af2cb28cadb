// What is before the camera in the pictures of the documents: a bridge with a crack.

/** In pixels, as chromium wants it of a camera. */
export const SCENERY = { width: 1_280, height: 720 };

export const DRAWN = `<!doctype html><style>body{margin:0}</style>
<svg xmlns="http://www.w3.org/2000/svg" width="${SCENERY.width}" height="${SCENERY.height}" viewBox="0 0 1280 720">
  <defs>
    <linearGradient id="sky" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="#8fbbe0"/><stop offset="1" stop-color="#e9f1f5"/></linearGradient>
    <linearGradient id="pier" x1="0" y1="0" x2="1" y2="0"><stop offset="0" stop-color="#b9b2a6"/><stop offset="1" stop-color="#8d867b"/></linearGradient>
  </defs>
  <rect width="1280" height="720" fill="url(#sky)"/>
  <path d="M0 430 L220 330 L420 410 L700 300 L980 400 L1280 320 V720 H0 Z" fill="#a9b49a"/>
  <path d="M0 560 Q320 510 640 560 T1280 550 V720 H0 Z" fill="#6f8fa3"/>
  <rect x="0" y="300" width="1280" height="70" fill="#9a9387"/>
  <rect x="0" y="284" width="1280" height="18" fill="#7c766c"/>
  <path d="M0 284 V240 H1280 V284 M60 240 V284 M180 240 V284 M300 240 V284 M420 240 V284 M540 240 V284 M660 240 V284 M780 240 V284 M900 240 V284 M1020 240 V284 M1140 240 V284" fill="none" stroke="#5e5a53" stroke-width="6"/>
  <rect x="210" y="370" width="130" height="290" fill="url(#pier)"/>
  <rect x="760" y="370" width="150" height="310" fill="url(#pier)"/>
  <path d="M812 372 L826 410 L806 446 L838 492 L822 540 L848 588" fill="none" stroke="#3a342d" stroke-width="7"/>
  <path d="M826 410 L852 424 M838 492 L868 508 M822 540 L796 566" fill="none" stroke="#3a342d" stroke-width="4"/>
</svg>`;
