// The inbox in a browser: opens what the device keeps, shows the page, and has the service worker keep it for the time without a connection.
import { render } from 'preact';
import { Inbox } from './inbox.ts';
import { openDatabases } from './store/databases.ts';
import { chooseLanguage, isLanguage } from './texts/index.ts';
import { App } from './views/app.tsx';
import { Preview, previewedIn } from './views/preview.tsx';

async function start(root: HTMLElement): Promise<void> {
  const first = chooseLanguage(navigator.languages);
  const previewed = previewedIn(document);
  if (previewed) return render(<Preview message={previewed} first={first} />, root);
  const inbox = await Inbox.open(openDatabases());
  const language = await inbox.setting<string>('language');
  render(<App inbox={inbox} first={language !== undefined && isLanguage(language) ? language : first} />, root);
  // Over plain HTTP from another machine there is none: the page works, but not without a connection.
  // Where storage is blocked it is refused, and nothing more depends on it.
  if ('serviceWorker' in navigator && inbox.databases.isKept)
    await navigator.serviceWorker.register('/ui/inbox/worker.js', { scope: '/ui/inbox' });
}

const root = document.getElementById('inbox');
if (root) void start(root);
