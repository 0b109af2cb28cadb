// Warms an engine, then measures it in rounds: prints events a second, a number a round, as one JSON array on the last line.
package peers;

import java.util.function.Consumer;

public final class Rounds {
  /** What the rules compute goes here, so that nothing is left out. */
  static double sum;

  /** What each rule computes of an event that it takes. */
  public static void add(Reading event) {
    double score = event.getRate() * 2 + event.getPressure();
    if (score > 150) score -= 150;
    sum += score;
  }

  static void run(int rules, int rounds, double seconds, Consumer<Reading> engine) {
    Reading[] events = new Reading[Math.max(65_536, rules)];
    for (int i = 0; i < events.length; i++) events[i] = new Reading((int) ((i * 7_919L) % rules) + rules * (i % 5), rules);
    StringBuilder told = new StringBuilder();
    for (int i = 0; i < Math.max(20_000, rules + rules / 2); i++) engine.accept(events[i % events.length]); // each rule was met
    int next = 0;
    for (int round = -1; round < rounds; round++) {
      long begun = System.nanoTime();
      long until = begun + (long) (seconds * 1e9);
      long done = 0;
      while (System.nanoTime() < until) {
        for (int i = 0; i < 256; i++) {
          engine.accept(events[next]);
          next = next + 1 == events.length ? 0 : next + 1;
        }
        done += 256;
      }
      double perSecond = done / ((System.nanoTime() - begun) / 1e9);
      if (round >= 0) told.append(round > 0 ? "," : "").append(Math.round(perSecond));
    }
    if (sum == 0) throw new IllegalStateException("no rule has run");
    System.out.println("[" + told + "]");
  }
}
