// The rules of the benchmark in Drools: a rule each, in one session; an event is inserted, fires its rule and is taken out again.
package peers;

import org.kie.api.io.ResourceType;
import org.kie.api.runtime.KieSession;
import org.kie.api.runtime.rule.FactHandle;
import org.kie.internal.utils.KieHelper;

public final class DroolsPeer {
  public static void main(String[] args) {
    int rules = Integer.parseInt(args[0]);
    StringBuilder text = new StringBuilder("package bench\nimport peers.Reading\nimport peers.Rounds\n");
    for (int n = 0; n < rules; n++)
      text.append("rule \"r").append(n).append("\" when $e : Reading(sensor == \"s").append(n).append("\") then Rounds.add($e); end\n");
    KieSession session = new KieHelper().addContent(text.toString(), ResourceType.DRL).build().newKieSession();
    Rounds.run(rules, Integer.parseInt(args[1]), Double.parseDouble(args[2]), event -> {
      FactHandle handle = session.insert(event);
      session.fireAllRules();
      session.delete(handle);
    });
    System.exit(0);
  }
}
