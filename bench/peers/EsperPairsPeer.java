// The pairs of the benchmark of correlations as a pattern of Esper: every event of one kind waits for those of the other with its key.
package peers;

import com.espertech.esper.common.client.EPCompiled;
import com.espertech.esper.common.client.configuration.Configuration;
import com.espertech.esper.compiler.client.CompilerArguments;
import com.espertech.esper.compiler.client.EPCompilerProvider;
import com.espertech.esper.runtime.client.EPEventService;
import com.espertech.esper.runtime.client.EPRuntime;
import com.espertech.esper.runtime.client.EPRuntimeProvider;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

public final class EsperPairsPeer {
  private static long completed;

  /** Arguments: keys, rounds, seconds a round. All keys are opened, then all are completed, and so on. */
  public static void main(String[] args) throws Exception {
    int keys = Integer.parseInt(args[0]);
    int rounds = Integer.parseInt(args[1]);
    double seconds = Double.parseDouble(args[2]);
    Map<String, Object> members = Map.of("k", String.class, "n", Integer.class, "site", String.class);
    Configuration configuration = new Configuration();
    configuration.getCommon().addEventType("A", members);
    configuration.getCommon().addEventType("B", members);
    configuration.getRuntime().getThreading().setInternalTimerEnabled(false);
    String epl = "select a, b from pattern [every a=A -> (b=B(k = a.k) where timer:within(1 hour))]";
    EPCompiled compiled = EPCompilerProvider.getCompiler().compile(epl, new CompilerArguments(configuration));
    EPRuntime runtime = EPRuntimeProvider.getDefaultRuntime(configuration);
    runtime.getDeploymentService().deploy(compiled).getStatements()[0].addListener((made, old, statement, own) -> completed += made.length);
    EPEventService service = runtime.getEventService();
    StringBuilder told = new StringBuilder();
    for (int round = -1; round < rounds; round++) {
      long begun = System.nanoTime();
      long spent = 0;
      long done = 0;
      while (System.nanoTime() - begun < seconds * 1e9) {
        for (String type : new String[] {"A", "B"}) {
          List<Map<String, Object>> batch = batchOf(keys);
          long from = System.nanoTime();
          for (Map<String, Object> event : batch) service.sendEventMap(event, type);
          spent += System.nanoTime() - from;
          done += keys;
        }
      }
      if (completed != done / 2) throw new IllegalStateException(completed + " pairs of " + done / 2);
      completed = 0;
      if (round >= 0) told.append(round > 0 ? "," : "").append(Math.round(done / (spent / 1e9)));
    }
    System.out.println("[" + told + "]");
    System.exit(0);
  }

  private static List<Map<String, Object>> batchOf(int keys) {
    List<Map<String, Object>> batch = new ArrayList<>(keys);
    for (int i = 0; i < keys; i++) {
      Map<String, Object> event = new HashMap<>();
      event.put("k", "key " + (i * 7_919L) % keys);
      event.put("n", i);
      event.put("site", "north");
      batch.add(event);
    }
    return batch;
  }
}
