// The rules of the benchmark as statements of Esper: one compiled text, deployed once a rule with the rule's own sensor.
package peers;

import com.espertech.esper.common.client.EPCompiled;
import com.espertech.esper.common.client.configuration.Configuration;
import com.espertech.esper.compiler.client.CompilerArguments;
import com.espertech.esper.compiler.client.EPCompilerProvider;
import com.espertech.esper.runtime.client.DeploymentOptions;
import com.espertech.esper.runtime.client.EPEventService;
import com.espertech.esper.runtime.client.EPRuntime;
import com.espertech.esper.runtime.client.EPRuntimeProvider;

public final class EsperPeer {
  public static void main(String[] args) throws Exception {
    int rules = Integer.parseInt(args[0]);
    Configuration configuration = new Configuration();
    configuration.getCommon().addEventType(Reading.class);
    configuration.getRuntime().getThreading().setInternalTimerEnabled(false);
    String epl = "select case when rate * 2 + pressure > 150 then rate * 2 + pressure - 150 else rate * 2 + pressure end as score"
        + " from Reading(sensor = ?:sensor:string)";
    EPCompiled compiled = EPCompilerProvider.getCompiler().compile(epl, new CompilerArguments(configuration));
    EPRuntime runtime = EPRuntimeProvider.getDefaultRuntime(configuration);
    for (int n = 0; n < rules; n++) {
      String sensor = "s" + n;
      DeploymentOptions options = new DeploymentOptions();
      options.setStatementSubstitutionParameter(context -> context.setObject("sensor", sensor));
      runtime.getDeploymentService().deploy(compiled, options).getStatements()[0].addListener((made, old, statement, own) ->
          Rounds.sum += (Double) made[0].get("score"));
    }
    EPEventService service = runtime.getEventService();
    Rounds.run(rules, Integer.parseInt(args[1]), Double.parseDouble(args[2]), event -> service.sendEventBean(event, "Reading"));
    System.exit(0);
  }
}
